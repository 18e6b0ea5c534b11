"""What the completers without labels share: factors in one form, rows from one of them, and the rank."""

import numpy as np
import pytest
from sklearn.base import clone

from cellworth.complete.factored_completer import (
    check_rank,
    choose_rank,
    generator_of,
    mean_square,
    normalise,
    shrink_rows,
)
from cellworth.complete.hold_out import HeldOut
from cellworth.complete.lmafit import LMaFitCompleter
from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.optspace import OptSpaceCompleter
from cellworth.complete.soft_impute import SoftImputeCompleter
from cellworth.complete.solver.factors import Factors
from cellworth.errors import ParameterError
from cellworth.testing import check_completer
from tests.complete.low_rank_cases import check_sensible_on_awkward_tables, fold_one_row
from tests.complete.scikit_learn import check_with_scikit_learn

COMPLETERS = [
    LMaFitCompleter(),
    LMaFitCompleter(scale="minmax"),
    LMaFitCompleter(rank_strategy="decrease"),
    LMaFitCompleter(rank=2, rank_strategy="fixed"),
    LMaFitCompleter(ridge=0.01),
    NNLSCompleter(),
    NNLSCompleter(scale="minmax"),
    NNLSCompleter(trace_penalty=0.5),
    NNLSCompleter(trace_penalty=0.1, penalty_unit="relative", truncate=False),
    NNLSCompleter(rank=2),
    OptSpaceCompleter(),
    OptSpaceCompleter(scale="minmax"),
    OptSpaceCompleter(rank="spectrum"),
    OptSpaceCompleter(rank=3),
    OptSpaceCompleter(ridge=0.01),
    OptSpaceCompleter(incoherence=0.1),
    SoftImputeCompleter(),
    SoftImputeCompleter(scale="minmax"),
    SoftImputeCompleter(trace_penalty=0.5),
    SoftImputeCompleter(trace_penalty=0.1, penalty_unit="relative"),
    SoftImputeCompleter(rank=2),
    SoftImputeCompleter(trace_penalty=0.0),
]
WITHOUT_RIDGE = [LMaFitCompleter(ridge=0.0), OptSpaceCompleter(ridge=0.0)]
EACH_AS_IT_COMES = [LMaFitCompleter(), NNLSCompleter(), OptSpaceCompleter(), SoftImputeCompleter()]


def first_of_each_quick(completers, quick):
    """Return parameters of a test: slow but for these completers as they come."""
    as_they_come = {repr(kind()) for kind in quick}
    return [
        pytest.param(each, id=repr(each), marks=[] if repr(each) in as_they_come else pytest.mark.slow)
        for each in completers
    ]


@pytest.mark.parametrize(
    "completer", first_of_each_quick([*COMPLETERS, *WITHOUT_RIDGE], (LMaFitCompleter, NNLSCompleter))
)
def test_keeps_the_contract_of_completers(completer):
    check_completer(completer)


@pytest.mark.parametrize("completer", first_of_each_quick(EACH_AS_IT_COMES, (LMaFitCompleter, NNLSCompleter)))
def test_without_scaling_keeps_the_contract_but_for_units(completer):
    check_completer(clone(completer).set_params(scale=None), unit_free=False)


@pytest.mark.parametrize("completer", first_of_each_quick(EACH_AS_IT_COMES, (LMaFitCompleter, NNLSCompleter)))
def test_passes_every_check_of_scikit_learn(completer):
    check_with_scikit_learn(completer)


@pytest.mark.parametrize(
    "completer",
    first_of_each_quick(COMPLETERS, (LMaFitCompleter, NNLSCompleter, SoftImputeCompleter)),
)
def test_is_sensible_on_awkward_tables(completer):
    check_sensible_on_awkward_tables(completer)


def low_rank(rng, n, d, rank):
    return rng.normal(size=(n, rank)), rng.normal(size=(rank, d))


def test_normalised_factors_are_of_the_same_table():
    left, right = low_rank(np.random.default_rng(0), 40, 7, 3)
    table = left @ right
    rows, basis = normalise(Factors(left, right), float(np.mean(table**2)))
    np.testing.assert_allclose(rows @ basis, table, atol=1e-10)
    np.testing.assert_allclose(np.mean(rows**2, axis=0), 1)
    products = basis @ basis.T
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-10)


def test_with_a_ridge_rows_are_estimated_anew_and_without_they_stay():
    rng = np.random.default_rng(1)
    left, right = low_rank(rng, 30, 6, 2)
    observed = rng.random((30, 6)) < 0.7
    values = np.where(observed, left @ right, 0.0)
    same, shrunk = Factors(left, right), Factors(left, right)
    shrink_rows(same, values, observed, 0.0)
    np.testing.assert_allclose(same.left @ same.right, left @ right, atol=1e-10)
    shrink_rows(shrunk, values, observed, 0.5)
    estimate = shrunk.left @ shrunk.right
    for i in range(30):
        row = fold_one_row(np.where(observed[i], values[i], np.nan), shrunk.right, 0.5)
        np.testing.assert_allclose(estimate[i][~observed[i]], row[~observed[i]], atol=1e-8)


def test_the_rank_that_fills_hidden_cells_best_is_chosen():
    rng = np.random.default_rng(2)
    left, right = low_rank(rng, 200, 12, 3)
    table = left @ right
    hidden = rng.random(table.shape) < 0.1
    held = HeldOut(np.where(hidden, 0.0, table), ~hidden, hidden, table[hidden])
    U, s, Vt = np.linalg.svd(table + 0.01 * rng.normal(size=table.shape), full_matrices=False)
    path = (Factors(U[:, :r] * s[:r], Vt[:r]) for r in range(1, 9))
    assert choose_rank(held, path, None).rank == 3


def test_the_mean_square_is_over_observed_cells():
    observed = np.array([[True, False], [True, True]])
    assert mean_square(np.array([[3.0, 0.0], [0.0, 3.0]]), observed) == 6.0
    assert mean_square(np.zeros((2, 2)), observed) == 1.0


def test_a_seed_draws_other_numbers_than_the_users_own_generator():
    own = np.random.default_rng(0)
    assert generator_of(own) is own
    first, again = generator_of(0).random(5), generator_of(0).random(5)
    assert (first == again).all()
    assert not (first == np.random.default_rng(0).random(5)).any()
    assert not (first == generator_of(0, key=2).random(5)).any()


@pytest.mark.parametrize("rank", [0, -1, 1.5, True, "3"])
def test_a_rank_that_makes_no_sense_is_refused(rank):
    with pytest.raises(ParameterError, match="rank must be None or a whole number of at least 1"):
        check_rank(rank)
    check_rank(None)
    check_rank(np.int64(3))
