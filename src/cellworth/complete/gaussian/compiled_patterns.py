"""The systems of all patterns of a row block, solved by the compiled kernels; see `pattern_systems`."""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.compiled.library import Kernels, address, kernels

_INT = np.dtype(np.int64)


class CompiledPatterns:
    """One inverse per pattern, in one call for all: O(P k^3 + n k^2) for patterns of k active columns.

    Sweeping the lower triangle takes half of the time of LAPACK's factor and inverse up to k = 100.

    Parameters
    ----------
    masks : (P, d) bool array
    counts : (P,) int array
        Number of rows with each.
    """

    def __init__(self, masks: BoolArray, counts: IntArray) -> None:
        self._active, self._starts = _columns_of(masks)
        self._counts = counts.astype(_INT)

    def solve(
        self, A: FloatArray, rhs: FloatArray, *, with_inverses: bool = True
    ) -> tuple[FloatArray, float, FloatArray]:
        """See `cellworth.complete.gaussian.pattern_systems.Solver`; inverses are summed in any case."""
        found = _kernels()
        A = np.ascontiguousarray(A)
        solution = np.zeros_like(rhs)
        inverse_sum, log_determinant = np.zeros_like(A), np.zeros(1)
        strides = [stride // rhs.itemsize for stride in rhs.strides]
        if solution.strides != rhs.strides:  # a slice of columns
            rhs = np.ascontiguousarray(rhs)
            solution = np.zeros_like(rhs)
            strides = [rhs.shape[1], 1]
        arrays = (A, self._active, self._starts, self._counts, rhs, solution)
        failed = found.solve_patterns(
            *(byref(found.lapack), len(self._counts), len(A), *map(address, arrays), *strides),
            *(address(inverse_sum), address(log_determinant)),
        )
        _check(failed)
        return inverse_sum, float(log_determinant[0]), solution


def diagonals(A: FloatArray, active: BoolArray, *, remaining: bool) -> FloatArray:
    """Return `inverse_diagonals` or `remaining_diagonals` of `pattern_systems`, (P, d)."""
    found = _kernels()
    columns, starts = _columns_of(active)
    A, out = np.ascontiguousarray(A), np.empty(active.shape)
    arrays = A, columns, starts
    failed = found.pattern_diagonals(
        byref(found.lapack), *active.shape, *map(address, arrays), int(remaining), address(out)
    )
    _check(failed)
    return out


def _columns_of(masks: BoolArray) -> tuple[Any, IntArray]:
    """Return the active columns of all patterns, one after another, and where each pattern's begin."""
    starts = np.zeros(len(masks) + 1, dtype=_INT)
    np.cumsum(masks.sum(axis=1), out=starts[1:])
    return np.nonzero(masks)[1].astype(np.int32), starts


def _kernels() -> Kernels:
    found = kernels()
    assert found is not None, "used only where they are"
    return found


def _check(failed: int) -> None:
    if failed == 2:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    if failed:
        raise MemoryError("not enough memory for the systems of a block of rows")
