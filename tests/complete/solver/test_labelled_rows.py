"""Rows with labels of any loss: their scores and sums against a general optimiser, row by row."""

import numpy as np
import pytest
from scipy.optimize import minimize

from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.labelled_rows import best_scores, labelled_step
from tests.complete.solver.loss_contract import random_targets

from .problems import LOSSES, random_model

WEIGHTS = [1e-7, 0.1, 30.0]


def solved(function, size):
    """Return the minimum of a smooth convex function, which gives value and slope."""
    return minimize(function, np.zeros(size), jac=True, method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES)
def test_scores_are_the_best(loss, n_outputs, weight):
    rng = np.random.default_rng(0)
    n, model = 30, random_model(loss, 1, n_outputs, weight, rng)
    root = rng.normal(size=(n, n_outputs, n_outputs))
    V, m = root @ root.transpose(0, 2, 1), 3 * rng.normal(size=(n, n_outputs))
    targets = random_targets(loss, n, n_outputs, rng)
    found = best_scores(m, V, targets, model)
    # At the minimum the pull of the label is that of the Gaussian.
    np.testing.assert_allclose(
        found, m - weight * (V @ loss.gradient(found, targets)[:, :, None])[:, :, 0], atol=1e-9
    )


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 1.0])
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES)
def test_the_sums_are_those_of_rows_solved_one_by_one(loss, n_outputs, weight, share, dtype):
    rng = np.random.default_rng(1)
    n, d = 23, 5
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random(X.shape) >= share] = np.nan
    X[7:11] = X[6]  # rows with one pattern
    scaling = Scaling(rng.normal(size=d), 1 + rng.random(d))
    model = random_model(loss, d, n_outputs, weight, rng)
    targets = random_targets(loss, n, n_outputs, rng)
    root = rng.normal(size=(d, d))
    S, W = root @ root.T + 0.3 * np.eye(d), model.coef
    inverse, both = np.linalg.inv(S), np.hstack([np.eye(d), W])
    noise = np.r_[np.ones(d), np.full(n_outputs, 1 / (loss.curvature * weight))]
    covariance = both.T @ S @ both + np.diag(noise)

    rows, value = np.zeros((n, d + n_outputs)), 0.0
    for i, x in enumerate((X - scaling.offset) / scaling.width):
        seen, label = ~np.isnan(x), targets[i : i + 1]

        def of_row(z, x=np.where(seen, x, 0), seen=seen, label=label):  # noqa: B008
            off, scores = (z - x) * seen, (z @ W + model.intercept)[None]
            slope = off + inverse @ z + weight * W @ loss.gradient(scores, label)[0]
            return 0.5 * off @ off + 0.5 * z @ inverse @ z + weight * loss.value(scores, label)[0], slope

        z = solved(of_row, d)
        value += of_row(z)[0]
        scores = (z @ W + model.intercept)[None]
        working = (scores - loss.gradient(scores, label) / loss.curvature)[0]
        rows[i] = np.r_[np.where(seen, x, z), working - model.intercept]
    found = labelled_step(covariance, model, X, targets, scaling)
    # The optimiser stops at slopes of 1e-9, some 1e-7 from the minimum where a row is weakly determined.
    np.testing.assert_allclose(found.first, rows.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.second, rows.T @ rows, atol=1e-4)
    squared = 0.5 * np.vdot(np.linalg.inv(covariance), found.second)
    assert squared + found.excess == pytest.approx(value, rel=1e-9)
