"""The columns: worth against price, holes, and how well they are filled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.cells import CellArrays
from cellworth.report import page
from cellworth.report.cell_map import short
from cellworth.report.drawing import BOUGHT, KNOWN, new_figure, to_svg
from cellworth.report.measures import LEVEL, Measure
from cellworth.table import Column, Table
from cellworth.table.column import BOUNDED

Array = NDArray[np.float64]

MOST_DRAWN = 25
MOST_LISTED = 500


def worth_and_price(table: Table, cells: CellArrays) -> str:
    """Return the section on what the holes of each column are worth and cost, as HTML."""
    heading = "Where the worth lies"
    if not cells.available.any():
        return page.section(heading, [page.paragraph("Nothing is left to buy.")])
    worth, price = mean_worths(cells), mean_prices(cells)
    per_money = worth / price
    order = np.argsort(-np.nan_to_num(per_money, nan=-1.0), kind="stable")
    order = order[~np.isnan(per_money[order])]
    drawn = order[:MOST_DRAWN]
    names = [table.columns[j].name for j in drawn]
    caption = (
        "Columns with holes that can be had, the best buy first: by worth per money. The mean worth of a "
        "column's holes is in units of the average hole of the table; the line goes from the lower to the "
        "upper quarter of its holes. The price is that of one cell bought alone."
    )
    if len(order) > MOST_DRAWN:
        caption += f" {len(order) - MOST_DRAWN} columns with less worth per money are not drawn."
    best = f"Worth and price of {len(order)} columns; the best buy is {names[0]}"
    image = page.picture(to_svg(_draw(cells, drawn, names)), "svg+xml", best, caption)
    return page.section(heading, [image])


def mean_worths(cells: CellArrays) -> Array:
    """Return the mean worth (p,) of each column's holes that can be had, NaN if none.

    The average hole of the table is worth 1.
    """
    return _column_means(cells.worth / _average(cells), cells)


def mean_prices(cells: CellArrays) -> Array:
    """Return the mean price (p,) of each column's holes that can be had, each bought alone; NaN if none."""
    return _column_means(cells.price, cells)


def column_table(table: Table, cells: CellArrays, measures: Sequence[Measure | None]) -> str:
    """Return the section with a line for each column, as HTML."""
    before = 1 - cells.known.mean(axis=0)
    now = table.holes.mean(axis=0)
    rows = [
        (
            _cut(column.name),
            column.kind + (f", {column.unit}" if column.unit else ""),
            f"{before[j]:.0%}",
            f"{now[j]:.0%}",
            str(int(cells.bought[:, j].sum())),
            str(int(cells.refused[:, j].sum())),
            _range(cells.price[:, j]),
            *_measured(column, measures[j]),
        )
        for j, column in enumerate(table.columns[:MOST_LISTED])
    ]
    header = (
        "column",
        "kind",
        "holes at the start",
        "holes now",
        "bought",
        "refused",
        "price",
        "error of the filling",
        "best single guess",
        f"within {LEVEL:.0%} intervals",
    )
    notes = (
        "The error is measured on known cells that were hidden and filled "
        "again, ± one standard error: root mean square in the column's unit, days for dates, or the share of "
        "wrong values for texts and booleans. The best single guess is the error of always saying the mean, "
        "or the commonest value. The last column counts the hidden cells that lay within their intervals."
    )
    parts = [page.paragraph(notes), page.table(f"The {len(rows)} columns.", header, rows, texts=(1,))]
    if len(table.columns) > MOST_LISTED:
        parts.append(page.paragraph(f"{len(table.columns) - MOST_LISTED} further columns are not listed."))
    return page.section("Columns", parts)


def plus_minus(value: float, spread: float) -> str:
    """Write a number with its standard error, both to the place of the error's first figure.

    >>> plus_minus(258.3, 71.0), plus_minus(0.01138, 0.00066)
    ('260 ± 70', '0.0114 ± 0.0007')
    """
    if spread <= 0:
        return f"{value:.3g} ± 0"
    places = -math.floor(math.log10(spread))
    return f"{round(value, places):.{max(0, places)}f} ± {round(spread, places):.{max(0, places)}f}"


def error_in_words(column: Column, measure: Measure) -> tuple[str, str]:
    """Return the error of the filling with its standard error and unit, and that of the best single guess."""
    if column.kind in BOUNDED:
        unit = " days" if column.kind == "date" else f" {column.unit}" if column.unit else ""
        return f"{plus_minus(measure.error, measure.spread)}{unit}", f"{measure.guess:.3g}{unit}"
    error = f"{measure.error:.0%} ± {max(measure.spread, 0.005):.0%} wrong"
    return error, f"{measure.guess:.0%} wrong"


def _measured(column: Column, measure: Measure | None) -> tuple[str, str, str]:
    if measure is None:
        return "too few known", "", ""
    error, guess = error_in_words(column, measure)
    covered = "" if measure.covered is None else f"{measure.covered} of {measure.hidden}"
    return error, guess, covered


def _range(prices: Array) -> str:
    low, high = float(prices.min()), float(prices.max())
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def _average(cells: CellArrays) -> float:
    return float(cells.worth[cells.available].mean()) or 1.0


def _column_means(values: Array, cells: CellArrays) -> Array:
    counts = cells.available.sum(axis=0)
    sums = np.where(cells.available, values, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def _draw(cells: CellArrays, drawn: NDArray[np.intp], names: list[str]) -> Any:
    figure = new_figure(5.6, 0.9 + 0.24 * len(drawn))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    at = np.arange(len(drawn))
    worth, price = mean_worths(cells)[drawn], mean_prices(cells)[drawn]
    ends = np.array(
        [np.quantile(cells.worth[cells.available[:, j], j], [0.25, 0.75]) / _average(cells) for j in drawn]
    )
    left.hlines(at, ends[:, 0], ends[:, 1], color=KNOWN, alpha=0.35, linewidth=5)
    left.plot(worth, at, "o", color=KNOWN, markersize=5)
    right.barh(at, price, color=BOUGHT, height=0.55)
    left.set_yticks(at, labels=[short(name) for name in names])
    for label in left.get_yticklabels():
        label.set(parse_math=False, fontsize="small")
    left.set(xlabel="worth (average hole = 1)", xlim=(0, None), ylim=(len(drawn) - 0.4, -0.6))
    right.set(xlabel="price of one cell", xlim=(0, None))
    for axis in (left, right):
        axis.grid(axis="x", alpha=0.25)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(axis="y", length=0)
    return figure


def _cut(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
