import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.complete.solver.linear_part import LabelledSums
from cellworth.complete.solver.losses import SquaredLoss
from cellworth.complete.solver.singular_value_thresholding import shrinkage
from cellworth.complete.solver.step import StepSums, land, sample_size, start, step

from .problems import make_rows, problems, random_model


def textbook_gradient(Z, rows, model):
    gradient = np.where(rows.observed, Z - rows.values, 0)
    m = len(rows.targets)
    gradient[:m] += model.weight * model.loss.gradient(model.scores(Z[:m]), rows.targets) @ model.coef.T
    return gradient


@given(problem=problems())
@settings(max_examples=80)
def test_a_step_is_the_textbook_iteration(problem):
    rows, model, penalty, rng = problem
    ahead = random_model(model.loss, *model.coef.shape, model.weight, rng)
    X, A = rng.normal(size=(2, *rows.values.shape))
    L, beta, m = 1.7, 0.4, len(rows.targets)
    P = shrinkage(A @ A.T if rows.wide else A.T @ A, penalty).operator
    X_new = P @ A if rows.wide else A @ P
    Z = X_new + beta * (X_new - X)
    A_new = Z - textbook_gradient(Z, rows, ahead) / L

    iterate, point = X.copy(), A.copy()
    before = rng.normal(size=(sample_size(len(X)), X.shape[1]))
    trail = before.copy()
    sums = step(iterate, point, trail, P, beta, L, rows, model, ahead)
    np.testing.assert_allclose(point, X_new, atol=1e-12)
    np.testing.assert_allclose(iterate, A_new, atol=1e-11)
    np.testing.assert_allclose(sums.gram, A_new @ A_new.T if rows.wide else A_new.T @ A_new, atol=1e-10)
    assert sums.misfit == pytest.approx(0.5 * ((X_new - rows.values)[rows.observed] ** 2).sum())
    assert sums.loss == pytest.approx(model.total_loss(X_new[:m], rows.targets))
    assert sums.change == pytest.approx(((X_new - X) ** 2).sum())
    np.testing.assert_allclose(trail, (X_new - X)[: len(trail)], atol=1e-12)
    assert sums.sampled == pytest.approx((trail**2).sum())
    assert sums.overlap == pytest.approx((trail * before).sum(), abs=1e-12)

    scores = ahead.scores(Z[:m])
    working = scores - ahead.loss.gradient(scores, rows.targets) / ahead.loss.curvature
    if rows.wide:
        np.testing.assert_allclose(sums.working, working, atol=1e-12)
    else:
        for got, expected in zip(sums.labelled_sums(m), LabelledSums.of(A_new[:m], working), strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-10)


@given(problem=problems())
@settings(max_examples=40)
def test_landing_is_the_first_half_of_a_step(problem):
    rows, model, penalty, rng = problem
    X, A = rng.normal(size=(2, *rows.values.shape))
    P = shrinkage(A @ A.T if rows.wide else A.T @ A, penalty).operator
    stepped, landed, before = A.copy(), A.copy(), X.copy()
    trail = np.zeros((sample_size(len(X)), X.shape[1]))
    whole = step(X.copy(), stepped, trail, P, 0.4, 1.7, rows, model, model)
    half = land(X, landed, P, rows, model)
    np.testing.assert_allclose(landed, stepped, atol=1e-12)
    assert (before == X).all()
    for name in ("misfit", "loss", "change"):
        assert getattr(half, name) == pytest.approx(getattr(whole, name), abs=1e-12)


@given(problem=problems())
@settings(max_examples=40)
def test_the_smooth_gradient_is_a_derivative(problem):
    """`start` writes X - grad g(X) / L; with L = 1 the difference to X is the gradient of g."""
    rows, model, _, rng = problem
    X = rng.normal(size=rows.values.shape)
    point = np.empty_like(X)
    start(X, point, 1.0, rows, model)
    direction = rng.normal(size=X.shape)

    def g(t):
        moved = X + t * direction
        loss = model.total_loss(moved[: len(rows.targets)], rows.targets)
        return 0.5 * ((moved - rows.values)[rows.observed] ** 2).sum() + loss

    h = 1e-6
    assert ((X - point) * direction).sum() == pytest.approx((g(h) - g(-h)) / (2 * h), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("labelled", [0.0, 0.5, 1.0])
def test_blocks_add_up_to_the_whole(labelled):
    """Also where the last block has fewer rows than columns, and where one block is part labelled."""
    n, d = 67, 20
    rng = np.random.default_rng(0)
    rows = make_rows(n, d, SquaredLoss(), 1, rng, labelled=labelled)
    model, ahead = (random_model(SquaredLoss(), d, 1, 0.3, rng) for _ in range(2))
    X, A = rng.normal(size=(2, n, d))
    P = shrinkage(A.T @ A, 1.0).operator
    whole, split = (X.copy(), A.copy(), np.zeros((n, d))), (X.copy(), A.copy(), np.zeros((n, d)))
    total = step(*whole, P, 0.3, 1.2, rows, model, ahead)
    parts = [
        step(*(array[block] for array in split), P, 0.3, 1.2, rows[block], model, ahead)
        for block in (slice(0, 25), slice(25, 64), slice(64, 67))
    ]
    np.testing.assert_allclose(split[0], whole[0], atol=1e-12)
    np.testing.assert_allclose(split[1], whole[1], atol=1e-12)
    for name in StepSums._fields:
        np.testing.assert_allclose(sum(getattr(p, name) for p in parts), getattr(total, name), atol=1e-10)
