"""Scale the cells of a table before completion, and put completed cells back into it.

Each is one compiled pass over the cells where there are kernels, else several in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, Float64Array, FloatArray, IntArray
from cellworth.blocks.column_sums import ColumnSums
from cellworth.complete.compiled.library import CellKernels, address, kernels
from cellworth.errors import ParameterError

BLOCK_CELLS = 1 << 14
ABREAST = 8  # rows of a run; as in kernels.c

Order = slice | IntArray  # of rows, by their index in the user's table
AS_THEY_ARE = slice(None)


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
            return cls.of_range(*column_ranges(X), X.dtype)
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

    def same_as(self, other: Scaling) -> bool:
        """Whether another scaling has the same units."""
        mine, others = (self.offset, self.width), (other.offset, other.width)
        return all(np.array_equal(one, another) for one, another in zip(mine, others, strict=True))

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


def column_ranges(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest observed value (d,) of each column of X; NaN where there is none."""
    compiled = _kernels_for(X)
    if compiled is None:
        if not len(X):
            return (np.full(X.shape[1], np.nan, X.dtype),) * 2
        columns = np.ascontiguousarray(X.T)  # finds the extremes in half the time
        return np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)
    low, high = np.empty((2, X.shape[1]), dtype=X.dtype)
    work = np.empty((2, ABREAST, X.shape[1]), dtype=X.dtype)
    compiled.column_ranges(*X.shape, *map(address, (X, work, low, high)))
    empty = low > high
    low[empty], high[empty] = np.nan, np.nan
    return low, high


def scaled_cells(
    X: FloatArray,
    scaling: Scaling,
    order: Order = AS_THEY_ARE,
    out: tuple[FloatArray, BoolArray] | None = None,
) -> tuple[FloatArray, BoolArray]:
    """Return the scaled values of the rows ``X[order]``, 0 in the holes, and which are observed; both (n, d).

    ``out`` are arrays to write them to, C-ordered and of their types.
    """
    compiled = _kernels_for(X)
    if compiled is not None:
        values, observed = (np.empty(X.shape, X.dtype), np.empty(X.shape, bool)) if out is None else out
        rows, of_scaling = _index(order), _units(scaling, X.dtype)
        arrays = X, rows, *of_scaling, values, observed
        compiled.scale_cells(*X.shape, *map(_address, arrays))
        return values, observed
    observed = ~np.isnan(X[order])
    values = np.ascontiguousarray(scaling.apply(X[order]))
    for block in _row_blocks(X.shape):
        bits = _bits(values[block])
        bits &= _all_ones_where(observed[block], bits.dtype)
    return values, observed


def changed_rows(X: FloatArray, before: FloatArray) -> BoolArray:
    """Return which rows (n,) of X have an observed cell that differs from what was there ``before``."""
    compiled = _kernels_for(X)
    if compiled is None or before.dtype != X.dtype or not before.flags.c_contiguous:
        return np.asarray(((before != X) & ~np.isnan(X)).any(axis=1))
    changed = np.empty(len(X), dtype=bool)
    compiled.changed_rows(*X.shape, *map(address, (X, before, changed)))
    return changed


def update_cells(
    X: FloatArray, before: FloatArray, scaling: Scaling, order: Order, cells: tuple[FloatArray, BoolArray]
) -> BoolArray:
    """Bring ``cells`` up to date with X, in place; return the changed rows (n,), in ``order``.

    ``cells`` are the result of `scaled_cells`, with the same scaling and order, for a table that was
    completed to ``before``. As `scaled_cells` and `changed_rows`, but most cells are only looked at.
    """
    values, observed = cells
    compiled = _kernels_for(X)
    if compiled is None or before.dtype != X.dtype or not before.flags.c_contiguous:
        values[...], observed[...] = scaled_cells(X, scaling, order)
        return changed_rows(X, before)[order]
    changed = np.empty(len(X), dtype=bool)
    arrays = X, before, _index(order), *_units(scaling, X.dtype), values, observed, changed
    compiled.update_cells(*X.shape, *map(_address, arrays))
    return changed


def put_back(
    X: FloatArray,
    filled: FloatArray,
    scaling: Scaling | None = None,
    order: Order = AS_THEY_ARE,
    out: FloatArray | None = None,
) -> FloatArray:
    """Return X with its holes ``filled``, in place if the latter are C-contiguous and in the order of X.

    Parameters
    ----------
    filled : (n, d) array
        Its rows stand for ``X[order]``.
    scaling : Scaling or None
        That of ``filled``; None: it is in the units of X.
    out : (n, d) array, C-ordered, of the type of ``filled``, or None
        Where to write the result; ``filled`` then stays as it is.
    """
    filled = np.ascontiguousarray(filled)
    compiled = _kernels_for(X) if filled.dtype == X.dtype else None
    if compiled is not None:
        rows, of_scaling = _index(order), _units(scaling, X.dtype)
        if out is None:
            out = filled if rows is None else np.empty_like(filled)
        arrays = X, rows, *of_scaling, filled, out
        compiled.put_back(*X.shape, *map(_address, arrays))
        return out
    if out is not None:
        out[...] = filled
        filled = out
    filled = in_order(filled if scaling is None else scaling.undo_in_place(filled), order)
    for block in _row_blocks(X.shape):
        bits, of_X = _bits(filled[block]), _bits(np.ascontiguousarray(X[block], dtype=filled.dtype))
        # Where a bit of both is to change: a masked copy takes four times as long.
        bits ^= (bits ^ of_X) & _all_ones_where(~np.isnan(X[block]), bits.dtype)
    return filled


def same_order(one: Order, other: Order) -> bool:
    """Return whether two orders of the rows of a table are the same."""
    if isinstance(one, slice) or isinstance(other, slice):
        return isinstance(one, slice) and isinstance(other, slice)
    return np.array_equal(one, other)


def in_order(A: FloatArray, order: Order) -> FloatArray:
    """Return the rows of A, which are sorted by ``order``, in the order of the user's table."""
    if isinstance(order, slice):
        return A
    restored = np.empty_like(A)
    restored[order] = A
    return restored


def _kernels_for(X: AnyArray) -> CellKernels | None:
    """Return the compiled passes over a table, if there are any for its type and layout."""
    found = kernels()
    return found.cells.get(X.dtype) if found is not None and X.flags.c_contiguous and X.ndim == 2 else None


def _index(order: Order) -> IntArray | None:
    """Return the order as the kernels take it; None: as they are."""
    return None if isinstance(order, slice) else np.ascontiguousarray(order, dtype=np.int64)


def _units(scaling: Scaling | None, dtype: Any) -> tuple[FloatArray | None, FloatArray | None]:
    """Return offset and width as the kernels take them; None if values stay as they are."""
    if scaling is None or scaling.is_identity:
        return None, None
    return scaling.offset.astype(dtype), scaling.width.astype(dtype)


def _address(array: AnyArray | None) -> int | None:
    return None if array is None else address(array)


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
