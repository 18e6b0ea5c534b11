import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver.factors import factorise
from cellworth.complete.solver.losses import LogisticLoss, MultinomialLoss, SquaredHingeLoss, SquaredLoss
from cellworth.complete.solver.proximal_gradient import minimise
from cellworth.complete.solver.step import Rows, form
from cellworth.complete.solver.warm_start import _common_step, _newton_step, refresh
from tests.complete.low_rank_cases import threshold_by_svd

from .problems import make_rows, objective, problems, random_model

PENALTY = 0.5


def row_objective(L, R, rows, model):
    """Return the part of F, written with factors, that depends on the rows L."""
    X, m = L @ R, len(rows.targets)
    misfit = 0.5 * ((X - rows.values)[rows.observed] ** 2).sum()
    return misfit + PENALTY / 2 * (L**2).sum() + model.total_loss(X[:m], rows.targets)


@given(problem=problems(max_rows=12))
@settings(max_examples=60, deadline=None)
def test_the_step_of_a_row_lowers_the_objective_and_is_exact_for_squares(problem):
    rows, model, _, rng = problem
    R = rng.normal(size=(3, rows.values.shape[1]))
    L = rng.normal(size=(len(rows.values), 3))
    new = _newton_step(L, R, rows, model, PENALTY)
    here = row_objective(new, R, rows, model)
    assert here <= row_objective(L, R, rows, model) * (1 + 1e-12)
    if isinstance(model.loss, SquaredLoss):
        nearby = [row_objective(new + 1e-3 * rng.normal(size=new.shape), R, rows, model) for _ in range(5)]
        assert here <= min(nearby) + 1e-12


@pytest.mark.parametrize("rank", [3, 5])
def test_the_common_step_is_newtons_on_a_table_without_holes(rank):
    """There the answer is one thresholding; the step misses it by the square of the change."""
    rng = np.random.default_rng(rank)
    A = rng.normal(size=(30, rank)) @ rng.normal(size=(rank, 5))
    left, right = factorise(threshold_by_svd(A, PENALTY), rank)
    U = left / np.linalg.norm(left, axis=0)
    direction = rng.normal(size=(rank, 5))
    none = Rows(np.zeros((0, 5)), np.zeros((0, 5), dtype=bool), np.zeros((0, 1)), wide=False)
    misses = []
    for size in (1e-2, 1e-3):
        gradient = -left.T @ U @ direction * size
        step = _common_step(gradient, np.zeros((0, rank)), right, none, 1.0, PENALTY)
        answer = threshold_by_svd(A + size * U @ direction, PENALTY)
        misses.append(np.linalg.norm(left @ (right + step) - answer) / size)
    assert misses[0] < 0.1
    assert misses[1] < 0.15 * misses[0]


def refreshed(left, right, fresh, rows, model, penalty_before=None):
    """Return the table and the bound on its trace norm of `refresh`, and all of it."""
    changed = np.flatnonzero(fresh.any(axis=1))
    warm = refresh(left @ right, right, changed, fresh[changed], rows, model, PENALTY, penalty_before)
    return warm.table(rows.values.dtype), warm.trace_norm, warm


def fitted(rows, model, tol=1e-7):
    """Return balanced factors, and the model, of the solved problem."""
    X = np.where(rows.observed, rows.values, 0.0)
    done = minimise(
        X,
        model,
        rows,
        trace_penalty=PENALTY,
        trace_norm=np.linalg.svd(X, compute_uv=False).sum(),
        tol=tol,
        max_iter=20_000,
        blocks=RowBlocks(X.shape, 8, None),
    )
    return factorise(done.iterate, len(done.singular_values)), done.model


def answer(rows, n_answers, rng):
    """Return the rows after some of their holes became known, and which cells those are."""
    fresh = np.zeros(rows.observed.shape, dtype=bool)
    fresh.flat[rng.choice(np.flatnonzero(~rows.observed), n_answers, replace=False)] = True
    values = np.where(fresh, rng.normal(size=fresh.shape), rows.values)
    return Rows(values, rows.observed | fresh, rows.targets, rows.wide), fresh


