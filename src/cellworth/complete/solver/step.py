"""The row-block step: everything an iteration does to the rows of a table, in NumPy.

`step`, `start` and `land` are functions that work on arrays in place. Threads call them locally; an engine on
other machines can call them on the blocks stored there. Each returns sums that are added over blocks.
`cellworth.complete.solver.fused_step` has the same functions, compiled where they can be; callers use those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart

SYRK_FROM = 48  # columns; below this, BLAS computes the full product faster than half of it


@dataclass(frozen=True)
class Rows:
    """The scaled data of a row block (or of all rows).

    Attributes
    ----------
    values : (n, d) array
        Observed values; 0 in the holes.
    observed : (n, d) bool array
    targets : (m, n_outputs) array
        Coded for the loss. The first m rows have labels; the others have none.
    wide : bool
        Whether the whole table has fewer rows than columns: thresholding then works on the row side, in one
        block.
    """

    values: FloatArray
    observed: BoolArray
    targets: FloatArray
    wide: bool

    def in_single_precision(self) -> Rows:
        """Return the rows rounded to float32."""
        return Rows(self.values.astype(np.float32), self.observed, self.targets.astype(np.float32), self.wide)

    def __getitem__(self, block: slice) -> Rows:
        """Return the view of a block of rows."""
        return Rows(self.values[block], self.observed[block], self.targets[block], self.wide)


@dataclass(frozen=True)
class NearRows:
    """Rows near the solution, from which the first iterate is formed when a pass comes to them.

    Attributes
    ----------
    left, right : (n, k) and (k, d) arrays
        The rows are their product, but for those that changed; None for ``right``: they are ``left``.
    changed : (c,) int64 array, ascending
    updated : (c, d) array
        Rows in place of those.
    operator : (d, d) array
        P of the predicted shape of the solution.
    steps : int
        Steps X <- (X - grad g(X) / L) P that follow.
    relaxation : float
        All but the last go this much further in the holes.
    """

    left: FloatArray
    right: FloatArray | None
    changed: IntArray
    updated: FloatArray
    operator: FloatArray
    steps: int
    relaxation: float

    def __getitem__(self, block: slice) -> NearRows:
        """Return the view of a block of rows."""
        first, end = np.searchsorted(self.changed, (block.start, block.stop))
        chosen = slice(first, end)
        return replace(
            self,
            left=self.left[block],
            changed=self.changed[chosen] - block.start,
            updated=self.updated[chosen],
        )


class StepSums(NamedTuple):
    """What a step returns; additive over blocks."""

    labelled: FloatArray  # (d, d): Gram matrix of the next point's labelled rows; wide: of all rows, (n, n)
    unlabelled: FloatArray | float  # (d, d): of the other rows; 0.0 if there are none, or if wide
    cross: FloatArray  # (d, n_outputs + 1): next point's labelled rows, times working targets and ones
    working: FloatArray  # (n_outputs,): sum of the working targets; wide: the working targets themselves
    misfit: float  # 1/2 sum over observed cells of (new iterate - value)^2
    loss: float  # weighted loss of the new iterate
    change: float  # ||D||^2 for the move D = new iterate - old iterate
    sampled: float  # the part of it in the sampled rows
    overlap: float  # <D, the previous move> in the sampled rows

    @property
    def gram(self) -> FloatArray:
        """Gram matrix of the next point."""
        return np.asarray(self.labelled + self.unlabelled)

    def labelled_sums(self, n_labelled: int) -> LabelledSums:
        """Return the labelled sums of the next point (not if wide)."""
        return LabelledSums(self.labelled, self.cross[:, :-1], self.cross[:, -1], self.working, n_labelled)


def sample_size(n_rows: int) -> int:
    """Return how many of a block's first rows to sample: an eighth, but at least 64 if there are that many.

    The angle between two moves shows whether momentum still helps. Keeping a whole move would cost an array
    of the table's size; a sample estimates the angle well enough, and stays in cache.
    """
    return min(n_rows, max(64, n_rows // 8))


def step(
    iterate: FloatArray,
    point: FloatArray,
    trail: FloatArray,
    operator: FloatArray,
    momentum: float,
    lipschitz: float,
    rows: Rows,
    model: LinearPart,
    ahead: LinearPart,
) -> StepSums:
    """Do one accelerated proximal gradient step on a block of rows, in place.

    On entry ``iterate`` is X_k and ``point`` is A_k = Z_k - grad g(Z_k) / L. On return ``point`` holds
    the new iterate X_{k+1} = A_k P and ``iterate`` the next point A_{k+1}: the caller swaps the two. Each
    value is read from memory once and written once.

    Parameters
    ----------
    iterate, point : (n, d) arrays, C-contiguous
        Overwritten, see above.
    trail : (sample_size(n), d) array
        The previous move, X_k - X_{k-1}, in the sampled rows; overwritten with this one.
    operator : (d, d) array, or (n, n) if ``rows.wide``
        P of `singular_value_thresholding.shrinkage` for the Gram matrix of all points.
    momentum : float
        beta_{k+1} in Z_{k+1} = X_{k+1} + beta_{k+1} (X_{k+1} - X_k).
    lipschitz : float
        L of the model ``ahead``.
    model, ahead : LinearPart
        The model for the loss at X_{k+1}, and the one for Z_{k+1}.

    Notes
    -----
    Two products of 2 n d^2 flops (one of them symmetric) and about 15 passes in cache.
    """
    new = operator @ point if rows.wide else point @ operator
    mask = np.multiply(rows.observed, -1 / lipschitz, dtype=new.dtype)
    work = new - rows.values
    work *= mask
    misfit = 0.5 * lipschitz**2 * _sum_of_squares(work)
    loss = model.total_loss(new[: len(rows.targets)], rows.targets)
    move = np.subtract(new, iterate, out=work)
    change = _sum_of_squares(move)
    seen = move[: len(trail)]
    sampled, overlap = _sum_of_squares(seen), float(seen.reshape(-1) @ trail.reshape(-1))
    trail[...] = seen
    point[...] = new
    Z = _add_multiple(new, momentum, move)
    residual = np.subtract(Z, rows.values, out=iterate)
    residual *= mask
    scores = ahead.scores(Z[: len(rows.targets)])
    next_point = _next_point(Z, residual, scores, lipschitz, rows, ahead)
    return StepSums(*next_point, misfit, loss, change, sampled, overlap)


def land(
    iterate: FloatArray, point: FloatArray, operator: FloatArray, rows: Rows, model: LinearPart
) -> StepSums:
    """Do the proximal half of a `step` on a block of rows, for what is probably the last iteration.

    On return ``point`` holds the new iterate; ``iterate`` is only read. There is no next point, so all its
    sums are 0; `start` forms one if the iterations continue. Half the work of a `step`.
    """
    new = operator @ point if rows.wide else point @ operator
    residual = new - rows.values
    residual *= rows.observed
    misfit = 0.5 * _sum_of_squares(residual)
    loss = model.total_loss(new[: len(rows.targets)], rows.targets)
    change = _sum_of_squares(np.subtract(new, iterate, out=residual))
    point[...] = new
    none = np.zeros((0, 0))
    return StepSums(none, 0.0, none, none, misfit, loss, change, 0.0, 0.0)


def start(
    iterate: FloatArray, point: FloatArray, lipschitz: float, rows: Rows, model: LinearPart
) -> StepSums:
    """Form the first point A = X - grad g(X) / L of a block from the iterate X, without momentum.

    ``point`` is overwritten; ``iterate`` is only read. The misfit and loss are those of ``iterate``.
    """
    mask = np.multiply(rows.observed, -1 / lipschitz, dtype=iterate.dtype)
    residual = np.subtract(iterate, rows.values, out=point)
    residual *= mask
    misfit = 0.5 * lipschitz**2 * _sum_of_squares(residual)
    scores = model.scores(iterate[: len(rows.targets)])
    loss = model.weighted(scores, rows.targets)
    next_point = _next_point(iterate, residual, scores, lipschitz, rows, model)
    return StepSums(*next_point, misfit, loss, 0.0, 0.0, 0.0)


def form(iterate: FloatArray, near: NearRows, lipschitz: float, rows: Rows, model: LinearPart) -> float:
    r"""Form the first iterate of a block of rows that are near the solution, in place; return its pull.

    The pull is :math:`\langle A - X, X\rangle` for the last step X = A P; 0 without steps.
    """
    if near.right is None:
        iterate[...] = near.left
    else:
        np.matmul(near.left, near.right, out=iterate)
    iterate[near.changed] = near.updated
    m, pull = len(rows.targets), 0.0
    # Once for all steps: what they change in the slopes is of second order.
    slopes = model.loss.gradient(model.scores(iterate[:m]), rows.targets)
    of_labels = (model.weight * slopes @ model.coef.T).astype(iterate.dtype)
    for further in range(near.steps - 1, -1, -1):
        gradient = (iterate - rows.values) * rows.observed
        gradient[:m] += of_labels
        point = iterate - gradient / lipschitz
        new = point @ near.operator.astype(point.dtype, copy=False)
        if further:
            iterate += np.where(rows.observed, 1, near.relaxation).astype(new.dtype) * (new - iterate)
        else:
            pull = float(np.vdot(point - new, new))
            iterate[...] = new
    return pull


def _next_point(
    Z: FloatArray, residual: FloatArray, scores: FloatArray, lipschitz: float, rows: Rows, model: LinearPart
) -> tuple[FloatArray, FloatArray | float, FloatArray, FloatArray]:
    """Turn ``residual`` into Z - grad g(Z) / L; return its Gram matrices and the sums for the model fit.

    grad g(Z) = R_Omega(Z - X) + weight * l'(s_i) W^T, the second term in labelled rows. On entry
    ``residual`` holds -R_Omega(Z - X) / L and ``scores`` the model's scores of the labelled rows of Z; both
    are overwritten.
    """
    m = len(rows.targets)
    slopes = model.loss.gradient(scores, rows.targets)
    out = np.add(residual, Z, out=residual)
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
    unlabelled = _gram(rest) if len(rest) else 0.0
    sums = scores.sum(axis=0, dtype=np.float64)
    return _gram(labelled), unlabelled, _exact(labelled.T @ with_ones), sums


def _gram(A: FloatArray) -> FloatArray:
    """Return A^T A in float64."""
    if A.shape[1] > SYRK_FROM:
        return _exact(A.T @ A)  # NumPy calls SYRK, which does half the work
    gemm = get_blas_funcs("gemm", (A,))
    return _exact(gemm(1.0, A.T, A.T, trans_b=True))


def _exact(A: FloatArray) -> FloatArray:
    """Return A in float64, so that sums over blocks lose no precision."""
    return A.astype(np.float64, copy=False)


def _add_multiple(A: FloatArray, factor: float, B: FloatArray) -> FloatArray:
    """Return A + factor * B, in place in A, in one pass."""
    axpy = get_blas_funcs("axpy", (A,))
    axpy(B.reshape(-1), A.reshape(-1), a=factor)
    return A


def _sum_of_squares(A: FloatArray) -> float:
    flat = A.reshape(-1)
    return float(flat @ flat)
