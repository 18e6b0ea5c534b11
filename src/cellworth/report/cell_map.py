"""What is known of the table, and how sure the rest is: a picture of its cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.cells import CellArrays
from cellworth.complete import FilledTable
from cellworth.optional import require
from cellworth.report import page
from cellworth.report.drawing import BOUGHT, KNOWN, new_figure, to_svg
from cellworth.table import Table

Array = NDArray[np.float64]

MOST_BANDS = 400
MOST_COLUMNS = 400
MOST_NAMES = 40
WIDTH = 1200  # of the picture's grid, in points, about
UNKNOWN_ERROR = 0.5  # the shade of an estimate whose error is not known
REFUSED = "#3B3B3B"


def cell_map(table: Table, cells: CellArrays, filled: FilledTable | None) -> str:
    """Return the section with the map, as HTML; without ``filled`` no cell is estimated."""
    shade = np.zeros(table.shape) if filled is None else uncertainty(table, filled)
    n, p = table.shape
    band = -(-n // MOST_BANDS)
    caption = (
        "Rows from top to bottom as in the table, columns from left to right. An estimate is the fainter the "
        "less is known: the faintest means that the other cells of its row say nothing about it."
    )
    if band > 1:
        caption += (
            f" Each line stands for {band} rows, and each column shows their cells side by side: known, "
            "bought, estimated from sure to unsure, refused."
        )
    if p > MOST_COLUMNS:
        caption += f" Only the first {MOST_COLUMNS} of {p} columns are drawn."
    if filled is not None and filled.variance is None:
        caption += " The strategy's completer does not tell how sure it is, so all estimates look alike."
    counts = {
        "known from the start": int(cells.known.sum()),
        "bought": int(cells.bought.sum()),
        "refused": int(cells.refused.sum()),
        "estimated": int(cells.available.sum()),
    }
    words = ", ".join(f"{count} {what}" for what, count in counts.items())
    image = mosaic(codes(cells, shade)[:, :MOST_COLUMNS], band)
    figure = _draw(image, [column.name for column in table.columns[:MOST_COLUMNS]], n)
    shown = page.picture(to_svg(figure), "svg+xml", f"Map of {n} rows and {p} columns: {words}", caption)
    return page.section("What is known", [page.paragraph(f"Cells: {words}."), shown])


def uncertainty(table: Table, filled: FilledTable) -> Array:
    """Return how unsure each cell is, (n, p), from 0, known, to 1, as unsure as without its row.

    It is the standard deviation that is left over that of the column's known cells.
    """
    if filled.variance is None:
        return np.where(table.holes, UNKNOWN_ERROR, 0.0)
    encoded = table.encode()
    spread = encoded.layout.sum_by_cell(np.nanvar(encoded.X, axis=0))
    share = np.sqrt(np.divide(filled.variance, spread, out=np.zeros(table.shape), where=spread > 0))
    return np.clip(share, 0.0, 1.0)


def codes(cells: CellArrays, shade: Array) -> Array:
    """Return one number per cell (n, p): 0 known, 1 bought, 2 to 3 estimated, sure to unsure, 4 refused."""
    return np.select([cells.known, cells.bought, cells.refused], [0.0, 1.0, 4.0], 2.0 + shade)


def mosaic(code: Array, band: int) -> Array:
    """Return the map as codes (bands, points): ``band`` rows a line, their cells sorted within each column.

    With one row a band each column is of one code; the last band may have fewer rows. O(n p log band).
    """
    n, p = code.shape
    width = max(2, WIDTH // p) if band > 1 else 1
    lines = []
    for start in range(0, n, band):
        column = np.sort(code[start : start + band], axis=0)
        place = ((np.arange(width) + 0.5) / width * len(column)).astype(np.intp)
        lines.append(column[place].T.ravel())
    return np.array(lines)


def _colours(code: Array) -> Array:
    colors = require("matplotlib.colors")
    sure, unsure = np.array(colors.to_rgb("#2F9E77")), np.array(colors.to_rgb("#E9F4EF"))
    known, bought, refused = (np.array(colors.to_rgb(name)) for name in (KNOWN, BOUGHT, REFUSED))
    share = np.clip(code - 2, 0, 1)[..., np.newaxis]
    estimated = sure + share * (unsure - sure)
    which = code[..., np.newaxis]
    painted: Array = np.select([which == 0, which == 1, which == 4], [known, bought, refused], estimated)
    return painted


def _draw(image: Array, names: list[str], n: int) -> Any:
    patches = require("matplotlib.patches")
    height = float(np.clip(0.9 + 0.022 * len(image), 2.2, 5.0))
    names_height = 0.055 * min(24, max(map(len, names))) if len(names) <= MOST_NAMES else 0.2
    figure = new_figure(5.6, height + names_height + 0.5)
    axis = figure.subplots()
    p = len(names)
    axis.imshow(
        np.round(255 * _colours(image)).astype(np.uint8),
        aspect="auto",
        interpolation="nearest",
        extent=(0, p, n, 0),
    )
    axis.set_ylabel("rows")
    axis.yaxis.get_major_locator().set_params(integer=True)
    if p <= MOST_NAMES:
        axis.set_xticks(np.arange(p) + 0.5, labels=[short(name) for name in names], rotation=60, ha="right")
        for label in axis.get_xticklabels():
            label.set(rotation_mode="anchor", parse_math=False, fontsize="small")
        axis.tick_params(length=0)
        axis.vlines(np.arange(1, p), 0, n, color="white", linewidth=0.6)
    else:
        axis.set_xlabel("columns")
    axis.spines[:].set_visible(False)
    key = {"known": 0.0, "bought": 1.0, "estimate, sure": 2.0, "estimate, unsure": 3.0, "refused": 4.0}
    handles = [
        patches.Patch(color=tuple(_colours(np.array([code]))[0]), label=name) for name, code in key.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, fontsize="x-small", frameon=False)
    return figure


def short(name: str, most: int = 24) -> str:
    """Return a name that fits beside an axis."""
    name = page.clean(" ".join(name.split()))
    return name if len(name) <= most else f"{name[: most - 1]}…"
