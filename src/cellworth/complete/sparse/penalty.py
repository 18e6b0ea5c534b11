"""The penalty of a sparse table, chosen along a falling path on hidden cells."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.hold_out import PATIENCE, Choice
from cellworth.complete.penalty_path import PENALTIES, largest_drop
from cellworth.complete.solver.sparse_step import CellBlock, missed
from cellworth.complete.sparse.blocks import Blocks, Engine, row_blocks, take_rows
from cellworth.complete.sparse.cells import hide_cells
from cellworth.complete.sparse.offsets import fit_offsets, take_off
from cellworth.complete.sparse.spectrum import largest_singular_value
from cellworth.complete.sparse.trace_norm import SparseTable, fit_trace_norm

Array = NDArray[np.float64]

PATH_TOL, PATH_STEPS = 1e-4, 10  # of a fit that only serves to choose
CANDIDATES: Array = PENALTIES.astype(np.float64)  # relative penalties
UNINFORMED = float(CANDIDATES[2])  # the one where the table is too small to hide a cell


class Walk(NamedTuple):
    """The best settings along a path, column factors to go on from, and their error on the hidden cells."""

    choice: Choice
    B: Array
    error: float


@dataclass(frozen=True)
class HeldOut:
    """A table without its hidden cells, and pairs of blocks: the cells that stayed, and those hidden."""

    table: SparseTable
    pairs: Engine
    largest: float  # singular value of the table

    def error(self, B: Array, penalty: float) -> float:
        """Return the root mean square error in the hidden cells."""
        squares, number = self.pairs.sum(missed, B, penalty)
        return float(np.sqrt(squares / number))


def table_of(cells: CellBlock, n_columns: int, pool: ThreadPoolExecutor | None) -> SparseTable:
    """Return the table of these cells in blocks."""
    blocks = [take_rows(cells, rows) for rows in row_blocks(cells, n_columns)]
    counts = np.bincount(cells.columns, minlength=n_columns).astype(np.float64)
    return SparseTable(Blocks(blocks, pool), counts)


def hold_out(
    cells: CellBlock, n_columns: int, centre: str, rng: np.random.Generator, pool: ThreadPoolExecutor | None
) -> HeldOut | None:
    """Hide a tenth of the cells, and take off offsets found without them; None if there are too few."""
    seen, hidden = hide_cells(cells, rng)
    if not len(hidden.values):
        return None
    offsets = fit_offsets(seen, n_columns, centre)
    seen, hidden = take_off(seen, offsets), take_off(hidden, offsets)
    table = table_of(seen, n_columns, pool)
    pairs = [(take_rows(seen, rows), take_rows(hidden, rows)) for rows in row_blocks(seen, n_columns)]
    return HeldOut(table, Blocks(pairs, pool), largest_singular_value(table.engine, n_columns, rng))


def choose_penalty(
    held: HeldOut | None, n_columns: int, rank: int, *, cut: bool, rng: np.random.Generator
) -> tuple[Choice, Array]:
    """Return the rank limit and relative penalty that fill the hidden cells best, and column factors.

    The penalty falls from candidate to candidate (`CANDIDATES`), each fit begun from the one before, until
    `PATIENCE` in a row brought no gain. With ``cut``, the best fit is then cut at the largest drop of its
    spectrum and the penalty falls on from there, in case the table has one clear rank.
    """
    begin = np.zeros((n_columns, 0))
    if held is None:
        return Choice(rank, UNINFORMED), begin
    best = _walk(held, CANDIDATES, rank, begin, rng)
    if not cut or best.B.shape[1] < 2:
        return best.choice, best.B
    at_drop, _ = largest_drop(np.einsum("jk,jk->k", best.B, best.B))
    lower = CANDIDATES[best.choice.relative >= CANDIDATES]
    after = _walk(held, lower, at_drop, best.B[:, :at_drop], rng)
    better = after if after.error < best.error else best
    return better.choice, better.B


def _walk(held: HeldOut, candidates: Array, rank: int, B: Array, rng: np.random.Generator) -> Walk:
    best, waited = Walk(Choice(rank, float(candidates[-1])), B, np.inf), 0
    for relative in candidates:
        penalty = float(relative) * (held.largest or 1.0)
        B = _quick_fit(held.table, penalty, rank, B, rng)
        error = held.error(B, penalty)
        waited += 1
        if error < best.error:
            best, waited = Walk(Choice(rank, float(relative)), B, error), 0
        if waited == PATIENCE:
            break
    return best


def _quick_fit(table: SparseTable, penalty: float, rank: int, B: Array, rng: np.random.Generator) -> Array:
    return fit_trace_norm(table, penalty, rank, B, rng, tol=PATH_TOL, max_iter=PATH_STEPS, rounds=1).B
