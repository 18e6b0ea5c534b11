"""The table's cells, as a map and row by row: known values, and estimates and worths of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np

from cellworth.arrays import AnyArray, Float64Array
from cellworth.campaign import Campaign
from cellworth.campaign.questioned_answers import LEAST_COUNTS
from cellworth.errors import ParameterError
from cellworth.messages import short_number
from cellworth.report.summaries import Summary, SummaryInputs, inputs_of, short_name
from cellworth.table import Column, Table

MOST_COLUMNS = 400
MOST_ROWS = 2000
MOST_CELLS = 120_000  # one code each: at most 4 digits and a comma
MOST_GROUPED = 16_000  # six numbers each
LONGEST_ROW_NAME = 40
KNOWN, BOUGHT, REFUSED, ESTIMATED = 0, 1, 2, 100
"""Cell codes on the map; an estimate's code is ESTIMATED plus its uncertainty in percent."""
OUT = 1000
"""Added to the code of an estimate that has been asked for."""

CellWord = Literal["known", "bought", "refused", "out", "estimated"]


@dataclass(frozen=True)
class CellCounts:
    """The number of cells with each status; cells that are out also count as estimated."""

    known: int
    bought: int
    refused: int
    out: int
    estimated: int


def count_cells(inputs: SummaryInputs) -> CellCounts:
    """Count the cells of the table; O(n p)."""
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

    Costs one completion and the newest round, cached until the table changes. Below 1 MB as JSON.

    Parameters
    ----------
    campaign : Campaign
    first, last : int
        Positions of the first row, and one past the last.
    """
    inputs = inputs_of(campaign)
    n, p = inputs.table.shape
    last = n if last is None else min(last, n)
    if not 0 <= first < last:
        raise ParameterError(f"rows must satisfy 0 <= first < last <= {n}; got {first} to {last}.")
    shown = min(p, MOST_COLUMNS)
    group = _group_size(last - first, shown)
    part = np.s_[first:last, :shown]
    return CellMapSummary(
        inputs.number,
        first,
        last,
        n,
        group,
        [short_name(column.name) for column in inputs.table.columns[:shown]],
        p - shown,
        inputs.filled is None or inputs.filled.variance is not None,
        count_cells(inputs),
        **(_single_rows(inputs, part) if group == 1 else _groups(inputs, part, group)),
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


@dataclass(frozen=True)
class TargetLabel:
    """The target's name, and a row's label as written; None for a row without one."""

    name: str
    label: object


@dataclass(frozen=True)
class CellSummary:
    """A cell of a row.

    Attributes
    ----------
    column, kind, unit : str
    status : {"known", "bought", "refused", "out", "estimated"}
    price : float
        Price of the cell bought alone.
    unsure : float
        From 0 to 1.
    value : object
        The value as written, if known.
    estimate, low, high : str or None
        If not known: the estimate and, where available, its interval.
    worth : float or None
        In units of the average hole, if the cell can be bought.
    rank, of : int or None
        Rank by worth per money among the ``of`` cells that can be bought.
    why : str or None
        The same, in a sentence.
    """

    column: str
    kind: str
    unit: str | None
    status: CellWord
    price: float
    unsure: float
    value: object = None
    estimate: str | None = None
    low: str | None = None
    high: str | None = None
    worth: float | None = None
    rank: int | None = None
    of: int | None = None
    why: str | None = None


@dataclass(frozen=True)
class RowSummary(Summary):
    """One row: its values and estimates, and why each missing cell is worth asking for.

    Attributes
    ----------
    row : str
    place : int
        Position in the table, from 0.
    target : TargetLabel or None
    level : float or None
        Level of the intervals; None if no cell of the table is missing.
    cells : list of CellSummary
        One per column.
    """

    row: str
    place: int
    target: TargetLabel | None
    level: float | None
    cells: list[CellSummary]


def row_summary(campaign: Campaign, row: str) -> RowSummary:
    """Summarise a row; raise DataError with the closest id if there is no such row.

    Costs one completion and the newest round; O(n p) if the table has not changed.
    """
    inputs = inputs_of(campaign)
    place = inputs.view.row(row).place
    target, label = inputs.table.target, None
    if target is not None:
        number = float(target.values[place])
        label = None if np.isnan(number) else target.column.format(number)
    return RowSummary(
        inputs.number,
        inputs.table.row_ids[place],
        place,
        None if target is None else TargetLabel(target.name, written(label)),
        None if inputs.filled is None else inputs.filled.level,
        [_summarise_cell(inputs, place, j) for j in range(len(inputs.table.columns))],
    )


def _summarise_cell(inputs: SummaryInputs, i: int, j: int) -> CellSummary:
    column, cells, filled = inputs.table.columns[j], inputs.cells, inputs.filled
    found: dict[str, Any] = {
        "column": column.name,
        "kind": column.kind,
        "unit": column.unit,
        "status": _status_word(inputs, i, j),
        "price": float(cells.price[i, j]),
        "unsure": float(inputs.unsure[i, j]),
    }
    if not inputs.table.holes[i, j]:
        return CellSummary(**found, value=written(column.format(float(inputs.table.values[i, j]))))
    assert filled is not None  # there is a hole
    found |= guess_of(inputs, i, j)
    if not cells.available[i, j]:
        return CellSummary(**found)
    rank, of = _rank(inputs, i, j)
    found |= {"worth": float(cells.worth[i, j]) / inputs.average_worth, "rank": rank, "of": of}
    return CellSummary(**found, why=_why(found, filled.level))


def guess_of(inputs: SummaryInputs, i: int, j: int) -> dict[str, str]:
    """Return the estimate of a missing cell and the ends of its interval, if there is one, as texts.

    They are within the column's bounds and, if no known value of a column is negative, not below 0.
    """
    column, filled = inputs.table.columns[j], inputs.filled
    assert filled is not None  # there is a hole
    least = inputs.once("least", inputs.changed, lambda: _least(inputs.table))[j]
    found = {"estimate": _rounded(column, max(float(filled.table.values[i, j]), least))}
    for name, ends in (("low", filled.lower), ("high", filled.upper)):
        if ends is not None and np.isfinite(ends[i, j]):
            found[name] = _rounded(column, max(float(ends[i, j]), least))
    return found


def _least(table: Table) -> Float64Array:
    """Return the least value (p,) that an estimate may have: 0 where many are known and none is negative."""
    numeric = np.array([column.kind in ("number", "integer") for column in table.columns], dtype=bool)
    enough = (~table.holes).sum(axis=0) >= LEAST_COUNTS
    negative = (table.values < 0).any(axis=0)  # a hole, NaN, is not
    return np.where(numeric & enough & ~negative, 0.0, -np.inf)


def _status_word(inputs: SummaryInputs, i: int, j: int) -> CellWord:
    cells = inputs.cells
    if cells.known[i, j]:
        return "known"
    if cells.bought[i, j]:
        return "bought"
    if cells.refused[i, j]:
        return "refused"
    return "out" if inputs.asked[i, j] else "estimated"


def _rank(inputs: SummaryInputs, i: int, j: int) -> tuple[int, int]:
    """Return a cell's rank by worth per money among the cells that can be bought, and their number."""
    cells = inputs.cells
    per_money = cells.worth[cells.available] / cells.price[cells.available]
    better = per_money > cells.worth[i, j] / cells.price[i, j] * (1 + 1e-12)
    return 1 + int(better.sum()), per_money.size


def _why(cell: dict[str, Any], level: float | None) -> str:
    unit = f" {cell['unit']}" if cell["unit"] else ""
    words = f"Estimated as {cell['estimate']}{unit}"
    if "low" in cell and level is not None:
        words += f" ({100 * level:.0f} % interval {cell['low']} to {cell['high']})"
    much = f"{short_number(cell['worth'])} times the average hole"
    best = f"number {cell['rank']} of {cell['of']} by worth per money"
    return f"{words}. Worth {much}: {best}."


def _rounded(column: Column, number: float) -> str:
    """Format an estimate with four significant digits."""
    value = column.format(float(column.nearest(np.array([float(number)]))[0]))
    return short_number(value, 4) if isinstance(value, float) else str(written(value))


def written(value: object) -> object:
    """Format a user's value for a page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, date):
        return value.isoformat()
    return f"{value:.10g}" if isinstance(value, float) else value
