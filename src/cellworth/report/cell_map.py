"""The table as a map of its cells: what is known, bought, refused or out, and how unsure the rest is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, Float64Array
from cellworth.campaign import Campaign
from cellworth.campaign.current_cells import check_range
from cellworth.progress import portion
from cellworth.report.map_on_blocks import count_on_blocks, groups_on_map, masks, rows_on_map
from cellworth.report.summaries import Summary, SummaryInputs, inputs_of, short_name

MOST_COLUMNS = 400
MOST_ROWS = 2000
MOST_CELLS = 120_000  # one code each: at most 4 digits and a comma
MOST_GROUPED = 16_000  # six numbers each
LONGEST_ROW_NAME = 40
KNOWN, BOUGHT, REFUSED, ESTIMATED = 0, 1, 2, 100
"""Cell codes on the map; an estimate's code is ESTIMATED plus its uncertainty in percent."""
OUT = 1000
"""Added to the code of an estimate that has been asked for."""


@dataclass(frozen=True)
class CellCounts:
    """The number of cells with each status; cells that are out also count as estimated."""

    known: int
    bought: int
    refused: int
    out: int
    estimated: int


def count_cells(inputs: SummaryInputs) -> CellCounts:
    """Count the cells of the table; O(n p), or no pass of row blocks."""
    if inputs.on_blocks:
        return CellCounts(**count_on_blocks(inputs))
    cells = inputs.cells
    masks = (cells.known, cells.bought, cells.refused, inputs.asked, cells.available)
    return CellCounts(*(int(mask.sum()) for mask in masks))


@dataclass(frozen=True)
class CellMapSummary(Summary):
    """The table as a map: what is known, bought, refused or out, and how unsure the rest is.

    Attributes
    ----------
    first, last : int
        Positions of the first row shown, and one past the last.
    rows : int
        Rows in the whole table.
    group : int
        Rows per group; 1 for single rows.
    columns : list of str
        Shortened names.
    columns_left_out : int
    unsure_known : bool
        Whether the completer reports its uncertainty.
    counts : CellCounts
        For the whole table.
    ids, codes : list of str, (rows, columns) array or None
        For single rows: shortened ids, and a code for each cell, such as `KNOWN`.
    starts : array or None
        For groups: the position of each group's first row.
    known, bought, refused, out, estimated : (groups, columns) arrays or None
        For groups: cell counts.
    unsure : (groups, columns) array or None
        For groups: the mean uncertainty of the estimates, from 0 to 1.
    """

    first: int
    last: int
    rows: int
    group: int
    columns: list[str]
    columns_left_out: int
    unsure_known: bool
    counts: CellCounts
    ids: list[str] | None = None
    codes: AnyArray | None = None
    starts: AnyArray | None = None
    known: AnyArray | None = None
    bought: AnyArray | None = None
    refused: AnyArray | None = None
    out: AnyArray | None = None
    estimated: AnyArray | None = None
    unsure: Float64Array | None = None


def cell_map_summary(campaign: Campaign, first: int = 0, last: int | None = None) -> CellMapSummary:
    """Summarise the cells of a range of rows, by default all; many rows are merged into groups.

    Costs one completion and the newest round, cached until the table changes; of row blocks, a pass over
    the blocks of these rows, and no round. Below 1 MB as JSON.

    Parameters
    ----------
    campaign : Campaign
    first, last : int
        Positions of the first row, and one past the last.
    """
    inputs = inputs_of(campaign)
    n, p = inputs.view.table.shape
    first, last = check_range(first, last, n)
    with portion(0.0, 0.5):
        counts = count_cells(inputs)
    with portion(0.5, 1.0):
        unsure_known = inputs.knows_uncertainty
    shown = min(p, MOST_COLUMNS)
    group = _group_size(last - first, shown)
    part = np.s_[first:last, :shown]
    single, grouped = (_single_on_blocks, _groups_on_blocks) if inputs.on_blocks else (_single_rows, _groups)
    return CellMapSummary(
        inputs.number,
        first,
        last,
        n,
        group,
        [short_name(column.name) for column in inputs.view.table.columns[:shown]],
        p - shown,
        unsure_known,
        counts,
        **(single(inputs, part) if group == 1 else grouped(inputs, part, group)),
    )


def _group_size(rows: int, columns: int) -> int:
    """Return the rows per group that keep the map small."""
    if rows <= MOST_ROWS and rows * columns <= MOST_CELLS:
        return 1
    return -(-rows // max(1, min(400, MOST_GROUPED // columns)))


def _single_rows(inputs: SummaryInputs, part: Any) -> dict[str, Any]:
    cells = inputs.cells
    code = np.select(
        [cells.known[part], cells.bought[part], cells.refused[part]],
        [KNOWN, BOUGHT, REFUSED],
        ESTIMATED + np.rint(100 * inputs.unsure[part]).astype(np.int64) + OUT * inputs.asked[part],
    )
    ids = [short_name(row, LONGEST_ROW_NAME) for row in inputs.table.row_ids[part[0]]]
    return {"ids": ids, "codes": code}


def _single_on_blocks(inputs: SummaryInputs, part: Any) -> dict[str, Any]:
    status, unsure, ids = rows_on_map(inputs, np.arange(part[0].start, part[0].stop))
    found = {name: each[:, part[1]] for name, each in masks(status).items()}
    code = np.select(
        [found["known"], found["bought"], found["refused"]],
        [KNOWN, BOUGHT, REFUSED],
        ESTIMATED + np.rint(100 * unsure[:, part[1]]).astype(np.int64) + OUT * found["out"],
    )
    return {"ids": [short_name(row, LONGEST_ROW_NAME) for row in ids], "codes": code}


def _groups_on_blocks(inputs: SummaryInputs, part: Any, group: int) -> dict[str, Any]:
    first, last = part[0].start, part[0].stop
    sums = {name: each[:, part[1]] for name, each in groups_on_map(inputs, first, last, group).items()}
    unsure, estimated = sums.pop("unsure"), sums["estimated"]
    mean = np.divide(unsure, estimated, out=np.zeros_like(unsure), where=estimated > 0)
    counts = {name: each.astype(np.int64) for name, each in sums.items()}
    return {"starts": np.arange(first, last, group), **counts, "unsure": np.round(mean, 2)}


def _groups(inputs: SummaryInputs, part: Any, group: int) -> dict[str, Any]:
    starts = np.arange(0, part[0].stop - part[0].start, group)

    def sums(values: AnyArray) -> Float64Array:
        return np.add.reduceat(values.astype(np.float64), starts, axis=0)

    cells = inputs.cells
    masks = {
        "known": cells.known,
        "bought": cells.bought,
        "refused": cells.refused,
        "out": inputs.asked,
        "estimated": cells.available,
    }
    counts = {name: sums(mask[part]).astype(np.int64) for name, mask in masks.items()}
    unsure = sums(np.where(cells.available[part], inputs.unsure[part], 0.0))
    mean = np.divide(unsure, counts["estimated"], out=np.zeros_like(unsure), where=counts["estimated"] > 0)
    return {"starts": starts + part[0].start, **counts, "unsure": np.round(mean, 2)}
