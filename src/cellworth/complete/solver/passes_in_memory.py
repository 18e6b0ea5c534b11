"""Passes over the rows of a table: what the loop of `proximal_gradient` knows about their storage."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver.fused_step import land, land_at_once, start, start_near, step
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart
from cellworth.complete.solver.singular_value_thresholding import Shrinkage
from cellworth.complete.solver.step import NearRows, Rows, StepSums, sample_size


class Passes(Protocol):
    """The rows of a table, with an iterate X and a point A for each, and three kinds of pass over them.

    See `cellworth.complete.solver.step` for what each does to a row. Sums are over all rows.

    Attributes
    ----------
    scale : float
        Frobenius norm of the observed values.
    eps : float
        Machine epsilon of the values.
    """

    scale: float
    eps: float

    @property
    def iterate(self) -> Any:
        """The current iterate: an (n, d) array, or its row blocks."""

    def first(self, lipschitz: float, model: LinearPart) -> StepSums:
        """Form a point from the iterate, without momentum."""

    def next(
        self, operator: FloatArray, momentum: float, lipschitz: float, model: LinearPart, ahead: LinearPart
    ) -> StepSums:
        """Shrink the point to the next iterate, and form the next point."""

    def last(self, operator: FloatArray, model: LinearPart) -> StepSums:
        """Shrink the point to the next iterate; there is no next point."""

    def labelled_sums(self, sums: StepSums, shrunk: Shrinkage) -> LabelledSums:
        """Return the labelled sums of the iterate to which ``shrunk`` will shrink the point of ``sums``."""


class InPlacePasses:
    """Passes over a table in memory, in place, on threads.

    Parameters
    ----------
    iterate : (n, d) array
        Overwritten, unless it is of another precision than the passes.
    rows : Rows
    blocks : RowBlocks
    single : bool
        Whether to begin in single precision; see `refine`.

    Notes
    -----
    Memory: one and an eighth arrays the size of ``iterate``, whatever the precision.
    """

    def __init__(self, iterate: FloatArray, rows: Rows, blocks: RowBlocks, *, single: bool = False) -> None:
        self.scale = float(np.linalg.norm(rows.values))
        self.eps = float(np.finfo(rows.values.dtype).eps)
        self._exact = rows if single else None
        if single:
            rows = rows.in_single_precision()
        self._iterate = iterate.astype(rows.values.dtype, copy=False)
        self._point: FloatArray | None = None  # until there is one
        self._formed_by: tuple[float, LinearPart] | None = None  # points that were not kept
        self._rows, self._blocks = rows, blocks
        self._trail: FloatArray | None = None  # until there is a move

    @property
    def iterate(self) -> FloatArray:
        """The current iterate, (n, d)."""
        return self._iterate if self._exact is None else self._iterate.astype(self._exact.values.dtype)

    @property
    def point(self) -> FloatArray:
        """The current point, (n, d)."""
        if self._point is None:
            self._point = np.empty_like(self._iterate)
        return self._point

    def refine(self) -> None:
        """Continue in the precision of the data: same iterate, same point, same momentum."""
        if self._exact is not None:
            self._rows, dtype = self._exact, self._exact.values.dtype
            self._iterate, self._point = self._iterate.astype(dtype), self.point.astype(dtype)
            self._trail, self._exact = None if self._trail is None else self._trail.astype(dtype), None

    def first(self, lipschitz: float, model: LinearPart) -> StepSums:
        """Form a point from the iterate, without momentum."""
        X, A, rows, size = self._iterate, self.point, self._rows, self._blocks.size
        return StepSums(*self._blocks.sum_runs(lambda r: start(X[r], A[r], lipschitz, rows[r], model, size)))

    def first_near(
        self, near: NearRows, lipschitz: float, model: LinearPart, *, lands: bool
    ) -> tuple[StepSums, float]:
        """Form the iterate and its point; return the sums, and the pull of the iterate.

        If the next pass ``lands``, it forms the point again, which takes less time than keeping it.
        """
        X, rows, size = self._iterate, self._rows, self._blocks.size
        A = None if lands else self.point
        self._formed_by = (lipschitz, model) if lands else None
        *sums, pull = self._blocks.sum_runs(
            lambda r: start_near(X[r], A if A is None else A[r], near[r], lipschitz, rows[r], model, size)
        )
        return StepSums(*sums), pull

    def next(
        self, operator: FloatArray, momentum: float, lipschitz: float, model: LinearPart, ahead: LinearPart
    ) -> StepSums:
        """Shrink the point to the next iterate, and form the next point."""
        X, A, rows, size = self._iterate, self.point, self._rows, self._blocks.size
        P = operator.astype(X.dtype, copy=False)
        if self._trail is None:
            sampled = self._blocks.sum(lambda b: (sample_size(b.stop - b.start),))[0]
            self._trail = np.zeros((sampled, X.shape[1]), dtype=X.dtype)
        trail = self._trail

        def of_run(r: slice) -> StepSums:
            first = r.start // size * sample_size(size)
            return step(X[r], A[r], trail[first:], P, momentum, lipschitz, rows[r], model, ahead, size)

        sums = self._blocks.sum_runs(of_run)
        self._iterate, self._point = A, X
        return StepSums(*sums)

    def last(self, operator: FloatArray, model: LinearPart) -> StepSums:
        """Shrink the point to the next iterate; there is no next point."""
        X, rows, size = self._iterate, self._rows, self._blocks.size
        P = operator.astype(X.dtype, copy=False)
        if self._formed_by is not None:
            (L, ahead), self._formed_by = self._formed_by, None
            return StepSums(
                *self._blocks.sum_runs(lambda r: land_at_once(X[r], P, L, rows[r], model, ahead, size))
            )
        A = self.point
        sums = self._blocks.sum_runs(lambda r: land(X[r], A[r], P, rows[r], model, size))
        self._iterate, self._point = A, X
        return StepSums(*sums)

    def labelled_sums(self, sums: StepSums, shrunk: Shrinkage) -> LabelledSums:
        """Return the labelled sums of the iterate to which ``shrunk`` will shrink the point of ``sums``."""
        m = len(self._rows.targets)
        if self._rows.wide:
            return LabelledSums.of(shrunk.operator[:m] @ self.point, sums.working)
        return sums.labelled_sums(m).after(shrunk.operator)
