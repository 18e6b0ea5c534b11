"""The columns: what their holes cost, what they are worth, and how well they are filled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.campaign import Campaign
from cellworth.campaign.cell_values import CellStatus
from cellworth.model.cross_validation import Z
from cellworth.progress import portion
from cellworth.report.fill_errors import LEVEL, FillError
from cellworth.report.summaries import Summary, SummaryInputs, inputs_of
from cellworth.shown_numbers import shown
from cellworth.table import Column
from cellworth.table.column import MEASURED

MOST_COLUMNS = 500
"""Wider tables keep the columns with the most worth per unit of money."""


@dataclass(frozen=True)
class ColumnError:
    """The fill error of a column, measured on hidden known cells, in numbers and in words.

    Attributes
    ----------
    words, guess_words : str
        The error with its 95 % interval and unit, and that of the best single guess.
    error, spread, guess, hidden, covered
        As in `FillError`.
    relative : float or None
        The error divided by that of the best single guess: 0 is perfect, 1 is no better than guessing.
    """

    words: str
    guess_words: str
    error: float
    spread: float
    guess: float
    relative: float | None
    hidden: int
    covered: int | None


@dataclass(frozen=True)
class ColumnSummary:
    """A column: what its holes cost, what they are worth, and how well they are filled.

    Attributes
    ----------
    place : int
        Position in the table, from 0.
    name, kind : str
    unit, description : str or None
    price, price_low, price_high : float
        Mean over the holes that can be bought, each bought alone; minimum and maximum over all cells.
    worth, worth_low, worth_high, worth_most : float
        Mean, quartiles and maximum, in units of the table's average hole. NaN if no hole can be bought, as
        are ``price`` and ``per_money``.
    per_money : float
        Worth divided by price.
    holes_before, holes : float
        Share of rows with a hole, at the start and now.
    missing, bought, refused, out : int
        Cell counts.
    error : ColumnError or None
        None if too few cells are known, and for labels, which are not guessed.
    is_label : bool
        Whether this is the target, whose labels can be bought.
    """

    place: int
    name: str
    kind: str
    unit: str | None
    price: float
    price_low: float
    price_high: float
    worth: float
    worth_low: float
    worth_high: float
    worth_most: float
    per_money: float
    holes_before: float
    holes: float
    missing: int
    bought: int
    refused: int
    out: int
    error: ColumnError | None
    description: str | None = None
    is_label: bool = False


@dataclass(frozen=True)
class ColumnsSummary(Summary):
    """The price and worth of each column, and how well its holes are filled.

    Attributes
    ----------
    level : float
        Level of the intervals that ``error.covered`` refers to.
    columns : list of ColumnSummary
        Best buy first; columns with nothing to buy last.
    left_out : int
        Columns beyond `MOST_COLUMNS`.
    rows : int
        Of the table.
    sampled : int or None
        Rows in which errors were measured, if the table is in row blocks and these are not all. All else is
        of all rows, with quartiles to 0.05 %.
    """

    level: float
    columns: list[ColumnSummary]
    left_out: int
    rows: int
    sampled: int | None = None


def columns_summary(campaign: Campaign) -> ColumnsSummary:
    """Summarise the columns.

    Costs the newest round and one to ten completions, cached until the table changes.
    """
    inputs = inputs_of(campaign)
    with portion(0.0, 0.5):
        inputs.average_worth  # noqa: B018  (worked out on first use, with the worths)
    with portion(0.5, 1.0):
        found = summarise_columns(inputs)
    left_out, rows = max(0, len(found) - MOST_COLUMNS), inputs.view.table.shape[0]
    sampled = len(inputs.view.assessment.table.row_ids) if inputs.on_blocks else rows
    few = sampled if sampled < rows else None
    return ColumnsSummary(inputs.number, LEVEL, found[:MOST_COLUMNS], left_out, rows, few)


def summarise_columns(inputs: SummaryInputs) -> list[ColumnSummary]:
    """Return the summaries of all columns, best buy first; with that of the labels, if they have a price."""
    if inputs.on_blocks:
        return _summarise_on_blocks(inputs)
    worth = _column_means(inputs.on_sale.worth / inputs.average_worth, inputs)
    price = _column_means(inputs.on_sale.price, inputs)
    per_money = worth / price
    order = np.argsort(-np.nan_to_num(per_money, nan=-1.0), kind="stable")
    return [
        _summarise_column(inputs, j, float(worth[j]), float(price[j]), float(per_money[j]))
        for j in order.tolist()
    ]


def _summarise_on_blocks(inputs: SummaryInputs) -> list[ColumnSummary]:
    """Do the same for a table in row blocks, by its totals; errors are those in a sample of its rows."""
    totals, table, unit = inputs.totals, inputs.view.table, inputs.average_worth
    columns, errors = list(table.columns), inputs.fill_errors
    if len(totals.known) > len(columns) and table.target is not None:
        columns = [*columns, table.target.column]
    marked = inputs.view.worths.marked()
    out = np.bincount(marked.columns[marked.status == CellStatus.ASKED], minlength=len(columns))
    found = []
    for j, column in enumerate(columns):
        n, is_label = int(totals.available[j]), j == len(table.columns)
        worth, price = (float(each[j]) / n if n else np.nan for each in (totals.worth / unit, totals.price))
        ends = [totals.worths[j].quantile(share) / unit for share in (0.25, 0.75)]
        missing = totals.rows - int(totals.known[j] + totals.bought[j])
        found.append(
            ColumnSummary(
                place=j,
                name=column.name,
                kind=column.kind,
                unit=column.unit,
                price=price,
                price_low=float(totals.price_low[j]),
                price_high=float(totals.price_high[j]),
                worth=worth,
                worth_low=ends[0],
                worth_high=ends[1],
                worth_most=float(totals.most[j]) / unit if n else np.nan,
                per_money=worth / price,
                holes_before=(totals.rows - int(totals.known[j])) / totals.rows,
                holes=missing / totals.rows,
                missing=missing,
                bought=int(totals.bought[j]),
                refused=int(totals.refused[j]),
                out=int(out[j]),
                error=None if is_label else _column_error(column, errors[j]),
                description=column.description,
                is_label=is_label,
            )
        )
    return sorted(found, key=lambda each: -1.0 if np.isnan(each.per_money) else each.per_money, reverse=True)


def _column_means(values: Float64Array, inputs: SummaryInputs) -> Float64Array:
    """Return the mean (p,) over each column's holes that can be bought, NaN if there are none."""
    available = inputs.on_sale.available
    counts = available.sum(axis=0)
    sums = np.where(available, values, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def _summarise_column(
    inputs: SummaryInputs, j: int, worth: float, price: float, per_money: float
) -> ColumnSummary:
    table, cells = inputs.table, inputs.on_sale
    is_label = j == len(table.columns)
    column = table.target.column if is_label and table.target is not None else table.columns[j]
    holes = ~(cells.known[:, j] | cells.bought[:, j])
    here = cells.worth[cells.available[:, j], j] / inputs.average_worth
    ends = np.quantile(here, [0.25, 0.75, 1.0]) if here.size else np.full(3, np.nan)
    return ColumnSummary(
        place=j,
        name=column.name,
        kind=column.kind,
        unit=column.unit,
        price=price,
        price_low=float(cells.price[:, j].min()),
        price_high=float(cells.price[:, j].max()),
        worth=worth,
        worth_low=float(ends[0]),
        worth_high=float(ends[1]),
        worth_most=float(ends[2]),
        per_money=per_money,
        holes_before=float((~cells.known[:, j]).mean()),
        holes=float(holes.mean()),
        missing=int(holes.sum()),
        bought=int(cells.bought[:, j].sum()),
        refused=int(cells.refused[:, j].sum()),
        out=inputs.asked_labels if is_label else int(inputs.asked[:, j].sum()),
        error=None if is_label else _column_error(column, inputs.fill_errors[j]),
        description=column.description,
        is_label=is_label,
    )


def _column_error(column: Column, measured: FillError | None) -> ColumnError | None:
    if measured is None:
        return None
    if column.kind in MEASURED:
        unit = " days" if column.kind == "date" else f" {column.unit}" if column.unit else ""
        words = f"{_with_ends(measured.error, measured.spread)}{unit}", f"{digits(measured.guess, 3)}{unit}"
    else:
        low, high = wilson(measured.error, measured.hidden)
        words = f"{measured.error:.0%} ({low:.0%} to {high:.0%}) wrong", f"{measured.guess:.0%} wrong"
    return ColumnError(
        *words,
        measured.error,
        measured.spread,
        measured.guess,
        measured.error / measured.guess if measured.guess > 0 else None,
        measured.hidden,
        measured.covered,
    )


def _with_ends(error: float, spread: float) -> str:
    low, high = log_interval(error, spread)
    return f"{digits(error, 3)} ({digits(low, 2)} to {digits(high, 2)})"


def digits(value: float, most: int) -> str:
    """Format a number with at most so many significant digits, whole numbers in full.

    >>> digits(0.01138, 3), digits(179.6, 2)
    ('0.0114', '180')
    """
    return shown(value, ",.0f" if abs(value) >= 10 ** (most - 1) else f".{most}g")


def log_interval(value: float, spread: float) -> tuple[float, float]:
    """Return a 95 % interval of a positive number from its standard error, symmetric on the log scale.

    >>> [round(end, 2) for end in log_interval(0.72, 0.81)]
    [0.08, 6.53]
    """
    width = math.exp(Z * spread / value) if value > 0 else 1.0
    return value / width, value * width


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of n, always within 0 and 1.

    >>> [round(end, 3) for end in wilson(0.0, 20)]
    [0.0, 0.161]
    """
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)
