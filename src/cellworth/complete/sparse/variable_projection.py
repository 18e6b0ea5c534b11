r"""One pass over the observed cells of a sparse table: each row block's contribution to a small sum.

.. math:: F(B) = \min_A\ \tfrac12\|R_\Omega(X - AB^\top)\|_F^2
          + \tfrac\lambda2\left(\|A\|_F^2 + \|B\|_F^2\right)

over A (n, r) for a given B (d, r). The rows of A are independent ridge regressions, solved exactly where the
row is and not kept between passes. Since A is optimal for its B, the gradient of F is simply (variable
projection)

.. math:: \nabla F(B) = \lambda B - R^\top A, \qquad R = R_\Omega(X - AB^\top).

A block contributes a (d, r) and an (r, r) array and two numbers, which are summed over blocks. The functions
of a block are pure: a block and small arrays in, small arrays out, so any engine can run them where the block
is. No array of n d numbers is ever formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.engine_protocol import Blocks, Engine, add, alone, join

BATCH_BYTES = 1 << 20  # of factors gathered for one batch of rows, to stay in a core's cache
MOST_BLOCKS = 32
LEAST_CELLS = 1 << 14  # in a block: with fewer, call overhead dominates
EXTRA = 5  # extra directions, so that the requested ones converge sooner


class CellBlock(NamedTuple):
    """The observed cells of a block of m rows, row by row.

    Attributes
    ----------
    starts : (m + 1,) int array
        The cells of row i are ``starts[i]:starts[i + 1]``; the first start is 0.
    columns : (n_cells,) int array
    values : (n_cells,) float64 array
        A value of 0 is an observed value like any other.
    """

    starts: IntArray
    columns: IntArray
    values: Float64Array

    def matrix(self, n_columns: int) -> csr_array:
        """Return the cells as a sparse matrix (m, n_columns) that shares their memory."""
        shape = (len(self.starts) - 1, n_columns)
        return csr_array((self.values, self.columns, self.starts), shape=shape)

    def rows(self) -> IntArray:
        """Return the row of each cell, (n_cells,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class PassSums(NamedTuple):
    """The sums of one pass; additive over blocks."""

    misfit: float  # 1/2 sum over observed cells of (value - estimate)^2
    squares: float  # ||A||^2
    products: Float64Array  # (d, r): R^T A
    gram: Float64Array  # (r, r): sum over observed cells of a_i a_i^T


def step(block: CellBlock, B: Float64Array, penalty: float) -> PassSums:
    """Return a block's contribution to F and its gradient.

    O(m r min(m, r)) for a row with m cells, and O(d r) for the sums of the block.
    """
    A, left = solve(block, B, penalty)
    products = left.matrix(len(B)).T @ A
    gram = (A * np.diff(block.starts)[:, None]).T @ A
    return PassSums(_half_square(left.values), float(np.vdot(A, A)), products, gram)


def row_factors(block: CellBlock, B: Float64Array, penalty: float) -> Float64Array:
    """Return the best rows A (m, r) for B; 0 for a row without cells."""
    return solve(block, B, penalty)[0]


def residual(block: CellBlock, B: Float64Array, penalty: float) -> CellBlock:
    """Return the cells with their residuals R from A B^T as values."""
    return solve(block, B, penalty)[1]


def project(block: CellBlock, V: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return (XV)^T XV, (k, k), and X^T XV, (d, k), for V (d, k): what a subspace iteration needs."""
    X = block.matrix(len(V))
    W = X @ V
    return W.T @ W, X.T @ W


def footprint(block: CellBlock, V: Float64Array) -> tuple[Float64Array]:
    """Return, (k,), the sum over observed cells of (w_i v_j)^2 for each column v of V and w = X v."""
    W = block.matrix(len(V)) @ V
    seen = block._replace(values=np.ones_like(block.values)).matrix(len(V))
    return (np.einsum("ik,ik->k", W**2, seen @ V**2),)


def filled_gram(block: CellBlock, B: Float64Array, penalty: float, V: Float64Array) -> tuple[Float64Array]:
    """Return W^T W, (k, k), for W = (A B^T + R) V: the table with its holes filled, times V (d, k)."""
    A, left = solve(block, B, penalty)
    W = A @ (B.T @ V) + left.matrix(len(V)) @ V
    return (W.T @ W,)


def fit_parts(block: CellBlock, B: Float64Array, penalty: float) -> tuple[float, float, float, Float64Array]:
    """Return 1/2 ||R||^2, <R, X>, ||A||^2 and A^T A, (r, r): what a certificate needs."""
    A, left = solve(block, B, penalty)
    overlap = float(left.values @ block.values)
    return _half_square(left.values), overlap, float(np.vdot(A, A)), A.T @ A


def missed(pair: tuple[CellBlock, CellBlock], B: Float64Array, penalty: float) -> tuple[float, int]:
    """Return the squared error and the number of the second block's cells, estimated from the first.

    Both blocks have the same rows.
    """
    seen, hidden = pair
    A = row_factors(seen, B, penalty)
    left = hidden.values - cell_products(A, B, hidden.rows(), hidden.columns)
    return 2 * _half_square(left), len(left)


def cell_products(A: Float64Array, B: Float64Array, rows: IntArray, columns: IntArray) -> Float64Array:
    """Return a_i . b_j for each of the given cells (i, j), in batches that stay in cache."""
    out = np.empty(len(rows))
    size = max(1, BATCH_BYTES // (8 * max(1, A.shape[1])))
    for i in range(0, len(rows), size):
        part = slice(i, i + size)
        np.einsum("ij,ij->i", A[rows[part]], B[columns[part]], out=out[part])
    return out


def solve(block: CellBlock, B: Float64Array, penalty: float) -> tuple[Float64Array, CellBlock]:
    """Return the best rows A (m, r) for B, and the cells with their residuals from A B^T as values.

    With G (m, r) the rows of B at the cells x of a row, a = (G^T G + lambda)^-1 G^T x, or for m < r the
    smaller system a = G^T (G G^T + lambda)^-1 x.

    Parameters
    ----------
    B : (d, r) array
    penalty : float
        lambda, greater than 0.
    """
    A, left = np.zeros((len(block.starts) - 1, B.shape[1])), block.values.copy()
    for rows, cells, real, G in padded_rows(block, B):
        x = np.where(real, block.values[cells], 0.0)[:, :, None]
        a = _ridge(G, x, penalty)
        A[rows] = a[:, :, 0]
        x -= G @ a
        left[cells[real]] = x[:, :, 0][real]
    return A, block._replace(values=left)


def padded_rows(
    block: CellBlock, B: Float64Array
) -> Iterator[tuple[IntArray, IntArray, BoolArray, Float64Array]]:
    """Yield the rows that have cells in batches, padded with empty cells to the same number m of cells.

    Of each batch: its rows (k,), the places (k, m) of their cells, which of those are real, and the rows of B
    (d, r) at the cells, (k, m, r), 0 for empty ones. Rows with similar numbers of cells come together.
    """
    n_cells, rank = np.diff(block.starts), B.shape[1]
    order = np.argsort(-n_cells, kind="stable")[: np.count_nonzero(n_cells) if rank else 0]
    with_empty = np.vstack([B, np.zeros((1, rank))])
    first = 0
    while first < len(order):
        width = int(n_cells[order[first]])
        rows = order[first : first + max(1, BATCH_BYTES // (8 * rank * width))]
        first += len(rows)
        places = np.arange(width)
        real = places < n_cells[rows, None]
        cells = np.where(real, block.starts[rows, None] + places, 0)
        yield rows, cells, real, with_empty.take(np.where(real, block.columns[cells], len(B)), axis=0)


def _ridge(G: Float64Array, x: Float64Array, penalty: float) -> Float64Array:
    """Return a stack (k, r, 1) of ridge regressions of x (k, m, 1) on G (k, m, r)."""
    Gt, (_, m, rank) = G.transpose(0, 2, 1), G.shape
    if m < rank:
        return np.asarray(Gt @ np.linalg.solve(G @ Gt + penalty * np.eye(m), x))
    return np.asarray(np.linalg.solve(Gt @ G + penalty * np.eye(rank), Gt @ x), dtype=np.float64)


def _half_square(values: Float64Array) -> float:
    return 0.5 * float(values @ values)


@dataclass(frozen=True)
class CellBlocks:
    """The row blocks of a table held by an engine, and how to run functions on them.

    The functions are those above: pure, and importable by name. Neither the blocks nor the order in which
    their results are added depends on the number of threads or workers, so results are bitwise identical.

    Attributes
    ----------
    blocks : Blocks
        Blocks of `CellBlock`, or of what a function returned for them.
    engine : Engine
    """

    blocks: Blocks
    engine: Engine

    def sum(self, function: Callable[..., tuple[Any, ...]], *shared: Any) -> tuple[Any, ...]:
        """Return the element-wise sum over blocks of ``function(block, *shared)``, in a fixed order."""
        total: tuple[Any, ...] = self.engine.reduce(function, add, self.blocks, shared=shared)
        return total

    def map(self, function: Callable[..., Any], *shared: Any) -> CellBlocks:
        """Return the blocks ``function(block, *shared)``, kept where they were computed."""
        return CellBlocks(self.engine.map(function, self.blocks, shared=shared), self.engine)

    def gather(self) -> list[Any]:
        """Return the blocks, in the order of the rows."""
        return list(self.engine.reduce(alone, join, self.blocks))


def row_blocks(cells: CellBlock, n_columns: int) -> Iterator[slice]:
    """Yield each block's slice of rows, at least one block; all have about the same number of cells.

    A block contributes a (d, r) array. To keep that cheap relative to the work on the cells, a block has at
    least twice as many cells as the table has columns.
    """
    n_rows, n_cells = len(cells.starts) - 1, len(cells.values)
    n_blocks = int(np.clip(n_cells // max(2 * n_columns, LEAST_CELLS), 1, MOST_BLOCKS))
    ends = np.searchsorted(cells.starts, np.arange(1, n_blocks) * (n_cells / n_blocks))
    bounds = [0, *np.unique(ends[(ends > 0) & (ends < n_rows)]), n_rows]
    yield from (slice(int(a), int(b)) for a, b in pairwise(bounds))


def cut_rows(cells: CellBlock, n_columns: int, what: CellBlock) -> list[CellBlock]:
    """Return ``what`` cut where `row_blocks` cuts ``cells``; both have the same rows."""
    return [take_rows(what, rows) for rows in row_blocks(cells, n_columns)]


def take_rows(cells: CellBlock, rows: slice) -> CellBlock:
    """Return the cells of a slice of rows; columns and values share their memory."""
    starts = cells.starts[rows.start : rows.stop + 1]
    part = slice(int(starts[0]), int(starts[-1]))
    return CellBlock(starts - starts[0], cells.columns[part], cells.values[part])


def leading_directions(
    blocks: CellBlocks,
    n_columns: int,
    k: int,
    rng: np.random.Generator,
    *,
    outside: Float64Array | None = None,
    tol: float,
    max_iter: int,
) -> tuple[Float64Array, Float64Array]:
    """Return the k largest singular values, descending, and their right vectors (d, k).

    Returns fewer than k if there are fewer directions. Subspace iteration from random directions: values
    converge from below, with an error on the order of the squared error of the vectors.

    Parameters
    ----------
    blocks : CellBlocks
        Blocks of `CellBlock`; unobserved cells count as 0.
    outside : (d, j) array with orthonormal columns, or None
        Only consider directions orthogonal to these.
    tol : float
        Stop when no value grows by more than this fraction of the largest.

    Notes
    -----
    One pass per iteration, O(cells k + d k^2).
    """
    known = np.zeros((n_columns, 0)) if outside is None else outside
    size = min(k + EXTRA, n_columns - known.shape[1])
    if min(size, k) <= 0:
        return np.zeros(0), np.zeros((n_columns, 0))
    V, last = _orthonormal(rng.standard_normal((n_columns, size)), known), np.zeros(size)
    for _ in range(max_iter):
        gram, product = blocks.sum(project, V)
        squares, Q = np.linalg.eigh(gram)
        values, V = np.sqrt(np.maximum(squares[::-1], 0)), V @ Q[:, ::-1]
        settled = np.abs(values - last)[:k].max() <= tol * values[0]
        if settled:
            break
        last, best = values, V
        V = _orthonormal(product @ Q[:, ::-1], known)
    else:
        V = best  # the values belong to the directions before the last iteration
    return values[:k], np.ascontiguousarray(V[:, :k])


def largest_singular_value(blocks: CellBlocks, n_columns: int, rng: np.random.Generator) -> float:
    """Return that of the table with 0 in its holes; a penalty this large shrinks everything to 0."""
    values, _ = leading_directions(blocks, n_columns, 1, rng, tol=1e-6, max_iter=100)
    return float(values[0])


def _orthonormal(V: Float64Array, known: Float64Array) -> Float64Array:
    """Return an orthonormal basis of the part of V orthogonal to ``known``; V may be rank-deficient."""
    Q, _ = np.linalg.qr(V - known @ (known.T @ V))
    Q -= known @ (known.T @ Q)  # once more, to remove rounding errors
    Q, _ = np.linalg.qr(Q)
    return np.asarray(Q)
