import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from cellworth.complete.solver.linear_part import LabelledSums, LinearPart, fit_linear_part
from cellworth.complete.solver.losses import LogisticLoss, MultinomialLoss, SquaredHingeLoss, SquaredLoss
from cellworth.complete.solver.step import start

from .problems import LOSSES, make_rows, problems, random_model

SOME_LABELS = st.floats(0.5, 1.0)


def penalised(model, X, targets):
    return model.total_loss(X, targets) + model.penalty()


def refit(model, X, targets):
    scores = model.scores(X)
    working = scores - model.loss.gradient(scores, targets) / model.loss.curvature
    return fit_linear_part(model, LabelledSums.of(X, working))


def best_by_cvxpy(model, X, targets):
    W, b = cp.Variable(model.coef.shape), cp.Variable((1, len(model.intercept)))
    scores = X @ W + np.ones((len(X), 1)) @ b
    margins = cp.multiply(targets, scores)
    per_row = {
        SquaredLoss: lambda: cp.sum(cp.square(scores - targets), axis=1),
        LogisticLoss: lambda: cp.sum(cp.logistic(-margins), axis=1),
        SquaredHingeLoss: lambda: cp.sum(cp.square(cp.pos(1 - margins)), axis=1),
        MultinomialLoss: lambda: cp.log_sum_exp(scores, axis=1) - cp.sum(margins, axis=1),
    }[type(model.loss)]()
    loss = model.weight * cp.sum(per_row) + model.ridge / 2 * cp.sum_squares(W)
    return cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)


@pytest.mark.slow
@given(
    loss_and_outputs=st.sampled_from(LOSSES),
    ridge=st.sampled_from([0.01, 0.1]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=20)
def test_repeated_fits_reach_the_optimum_that_cvxpy_finds(loss_and_outputs, ridge, seed):
    loss, n_outputs = loss_and_outputs
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4))
    classes = np.arange(12) % max(2, n_outputs)  # all present, so that the best intercept is finite
    one_hot = (classes[:, None] == np.arange(max(2, n_outputs))).astype(float)[:, -n_outputs:]
    targets = one_hot if loss.coding == "one-hot" else 2 * one_hot - 1
    model = random_model(loss, 4, n_outputs, 1 / 12, rng, ridge=ridge)
    for _ in range(2000):
        model, _ = refit(model, X, targets)
    best = best_by_cvxpy(model, X, targets)
    assert penalised(model, X, targets) <= best * (1 + 1e-5)


@given(problem=problems(labelled=SOME_LABELS))
@settings(max_examples=60)
def test_a_fit_lowers_the_loss_by_at_least_half_the_squared_move(problem):
    rows, model, _, rng = problem
    X = 3 * rng.normal(size=rows.values.shape)[: len(rows.targets)]
    fitted, move = refit(model, X, rows.targets)
    before, after = penalised(model, X, rows.targets), penalised(fitted, X, rows.targets)
    # The intercept's share of the fall comes on top of what the move of W accounts for.
    assert after <= before - move**2 / 2 + 1e-9 * (1 + before)


def test_squared_loss_equals_ridge_regression_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=(50, 1))
    fitted, _ = refit(LinearPart(SquaredLoss(), 0.02, 0.3, np.zeros((4, 1)), np.zeros(1)), X, y)
    # weight * sum (s - y)^2 + ridge/2 ||W||^2 is scikit-learn's objective with alpha = ridge / (2 weight).
    peer = Ridge(alpha=0.3 / (2 * 0.02)).fit(X, y[:, 0])
    np.testing.assert_allclose(fitted.coef[:, 0], peer.coef_, rtol=1e-9)
    assert fitted.intercept[0] == pytest.approx(peer.intercept_)


def test_labelled_sums_follow_the_table_through_an_operator():
    rng = np.random.default_rng(1)
    X, t = rng.normal(size=(30, 5)), rng.normal(size=(30, 2))
    P = rng.normal(size=(5, 5))
    P = P + P.T
    for got, expected in zip(LabelledSums.of(X, t).after(P), LabelledSums.of(X @ P, t), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-10)


@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_lipschitz_constant_bounds_the_gradient(problem, seed):
    rows, model, _, _ = problem
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(2, *rows.values.shape))
    points = [np.empty_like(X), np.empty_like(X)]
    for table, point in zip((X, Y), points, strict=True):
        start(table, point, 1.0, rows, model)
    gradient_change = (X - points[0]) - (Y - points[1])
    assert np.linalg.norm(gradient_change) <= model.lipschitz() * np.linalg.norm(X - Y) * (1 + 1e-9)


def test_lipschitz_constant_is_reached_by_the_squared_loss():
    """For a quadratic the bound is the Hessian's largest eigenvalue where all cells are observed."""
    rng = np.random.default_rng(0)
    model = random_model(SquaredLoss(), 4, 2, 0.7, rng)
    rows = make_rows(5, 4, SquaredLoss(), 2, rng, observed=1.1)
    row_hessian = np.eye(4) + 2 * model.weight * model.coef @ model.coef.T
    assert rows.observed.all()
    assert model.lipschitz() == pytest.approx(np.linalg.eigvalsh(row_hessian).max())
