"""The row-block step: all that an iteration does to the rows of a table.

`step` and `start` are plain functions of arrays, in place. Threads call them here; an engine on other
machines can call them on the blocks that live there. Each returns sums that are added over blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import get_blas_funcs

from cellworth.complete.solver.model import Model, Moments

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Rows:
    """The data of a block of rows (or of all rows), scaled.

    Attributes
    ----------
    values : (n, d) array
        Observed values; 0 in the holes.
    observed : (n, d) bool array
    targets : (m, n_outputs) array
        Coded for the loss. The first m rows have labels; the others have none.
    wide : bool
        The whole table has fewer rows than columns: thresholding works on the row side, in one block.
    """

    values: Array
    observed: NDArray[np.bool_]
    targets: Array
    wide: bool

    def __getitem__(self, block: slice) -> Rows:
        """Return the view of a block of rows."""
        return Rows(self.values[block], self.observed[block], self.targets[block], self.wide)


class StepSums(NamedTuple):
    """What a step returns; additive over blocks."""

    labelled: Array  # (d, d): Gram matrix of the next point's labelled rows; wide: of all rows, (n, n)
    unlabelled: Array | float  # (d, d): of the other rows; 0.0 if there are none, or if wide
    cross: Array  # (d, n_outputs + 1): next point's labelled rows, times working targets and ones
    working: Array  # (n_outputs,): sum of the working targets; wide: the working targets themselves
    misfit: float  # 1/2 sum over observed cells of (new iterate - value)^2
    loss: float  # weighted loss of the new iterate
    change: float  # squared Frobenius norm of new iterate - old iterate

    @property
    def gram(self) -> Array:
        """Gram matrix of the next point."""
        return np.asarray(self.labelled + self.unlabelled)

    def moments(self, count: int) -> Moments:
        """Return the moments of the next point (not if wide), ``count`` rows being labelled."""
        return Moments(self.labelled, self.cross[:, :-1], self.cross[:, -1], self.working, count)


def step(
    iterate: Array,
    point: Array,
    operator: Array,
    momentum: float,
    lipschitz: float,
    rows: Rows,
    model: Model,
    ahead: Model,
) -> StepSums:
    """Do one accelerated proximal gradient step on a block of rows, in place.

    On entry ``iterate`` is X_k and ``point`` is A_k = Z_k - grad g(Z_k) / L. On return ``point`` holds
    the new iterate X_{k+1} = A_k P and ``iterate`` the next point A_{k+1}: the caller swaps the two. Each
    value is read from memory once and written once.

    Parameters
    ----------
    iterate, point : (n, d) arrays, C-contiguous
        Overwritten, see above.
    operator : (d, d) array, or (n, n) if ``rows.wide``
        P of `cellworth.complete.solver.svt.shrinkage` for the Gram matrix of all points.
    momentum : float
        beta_{k+1} in Z_{k+1} = X_{k+1} + beta_{k+1} (X_{k+1} - X_k).
    lipschitz : float
        L of the model ``ahead``.
    model, ahead : Model
        The model that X_{k+1} is judged with, and the one that goes with Z_{k+1}.

    Notes
    -----
    Two products of 2 n d^2 flops (one of them symmetric) and some 15 passes in cache.
    """
    new = operator @ point if rows.wide else point @ operator
    observed = rows.observed.astype(new.dtype)
    work = new - rows.values
    work *= observed
    misfit = 0.5 * _sum_of_squares(work)
    loss = model.total_loss(new[: len(rows.targets)], rows.targets)
    np.subtract(new, iterate, out=work)
    change = _sum_of_squares(work)
    point[...] = new
    Z = _add_multiple(new, momentum, work)
    return StepSums(*_next_point(Z, lipschitz, rows, observed, ahead, out=iterate), misfit, loss, change)


def start(iterate: Array, point: Array, lipschitz: float, rows: Rows, model: Model) -> StepSums:
    """Form the first point A = X - grad g(X) / L of a block from the iterate X, without momentum.

    ``point`` is overwritten; ``iterate`` is only read. The misfit and loss are those of ``iterate``.
    """
    observed = rows.observed.astype(iterate.dtype)
    residual = iterate - rows.values
    residual *= observed
    misfit = 0.5 * _sum_of_squares(residual)
    loss = model.total_loss(iterate[: len(rows.targets)], rows.targets)
    return StepSums(*_next_point(iterate, lipschitz, rows, observed, model, out=point), misfit, loss, 0.0)


def _next_point(
    Z: Array, lipschitz: float, rows: Rows, observed: Array, model: Model, *, out: Array
) -> tuple[Array, Array | float, Array, Array]:
    """Write Z - grad g(Z) / L into ``out``; return its Gram matrices and what the model's fit needs of it.

    grad g(Z) = R_Omega(Z - X) + weight * l'(s_i) W^T, the second term in labelled rows.
    """
    m = len(rows.targets)
    scores = model.scores(Z[:m])
    slopes = model.loss.gradient(scores, rows.targets)
    np.subtract(Z, rows.values, out=out)
    out *= observed
    out *= -1 / lipschitz
    out += Z
    labelled, rest = out[:m], out[m:]
    if m:
        # In place: the transpose is Fortran-ordered, so BLAS adds W slopes^T straight into it.
        gemm = get_blas_funcs("gemm", (out,))
        coef = np.asarray(model.coef, dtype=out.dtype)
        factor = -model.weight / lipschitz
        gemm(factor, coef, slopes, beta=1.0, c=labelled.T, trans_b=True, overwrite_c=True)
    scores -= slopes / model.loss.curvature
    if rows.wide:
        return _exact(out @ out.T), 0.0, np.zeros((0, 0)), scores
    with_ones = np.column_stack([scores, np.ones(m, dtype=out.dtype)])
    unlabelled = _exact(rest.T @ rest) if len(rest) else 0.0
    sums = scores.sum(axis=0, dtype=np.float64)
    return _exact(labelled.T @ labelled), unlabelled, _exact(labelled.T @ with_ones), sums


def _exact(A: Array) -> Array:
    """Return A in float64, so that sums over blocks lose nothing."""
    return A.astype(np.float64, copy=False)


def _add_multiple(A: Array, factor: float, B: Array) -> Array:
    """Return A + factor * B, in A's memory, in one pass."""
    axpy = get_blas_funcs("axpy", (A,))
    axpy(B.reshape(-1), A.reshape(-1), a=factor)
    return A


def _sum_of_squares(A: Array) -> float:
    flat = A.reshape(-1)
    return float(flat @ flat)
