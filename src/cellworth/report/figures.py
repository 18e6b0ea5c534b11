"""The report's figures, and writing figures to files and SVG: the same figure gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.campaign import Status
from cellworth.optional_packages import require
from cellworth.prices.currency import in_currency
from cellworth.report.column_summaries import ColumnSummary
from cellworth.report.summaries import short_name
from cellworth.shown_numbers import reworded

KNOWN, BOUGHT, FAINT = "#0072B2", "#E69F00", "#7F7F7F"
"""Safe for most kinds of colour blindness (Okabe and Ito)."""
REFUSED = "#3B3B3B"
SURE, UNSURE = "#2F9E77", "#E9F4EF"
RANGES = {"AUC": (0.0, 1.0), "R2": (-np.inf, 1.0)}
LEVEL_LETTERS = 60  # names that have no more in all, each taken as long as the longest, are not turned
MOST_NAMES = 40  # maps with more columns show no names
MAP_WIDTH = 1200  # approximate width of a map's grid, in points


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure, sizes in inches; raise MissingDependencyError without matplotlib."""
    return require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, paths: Sequence[Path]) -> None:
    """Save a figure to each path, with text as outlines."""
    for path in paths:
        _write(figure, path, path.suffix.removeprefix("."), text="path")


def to_svg(figure: Any) -> bytes:
    """Return a figure as SVG; text stays text, since the reader's fonts cover more characters."""
    out = io.BytesIO()
    _write(figure, out, "svg", text="none", transparent=True)
    return out.getvalue()


def _write(figure: Any, target: Any, kind: str, text: str, transparent: bool = False) -> None:
    matplotlib = require("matplotlib")
    undated = {"Date": None} if kind == "svg" else {}
    settings = {"svg.hashsalt": "cellworth", "svg.fonttype": text}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(target, format=kind, dpi=150, metadata=undated, transparent=transparent)


def _mark_ticks(*sides: Any) -> None:
    """Write the numbers along these sides of axes with the decimal mark of `people_write`."""
    for formatter in (side.get_major_formatter() for side in sides):
        formatter.format_ticks = _marked(formatter.format_ticks)


def _marked(format_ticks: Callable[[Sequence[float]], list[str]]) -> Callable[[Sequence[float]], list[str]]:
    return lambda places: [reworded(text) for text in format_ticks(places)]


def draw_learning_curve(status: Status) -> Any:
    """Draw the score against the money spent, with its intervals and forecast."""
    figure = new_figure(5.6, 3.5)
    axis = figure.subplots()
    history = status.history
    money = np.array([point.spent for point in history])
    score = np.array([point.score.value for point in history])
    start = score[0]
    axis.fill_between(
        money,
        [point.score.low for point in history],
        [point.score.high for point in history],
        color=KNOWN,
        alpha=0.10,
        linewidth=0,
        label="95 % interval of the score",
    )
    least, most = RANGES[str(status.metric)]
    axis.fill_between(
        money,
        np.clip([start + point.gain.low for point in history], least, most),
        np.clip([start + point.gain.high for point in history], least, most),
        color=KNOWN,
        alpha=0.25,
        linewidth=0,
        label="of its change since the start",
    )
    axis.plot(money, score, "o-", color=KNOWN, markersize=4, linewidth=1.8, label="cross-validated")
    _draw_forecast(axis, status, money[-1], score[-1])
    if status.budget is not None and axis.get_xlim()[1] > status.budget:
        axis.axvline(status.budget, color=FAINT, linewidth=1, linestyle=":", label="budget")
    bottom, top = axis.get_ylim()
    # An R2 has no lower bound, but a band far below 0 would hide the curve.
    axis.set_ylim(max(bottom, least - 0.02, min(0.0, float(score.min())) - 0.25), min(top, most + 0.02))
    axis.set(xlabel=in_currency("money spent", status.currency), ylabel=status.metric)
    _mark_ticks(axis.xaxis, axis.yaxis)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    return figure


def _draw_forecast(axis: Any, status: Status, spent: float, score: float) -> None:
    projection = status.forecast.projection
    if projection is None:
        return
    at = spent + projection.money
    _, most = RANGES[str(status.metric)]
    axis.plot(at, score + projection.gain, "--", color=BOUGHT, linewidth=1.6, label="forecast")
    low, high = (np.minimum(score + end, most) for end in (projection.low, projection.high))
    axis.fill_between(at, low, high, color=BOUGHT, alpha=0.2, linewidth=0)


