"""Passes over the rows of a table: all that the loop of proximal gradient asks of them.

The loop knows small matrices only. Where the rows lie, in this memory or on other machines, is up to
whoever makes the passes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.blocks.threads import RowBlocks
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart
from cellworth.complete.solver.step import Rows, StepSums, land, sample_size, start, step
from cellworth.complete.solver.svt import Shrinkage


class Passes(Protocol):
    """The rows of a table, an iterate X and a point A for each, and three ways to go over them.

    See `cellworth.complete.solver.step` for what each does to a row. Sums are over all rows.

    Attributes
    ----------
    scale : float
        Frobenius norm of the observed values.
    eps : float
        Spacing of the precision of the values at 1.
    """

    scale: float
    eps: float

    @property
    def iterate(self) -> Any:
        """The iterate as it is now: an (n, d) array, or its row blocks."""

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
    """Passes over a table in this memory, in place, on threads.

    Parameters
    ----------
    iterate : (n, d) array
        Overwritten.
    rows : Rows
    blocks : RowBlocks

    Notes
    -----
    Memory: one array like ``iterate``, and an eighth.
    """

    def __init__(self, iterate: FloatArray, rows: Rows, blocks: RowBlocks) -> None:
        self.scale = float(np.linalg.norm(rows.values))
        self.eps = float(np.finfo(rows.values.dtype).eps)
        self._iterate, self._point = iterate, np.empty_like(iterate)
        self._trails = blocks.arrays(sample_size, iterate)
        self._rows, self._blocks = rows, blocks

    @property
    def iterate(self) -> FloatArray:
        """The iterate as it is now, (n, d)."""
        return self._iterate

    def first(self, lipschitz: float, model: LinearPart) -> StepSums:
        """Form a point from the iterate, without momentum."""
        X, A, rows = self._iterate, self._point, self._rows
        return StepSums(*self._blocks.sum(lambda b: start(X[b], A[b], lipschitz, rows[b], model)))

    def next(
        self, operator: FloatArray, momentum: float, lipschitz: float, model: LinearPart, ahead: LinearPart
    ) -> StepSums:
        """Shrink the point to the next iterate, and form the next point."""
        X, A, rows, trails = self._iterate, self._point, self._rows, self._trails
        P = operator.astype(X.dtype, copy=False)
        sums = self._blocks.sum(
            lambda b: step(X[b], A[b], trails[b.start], P, momentum, lipschitz, rows[b], model, ahead)
        )
        self._iterate, self._point = A, X
        return StepSums(*sums)

    def last(self, operator: FloatArray, model: LinearPart) -> StepSums:
        """Shrink the point to the next iterate; there is no next point."""
        X, A, rows = self._iterate, self._point, self._rows
        P = operator.astype(X.dtype, copy=False)
        sums = self._blocks.sum(lambda b: land(X[b], A[b], P, rows[b], model))
        self._iterate, self._point = A, X
        return StepSums(*sums)

    def labelled_sums(self, sums: StepSums, shrunk: Shrinkage) -> LabelledSums:
        """Return the labelled sums of the iterate to which ``shrunk`` will shrink the point of ``sums``."""
        m = len(self._rows.targets)
        if self._rows.wide:
            return LabelledSums.of(shrunk.operator[:m] @ self._point, sums.working)
        return sums.labelled_sums(m).after(shrunk.operator)
