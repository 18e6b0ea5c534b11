"""Choose the penalty of a sparse table on hidden cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.engine_protocol import Blocks, Engine
from cellworth.blocks.row_source import Source
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.hold_out import Choice
from cellworth.complete.penalty_path import PENALTIES, search_path
from cellworth.complete.sparse.observed_cells import compact, matrix_of, split_cells
from cellworth.complete.sparse.offsets import fit_offsets, take_off
from cellworth.complete.sparse.trace_norm import SparseTable, fit_trace_norm
from cellworth.complete.sparse.variable_projection import (
    CellBlock,
    CellBlocks,
    cut_rows,
    largest_singular_value,
    missed,
)

CHOICE_ROWS = 20_000  # minimum number of rows for choosing a penalty on row blocks
UNINFORMED = float(PENALTIES[2])  # relative penalty for a table too small to hide a cell
PATH_TOL, PATH_STEPS = 1e-4, 10  # of a fit that is only used to choose the penalty


def choose_penalty(
    cells: CellBlock,
    n_columns: int,
    centre: str,
    rng: np.random.Generator,
    engine: Engine,
    rank: int,
    *,
    cut: bool,
) -> tuple[Choice, Float64Array]:
    """Return the rank limit and relative penalty that best fill hidden cells, and column factors (d, r).

    ``cut``: whether the rank may be less than ``rank``; see `search_path`.
    """
    held, nothing = hold_out_cells(cells, n_columns, centre, rng, engine), np.zeros((n_columns, 0))
    if held is None:
        return Choice(rank, UNINFORMED), nothing
    found = search_path(held, rank, cut=cut)
    return found.choice, nothing if found.fit is None else found.fit


def choose_penalty_on_sample(
    source: Source, centre: str, rng: np.random.Generator, n_jobs: int | None, rank: int, *, cut: bool
) -> tuple[Choice, Float64Array]:
    """Do the same on every k-th row of a table of row blocks, or on every row of a short one."""
    small = compact(matrix_of(source.sample(max(1, source.n_rows // CHOICE_ROWS)).X))
    with ThreadEngine(n_jobs) as engine:
        choice, found = choose_penalty(small.cells, len(small.columns), centre, rng, engine, rank, cut=cut)
    B = np.zeros((len(source.columns), found.shape[1]))
    B[small.columns] = found
    return choice, B


@dataclass(frozen=True)
class HeldOutCells:
    """A table without its hidden cells, and how well column factors fill them.

    Attributes
    ----------
    table : SparseTable
    pairs : CellBlocks
        Pairs of `CellBlock` for the same rows: the cells that are kept, and those that are hidden.
    largest : float
        Largest singular value of the table with zeros in its holes.
    rng : Generator
        Draws the starting directions of a search for singular vectors.
    """

    table: SparseTable
    pairs: CellBlocks
    largest: float
    rng: np.random.Generator

    def fit(self, relative: float, rank: int, start: Float64Array | None) -> Float64Array:
        """Return column factors (d, r) for a relative penalty, accurate enough to choose by."""
        begin = np.zeros((self.table.n_columns, 0)) if start is None else start
        penalty = self._penalty(relative)
        settings: dict[str, Any] = {"tol": PATH_TOL, "max_iter": PATH_STEPS, "rounds": 1}
        return fit_trace_norm(self.table, penalty, rank, begin, self.rng, **settings).B

    def error(self, B: Float64Array, relative: float) -> float:
        """Return the root mean square error in the hidden cells."""
        squares, number = self.pairs.sum(missed, B, self._penalty(relative))
        return float(np.sqrt(squares / number))

    def singular_values(self, B: Float64Array) -> Float64Array:
        """Return the singular values of the fitted table, descending."""
        return np.einsum("jk,jk->k", B, B)

    def _penalty(self, relative: float) -> float:
        return relative * (self.largest or 1.0)


def hold_out_cells(
    cells: CellBlock, n_columns: int, centre: str, rng: np.random.Generator, engine: Engine
) -> HeldOutCells | None:
    """Hide a tenth of the cells and subtract offsets fitted without them; None if there are too few."""
    seen, hidden = split_cells(cells, rng)
    if not len(hidden.values):
        return None
    offsets = fit_offsets(seen, n_columns, centre)
    seen, hidden = take_off(seen, offsets), take_off(hidden, offsets)
    table = table_of(seen, n_columns, engine)
    pairs = zip(cut_rows(seen, n_columns, seen), cut_rows(seen, n_columns, hidden), strict=True)
    largest = largest_singular_value(table.blocks, n_columns, rng)
    return HeldOutCells(table, CellBlocks(Blocks(list(pairs)), engine), largest, rng)


def table_of(cells: CellBlock, n_columns: int, engine: Engine) -> SparseTable:
    """Return the table of these cells, split into row blocks."""
    counts = np.bincount(cells.columns, minlength=n_columns).astype(np.float64)
    return SparseTable(CellBlocks(Blocks(cut_rows(cells, n_columns, cells)), engine), counts)