def draw_columns(columns: Sequence[ColumnSummary], currency: str | None = None) -> Any:
    """Draw the worth of each column's holes, with quartiles, next to their price."""
    figure = new_figure(5.6, 0.9 + 0.24 * len(columns))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    at = np.arange(len(columns))
    low, high = ([getattr(each, end) for each in columns] for end in ("worth_low", "worth_high"))
    left.hlines(at, low, high, color=KNOWN, alpha=0.35, linewidth=5)
    left.plot([each.worth for each in columns], at, "o", color=KNOWN, markersize=5)
    right.barh(at, [each.price for each in columns], color=BOUGHT, height=0.55)
    left.set_yticks(at, labels=[short_name(each.name) for each in columns])
    for label in left.get_yticklabels():
        label.set(parse_math=False, fontsize="small")
    left.set(xlabel="worth (average hole = 1)", xlim=(0, None), ylim=(len(columns) - 0.4, -0.6))
    right.set(xlabel=in_currency("price of one cell", currency), xlim=(0, None))
    for axis in (left, right):
        axis.grid(axis="x", alpha=0.25)
        _mark_ticks(axis.xaxis)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(axis="y", length=0)
    return figure


def draw_cell_map(image: Float64Array, names: Sequence[str], rows: int) -> Any:
    """Draw a `mosaic` of the table's rows and named columns."""
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
        extent=(0, p, rows, 0),
    )
    axis.set_ylabel("rows")
    axis.yaxis.get_major_locator().set_params(integer=True)
    if p <= MOST_NAMES:
        labels = [short_name(name) for name in names]
        level = p * max(map(len, labels)) <= LEVEL_LETTERS
        axis.set_xticks(np.arange(p) + 0.5, labels=labels)
        for label in axis.get_xticklabels():
            label.set(parse_math=False, fontsize="small")
            if not level:
                label.set(rotation=60, ha="right", rotation_mode="anchor")
        axis.tick_params(length=0)
        axis.vlines(np.arange(1, p), 0, rows, color="white", linewidth=0.6)
    else:
        axis.set_xlabel("columns")
    axis.spines[:].set_visible(False)
    key = {"known": 0.0, "bought": 1.0, "estimate, sure": 2.0, "estimate, unsure": 3.0, "refused": 4.0}
    handles = [
        patches.Patch(color=tuple(_colours(np.array([shade]))[0]), label=name) for name, shade in key.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, fontsize="x-small", frameon=False)
    return figure


def shades(known: BoolArray, bought: BoolArray, refused: BoolArray, unsure: Float64Array) -> Float64Array:
    """Return one number per cell (n, p): 0 known, 1 bought, 2 (sure) to 3 (unsure) estimated, 4 refused."""
    return np.select([known, bought, refused], [0.0, 1.0, 4.0], 2.0 + unsure)


def mosaic(shade: Float64Array, band: int) -> Float64Array:
    """Return the map as shades (bands, points): ``band`` rows per line, cells sorted within each column.

    With one row per band, each column has one shade. The last band may have fewer rows. O(n p log band).
    """
    n, p = shade.shape
    width = max(2, MAP_WIDTH // p) if band > 1 else 1
    lines = []
    for start in range(0, n, band):
        column = np.sort(shade[start : start + band], axis=0)
        place = ((np.arange(width) + 0.5) / width * len(column)).astype(np.intp)
        lines.append(column[place].T.ravel())
    return np.array(lines)


def _colours(shade: Float64Array) -> Float64Array:
    colors = require("matplotlib.colors")
    sure, unsure = np.array(colors.to_rgb(SURE)), np.array(colors.to_rgb(UNSURE))
    known, bought, refused = (np.array(colors.to_rgb(name)) for name in (KNOWN, BOUGHT, REFUSED))
    share = np.clip(shade - 2, 0, 1)[..., np.newaxis]
    estimated = sure + share * (unsure - sure)
    which = shade[..., np.newaxis]
    painted: Float64Array = np.select(
        [which == 0, which == 1, which == 4], [known, bought, refused], estimated
    )
    return painted
