"""What a round tells its scorer, and what every scorer promises."""

import numpy as np
import pytest

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.complete.committee_completer import CommitteeCompleter
from cellworth.errors import ParameterError
from cellworth.score import (
    PosteriorImpact,
    PosteriorVariance,
    Random,
    Variance,
)
from cellworth.score.committee_scorers import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.score.scorer import check_whole_number
from cellworth.testing.scorer_contract import check_scorer
from tests.conftest import first_quick
from tests.score.rounds import squared_ranges, told

SCORERS = [
    Variance(),
    Variance(window=2),
    Random(),
    PosteriorVariance(),
    PosteriorImpact(),
    ExpectedUtility(draws=3),
    QueryByCommittee(),
    CommitteeStability(),
]
OTHER_SETTINGS = [Variance(window=4), Variance(window=20), PosteriorImpact(power=1.0), ExpectedUtility()]


@pytest.mark.parametrize("scorer", first_quick(SCORERS))
def test_keeps_the_contract_of_scorers(scorer):
    check_scorer(scorer)


@pytest.mark.slow
@pytest.mark.parametrize("scorer", OTHER_SETTINGS, ids=str)
def test_keeps_it_with_other_settings(scorer):
    check_scorer(scorer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scorer", "completer"),
    [
        (Variance(), SupervisedCompleter(tol=1e-3)),
        (Variance(window=3), CommitteeCompleter()),
        (QueryByCommittee(), CommitteeCompleter()),
        (CommitteeStability(), CommitteeCompleter()),
        (PosteriorImpact(), GaussianCompleter(margins="rank", label_trust=0.5)),
    ],
    ids=str,
)
def test_keeps_it_with_other_completers(scorer, completer):
    check_scorer(scorer, completer, seed=1)


def test_a_round_tells_holes_ranges_and_variances_of_its_columns():
    X = np.array([[0.0, 5.0], [4.0, np.nan], [np.nan, 5.0]])
    this_round = told(X, completed=1.0)
    assert this_round.holes.tolist() == [[False, False], [False, True], [True, False]]
    np.testing.assert_array_equal(this_round.completed, [[0.0, 5.0], [4.0, 1.0], [1.0, 5.0]])
    np.testing.assert_array_equal(this_round.squared_ranges, squared_ranges(X))
    np.testing.assert_allclose(this_round.column_variances, [4.0, 1.0])  # a constant column counts as 1


@pytest.mark.parametrize("value", [1, 0, 2.5, True, "3"])
def test_a_whole_number_that_is_none_is_refused_by_name(value):
    with pytest.raises(ParameterError, match="window must be None or a whole number of at least 2"):
        check_whole_number("window", value, 2, or_none=True)
    check_whole_number("window", None, 2, or_none=True)
    check_whole_number("window", np.int64(2), 2)
