r"""The E step of a `DenseGaussian` on rows as they are read: no layout is made before, and none is kept.

`cellworth.complete.gaussian.dense_gaussian` lays out the systems of a table once and solves them in many
steps; the layout takes several times the memory of the rows, and much longer to make than a step takes. Where
rows are read again in each step, or many of them are kept, the kernel `streamed_step.h` does the same sums
from the cells alone: scaling, patterns, systems and products of a few thousand rows at a time, while they are
in cache. Each row is solved from the side with fewer cells.
"""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.blocks.cell_columns import CellColumns
from cellworth.complete.compiled.library import address, kernel_cells, kernels
from cellworth.complete.gaussian.dense_gaussian import DenseExpectation, DenseGaussian
from cellworth.complete.scaling import Scaling

MOST_COLUMNS = 64  # a pattern is one word


def can_stream(kind: Any) -> bool:
    """Return whether the E step of models of this kind and size can be done on rows as they are read."""
    return isinstance(kind, DenseGaussian) and len(kind.mean) <= MOST_COLUMNS and kernels() is not None


def streamed_step(model: DenseGaussian, X: FloatArray | CellColumns, scaling: Scaling) -> DenseExpectation:
    """Do the E step on the rows X (n, d), NaN in the holes, whose cells the model sees scaled.

    Columns are put into rows a chunk at a time, while it is in cache.

    O(n d^2) plus at most O(n d^3 / 16), less where rows share a pattern.
    """
    n, d = X.shape
    by_holes, by_observed = np.zeros((2, d, d))
    first, second, totals = _sums(model, X, scaling, address(by_holes), address(by_observed))
    log_determinant, n_cells, from_holes = totals.tolist()
    within = _whole(by_holes)
    if from_holes < n:
        C = model.covariance
        within += (n - from_holes) * C - C @ _whole(by_observed) @ C
    quadratic = float(np.vdot(model.precision, second))  # of the observed cells: a hole adds nothing
    deviance = from_holes * model.log_determinant() + log_determinant + quadratic
    return DenseExpectation(deviance, first, second, within, n_cells, n)


def completed_sums(
    model: DenseGaussian, X: FloatArray | CellColumns, scaling: Scaling
) -> tuple[FloatArray, FloatArray]:
    """Return the ``first`` (d,) and ``second`` (d, d) of `streamed_step`; no system is inverted."""
    return _sums(model, X, scaling)[:2]


def _sums(
    model: DenseGaussian,
    X: FloatArray | CellColumns,
    scaling: Scaling,
    *inverses: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Call the kernel; ``inverses`` are the addresses of the sums of inverses, if they are wanted."""
    found = kernels()
    assert found is not None, "see can_stream"
    d = X.shape[1]
    first, second, totals = np.zeros(d), np.zeros((d, d)), np.zeros(3)
    given = scaling.offset, scaling.width, model.mean, model.precision, model.covariance
    arrays = [np.ascontiguousarray(array, dtype=np.float64) for array in given]
    for cells in kernel_cells(X):
        failed = found.streamed_step(
            *(byref(found.passes[np.dtype("f8")][1]), cells.n_rows, d, byref(cells.pointers)),
            *(*map(address, arrays), *(inverses or (None, None))),
            *map(address, (first, second, totals)),
        )
        if failed == 2:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        if failed:
            raise MemoryError("not enough memory for the E step of a block of rows")
    return first, second, totals


def _whole(lower: FloatArray) -> FloatArray:
    """Return a symmetric matrix, given its lower triangle and 0 above."""
    return lower + np.tril(lower, -1).T
