"""Work on row blocks that stay in cache: the step of the solver, and the threads that run it.

Rows are independent given a small matrix, so one pass over the blocks and one sum of m x m matrices is
an iteration. `step` is a plain function of arrays: threads call it here, and an engine on other
machines can call it on the blocks that live there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import get_blas_funcs
from threadpoolctl import ThreadpoolController

from cellworth.complete.solver.losses import Loss

Array = NDArray[np.floating]

BLOCK_BYTES = 1 << 18  # of one array; a step works on five at a time, and they must fit in a core's L2
MAX_CHUNKS = 32  # partial sums are added in this many groups, whatever the number of threads


@dataclass(frozen=True)
class Rows:
    """The data of a block of rows (or of all rows), scaled.

    Attributes
    ----------
    values : (n, d) array
        Observed values; 0 in the holes.
    observed : (n, d) bool array
    targets : (n, n_outputs) array
        Targets coded for the loss; 0 where the label is missing.
    weights : (n, 1) array
        Weight of each row's loss: label weight / number of labelled rows, or 0 without a label.
    wide : bool
        The whole table has fewer rows than columns: thresholding works on the row side, in one block.
    """

    values: Array
    observed: NDArray[np.bool_]
    targets: Array
    weights: Array
    wide: bool

    def __getitem__(self, block: slice) -> Rows:
        """Return the view of a block of rows."""
        return Rows(
            self.values[block], self.observed[block], self.targets[block], self.weights[block], self.wide
        )


@dataclass(frozen=True)
class Model:
    """The linear model f and the loss that judges it, fixed during a completion step."""

    loss: Loss
    coef: Array  # (d, n_outputs)
    intercept: Array  # (n_outputs,)

    def scores(self, X: Array) -> Array:
        """Return the scores of the rows of X, (n, n_outputs)."""
        scores: Array = X @ self.coef.astype(X.dtype, copy=False)
        scores += self.intercept.astype(X.dtype, copy=False)
        return scores

    def total_loss(self, X: Array, rows: Rows) -> float:
        """Return the weighted sum of the rows' losses."""
        per_row = self.loss.value(self.scores(X), rows.targets)
        return float(rows.weights[:, 0] @ per_row)


class StepSums(NamedTuple):
    """What one step returns: additive over blocks, except in the wide case, which is one block."""

    gram: Array  # (m, m): of the next point to shrink
    misfit: float  # 1/2 sum over observed cells of (new iterate - value)^2
    loss: float  # weighted loss of the new iterate
    change: float  # squared Frobenius norm of new iterate - old iterate


def step(
    iterate: Array, point: Array, operator: Array, momentum: float, lipschitz: float, rows: Rows, model: Model
) -> StepSums:
    """Do one accelerated proximal gradient step on a block of rows, in place.

    On entry ``iterate`` is X_k and ``point`` is A_k = Z_k - grad g(Z_k) / L. On return ``point``
    holds the new iterate X_{k+1} = A_k P and ``iterate`` holds the next point A_{k+1}: the caller
    swaps the two. Each value is read from memory once and written once.

    Parameters
    ----------
    iterate, point : (n, d) arrays, C-contiguous
        Overwritten, see above.
    operator : (m, m) array
        P of `cellworth.complete.solver.svt.shrinkage` for the Gram matrix of all points; applied from
        the left if ``rows.wide``.
    momentum : float
        beta_{k+1} in Z_{k+1} = X_{k+1} + beta_{k+1} (X_{k+1} - X_k).
    lipschitz : float
        L, with which A_{k+1} is formed.

    Notes
    -----
    Two products of 2 n d^2 flops (one of them symmetric) and some 15 passes in cache.
    """
    new = operator @ point if rows.wide else point @ operator
    observed = rows.observed.astype(new.dtype)
    work = new - rows.values
    work *= observed
    misfit = 0.5 * _sum_of_squares(work)
    loss = model.total_loss(new, rows)
    np.subtract(new, iterate, out=work)
    change = _sum_of_squares(work)
    point[...] = new
    Z = _add_multiple(new, momentum, work)
    gram = _gradient_point(Z, lipschitz, rows, observed, model, out=iterate)
    return StepSums(gram, misfit, loss, change)


