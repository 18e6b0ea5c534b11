"""Rows of the table: known values, estimates and worths of the rest, and what to measure next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple

import numpy as np

from cellworth.campaign import Campaign
from cellworth.messages import short_number
from cellworth.report.shown_rows import ShownRows, WeighedRow, guessed_rows, places_of, weighed_row
from cellworth.report.summaries import Summary, SummaryInputs, inputs_of
from cellworth.table import Column, Table
from cellworth.table.column import UserValue
from cellworth.table.seen_values import seen_in

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
        Level of the intervals; None if there are none, or no cell of the table is missing.
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

    Costs one completion and the newest round, of row blocks also a pass, if the table has changed; otherwise
    O(n p), or the row's block.
    """
    inputs = inputs_of(campaign)
    found = inputs.view.row(row)
    shown = guessed_rows(inputs, [found.place])
    weighed = weighed_row(inputs, found.place, shown)
    at, target, label = shown.index(found.place), shown.table.target, None
    if target is not None:
        number = float(target.values[at])
        label = None if np.isnan(number) else target.column.format(number)
    return RowSummary(
        inputs.number,
        found.row,
        found.place,
        None if target is None else TargetLabel(target.name, written(label)),
        None if shown.filled is None or shown.filled.lower is None else shown.filled.level,
        [_summarise_cell(inputs, shown, weighed, at, j) for j in range(len(shown.table.columns))],
    )


def _summarise_cell(
    inputs: SummaryInputs, shown: ShownRows, weighed: WeighedRow, i: int, j: int
) -> CellSummary:
    column, cells = shown.table.columns[j], weighed.cells
    price, worth = float(cells.price[0, j]), float(cells.worth[0, j])
    found: dict[str, Any] = {
        "column": column.name,
        "kind": column.kind,
        "unit": column.unit,
        "description": column.description,
        "status": _status_word(weighed, j),
        "price": price,
        "unsure": float(weighed.unsure[j]),
    }
    if not shown.table.holes[i, j]:
        return CellSummary(**found, value=written(column.format(float(shown.table.values[i, j]))))
    assert shown.filled is not None  # there is a hole
    found |= guess_of(shown, i, j)
    if not cells.available[0, j]:
        return CellSummary(**found)
    rank, of = _rank(inputs, worth / price)
    found |= {"worth": worth / inputs.average_worth, "rank": rank, "of": of}
    return CellSummary(**found, why=_why(found, shown.filled.level))


def guess_of(shown: ShownRows, i: int, j: int) -> dict[str, str]:
    """Return the estimate of a missing cell and the ends of its interval, if there is one, as texts.

    They are within the column's bounds and, if no known value of a column is negative, not below 0.
    """
    column, filled, least = shown.table.columns[j], shown.filled, float(shown.least[j])
    assert filled is not None  # there is a hole
    found = {"estimate": _rounded(column, max(float(filled.table.values[i, j]), least))}
    for name, ends in (("low", filled.lower), ("high", filled.upper)):
        if ends is not None and np.isfinite(ends[i, j]):
            found[name] = _rounded(column, max(float(ends[i, j]), least))
    return found


def _status_word(weighed: WeighedRow, j: int) -> CellWord:
    cells = weighed.cells
    if cells.known[0, j]:
        return "known"
    if cells.bought[0, j]:
        return "bought"
    if cells.refused[0, j]:
        return "refused"
    return "out" if weighed.asked[j] else "estimated"


def _rank(inputs: SummaryInputs, per_money: float) -> tuple[int, int]:
    """Return a cell's rank by worth per unit of money among the cells on sale, and their number.

    In row blocks, cells that agree in five digits have the same rank.
    """
    if inputs.on_blocks:
        return inputs.totals.rank(per_money, len(inputs.view.table.columns))
    cells = inputs.cells
    others = cells.worth[cells.available] / cells.price[cells.available]
    return 1 + int((others > per_money * (1 + 1e-12)).sum()), others.size


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
    """Return a guess for each of these cells; None for one that has a value, and for a label.

    Costs one completion, cached until the table changes, then O(n p + cells), or the rows' blocks.
    """
    inputs = inputs_of(campaign)
    columns = {column.name: place for place, column in enumerate(inputs.view.table.columns)}
    rows = places_of(inputs, list(dict.fromkeys(row for row, _ in cells)))
    shown = guessed_rows(inputs, list(rows.values()))
    return [
        _guess(shown, shown.index(rows[row]), columns[column]) if column in columns else None
        for row, column in cells
    ]


def row_guesses(campaign: Campaign, places: Sequence[int]) -> list[list[Guess | None]]:
    """Return the guesses of whole rows, by their places: one for each column, as in `guesses_summary`."""
    shown = guessed_rows(inputs_of(campaign), places)
    p = len(shown.table.columns)
    return [[_guess(shown, shown.index(place), j) for j in range(p)] for place in places]


def _guess(shown: ShownRows, i: int, j: int) -> Guess | None:
    if not shown.table.holes[i, j]:
        return None
    found = guess_of(shown, i, j)
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
            got, low, high = column.shown(number, seen.lowest, seen.highest)
            found.append({"column": name, "value": got, "known": seen.n, "low": low, "high": high})
    return found


def undecided_steps(campaign: Campaign, **settings: Any) -> list[dict[str, Any]]:
    """Return the next steps of the rows without a label in which something is worth measuring."""
    return [step.to_json() for step in campaign.undecided(**settings)]


def known_values(campaign: Campaign, row: str) -> dict[str, UserValue]:
    """Return what is known of a row of the table, as the user writes it; of row blocks, reads its block."""
    table, place = campaign.table, campaign.row(row).place
    cells = table.values[place] if isinstance(table, Table) else table.rows([place]).values[0]
    found = zip(table.columns, cells.tolist(), strict=True)
    return {column.name: value for column, cell in found if (value := column.format(cell)) is not None}