@pytest.mark.slow
@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), SquaredHingeLoss(), MultinomialLoss()])
@pytest.mark.parametrize(("n", "d", "labelled"), [(400, 8, 1.0), (400, 8, 0.5), (40, 60, 0.6), (300, 6, 0.0)])
def test_most_of_the_way_is_behind_us(loss, n, d, labelled):
    """The start is far nearer to the end than the last fit is, in the objective."""
    rng = np.random.default_rng(n)
    outputs = 3 if isinstance(loss, MultinomialLoss) else 1
    rows = make_rows(n, d, loss, outputs, rng, labelled=labelled)
    (left, right), model = fitted(rows, random_model(loss, d, outputs, 1 / n, rng))
    rows, fresh = answer(rows, 4, rng)
    copies = left.copy(), right.copy()
    first, bound, _ = refreshed(left, right, fresh, rows, model)
    assert (left == copies[0]).all()
    assert (right == copies[1]).all()
    assert bound >= np.linalg.svd(first, compute_uv=False).sum() * (1 - 1e-12)
    (L, R), last = fitted(rows, model)
    end = objective(L @ R, rows, last, PENALTY)
    gaps = [objective(X, rows, model, PENALTY) - end for X in (left @ right, first)]
    # Measured: 0.004 to 0.022 of the way are left, and 0.2 to 0.3 where 4 of 40 rows changed.
    assert gaps[1] < (0.05 if n > d else 0.5) * gaps[0]


def test_nothing_new_and_too_much_new_give_the_last_table():
    rng = np.random.default_rng(1)
    rows = make_rows(50, 6, SquaredLoss(), 1, rng)
    model = random_model(SquaredLoss(), 6, 1, 0.02, rng)
    left, right = factorise(rng.normal(size=(50, 6)), 6)
    none = np.zeros(rows.observed.shape, dtype=bool)
    for fresh in (none, rows.observed):
        first, bound, _ = refreshed(left, right, fresh, rows, model)
        np.testing.assert_array_equal(first, left @ right)
        assert bound == pytest.approx(np.linalg.svd(first, compute_uv=False).sum())


def test_a_table_of_rank_0_stays_0():
    rng = np.random.default_rng(2)
    rows = make_rows(50, 6, SquaredLoss(), 1, rng)
    fresh = np.zeros(rows.observed.shape, dtype=bool)
    fresh[3] = rows.observed[3]
    model = random_model(SquaredLoss(), 6, 1, 0.02, rng)
    first, bound, _ = refreshed(np.zeros((50, 0)), np.zeros((0, 6)), fresh, rows, model)
    assert (first == 0).all()
    assert bound == 0


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), MultinomialLoss()])
@pytest.mark.parametrize("labelled", [0.0, 0.5, 1.0])
def test_a_start_with_the_predicted_shape_is_nearer_and_its_norm_is_bounded(loss, labelled):
    rng = np.random.default_rng(3)
    n, d, outputs = 3000, 8, 3 if isinstance(loss, MultinomialLoss) else 1
    rows = make_rows(n, d, loss, outputs, rng, labelled=labelled)
    (left, right), model = fitted(rows, random_model(loss, d, outputs, 1 / n, rng))
    rows, fresh = answer(rows, 20, rng)
    plain, bound, warm = refreshed(left, right, fresh, rows, model, PENALTY)
    assert warm.near.steps > 0
    first = np.empty_like(plain)
    pull = form(first, warm.near, model.lipschitz(), rows, model)
    norms = [np.linalg.svd(X, compute_uv=False).sum() for X in (plain, first)]
    assert norms[0] <= bound * (1 + 1e-12)
    # The bound is a variational one: it holds for every predicted shape, and is tight at the true one.
    assert norms[1] <= warm.trace_norm_after(pull) * (1 + 1e-12)
    assert warm.trace_norm_after(pull) <= norms[1] * (1 + 1e-4)
    (L, R), last = fitted(rows, model, tol=1e-9)
    end = objective(L @ R, rows, last, PENALTY)
    gaps = [objective(X, rows, model, PENALTY) - end for X in (plain, first)]
    assert gaps[1] < gaps[0]
