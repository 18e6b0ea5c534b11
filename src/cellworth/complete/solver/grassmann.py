r"""OptSpace (Keshavan, Montanari and Oh, 2010): trim, start from the spectrum, descend over subspaces.

.. math:: \min_{X^\top X = I,\ Y^\top Y = I}\ F(X, Y), \qquad
          F(X, Y) = \min_S\ \tfrac12\|R_\Omega(M - XSY^\top)\|_\mathrm{F}^2

F depends on the subspaces that X (n, r) and Y (d, r) span and on nothing else, so it is a function on a
product of two Grassmann manifolds. With the best S, and R the residual of the observed cells, its
gradients are :math:`-RYS^\top` and :math:`-R^\top XS`. Steps are taken in the metric that S defines,
along :math:`RYS^{-1}` and :math:`R^\top XS^{-\top}`, which makes weak and strong components converge alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.factors import (
    Factors,
    Watch,
    leading_directions,
    never_stop,
    norm_or_one,
    residual,
    sum_of_squares,
)

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]

BLOCK_BYTES = 1 << 22
ENOUGH = 1e-4  # share of the predicted fall that a step must bring (Armijo)
HALVINGS = 30


def trim(values: Array, observed: Mask) -> Array:
    """Return ``values`` with 0 in rows and columns that have more than twice the mean number of cells.

    Such rows and columns would dominate the spectrum without telling more about it.
    """
    n, d = values.shape
    cells = int(observed.sum())
    keep_rows = observed.sum(axis=1) <= 2 * cells / n
    keep_columns = observed.sum(axis=0) <= 2 * cells / d
    return values * np.outer(keep_rows, keep_columns)


def estimate_rank(singular_values: Array, cells: int, shape: tuple[int, int]) -> int:
    r"""Return the rank that the spectrum of the trimmed table suggests.

    The minimiser over i of :math:`(\sigma_{i+1} + \sigma_1\sqrt{i/\epsilon})/\sigma_i` with
    :math:`\epsilon = |\Omega|/\sqrt{nd}`: a value worth keeping stands out from the next.
    """
    sigma = singular_values[singular_values > singular_values[:1].sum() * 1e-6]
    if len(sigma) < 2:
        return 1
    i = np.arange(1, len(sigma))
    epsilon = cells / np.sqrt(shape[0] * shape[1])
    return int(i[np.argmin((sigma[1:] + sigma[0] * np.sqrt(i / epsilon)) / sigma[:-1])])


def spectral_start(trimmed: Array, rank: int) -> tuple[Array, Array]:
    """Return orthonormal X (n, rank), Y (d, rank) that span the main directions of the trimmed table."""
    _, Y = leading_directions(trimmed, rank)
    X, _ = np.linalg.qr(trimmed @ Y)
    return X, Y


class Point(NamedTuple):
    """Two subspaces, the best core between them, the residual it leaves and half its squares."""

    X: Array
    Y: Array
    S: Array
    R: Array
    value: float


def at(values: Array, observed: Mask, X: Array, Y: Array) -> Point:
    """Return the point (X, Y) with its best S."""
    S = best_core(values, observed, X, Y)
    R = residual(values, observed, X @ S, Y.T)
    return Point(X, Y, S, R, sum_of_squares(R) / 2)


def best_core(values: Array, observed: Mask, X: Array, Y: Array) -> Array:
    r"""Return :math:`\arg\min_S \|R_\Omega(M - XSY^\top)\|`, (r, r), the smallest if there are several.

    The normal equations are :math:`\sum_{ij\in\Omega} x_ix_i^\top S\,y_jy_j^\top = X^\top R_\Omega(M)Y`.
    O(n r^2 (d + r^2) + r^6), in row blocks.
    """
    (n, d), r = values.shape, X.shape[1]
    of_columns = np.einsum("ja,jb->jab", Y, Y).reshape(d, r * r)
    system = np.zeros((r * r, r * r))
    size = max(1, BLOCK_BYTES // (8 * max(d, r * r)))
    for i in range(0, n, size):
        x = X[i : i + size]
        of_rows = np.einsum("ia,ib->iab", x, x).reshape(len(x), r * r)
        system += of_rows.T @ (observed[i : i + size].astype(X.dtype) @ of_columns)
    system = system.reshape(r, r, r, r).transpose(0, 2, 1, 3).reshape(r * r, r * r)
    side = (X.T @ values @ Y).reshape(-1).astype(np.float64)
    S, *_ = np.linalg.lstsq(system, side, rcond=1e-12)
    return S.reshape(r, r).astype(X.dtype)


def descend(
    values: Array,
    observed: Mask,
    X: Array,
    Y: Array,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = never_stop,
) -> Factors:
    """Minimise F from orthonormal X (n, r), Y (d, r); ``values`` (n, d) is 0 in the holes.

    Ends when the gradient of the squared residual over tables of rank r is below ``tol`` times the
    norm of the values.

    Notes
    -----
    Per iteration about five products of 2 n d r flops and `best_core`.
    """
    norm = norm_or_one(values)
    here = at(values, observed, X, Y)
    fit = Factors(X, Y.T, [here.value])
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        RY, RX = here.R @ here.Y, here.R.T @ here.X
        core = here.X.T @ RY
        slope = np.sqrt(max(0.0, sum_of_squares(RY) + sum_of_squares(RX) - sum_of_squares(core))) / norm
        there = None if slope <= tol else _search(values, observed, here, RY, RX)
        fit.converged = there is None
        if there is not None:
            here = there
        fit.objective.append(here.value)
        fit.stopped = watch(fit.n_iter, here.value, float(slope))
    fit.left, fit.right = here.X @ here.S, here.Y.T
    return fit


def _search(values: Array, observed: Mask, here: Point, RY: Array, RX: Array) -> Point | None:
    """Return a point with a lower F along the scaled gradient, None if rounding hides any."""
    X, Y, S = here.X, here.Y, here.S
    inverse = np.linalg.pinv(S, rcond=np.sqrt(np.finfo(S.dtype).eps))
    toward_X, toward_Y = RY @ inverse, RX @ inverse.T
    toward_X -= X @ (X.T @ toward_X)
    toward_Y -= Y @ (Y.T @ toward_Y)
    fall = float(np.vdot(RY @ S.T, toward_X) + np.vdot(RX @ S, toward_Y))
    change = (toward_X @ S) @ Y.T + (X @ S) @ toward_Y.T
    change *= observed
    step = fall / (sum_of_squares(change) or 1.0)  # exact where F is its linear model
    for _ in range(HALVINGS if fall > 0 else 0):
        new_X, _ = np.linalg.qr(X + step * toward_X)
        new_Y, _ = np.linalg.qr(Y + step * toward_Y)
        there = at(values, observed, new_X, new_Y)
        if there.value < here.value - ENOUGH * step * fall:
            return there
        step /= 2
    return None
