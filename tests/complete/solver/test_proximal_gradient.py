import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cellworth.blocks import thread_engine as blocks_module
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.solver.as_published import minimise_by_search
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.losses import LogisticLoss, MultinomialLoss, SquaredHingeLoss, SquaredLoss
from cellworth.complete.solver.proximal_gradient import minimise, next_theta

from .problems import blank, make_rows, objective, problems, random_model, solve

BOTH = pytest.mark.parametrize("method", [minimise, minimise_by_search])


def best_by_cvxpy(rows, model, penalty):
    """Return the least F over all tables for this model, by an interior point method."""
    X = cp.Variable(rows.values.shape)
    misfit = 0.5 * cp.sum_squares(cp.multiply(rows.observed.astype(float), X - rows.values))
    Y, m = rows.targets, len(rows.targets)
    loss = 0.0
    if m:
        scores = X[:m] @ model.coef + np.ones((m, 1)) @ model.intercept[None]
        margins = cp.multiply(Y, scores)
        loss = {
            SquaredLoss: lambda: cp.sum_squares(scores - Y),
            LogisticLoss: lambda: cp.sum(cp.logistic(-margins)),
            SquaredHingeLoss: lambda: cp.sum_squares(cp.pos(1 - margins)),
            MultinomialLoss: lambda: cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(margins),
        }[type(model.loss)]()
    problem = cp.Problem(cp.Minimize(misfit + penalty * cp.normNuc(X) + model.weight * loss))
    return problem.solve(solver=cp.CLARABEL) + model.penalty()


@pytest.mark.slow
@BOTH
@given(problem=problems(max_rows=8, max_columns=5))
@settings(max_examples=40)
def test_the_completion_step_reaches_the_optimum_that_cvxpy_finds(problem, method):
    rows, model, penalty, _ = problem
    done = solve(rows, model, penalty, method, hold_model=True)
    found, best = objective(done.iterate, rows, model, penalty), best_by_cvxpy(rows, model, penalty)
    assert (done.model.coef == model.coef).all()
    assert abs(found - best) <= 1e-5 * max(abs(best), 1e-3)


@pytest.mark.slow
@given(problem=problems(max_rows=20, labelled=st.floats(0.5, 1.0)))
@settings(max_examples=15)
def test_the_end_is_the_best_table_for_its_model_and_the_best_model_for_its_table(problem):
    rows, model, penalty, _ = problem
    # With one class only, the best intercept of a logarithmic loss is infinite: there is no end to test.
    assume(len(rows.targets) and (np.ptp(rows.targets, axis=0) > 0).all())
    done = solve(rows, model, penalty)
    here = done.objective[-1]
    other_table = solve(rows, done.model, penalty, hold_model=True)
    assert here <= other_table.objective[-1] + 1e-5 * abs(here)
    perturbed = [
        LinearPart(model.loss, model.weight, model.ridge, done.model.coef + h * e, done.model.intercept)
        for h in (-1e-3, 1e-3)
        for e in np.eye(model.coef.size).reshape(-1, *model.coef.shape)
    ]
    assert here <= min(objective(done.iterate, rows, m, penalty) for m in perturbed) + 1e-7 * (1 + abs(here))


@given(theta=st.floats(1e-6, 1.0))
def test_theta_solves_its_equation(theta):
    t = next_theta(theta)
    assert 0 < t < theta
    assert t**2 == pytest.approx(theta**2 * (1 - t), rel=1e-6)


def test_without_a_ridge_the_loss_could_be_driven_to_nothing():
    """The reason for the ridge: a faint column that carries the labels, read with a large coefficient."""
    rng = np.random.default_rng(0)
    rows = make_rows(30, 6, SquaredLoss(), 1, rng, observed=0.5)
    done = solve(rows, blank(SquaredLoss(), 6, 1, 1.0), 0.1)
    u = np.linalg.svd(done.iterate)[2][-1]
    X = done.iterate - np.outer(done.iterate @ u, u)  # leave the direction u to the labels
    at_scale = []
    for epsilon in (1e-2, 1e-4, 1e-6):
        faint = LinearPart(SquaredLoss(), 1.0, 0.01, (u / epsilon)[:, None], np.zeros(1))
        total = objective(X + epsilon * np.outer(rows.targets[:, 0], u), rows, faint, 0.1)
        assert faint.total_loss(X + epsilon * np.outer(rows.targets[:, 0], u), rows.targets) < 1e-6
        at_scale.append((total - faint.penalty(), total))
    without_ridge, with_ridge = zip(*at_scale, strict=True)
    assert without_ridge[0] > without_ridge[1] > without_ridge[2]
    assert with_ridge[0] < with_ridge[1] < with_ridge[2]


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), SquaredHingeLoss()])
def test_heavy_labels_need_no_thousands_of_rounds(loss):
    """Completing to convergence between two fits needs over 10,000 iterations here."""
    rng = np.random.default_rng(1)
    rows = make_rows(200, 7, loss, 1, rng)
    done = solve(rows, blank(loss, 7, 1, 50 / 200, ridge=1e-3), 1.0, tol=1e-5, max_iter=2000)
    assert done.converged


def test_momentum_pays():
    """The accelerated method is far ahead of its own first step repeated twice as often."""
    rng = np.random.default_rng(3)
    rows = make_rows(200, 12, SquaredLoss(), 1, rng, observed=0.4)
    model = random_model(SquaredLoss(), 12, 1, 0.005, rng)
    fast = solve(rows, model, 0.1, tol=1e-7)
    X, slow = None, model
    for _ in range(2 * fast.n_iter):
        done = solve(rows, slow, 0.1, first=X, tol=0, max_iter=1)
        X, slow = done.iterate, done.model
    assert done.objective[-1] > fast.objective[-1] * (1 + 1e-6)


@pytest.mark.parametrize("labelled", [0.7, 1.0])
def test_threads_give_the_same_bits(labelled, monkeypatch):
    monkeypatch.setattr(blocks_module, "MIN_ROWS", 64)
    monkeypatch.setattr(blocks_module, "BLOCK_BYTES", 2000)
    rng = np.random.default_rng(1)
    rows = make_rows(1000, 8, SquaredLoss(), 1, rng, labelled=labelled)
    results = []
    for n_threads in (1, 2, 3):
        with ThreadEngine(n_threads) as engine:
            results.append(solve(rows, blank(SquaredLoss(), 8, 1, 1e-3), 1.0, engine=engine, tol=1e-6))
    assert all((r.iterate == results[0].iterate).all() for r in results)
    assert all(r.objective == results[0].objective for r in results)


def test_a_start_in_single_precision_ends_at_the_same_solution():
    """Strongly convex enough at this penalty: both are within rounding of the one solution."""
    rng = np.random.default_rng(4)
    rows = make_rows(900, 8, SquaredLoss(), 1, rng)
    model = blank(SquaredLoss(), 8, 1, 1 / 900)
    double = solve(rows, model, 1.0, tol=1e-12)
    mixed = solve(rows, model, 1.0, tol=1e-12, single=True)
    assert mixed.iterate.dtype == np.float64
    assert mixed.converged
    np.testing.assert_allclose(mixed.iterate, double.iterate, rtol=0, atol=1e-10)
    assert mixed.n_iter <= double.n_iter + 5