def start(iterate: Array, point: Array, lipschitz: float, rows: Rows, model: Model) -> StepSums:
    """Form the first point A = X - grad g(X) / L of a block from the iterate X, without momentum.

    ``point`` is overwritten; ``iterate`` is only read. The misfit and loss are those of ``iterate``.
    """
    observed = rows.observed.astype(iterate.dtype)
    residual = iterate - rows.values
    residual *= observed
    misfit = 0.5 * _sum_of_squares(residual)
    loss = model.total_loss(iterate, rows)
    gram = _gradient_point(iterate, lipschitz, rows, observed, model, out=point)
    return StepSums(gram, misfit, loss, 0.0)


def _gradient_point(
    Z: Array, lipschitz: float, rows: Rows, observed: Array, model: Model, *, out: Array
) -> Array:
    """Write Z - grad g(Z) / L into ``out`` and return its Gram matrix in float64.

    grad g(Z) = R_Omega(Z - X) + w_i W grad_s l(s_i), the second term row by row.
    """
    slopes = model.loss.gradient(model.scores(Z), rows.targets)
    slopes *= rows.weights
    np.subtract(Z, rows.values, out=out)
    out *= observed
    out *= -1 / lipschitz
    out += Z
    # In place: out.T is Fortran-ordered, so BLAS adds the outer product W slopes^T straight into it.
    gemm = get_blas_funcs("gemm", (out,))
    coef = np.asarray(model.coef, dtype=out.dtype)
    gemm(-1 / lipschitz, coef, slopes, beta=1.0, c=out.T, trans_b=True, overwrite_c=True)
    gram = out @ out.T if rows.wide else out.T @ out
    return gram.astype(np.float64, copy=False)


def _add_multiple(A: Array, factor: float, B: Array) -> Array:
    """Return A + factor * B, in A's memory, in one pass."""
    axpy = get_blas_funcs("axpy", (A,))
    axpy(B.reshape(-1), A.reshape(-1), a=factor)
    return A


def _sum_of_squares(A: Array) -> float:
    flat = A.reshape(-1)
    return float(flat @ flat)


class RowBlocks:
    """Runs a function over row blocks of a table, on threads, and adds up what it returns.

    The blocks, and the order in which their results are added, depend on the shape of the table alone:
    one thread and many give the same bits.

    Parameters
    ----------
    shape : (n, d)
    itemsize : int
        Bytes of one value.
    pool : ThreadPoolExecutor or None
        None runs the blocks one after another.
    """

    def __init__(self, shape: tuple[int, int], itemsize: int, pool: ThreadPoolExecutor | None) -> None:
        n, d = shape
        size = n if n < d else max(d, 64, BLOCK_BYTES // (d * itemsize))
        blocks = [slice(i, min(i + size, n)) for i in range(0, n, size)]
        per_chunk = -(-len(blocks) // MAX_CHUNKS)
        self._chunks = [blocks[i : i + per_chunk] for i in range(0, len(blocks), per_chunk)]
        self._pool = pool

    def sum(self, function: Callable[[slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Call ``function`` on the slice of each block and return the element-wise sum of its results."""

        def of_chunk(chunk: list[slice]) -> tuple[Any, ...]:
            return _add(function(block) for block in chunk)

        if self._pool is None:
            return _add(map(of_chunk, self._chunks))
        return _add(self._pool.map(of_chunk, self._chunks))


def _add(results: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    total = list(next(results))
    for result in results:
        for i, term in enumerate(result):
            total[i] = total[i] + term
    return tuple(total)


@contextmanager
def workers(n_threads: int) -> Iterator[ThreadPoolExecutor | None]:
    """Yield a pool of threads (None for one thread), with BLAS held to one thread each meanwhile."""
    with _blas().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield None
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                yield pool


@cache
def _blas() -> ThreadpoolController:
    """Find the loaded BLAS libraries: once, for it takes milliseconds."""
    return ThreadpoolController()
