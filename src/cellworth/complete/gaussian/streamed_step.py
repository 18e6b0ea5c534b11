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
from cellworth.complete.compiled.library import address, kernels
from cellworth.complete.gaussian.dense_gaussian import DenseExpectation, DenseGaussian
from cellworth.complete.scaling import Scaling

MOST_COLUMNS = 64  # a pattern is one word


def can_stream(kind: Any) -> bool:
    """Return whether the E step of models of this kind and size can be done on rows as they are read."""
    return isinstance(kind, DenseGaussian) and len(kind.mean) <= MOST_COLUMNS and kernels() is not None


def streamed_step(model: DenseGaussian, X: FloatArray, scaling: Scaling) -> DenseExpectation:
    """Do the E step on the rows X (n, d), NaN in the holes, whose cells the model sees scaled.

    O(n d^2) plus at most O(n d^3 / 16), less where rows share a pattern.
    """
    found = kernels()
    assert found is not None, "see can_stream"
    n, d = X.shape
    X = np.ascontiguousarray(X)
    inverse = np.linalg.inv(model.covariance)
    precision = np.ascontiguousarray((inverse + inverse.T) / 2)
    covariance = np.ascontiguousarray(model.covariance)
    by_holes, by_observed, second = np.zeros((3, d, d))
    first, totals = np.zeros(d), np.zeros(4)
    given = scaling.offset, scaling.width, model.mean, precision, covariance
    arrays = [np.ascontiguousarray(array, dtype=np.float64) for array in given]
    failed = found.streamed_step(
        *(byref(found.passes[np.dtype("f8")][1]), n, d, address(X), int(X.dtype == np.float32)),
        *map(address, (*arrays, by_holes, by_observed, first, second, totals)),
    )
    if failed == 2:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    if failed:
        raise MemoryError("not enough memory for the E step of a block of rows")
    log_determinant, quadratic, n_cells, from_holes = totals.tolist()
    within = _whole(by_holes)
    if from_holes < n:
        within += (n - from_holes) * covariance - covariance @ _whole(by_observed) @ covariance
    deviance = from_holes * model.log_determinant() + log_determinant + quadratic
    return DenseExpectation(deviance, first, second, within, n_cells, n)


def _whole(lower: FloatArray) -> FloatArray:
    """Return a symmetric matrix, given its lower triangle and 0 above."""
    return lower + np.tril(lower, -1).T
