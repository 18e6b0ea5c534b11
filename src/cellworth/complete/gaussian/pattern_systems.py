r"""The linear systems of an E step: for each row, one matrix restricted to the row's active columns.

There are three exact methods, and the cheapest for the given patterns is used:

* patterns that many rows share: one Cholesky factor each, one product for all their rows;
* all others, where the kernels are compiled: `cellworth.complete.gaussian.pattern_systems`;
* else stacked LAPACK calls over patterns with the same number of active columns.
"""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.compiled.library import Kernels, address, kernels

BLOCK_ROWS = 5500  # per block: fits in cache; not a power of 2
BATCH_BYTES = 1 << 22  # of stacked matrices in one LAPACK call
SHARED_WORK = 25_000  # rows x columns^2 from which a pattern is worth calls of its own
SHARED_ROWS = 8  # minimum number of rows in a separate pattern
_INT = np.dtype(np.int64)


@dataclass(frozen=True)
class Patterns:
    """The distinct rows of a mask, in lexicographic order (False before True, first column first).

    Attributes
    ----------
    masks : (P, d) bool array
    counts : (P,) int array
        Number of rows with each pattern.
    order : (n,) int array
        The rows, grouped by pattern; rows with the same pattern keep their order.
    """

    masks: BoolArray
    counts: IntArray
    order: IntArray

    @classmethod
    def of(cls, mask: BoolArray) -> Patterns:
        """Group the rows of a mask (n, d). O(n d + n log n)."""
        n, d = mask.shape
        if d == 0:
            return cls(mask[:1], np.array([n]), np.arange(n))
        words = _as_words(mask)
        order = np.lexsort(words.T[::-1]) if words.shape[1] > 1 else np.argsort(words[:, 0], kind="stable")
        words = words[order]
        is_first = np.ones(n, dtype=bool)
        is_first[1:] = (words[1:] != words[:-1]).any(axis=1)
        first = np.flatnonzero(is_first)
        return cls(mask[order[first]], np.diff(first, append=n), order)

    @property
    def of_row(self) -> IntArray:
        """The pattern of each row, (n,), in the original order."""
        pattern = np.empty(len(self.order), dtype=np.intp)
        pattern[self.order] = np.repeat(np.arange(len(self.counts)), self.counts)
        return pattern


