import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from cellworth.complete import NNLSCompleter, SoftImputeCompleter, SupervisedCompleter
from cellworth.complete.committee_completer import CommitteeCompleter, default_members
from cellworth.errors import DataError, ParameterError
from cellworth.score import Round
from cellworth.score.committee_scorers import CommitteeStability, QueryByCommittee
from cellworth.testing.completer_contract import random_table
from tests.score.rounds import holed_tables, squared_ranges, told


class NeverFitted(BaseEstimator):
    def fit(self, X, y=None):
        raise AssertionError("the round's committee was to be asked")


NEVER = [NeverFitted(), NeverFitted()]


def disagreement(X, completions):
    """Return the textbook variance over the members, cell by cell, in squared ranges."""
    widths, scores = squared_ranges(X), np.zeros(X.shape)
    for i, j in np.argwhere(np.isnan(X)):
        values = [completion[i, j] for completion in completions]
        mean = sum(values) / len(values)
        scores[i, j] = sum((value - mean) ** 2 for value in values) / len(values) / widths[j]
    return scores


def random_completions(X, rng, members):
    return np.where(np.isnan(X), rng.normal(size=(members, *X.shape)), X)


@settings(max_examples=80)
@given(table=holed_tables(), members=st.integers(2, 5))
def test_query_by_committee_is_the_variance_over_the_members(table, members):
    X, rng = table
    completions = random_completions(X, rng, members)
    scores = QueryByCommittee(NEVER).score(told(X, completions=completions))
    np.testing.assert_allclose(scores, disagreement(X, completions), rtol=1e-9, atol=1e-12)


@settings(max_examples=80)
@given(table=holed_tables(), members=st.integers(2, 5), added=st.integers(0, 3), rounds=st.integers(1, 4))
def test_stability_is_the_mean_squared_move_since_the_last_round(table, members, added, rounds):
    X, rng = table
    scorer = CommitteeStability(NEVER)
    last = None
    for _ in range(rounds):
        completions = random_completions(X, rng, members)
        scores = scorer.score(told(X, completions=completions))
        expected, widths = disagreement(X, completions), squared_ranges(X)
        for i, j in np.argwhere(np.isnan(X)):
            if last is not None and i < last.shape[1]:
                moves = [completions[m, i, j] - last[m, i, j] for m in range(members)]
                expected[i, j] = sum(move**2 for move in moves) / members / widths[j]
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
        last = completions
        X = np.vstack([X, np.full((added, X.shape[1]), np.nan)])


def test_without_a_committee_in_the_round_clones_of_the_members_are_fitted():
    X, y = random_table(np.random.default_rng(0))
    members = [NNLSCompleter(), SoftImputeCompleter(trace_penalty=1.0), SupervisedCompleter()]
    this_round = Round(X, y * 1.0, "classes", SupervisedCompleter().fit(X, y), np.random.default_rng(0))
    completions = [clone(member).fit(X, y * 1.0).completed_ for member in members]
    for scorer in (QueryByCommittee(members), CommitteeStability(members)):
        np.testing.assert_allclose(scorer.score(this_round), disagreement(X, completions), atol=1e-12)
    assert not any(hasattr(member, "completed_") for member in members)


def test_the_default_members_are_those_of_the_committee_completer():
    X, y = random_table(np.random.default_rng(0))
    alone = Round(X, y * 1.0, "classes", SupervisedCompleter().fit(X, y), np.random.default_rng(0))
    together = Round(X, y * 1.0, "classes", CommitteeCompleter().fit(X, y), np.random.default_rng(0))
    assert len({type(member) for member in default_members()}) == 3
    np.testing.assert_allclose(
        QueryByCommittee().score(alone), QueryByCommittee().score(together), rtol=1e-7, atol=1e-12
    )


def test_what_is_remembered_does_not_hang_on_the_committees_memory():
    X = np.array([[0.0], [1.0], [np.nan]])
    completions = np.where(np.isnan(X), 0.5, X) * np.ones((2, 1, 1))
    scorer = CommitteeStability(NEVER)
    this_round = told(X, completions=completions)
    scorer.score(this_round)
    completions[:, 2] = 0.75
    assert scorer.score(this_round)[2, 0] == pytest.approx(0.0625)


def test_refuses_what_makes_no_sense():
    for members in ([], [NNLSCompleter()], [NNLSCompleter, NNLSCompleter()], ["nnls", "lmafit"]):
        for scorer in (QueryByCommittee, CommitteeStability):
            with pytest.raises(ParameterError, match="members must be None or at least two completers"):
                scorer(members)
    X = np.array([[0.0, 1.0], [1.0, np.nan]])
    scorer = CommitteeStability()
    scorer.score(told(X, completions=np.zeros((3, 2, 2))))
    with pytest.raises(ParameterError, match="had 3 members in the last round and has 2"):
        scorer.score(told(X, completions=np.zeros((2, 2, 2))))
    with pytest.raises(DataError, match="rows may only be added"):
        scorer.score(told(X[:1], completions=np.zeros((3, 1, 2))))
    with pytest.raises(ParameterError, match="entries completions"):
        scorer.restore({"ring": 1})
