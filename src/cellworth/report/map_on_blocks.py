"""The map of a table in row blocks: groups of rows are added up in one pass, single rows read alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.engine_protocol import add
from cellworth.blocks.row_source import Part, Source
from cellworth.blocks.writing import FilledPart
from cellworth.campaign.cell_values import MAY_COME, CellStatus
from cellworth.campaign.current_cells import MarkedCells
from cellworth.complete.filled_blocks import Filler
from cellworth.report.shown_rows import guessed_rows
from cellworth.report.summaries import SummaryInputs, shares
from cellworth.table import ColumnLayout

COUNTED = ("known", "bought", "refused", "out", "estimated")


def masks(status: NDArray[np.uint8]) -> dict[str, BoolArray]:
    """Return which cells are known, bought, refused, out and estimated; those that are out are both."""
    of = {"known": CellStatus.KNOWN, "bought": CellStatus.TOLD, "refused": CellStatus.REFUSED}
    found = {name: status == each for name, each in of.items()}
    return found | {"out": status == CellStatus.ASKED, "estimated": np.isin(status, MAY_COME)}


def count_on_blocks(inputs: SummaryInputs) -> dict[str, int]:
    """Return how many cells of the whole table are each of `COUNTED`; reads nothing."""
    table, marked = inputs.view.table, inputs.view.worths.marked()
    status = marked.status[marked.columns < len(table.columns)]
    found = {name: int(each.sum()) for name, each in masks(status).items()}
    known = int(table.known.sum()) - found["bought"]
    return found | {"known": known, "estimated": table.n_holes - found["refused"]}


def rows_on_map(
    inputs: SummaryInputs, numbers: IntArray
) -> tuple[NDArray[np.uint8], Float64Array, list[str]]:
    """Return the `CellStatus` and uncertainty (k, p) of some rows, and their ids; reads their blocks."""
    shown, blocks = guessed_rows(inputs, numbers.tolist()), inputs.filled_blocks
    holes, unsure = shown.table.holes, np.zeros(shown.table.shape)
    if shown.filled is not None and blocks is not None:
        unsure = shares(shown.filled.variance, blocks.spread, holes)
    return inputs.view.worths.marked().statuses(~holes, numbers), unsure, list(shown.table.row_ids)


def groups_on_map(inputs: SummaryInputs, first: int, last: int, group: int) -> dict[str, Float64Array]:
    """Return the numbers of cells (groups, p) that are each of `COUNTED`, and the sums of uncertainties.

    Reads the blocks of the rows from ``first`` up to before ``last``.
    """
    table, blocks, numbers = inputs.view.table, inputs.filled_blocks, np.arange(first, last)
    grouped = _Groups(first, last, group, inputs.view.worths.marked(), table.layout, table.unmeasured)
    if blocks is None:
        source: Source = table.source()
        sums = source.only(source.places_of(numbers)).reduce(_WithoutGuesses(grouped), add)
    else:
        completed = blocks.completer.completed_
        work = _WithGuesses(grouped, blocks.filler, blocks.spread)
        sums = completed.only(completed.source.places_of(numbers)).reduce(work, add)
    return dict(zip((*COUNTED, "unsure"), sums, strict=True))


@dataclass(frozen=True, eq=False)
class _Groups:
    """Adds up the cells of a block by groups of rows; sent to the workers."""

    first: int
    last: int
    group: int
    marked: MarkedCells
    layout: ColumnLayout
    unmeasured: BoolArray

    def known(self, part: Part) -> BoolArray:
        known = self.layout.known(np.asarray(part.X, dtype=np.float64))
        known[:, self.unmeasured] = False  # what is there was made up for the fit
        return known

    def sums(self, part: Part, known: BoolArray, unsure: Float64Array) -> tuple[Float64Array, ...]:
        numbers = part.start + np.arange(len(known))
        found = masks(self.marked.statuses(known, numbers))
        inside = (numbers >= self.first) & (numbers < self.last)
        of_group = (numbers[inside] - self.first) // self.group
        arrays = [*found.values(), np.where(found["estimated"], unsure, 0.0)]
        n_groups = -(-(self.last - self.first) // self.group)
        return tuple(_added_up(each[inside].astype(np.float64), of_group, n_groups) for each in arrays)


def _added_up(values: Float64Array, of_group: IntArray, n_groups: int) -> Float64Array:
    total = np.zeros((n_groups, values.shape[1]))
    np.add.at(total, of_group, values)
    return total


@dataclass(frozen=True, eq=False)
class _WithGuesses:
    groups: _Groups
    filler: Filler
    spread: Float64Array

    def __call__(self, filled: FilledPart) -> tuple[Float64Array, ...]:
        known = self.groups.known(filled.part)
        unsure = shares(self.filler.variances(filled), self.spread, ~known)
        return self.groups.sums(filled.part, known, unsure)


@dataclass(frozen=True, eq=False)
class _WithoutGuesses:
    groups: _Groups

    def __call__(self, part: Part) -> tuple[Float64Array, ...]:
        known = self.groups.known(part)
        return self.groups.sums(part, known, np.zeros(known.shape))


def drawn_rows(inputs: SummaryInputs, most: int) -> tuple[IntArray, dict[str, Any], Float64Array]:
    """Return the places of evenly spaced rows, at most so many, what their cells are, and how unsure."""
    n = inputs.view.table.n_rows
    numbers = np.arange(0, n, -(-n // most))
    status, unsure, _ = rows_on_map(inputs, numbers)
    return numbers, masks(status), unsure
