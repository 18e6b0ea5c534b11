"""Rows of the table: known values, estimates and worths of the rest, and what to measure next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.campaign import Campaign
from cellworth.messages import short_number
from cellworth.report.summaries import Summary, SummaryInputs, inputs_of
from cellworth.table import Column, Table
from cellworth.table.column import UserValue
from cellworth.table.seen_values import LEAST_COUNTS, seen_in

CellWord = Literal["known", "bought", "refused", "out", "estimated"]


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
    column, kind : str
    unit, description : str or None
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
        Rank by worth per unit of money among the ``of`` cells that can be bought.
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
    description: str | None = None


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
        "description": column.description,
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
    """Return a cell's rank by worth per unit of money among the cells on sale, and their number."""
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
    best = f"number {cell['rank']} of {cell['of']} by worth per unit of money"
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


class Guess(NamedTuple):
    """The estimate of a missing cell and the ends of its interval, as texts; "" if it has none."""

    estimate: str
    low: str = ""
    high: str = ""


def guesses_summary(campaign: Campaign, cells: Sequence[tuple[str, str]]) -> list[Guess | None]:
    """Return a guess for each of these cells; None for one that has a value.

    Costs one completion, cached until the table changes, then O(n p + cells).
    """
    inputs = inputs_of(campaign)
    rows = {row: place for place, row in enumerate(inputs.table.row_ids)} if cells else {}
    columns = {name: place for place, name in enumerate(inputs.table.column_names)}
    return [_guess(inputs, rows[row], columns[column]) for row, column in cells]


def row_guesses(campaign: Campaign, places: Sequence[int]) -> list[list[Guess | None]]:
    """Return the guesses of whole rows, by their places: one for each column, as in `guesses_summary`."""
    inputs = inputs_of(campaign)
    p = len(inputs.table.columns)
    return [[_guess(inputs, place, j) for j in range(p)] for place in places]


def _guess(inputs: SummaryInputs, i: int, j: int) -> Guess | None:
    if not inputs.table.holes[i, j]:
        return None
    found = guess_of(inputs, i, j)
    if "low" in found and "high" in found and found["low"] != found["high"]:
        return Guess(found["estimate"], found["low"], found["high"])
    return Guess(found["estimate"])


def next_step(
    campaign: Campaign,
    values: Mapping[str, Any],
    row: str | None = None,
    *,
    spent: float = 0.0,
    refused: Iterable[str] = (),
    **settings: Any,
) -> dict[str, Any]:
    """Return the next step of a new row, or of a row of the table, as `NextStep.to_json` has it.

    With what is ``questioned`` of the values; see `questioned_values`.

    Parameters
    ----------
    campaign : Campaign
    values : mapping of column name to value
        What is known; of a row of the table, what is known beyond it.
    row : str, optional
        The id of a row of the table.
    spent : float
        What was spent on the row, for the budget of a row.
    refused : iterable of str
        Columns that cannot be measured in this row.
    settings
        See `Campaign.policy`.
    """
    policy = campaign.policy(**settings)
    known: dict[str, Any] = {} if row is None else known_values(campaign, row)
    step = policy.next_cell({**known, **values}, spent=spent, refused=refused)
    return {
        **step.to_json(),
        "row": row,
        "as_of": campaign.number,
        "questioned": questioned_values(campaign, values),
    }


def questioned_values(campaign: Campaign, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the values of a row that would be questioned as answers, and what is known in their columns.

    Of a table in row blocks, none.
    """
    table, found = campaign.table, []
    if not isinstance(table, Table):
        return []
    for name, value in values.items():
        place = table.column_index(name)
        column, known = table.columns[place], table.values[:, place]
        number, seen = column.parse(value), seen_in(column, known[~np.isnan(known)])
        if seen is not None and not seen.least <= number <= seen.most:
            got, low, high = column.texts(np.array([number, seen.lowest, seen.highest]))
            found.append({"column": name, "value": got, "known": seen.n, "low": low, "high": high})
    return found


def undecided_steps(campaign: Campaign, **settings: Any) -> list[dict[str, Any]]:
    """Return the next steps of the rows without a label in which something is worth measuring."""
    return [step.to_json() for step in campaign.undecided(**settings)]


def known_values(campaign: Campaign, row: str) -> dict[str, UserValue]:
    """Return what is known of a row of the table, as the user writes it."""
    table = campaign.table
    cells = table.values[table.row_index(row)]
    found = zip(table.columns, cells.tolist(), strict=True)
    return {column.name: value for column, cell in found if (value := column.format(cell)) is not None}
