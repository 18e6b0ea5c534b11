import pytest

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.complete.committee_completer import CommitteeCompleter
from cellworth.score import (
    CommitteeStability,
    ExpectedUtility,
    PosteriorImpact,
    PosteriorVariance,
    QueryByCommittee,
    Random,
    Variance,
)
from cellworth.testing.scorer_contract import check_scorer

SCORERS = [
    Variance(),
    Variance(window=2),
    Variance(window=4),
    Variance(window=20),
    Random(),
    PosteriorVariance(),
    PosteriorImpact(),
    PosteriorImpact(power=1.0),
    ExpectedUtility(),
    ExpectedUtility(draws=3),
    QueryByCommittee(),
    CommitteeStability(),
]


@pytest.mark.parametrize("scorer", SCORERS, ids=str)
def test_keeps_the_contract_of_scorers(scorer):
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
