r"""Soft-impute by alternating ridge regressions (Hastie, Mazumder, Lee and Zadeh, 2015).

.. math:: \min_{A, B}\ \tfrac12\|R_\Omega(X - AB^\top)\|_\mathrm{F}^2
          + \tfrac\lambda2\left(\|A\|_\mathrm{F}^2 + \|B\|_\mathrm{F}^2\right)

over A (n, r) and B (d, r): with r large enough, the same minimum as with the trace norm of
:math:`AB^\top`. Each half-step fills the holes with the present :math:`AB^\top`, which majorises the
objective, and solves for one factor. Factors are kept balanced, :math:`A = UD, B = VD`, so that a solve
is a division by :math:`D^2 + \lambda`.
"""

from __future__ import annotations

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


def soft_als(
    values: Array,
    observed: Mask,
    penalty: float,
    rank: int,
    start: Factors | None = None,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = never_stop,
) -> Factors:
    """Return balanced factors, of rank at most ``rank``, of the penalised fit.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    penalty : float
        lambda, not negative.
    start : Factors or None
        Balanced factors to begin from.
    tol : float
        Ends when the last two half-steps moved the table by less than this times the norm of ``values``.

    Notes
    -----
    Per iteration four products of 2 n d r flops and two QR of n x r and d x r matrices.
    """
    norm = norm_or_one(values)
    U, D, V = _begin(values, penalty, rank, start)
    fit, last = Factors(U, V.T), np.inf
    R = residual(values, observed, U * D, (V * D).T)
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        U, D, V, moved_left = _half_step(R, U, D, V, penalty)
        R = residual(values, observed, U * D, (V * D).T)
        V, D, U, moved_right = _half_step(R.T, V, D, U, penalty)
        slope = float(np.hypot(moved_left, moved_right)) / norm
        R = residual(values, observed, U * D, (V * D).T)
        objective = sum_of_squares(R) / 2 + penalty * float(np.sum(D**2, dtype=np.float64))
        fit.converged = slope <= tol or objective > last  # a rise can only be rounding
        last = min(objective, last)
        fit.objective.append(last)
        fit.stopped = watch(fit.n_iter, objective, slope)
    return _threshold(values, observed, penalty, fit, U * D**2 + R @ V, V)


def _begin(values: Array, penalty: float, rank: int, start: Factors | None) -> tuple[Array, Array, Array]:
    """Return U, D, V to begin from: those of ``start``, then the main directions of the zero-filled table.

    Components that are new have an empty left side, so that they add nothing yet, and a weight with
    which they can grow.
    """
    sigma, V = leading_directions(values, rank)
    D = np.sqrt(np.maximum(sigma, penalty or 1e-3 * sigma[0]))
    U = np.zeros((len(values), rank), dtype=values.dtype)
    if start is not None and start.left.shape[1]:
        known = min(rank, start.left.shape[1])
        size = np.linalg.norm(start.right[:known], axis=1)
        V, _ = np.linalg.qr(np.hstack([(start.right[:known] / size[:, None]).T, V]))
        V = V[:, :rank]
        V[:, :known] = (start.right[:known] / size[:, None]).T
        D[:known] = size
        U[:, :known] = start.left[:, :known] / size
    return U, D.astype(values.dtype), np.ascontiguousarray(V)


def _half_step(R: Array, U: Array, D: Array, V: Array, penalty: float) -> tuple[Array, Array, Array, float]:
    """Solve for A = U D with B = V D fixed and balance again; also return how far A B^T moved.

    With the holes filled, A+ = (A D^2 + R V D) / (D^2 + lambda).
    """
    squares = D**2
    scale = squares + penalty
    scale[scale == 0] = 1
    A = U * D
    step = ((R @ V) * D - penalty * A) / scale
    W, core = np.linalg.qr((A + step) * D)  # A+ B^T = W core V^T
    u, s, vt = np.linalg.svd(core)
    return W @ u, np.sqrt(s), V @ vt.T, float(np.sqrt(sum_of_squares(step * D)))


def _threshold(
    values: Array, observed: Mask, penalty: float, fit: Factors, projected: Array, V: Array
) -> Factors:
    """Finish with one exact step in the span of V, which sets small components to 0.

    ``projected`` (n, r) is the filled table times V. The result counts as the last iteration's.
    """
    Q, core = np.linalg.qr(projected)
    u, s, vt = np.linalg.svd(core)
    rounding = float(s[0]) * np.finfo(s.dtype).eps * max(values.shape)
    rank = int(np.count_nonzero(s > max(penalty, rounding)))
    root = np.sqrt(s[:rank] - penalty)
    fit.left, fit.right = (Q @ u[:, :rank]) * root, root[:, None] * (V @ vt[:rank].T).T
    R = residual(values, observed, fit.left, fit.right)
    objective = sum_of_squares(R) / 2 + penalty * float(np.sum(root**2, dtype=np.float64))
    fit.objective[-1] = min(objective, fit.objective[-1])
    return fit
