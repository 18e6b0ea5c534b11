import numpy as np
import pytest
from sklearn.base import clone

from cellworth.complete import NNLSCompleter, SoftImputeCompleter, SupervisedCompleter
from cellworth.complete.committee_completer import CommitteeCompleter, default_members
from cellworth.datasets import load
from cellworth.errors import ParameterError
from cellworth.testing import check_completer
from cellworth.testing.completer_contract import random_table
from studies.protocol import make_trial, reconstruction_error
from tests.complete.low_rank_cases import check_sensible_on_awkward_tables
from tests.complete.scikit_learn import check_with_scikit_learn

PAIR = [NNLSCompleter(trace_penalty=1.0), SupervisedCompleter(tol=1e-3)]


@pytest.mark.parametrize("members", [None, PAIR], ids=["default", "a pair"])
def test_keeps_the_contract_of_completers(members):
    check_completer(CommitteeCompleter(members))


def test_passes_every_check_of_scikit_learn():
    check_with_scikit_learn(CommitteeCompleter())


def test_is_sensible_on_awkward_tables():
    check_sensible_on_awkward_tables(CommitteeCompleter())


def test_says_the_mean_of_its_members_and_what_each_says():
    X, y = random_table(np.random.default_rng(0))
    new, _ = random_table(np.random.default_rng(1), n=9)
    committee = CommitteeCompleter(PAIR).fit(X, y)
    alone = [clone(member).fit(X, y) for member in PAIR]
    assert committee.completions_.shape == (2, *X.shape)
    for completion, member in zip(committee.completions_, alone, strict=True):
        np.testing.assert_allclose(completion, member.completed_, rtol=1e-9)
    np.testing.assert_allclose(committee.completed_, (alone[0].completed_ + alone[1].completed_) / 2)
    expected = (alone[0].transform(new) + alone[1].transform(new)) / 2
    np.testing.assert_allclose(committee.transform(new), expected, rtol=1e-9)
    assert not any(hasattr(member, "completed_") for member in PAIR)


def test_members_that_agree_leave_observed_cells_to_the_bit():
    """The mean of three equal numbers need not be that number."""
    X, _ = random_table(np.random.default_rng(0))
    committee = CommitteeCompleter([SoftImputeCompleter(trace_penalty=1.0)] * 3).fit(X)
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(committee.completed_[seen], X[seen])


def test_default_members_go_about_it_differently_and_ignore_labels():
    X, y = random_table(np.random.default_rng(0))
    assert len({type(member) for member in default_members()}) == 3
    with_labels, without = CommitteeCompleter().fit(X, y), CommitteeCompleter().fit(X)
    np.testing.assert_allclose(with_labels.completions_, without.completions_, rtol=1e-9)
    spread = with_labels.completions_.std(axis=0)[np.isnan(X)]
    assert (spread > 0).all()


@pytest.mark.parametrize("share", [0.6, 0.2])
def test_each_default_member_beats_column_means_on_two_of_the_papers_tables(paper_folder, share):
    for name in ("abalone", "image"):
        trial = make_trial(load(name, paper_folder), share, 0)
        committee = CommitteeCompleter().fit(trial.holed)
        errors = [reconstruction_error(one, trial.truth) for one in committee.completions_]
        means = np.where(np.isnan(trial.holed), np.nanmean(trial.holed, axis=0), trial.holed)
        # Measured: 0.33 to 0.63 of the error of column means at 60 %, 0.60 to 0.83 at 20 %.
        assert max(errors) < 0.9 * reconstruction_error(means, trial.truth)
        # A mean is no worse than the mean of its parts: the error is a norm.
        assert reconstruction_error(committee.completed_, trial.truth) <= np.mean(errors) + 1e-12


@pytest.mark.parametrize("members", [[], [NNLSCompleter()], [NNLSCompleter, NNLSCompleter()], ["nnls", "x"]])
def test_refuses_what_is_no_committee(members):
    with pytest.raises(ParameterError, match="members must be None or at least two completers"):
        CommitteeCompleter(members).fit(np.eye(3))
