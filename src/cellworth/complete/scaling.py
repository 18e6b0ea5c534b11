"""Scale the cells of a table before completion, and put completed cells back into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, FloatArray, IntArray
from cellworth.blocks.column_sums import ColumnSums
from cellworth.errors import ParameterError

SCALES = ("minmax", "standard", None)
BLOCK_CELLS = 1 << 14


@dataclass(frozen=True)
class Scaling:
    """scaled = (value - offset) / width, column by column.

    Attributes
    ----------
    offset, width : (d,) float64 arrays
        ``width`` is positive; 1 for a constant column.
    """

    offset: Float64Array
    width: Float64Array

    @classmethod
    def of(cls, X: FloatArray, how: str | None) -> Scaling:
        """Learn the scaling from the observed cells of X (n, d).

        "minmax" maps the observed range to [0, 1], as the paper does; "standard" maps the mean to 0 and the
        standard deviation to 1; None leaves the values unchanged.
        """
        if how == "minmax":
            columns = np.ascontiguousarray(X.T)  # finds the extremes in half the time
            low, high = np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)
            return cls.of_range(low, high, X.dtype)
        if how == "standard":
            return cls.of_sums(ColumnSums.of(X), X.dtype)
        if how is not None:
            raise ParameterError(f"scale must be 'minmax', 'standard' or None; got {how!r}")
        return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))

    @classmethod
    def of_range(cls, low: FloatArray, high: FloatArray, dtype: Any) -> Scaling:
        """Return the "minmax" scaling of columns with these extremes, (d,) each."""
        offset = low.astype(np.float64)
        with np.errstate(over="ignore"):  # an infinite width is not used
            return cls(offset, _usable(high - offset, offset, dtype))

    @classmethod
    def of_sums(cls, sums: ColumnSums, dtype: Any) -> Scaling:
        """Return the "standard" scaling of columns with these sums."""
        return cls(sums.mean, _usable(sums.deviation(), sums.mean, dtype))

    @property
    def is_identity(self) -> bool:
        """Whether values stay as they are."""
        return not self.offset.any() and bool((self.width == 1).all())

    def apply(self, X: FloatArray) -> FloatArray:
        """Return a scaled copy of X, with X's dtype."""
        if self.is_identity:
            return X.copy()
        scaled = X - self.offset.astype(X.dtype)
        scaled /= self.width.astype(X.dtype)
        return scaled

    def undo_in_place(self, X: FloatArray) -> FloatArray:
        """Convert a scaled X back to the user's units, in place."""
        if self.is_identity:
            return X
        X *= self.width.astype(X.dtype)
        X += self.offset.astype(X.dtype)
        return X


def _usable(width: Float64Array, offset: Float64Array, dtype: Any) -> Float64Array:
    """Return the widths (d,), replaced by 1 if infinite, or 0 up to rounding in this dtype."""
    smallest = np.finfo(dtype).eps * np.maximum(np.abs(offset), np.finfo(np.float64).tiny)
    return np.where(np.isfinite(width) & (width > smallest), width, 1.0)


def scaled_cells(X: FloatArray, scaling: Scaling) -> tuple[FloatArray, BoolArray]:
    """Return the scaled values of X, 0 in the holes, and which cells are observed; both (n, d)."""
    observed = ~np.isnan(X)
    values = np.ascontiguousarray(scaling.apply(X))
    for rows in _row_blocks(X.shape):
        bits = _bits(values[rows])
        bits &= _all_ones_where(observed[rows], bits.dtype)
    return values, observed


def put_back(X: FloatArray, filled: FloatArray) -> FloatArray:
    """Copy the observed cells of X into ``filled``, in place if it is C-contiguous, and return it."""
    filled = np.ascontiguousarray(filled)
    for rows in _row_blocks(X.shape):
        bits, of_X = _bits(filled[rows]), _bits(np.ascontiguousarray(X[rows], dtype=filled.dtype))
        # Where a bit of both is to change: a masked copy takes four times as long.
        bits ^= (bits ^ of_X) & _all_ones_where(~np.isnan(X[rows]), bits.dtype)
    return filled


def _bits(A: FloatArray) -> IntArray:
    """Return a view of the numbers' bits as integers."""
    return A.view(f"i{A.itemsize}")


def _all_ones_where(chosen: BoolArray, dtype: Any) -> IntArray:
    """Return integers, all bits of which are 1 in the chosen cells, and 0 in the others."""
    ones = chosen.astype(dtype)
    return np.negative(ones, out=ones)


def _row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Return slices of rows small enough to stay in cache, with little memory for cell indices."""
    size = max(1, BLOCK_CELLS // max(1, shape[1]))
    return [slice(first, first + size) for first in range(0, shape[0], size)]