def _as_words(mask: BoolArray) -> NDArray[np.uint64]:
    """Pack each row into 64-bit words whose order is the lexicographic order of the rows."""
    packed = np.packbits(mask, axis=1)
    words = np.zeros((len(mask), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view(">u8").astype(np.uint64)


class Solver(Protocol):
    """Solve the systems of a row block."""

    def solve(
        self, A: FloatArray, rhs: FloatArray, *, with_inverses: bool = True
    ) -> tuple[FloatArray, float, FloatArray]:
        """Return the sums of padded inverses and of log-determinants, and the solutions (0 if not active).

        Without inverses, their sum may be left at 0.
        """


@dataclass(frozen=True)
class BlockSystems:
    """A row block, in the order of `Systems.order`, and the solver of its systems."""

    rows: slice
    solver: Solver


class Systems:
    """The systems of all rows of a mask, laid out in blocks once and solved for many matrices.

    Parameters
    ----------
    active : (n, d) bool array

    Attributes
    ----------
    order : (n,) int array
        The rows in the order of the blocks.
    columns : (c,) int array
        The columns that are active in some row.
    blocks : list of BlockSystems
        They depend only on the mask, not on the number of threads.
    """

    def __init__(self, active: BoolArray) -> None:
        self.columns: IntArray = np.flatnonzero(active.any(axis=0))
        patterns = Patterns.of(active[:, self.columns])
        work = patterns.counts * len(self.columns) ** 2
        shared = (work >= SHARED_WORK) & (patterns.counts >= SHARED_ROWS) | ~patterns.masks.any(axis=1)
        first = np.argsort(~shared, kind="stable")
        self.order: IntArray = patterns.order[np.argsort(~np.repeat(shared, patterns.counts), kind="stable")]
        self.blocks = _lay_out(patterns.masks[first], patterns.counts[first], int(shared.sum()))


def _lay_out(masks: BoolArray, counts: IntArray, n_shared: int) -> list[BlockSystems]:
    """Split the patterns, shared ones first, into blocks of about BLOCK_ROWS rows each."""
    blocks, start = [], 0
    for begin, end in ((0, n_shared), (n_shared, len(counts))):
        group = np.cumsum(counts[begin:end]) // BLOCK_ROWS
        cuts = begin + np.flatnonzero(np.diff(group)) + 1
        for lo, hi in zip([begin, *cuts], [*cuts, end], strict=True):
            if lo == hi:
                continue
            kind = SharedPatterns if end == n_shared else _kind()
            n = int(counts[lo:hi].sum())
            blocks.append(BlockSystems(slice(start, start + n), kind(masks[lo:hi], counts[lo:hi])))
            start += n
    return blocks


def _kind() -> type[CompiledPatterns] | type[PatternBatches]:
    return PatternBatches if kernels() is None else CompiledPatterns


class SharedPatterns:
    """One Cholesky factor per pattern: O(P k^3 + n k^2) for patterns of k active columns."""

    def __init__(self, masks: BoolArray, counts: IntArray) -> None:
        self._columns = [np.flatnonzero(mask) for mask in masks]
        self._ends = np.cumsum(counts)
        self._counts = counts

    def solve(
        self, A: FloatArray, rhs: FloatArray, *, with_inverses: bool = True
    ) -> tuple[FloatArray, float, FloatArray]:
        """See `Solver`."""
        inverse_sum, log_determinant, solution = np.zeros_like(A), 0.0, np.zeros_like(rhs)
        for columns, end, count in zip(self._columns, self._ends, self._counts, strict=True):
            if not columns.size:
                continue
            factor = cho_factor(A[np.ix_(columns, columns)], lower=True, check_finite=False)
            inverse = cho_solve(factor, np.eye(len(columns)), check_finite=False)
            inverse_sum[np.ix_(columns, columns)] += count * inverse
            log_determinant += 2 * count * float(log_diagonals(factor[0]).sum())
            rows = slice(end - count, end)
            solution[rows, columns] = rhs[rows, columns] @ inverse
        return inverse_sum, log_determinant, solution


class PatternBatches:
    """Stacked inverses of all patterns with the same number of active columns: O(P k^3 + n k^2)."""

    def __init__(self, masks: BoolArray, counts: IntArray) -> None:
        self._batches = [
            (columns, counts[p], _rows_of(p, counts))
            for p, columns in batches_by_count(masks)
            if columns.size
        ]

    def solve(
        self, A: FloatArray, rhs: FloatArray, *, with_inverses: bool = True
    ) -> tuple[FloatArray, float, FloatArray]:
        """See `Solver`."""
        d = len(A)
        inverse_sum, log_determinant, solution = np.zeros(d * d), 0.0, np.zeros_like(rhs)
        for columns, counts, rows in self._batches:
            stack = A[columns[:, :, None], columns[:, None, :]]
            log_determinant += 2 * float(counts @ log_diagonals(np.linalg.cholesky(stack)).sum(axis=1))
            inverses = np.linalg.inv(stack)
            cells = (columns[:, :, None] * d + columns[:, None, :]).ravel()
            weighted = (inverses * counts[:, None, None]).ravel()
            inverse_sum += np.bincount(cells, weighted, minlength=d * d)
            pattern = np.repeat(np.arange(len(counts)), counts)
            at = rows[:, None], columns[pattern]
            solution[at] = np.matmul(inverses[pattern], rhs[at][:, :, None])[:, :, 0]
        square = inverse_sum.reshape(d, d)
        return (square + square.T) / 2, log_determinant, solution


def batches_by_count(masks: BoolArray) -> list[tuple[IntArray, IntArray]]:
    """Group patterns by the number of active columns, in batches of bounded memory.

    Returns
    -------
    list of (patterns, columns)
        Shapes (g,) and (g, k): the active columns of g patterns with k active columns each.
    """
    size = masks.sum(axis=1)
    batches = []
    for k in np.unique(size):
        patterns = np.flatnonzero(size == k)
        limit = max(1, BATCH_BYTES // max(8, 8 * int(k) ** 2))
        for i in range(0, len(patterns), limit):
            part = patterns[i : i + limit]
            columns = np.nonzero(masks[part])[1].reshape(len(part), int(k))
            batches.append((part, columns))
    return batches


def _rows_of(patterns: IntArray, counts: IntArray) -> IntArray:
    """Return the rows of the given patterns, where rows are grouped by pattern."""
    ends = np.cumsum(counts)[patterns]
    chosen = counts[patterns]
    within = np.arange(chosen.sum()) - np.repeat(np.cumsum(chosen) - chosen, chosen)
    return np.repeat(ends - chosen, chosen) + within


def log_diagonals(L: FloatArray) -> FloatArray:
    """Return the logarithms of the diagonals of matrices (..., k, k).

    Of a copy: for a view, NumPy 1 takes other code if the result comes to lie right after the matrix in
    memory, and the last bits would differ from one run to the next.
    """
    return np.asarray(np.log(np.diagonal(L, axis1=-2, axis2=-1).copy()))


def inverse_diagonals(A: FloatArray, active: BoolArray) -> FloatArray:
    """Return the diagonals of the inverses of A on the active columns of each pattern, padded: (P, d)."""
    if kernels() is not None:
        return diagonals(A, active, remaining=False)
    out = np.zeros(active.shape)
    for patterns, columns in batches_by_count(active):
        inverses = np.linalg.inv(A[columns[:, :, None], columns[:, None, :]])
        out[patterns[:, None], columns] = np.diagonal(inverses, axis1=1, axis2=2)
    return out


def remaining_diagonals(A: FloatArray, active: BoolArray) -> FloatArray:
    r"""Return the diagonals of :math:`A_{bb} - A_{ba} A_{aa}^{-1} A_{ab}`, a active, b not: (P, d)."""
    if kernels() is not None:
        return diagonals(A, active, remaining=True)
    out = np.tile(np.diag(A), (len(active), 1))
    for patterns, columns in batches_by_count(active):
        across = A[columns]
        inverses = np.linalg.inv(A[columns[:, :, None], columns[:, None, :]])
        out[patterns] -= np.einsum("gkd,gkd->gd", across, inverses @ across)
    np.maximum(out, np.finfo(np.float64).eps * np.diag(A), out=out)
    return np.where(active, 0, out)


class CompiledPatterns:
    """One inverse per pattern, in one call for all: O(P k^3 + n k^2) for patterns of k active columns.

    As many patterns as a vector of the processor has numbers are solved at once.

    Parameters
    ----------
    masks : (P, d) bool array
    counts : (P,) int array
        Number of rows with each.
    """

    def __init__(self, masks: BoolArray, counts: IntArray) -> None:
        order, self._active, self._starts = _shortest_first(masks)
        self._begin = (np.cumsum(counts) - counts)[order].astype(_INT)
        self._counts = counts[order].astype(_INT)

    def solve(
        self, A: FloatArray, rhs: FloatArray, *, with_inverses: bool = True
    ) -> tuple[FloatArray, float, FloatArray]:
        """See `Solver`; inverses are summed in any case."""
        found = _kernels()
        A = np.ascontiguousarray(A)
        solution = np.zeros_like(rhs)
        inverse_sum, log_determinant = np.zeros_like(A), np.zeros(1)
        strides = [stride // rhs.itemsize for stride in rhs.strides]
        if solution.strides != rhs.strides:  # a slice of columns
            rhs = np.ascontiguousarray(rhs)
            solution = np.zeros_like(rhs)
            strides = [rhs.shape[1], 1]
        arrays = (A, self._active, self._starts, self._begin, self._counts, rhs, solution)
        failed = found.solve_patterns(
            *(byref(found.lapack), len(self._counts), len(A), *map(address, arrays), *strides),
            *(address(inverse_sum), address(log_determinant)),
        )
        _check(failed)
        return inverse_sum, float(log_determinant[0]), solution


def diagonals(A: FloatArray, active: BoolArray, *, remaining: bool) -> FloatArray:
    """Return `inverse_diagonals` or `remaining_diagonals`, (P, d)."""
    found = _kernels()
    order, columns, starts = _shortest_first(active)
    A, out = np.ascontiguousarray(A), np.zeros(active.shape)
    arrays = A, columns, starts, order
    failed = found.pattern_diagonals(*active.shape, *map(address, arrays), int(remaining), address(out))
    _check(failed)
    return out


def _shortest_first(masks: BoolArray) -> tuple[IntArray, Any, IntArray]:
    """Return patterns sorted by how many columns are active: the order, these columns, and where they begin.

    All columns stand one after another, those of pattern p from ``starts[p]`` on.
    """
    size = masks.sum(axis=1)
    order = np.argsort(size, kind="stable").astype(_INT, copy=False)
    starts = np.zeros(len(masks) + 1, dtype=_INT)
    np.cumsum(size[order], out=starts[1:])
    return order, np.nonzero(masks[order])[1].astype(np.int32), starts


def _kernels() -> Kernels:
    found = kernels()
    assert found is not None, "used only where they are"
    return found


def _check(failed: int) -> None:
    if failed == 2:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    if failed:
        raise MemoryError("not enough memory for the systems of a block of rows")
