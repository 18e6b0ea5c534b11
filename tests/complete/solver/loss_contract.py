"""The contract of a loss: value, gradient and curvature belong together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.losses import Loss

Array = NDArray[np.float64]

STEP = 1e-6  # of the finite differences; their error is then about 1e-9 for slopes of order one


def check_loss(loss: Loss, *, n_outputs: int = 1, seed: int = 0) -> None:
    """Check a loss against finite differences of itself, at random scores.

    The promises: one finite, non-negative value per row; rows do not touch each other; the gradient is
    the derivative of the value, and the Hessian that of the gradient; no eigenvalue of the Hessian is
    negative (the loss is convex) or above ``curvature``; inputs are left alone.

    Parameters
    ----------
    loss : Loss
    n_outputs : int
        Scores per row.
    seed : int
    """
    rng = np.random.default_rng(seed)
    n = 40
    scores = rng.normal(scale=3, size=(n, n_outputs))
    targets = random_targets(loss, n, n_outputs, rng)
    before = scores.copy(), targets.copy()
    value, gradient = loss.value(scores, targets), loss.gradient(scores, targets)
    assert value.shape == (n,), f"value must have shape ({n},), one loss per row; got {value.shape}"
    assert gradient.shape == scores.shape, f"gradient must have shape {scores.shape}; got {gradient.shape}"
    assert np.isfinite(value).all(), "value must be finite"
    assert (value >= 0).all(), "value must not be negative"
    assert (scores == before[0]).all(), "value and gradient must not change the scores"
    assert (targets == before[1]).all(), "value and gradient must not change the targets"
    alone = loss.value(scores[:1], targets[:1])
    np.testing.assert_allclose(alone, value[:1], err_msg="a row's loss must not depend on other rows")
    np.testing.assert_allclose(
        gradient,
        _numeric_gradient(loss, scores, targets),
        atol=1e-6,
        err_msg="gradient must be the derivative of value",
    )
    hessians = _numeric_hessians(loss, scores, targets)
    np.testing.assert_allclose(
        loss.hessian(scores, targets), hessians, atol=1e-5, err_msg="hessian must be that of value"
    )
    eigenvalues = np.linalg.eigvalsh(hessians)
    assert eigenvalues.max() <= loss.curvature + 1e-5, (
        f"curvature {loss.curvature} must bound the Hessian's eigenvalues; found {eigenvalues.max():.6f}"
    )
    assert eigenvalues.min() >= -1e-5, f"the loss must be convex; found eigenvalue {eigenvalues.min():.2g}"


def random_targets(loss: Loss, n: int, n_outputs: int, rng: np.random.Generator) -> Array:
    """Return random class targets in the coding of the loss, (n, n_outputs)."""
    if loss.coding == "one-hot":
        return np.eye(n_outputs)[rng.integers(n_outputs, size=n)]
    return rng.choice([-1.0, 1.0], size=(n, n_outputs))


def _numeric_gradient(loss: Loss, scores: Array, targets: Array) -> Array:
    columns = []
    for move in np.eye(scores.shape[1]) * STEP:
        rise = loss.value(scores + move, targets) - loss.value(scores - move, targets)
        columns.append(rise / (2 * STEP))
    return np.stack(columns, axis=1)


def _numeric_hessians(loss: Loss, scores: Array, targets: Array) -> Array:
    columns = []
    for move in np.eye(scores.shape[1]) * STEP:
        rise = loss.gradient(scores + move, targets) - loss.gradient(scores - move, targets)
        columns.append(rise / (2 * STEP))
    hessians = np.stack(columns, axis=2)
    return (hessians + hessians.transpose(0, 2, 1)) / 2
