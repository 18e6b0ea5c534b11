r"""Nonlinear successive over-relaxation on :math:`X \approx UV` (Wen, Yin and Zhang, 2012).

.. math:: \min_{U,V,Z}\ \tfrac12\|UV - Z\|_\mathrm{F}^2 \quad\text{subject to}\quad R_\Omega(Z) = R_\Omega(X)

With :math:`Z = UV + R`, R the residual of the observed cells, and :math:`Z_\omega = UV + \omega R`:

.. math:: U_+ = \mathrm{orth}(Z_\omega V^\top), \qquad V_+ = U_+^\top Z_\omega.

:math:`\omega = 1` is alternating least squares and never raises :math:`\frac12\|R\|_\mathrm{F}^2`. A
larger :math:`\omega` goes further; it grows while steps succeed and falls back to 1 when one fails.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

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

SLOW = 0.7  # gamma_1: the weight grows when a step leaves more than this share of the residual
MOST_WEIGHT = 1e4
GAP = 10.0  # the rank falls where one drop of the QR diagonal is this many times the mean of the others
GROWING_TOL = 1e-3  # an intermediate rank need not be exact: the next will move it


def relax(
    values: Array,
    observed: Mask,
    left: Array,
    right: Array,
    *,
    tol: float,
    max_iter: int,
    drop_rank: bool = False,
    watch: Watch = never_stop,
) -> Factors:
    """Minimise half the squared residual of the observed cells from ``left @ right``.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    left, right : (n, r) and (r, d) arrays
        Where to start; not changed.
    tol : float
        Ends when `stationarity` is below this.
    drop_rank : bool
        Cut the rank, once, at a clear gap of the diagonal of the pivoted QR of Z V^T.

    Notes
    -----
    Per iteration four products of 2 n d r flops and a QR of an n x r matrix.
    """
    fit = Factors(left, right)
    norm = norm_or_one(values)
    R = residual(values, observed, left, right)
    squares, weight, growth = sum_of_squares(R), 1.0, 1.0
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        Q, drops = _orthogonalise(
            fit.left @ (fit.right @ fit.right.T) + weight * (R @ fit.right.T), drop_rank
        )
        right = (Q.T @ fit.left) @ fit.right + weight * (Q.T @ R)
        new = residual(values, observed, Q, right)
        new_squares = sum_of_squares(new)
        if drops:
            drop_rank, weight, growth = False, 1.0, 1.0
            fit.objective.clear()
        elif new_squares >= squares:
            fit.converged = weight == 1.0  # alternating least squares can only fail to fall by rounding
            weight, growth = 1.0, growth / 10
            continue
        elif new_squares > SLOW**2 * squares:
            growth = max(growth, (weight - 1) / 4)
            weight = min(weight + growth, MOST_WEIGHT)
        fit.left, fit.right, R, squares = Q, right, new, new_squares
        fit.objective.append(squares / 2)
        slope = stationarity(R, fit.left, fit.right) / norm
        fit.converged = slope <= tol
        fit.stopped = watch(fit.n_iter, squares / 2, slope)
    fit.objective = fit.objective or [squares / 2]
    return fit


def stationarity(R: Array, Q: Array, right: Array) -> float:
    r"""Return the norm of the part of the residual R that the factors could still remove.

    That is the gradient of :math:`\frac12\|R_\Omega(UV - X)\|^2` on the manifold of tables of rank r:
    R projected on :math:`\{UA + BV\}`. Q has orthonormal columns.
    """
    P, _ = np.linalg.qr(right.T)
    across, along = R @ P, Q.T @ R
    return float(
        np.sqrt(max(0.0, sum_of_squares(across) + sum_of_squares(along) - sum_of_squares(along @ P)))
    )


def grow(
    values: Array, observed: Mask, most: int, *, tol: float, max_iter: int, watch: Watch = never_stop
) -> Iterator[Factors]:
    """Yield fits of rank 1, 2, ... ``most``, each begun from the one before and what it leaves out.

    The last has the stationarity ``tol``, those before at most `GROWING_TOL`. ``max_iter`` and the
    number of iterations of a fit count all ranks up to it.
    """
    fit = Factors(values[:, :0], values[:0])
    for rank in range(1, most + 1):
        done = fit.n_iter

        def watch_on(k: int, objective: float, slope: float, done: int = done) -> bool:
            return watch(done + k, objective, slope)

        left, right = _add_direction(values, observed, fit)
        enough = tol if rank == most else max(tol, GROWING_TOL)
        fit = relax(values, observed, left, right, tol=enough, max_iter=max_iter - done, watch=watch_on)
        fit.n_iter += done
        last = fit.stopped or fit.n_iter >= max_iter
        fit.converged = fit.converged and (rank == most or not last)
        yield fit
        if last:
            return


def _add_direction(values: Array, observed: Mask, fit: Factors) -> tuple[Array, Array]:
    """Return the factors of ``fit`` with one more component, the leading one of its residual."""
    R = residual(values, observed, fit.left, fit.right)
    _, direction = leading_directions(R, 1)
    return np.hstack([fit.left, R @ direction]), np.vstack([fit.right, direction.T])


def _orthogonalise(A: Array, drop_rank: bool) -> tuple[Array, bool]:
    """Return an orthonormal basis of the columns of A, and whether it was cut at a gap."""
    if not drop_rank or A.shape[1] < 2:
        return np.linalg.qr(A)[0], False
    Q, upper, _ = qr(A, mode="economic", pivoting=True, check_finite=False)
    rank = rank_at_gap(np.abs(np.diag(upper)))
    return np.ascontiguousarray(Q[:, :rank]), rank < A.shape[1]


def rank_at_gap(diagonal: Array) -> int:
    """Return where the descending ``diagonal`` (r,) has its one clear gap, or r if it has none.

    Examples
    --------
    >>> import numpy as np
    >>> rank_at_gap(np.array([9.0, 8.0, 7.0, 0.01, 0.009]))
    3
    >>> rank_at_gap(np.array([9.0, 3.0, 1.0, 0.3]))
    4
    """
    floor = np.finfo(diagonal.dtype).eps * diagonal[0]
    if floor == 0:
        return 1
    held = np.maximum(diagonal, floor)
    drops = held[:-1] / held[1:]
    p = int(drops.argmax())
    others = (drops.sum() - drops[p]) / max(1, len(drops) - 1)
    return p + 1 if drops[p] > GAP * max(others, 1.0) else len(diagonal)
