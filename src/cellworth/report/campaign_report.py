"""A campaign report as a single HTML page that opens anywhere, offline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

import cellworth
from cellworth.campaign import Campaign, Status
from cellworth.forecasting.curve_by_money import VISIBLE
from cellworth.messages import count
from cellworth.optional_packages import require
from cellworth.prices.currency import in_currency, money_text
from cellworth.progress import Steps
from cellworth.report import figures, markup
from cellworth.report.cell_map import MOST_COLUMNS, count_cells
from cellworth.report.column_summaries import ColumnSummary, summarise_columns
from cellworth.report.column_tables import column_table
from cellworth.report.ledger_summary import LedgerEntry, ledger_entries
from cellworth.report.map_on_blocks import drawn_rows
from cellworth.report.summaries import SummaryInputs, inputs_of
from cellworth.shown_numbers import people_write, shown
from cellworth.strategy import Purchase
from cellworth.table.column import Column
from cellworth.table.files import check_folder, replace_file

MOST_COLUMNS_DRAWN = 25
MOST_BANDS = 400
"""Most lines in the map; longer tables put several rows on a line."""
LEDGER_SHOWN = 20
MOST_LEDGER_LINES = 2000
OUT_HEADER = ("row", "column", "asked by", "taken by", "reserved until (UTC)", "price")
MOST_OUT_LINES = 500
LONGEST = 60
"""Most characters of a user's text shown in the ledger."""
LEDGER_HEADER = ("event", "when (UTC)", "who", "what", "row", "column", "value", "price")
LEDGER_TEXTS = (1, 2, 3, 4, 5, 6)
CURVE_CAPTION = (
    "Each point is a model trained on the table as it was then, scored on the same rows and folds. The faint "
    "band is the 95 % interval of the score itself; the darker band is that of its change since the first "
    "point: what the answers gained."
)


def write_report(
    campaign: Campaign,
    path: str | os.PathLike[str],
    *,
    status: Status | None = None,
    progress: Steps | None = None,
) -> None:
    """Write a campaign report as one HTML page: curve, map, worths and prices, columns, ledger.

    The page is self-contained, runs no scripts, and shows at most 2,000 lines of the ledger. Its numbers have
    the decimal mark of the campaign's table. The file is replaced atomically.

    Parameters
    ----------
    campaign : Campaign
        A campaign, or a replay of one: the page then shows that point in time.
    path : str or path
        Where to write the page; usually ends in .html.
    status : Status, optional
        The status of the same campaign, if you already have it; computed otherwise.
    progress : callable, optional
        Called with the number of steps done and the total.

    Notes
    -----
    Costs the status, one completion for the map, one to ten for the column errors, and the newest round:
    about 15 seconds after twelve rounds on 10,000 rows and 30 columns. Needs matplotlib.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from cellworth import Table
    >>> from cellworth.campaign import Campaign
    >>> from cellworth.campaign.stores.memory import MemoryStore
    >>> from cellworth.report import write_report
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] > 0
    >>> X[rng.random(X.shape) < 0.4] = np.nan
    >>> campaign = Campaign.create(Table.from_arrays(X, y), budget=10, store=MemoryStore())
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(campaign, path, status=campaign.status(model="logistic regression"))
    >>> path.read_text("utf-8").startswith("<!DOCTYPE html>")
    True
    """
    require("matplotlib")  # fail before doing any work
    check_folder(Path(path))
    report = progress or (lambda done, total: None)
    of_page = 3  # the map, the columns and the file, on top of the points of the learning curve
    points = 0

    def of_status(done: int, total: int) -> None:
        nonlocal points
        points = total
        report(done, total + of_page)

    def of_parts(done: int) -> None:
        report(points + done, points + of_page)

    with people_write(campaign.read_options.decimal):
        text = _page(campaign, status or campaign.status(progress=of_status), of_parts)
    replace_file(Path(path), lambda part: _write(part, text))
    of_parts(of_page)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _page(campaign: Campaign, status: Status, done: Callable[[int], None]) -> str:
    entries, inputs = ledger_entries(campaign), inputs_of(campaign)
    of_cells, view = _sections_of_cells(inputs, status.currency, done), inputs.view
    parts = [
        _at_a_glance(status),
        _facts(campaign, status, entries),
        _learning_curve(status),
        *of_cells,
        _still_out(view.open_purchases(), status.currency),
        _ledger(entries, {column.name: column for column in campaign.columns}, status),
    ]
    return markup.page(f"Campaign {campaign.name}", parts, markup.STYLE + markup.CAMPAIGN)


def _sections_of_cells(inputs: SummaryInputs, currency: str | None, done: Callable[[int], None]) -> list[str]:
    cell_map = _cell_map(inputs)
    done(1)
    columns = summarise_columns(inputs)
    done(2)
    sample = inputs.view.assessment.sample_words
    return [cell_map, _worth_and_price(columns, currency), column_table(columns, currency, sample)]


def _at_a_glance(status: Status) -> str:
    budget = "no budget" if status.budget is None else f"of {status.text(status.budget)}"
    items = [
        ("money spent", status.text(status.spent), f"{budget}; {status.text(status.reserved)} reserved"),
        ("cells bought", str(status.bought), f"{status.known} known at the start"),
        ("cells missing", str(status.missing), f"{status.refused} refused, {status.open} out"),
    ]
    if status.left is not None:
        items.insert(1, ("money left", status.text(status.left), "after spent and reserved money"))
    score, gain, ahead = status.score, status.gain, status.forecast.gain
    if score is not None:
        interval = f"95 % interval {_score(score.low)} to {_score(score.high)}"
        items.append((f"{status.metric} now", _score(score.value), interval))
    if gain is not None:
        items.append(
            (
                "change so far",
                _change(gain.value),
                f"95 % interval {_change(gain.low)} to {_change(gain.high)}",
            )
        )
    if ahead is not None:
        interval = f"95 % interval {_score(ahead.low)} to {_score(ahead.high)}"
        seen = ahead.value >= VISIBLE
        figure = _change(ahead.value) if seen else f"below {_score(max(ahead.high, 0.001))}"
        items.append((f"next {status.text(status.forecast.money or 0.0)} expected", figure, interval))
    return markup.tiles(items)


def _facts(campaign: Campaign, status: Status, entries: Sequence[LedgerEntry]) -> str:
    target = campaign.table.target
    until = f", {_moment(entries[-1].time)} UTC" if entries else ""
    return markup.facts(
        [
            ("begun", f"{_moment(campaign.created)} UTC"),
            ("as of", f"event {status.number}{until}"),
            ("table", f"{status.rows} rows, {status.columns} columns"),
            ("target", "none" if target is None else f"{target.name}, {target.kind}"),
            ("strategy", f"{campaign.strategy}: {campaign.settled.summary}"),
            ("made by", f"cellworth {cellworth.__version__}"),
        ]
    )


def _learning_curve(status: Status) -> str:
    heading = "What the answers gained"
    if status.score is None:
        return markup.section(heading, [markup.paragraph(f"There is no score: {status.note}.")])
    outlook = status.outlook()
    parts = [markup.paragraph(f"{status.metric}: {status.note}.")]
    ahead = status.prospect is not None and status.advice is not None
    if not (ahead and status.forecast.verdict == "too early"):  # the forecast from the cells at hand is there
        parts.append(markup.paragraph(f"{outlook[0].upper()}{outlook[1:]}."))
    if status.prospect is not None and status.advice is not None:
        parts.append(markup.paragraph(f"{status.prospect.describe()} {status.advice.sentence}"))
    if len(status.history) > 1:
        image = figures.to_svg(figures.draw_learning_curve(status))
        parts.append(markup.picture(image, "svg+xml", _curve_in_words(status), CURVE_CAPTION))
    return markup.section(heading, [*parts, markup.folded("The figures", [_curve_table(status)])])


def _curve_table(status: Status) -> str:
    rows = [
        (
            money_text(point.spent),
            str(point.bought),
            _score(point.score.value),
            f"{_score(point.score.low)} to {_score(point.score.high)}",
            _change(point.gain.value),
            f"{_change(point.gain.low)} to {_change(point.gain.high)}",
        )
        for point in status.history
    ]
    spent = in_currency("money spent", status.currency)
    header = (spent, "cells bought", str(status.metric), "95 % interval", "change", "95 % interval")
    return markup.table("The score over the campaign, and its change since the first point.", header, rows)


def _curve_in_words(status: Status) -> str:
    first, last = status.history[0], status.history[-1]
    return (
        f"Line of {status.metric} against money spent: from {_score(first.score.value)} at "
        f"{status.text(first.spent)} to {_score(last.score.value)} at {status.text(last.spent)}"
    )


def _score(value: float) -> str:
    return shown(value, ".3f")


def _change(value: float) -> str:
    return shown(value, "+.3f")


def _cell_map(inputs: SummaryInputs) -> str:
    n, p = inputs.view.table.shape
    if inputs.on_blocks:
        numbers, found, unsure = drawn_rows(inputs, MOST_BANDS)
        shade, band = figures.shades(found["known"], found["bought"], found["refused"], unsure), 1
    else:
        cells, numbers, band = inputs.cells, np.arange(n), -(-n // MOST_BANDS)
        shade = figures.shades(cells.known, cells.bought, cells.refused, inputs.unsure)
    caption = (
        "Rows and columns are in table order. The less certain an estimate, the fainter it is: at the "
        "faintest, the other cells of its row say nothing about it."
    )
    if band > 1:
        caption += (
            f" Each line covers {band} rows, and each column shows their cells side by side: known, bought, "
            "estimated from sure to unsure, refused."
        )
    if len(numbers) < n:
        caption += (
            f" The table is in row blocks: one row in {shown(int(numbers[1]), ',')} is drawn, "
            f"{len(numbers)} of {shown(n, ',')}."
        )
    if p > MOST_COLUMNS:
        caption += f" Only the first {MOST_COLUMNS} of {p} columns are drawn."
    if not inputs.knows_uncertainty:
        caption += " The strategy's completer gives no uncertainty, so all estimates look alike."
    counts = count_cells(inputs)
    apart = "; labels are not counted" * inputs.view.prices.sells_labels(inputs.view.table)
    words = (
        f"{counts.known} known from the start, {counts.bought} bought, {counts.refused} refused, "
        f"{counts.estimated} estimated{apart}"
    )
    image = figures.mosaic(shade[:, :MOST_COLUMNS], band)
    figure = figures.draw_cell_map(image, inputs.view.table.column_names[:MOST_COLUMNS], n)
    text = f"Map of {n} rows and {p} columns: {words}"
    drawn = markup.picture(figures.to_svg(figure), "svg+xml", text, caption)
    return markup.section("What is known", [markup.paragraph(f"Cells: {words}."), drawn])


def _worth_and_price(columns: Sequence[ColumnSummary], currency: str | None) -> str:
    heading = "Worth and price"
    on_offer = [each for each in columns if each.per_money == each.per_money]  # not NaN
    if not on_offer:
        return markup.section(heading, [markup.paragraph("Nothing is left to buy.")])
    caption = (
        "Columns with holes that can be bought, by worth per unit of money, best first. The mean worth of a "
        "column's holes is in units of the table's average hole; the line spans the quartiles. The price is "
        "that of one cell bought alone."
    )
    if len(on_offer) > MOST_COLUMNS_DRAWN:
        caption += f" {len(on_offer) - MOST_COLUMNS_DRAWN} more columns are not drawn."
    best = f"Worth and price of {len(on_offer)} columns; the best buy is {on_offer[0].name}"
    figure = figures.draw_columns(on_offer[:MOST_COLUMNS_DRAWN], currency)
    return markup.section(heading, [markup.picture(figures.to_svg(figure), "svg+xml", best, caption)])


def _still_out(out: Sequence[Purchase], currency: str | None) -> str:
    """Return the section with the cells that were asked for and have no answer yet, oldest first."""
    heading = "Still out"
    if not out:
        return markup.section(heading, [markup.paragraph("No answer is outstanding.")])
    lines = [
        (
            _text(each.row),
            _text(each.column),
            _text(each.asked_by or ""),
            _text(each.holder or ""),
            "" if each.until is None else _moment(each.until),
            money_text(each.price),
        )
        for each in out[:MOST_OUT_LINES]
    ]
    caption = f"{count(len(out), 'cell')} asked for and not answered yet, oldest first."
    parts = [markup.table(caption, _priced(OUT_HEADER, currency), lines, (1, 2, 3, 4))]
    if len(out) > MOST_OUT_LINES:
        parts.append(markup.paragraph(f"{len(out) - MOST_OUT_LINES} more are in campaign.open_purchases()."))
    return markup.section(heading, parts)


def _ledger(entries: Sequence[LedgerEntry], columns: Mapping[str, Column], status: Status) -> str:
    """Return the section with all answers, refusals, corrections, new rows, budgets and prices, newest first.

    The first lines are shown and the rest folded; only the newest `MOST_LEDGER_LINES` are on the page.
    """
    lines = [line for entry in reversed(entries) for line in _ledger_lines(entry, columns)]
    answers = sum(len(entry.lines) for entry in entries if entry.kind == "told")
    heading = "Ledger"
    if not lines:
        return markup.section(heading, [markup.paragraph("Nothing has been bought yet.")])
    kept = lines[:MOST_LEDGER_LINES]
    caption = f"{count(answers, 'cell')} bought for {status.text(status.spent)}; newest first."
    header = _priced(LEDGER_HEADER, status.currency)
    parts = [markup.table(caption, header, kept[:LEDGER_SHOWN], LEDGER_TEXTS)]
    if len(kept) > LEDGER_SHOWN:
        rest = markup.table("Earlier entries.", header, kept[LEDGER_SHOWN:], LEDGER_TEXTS)
        parts.append(markup.folded(f"{len(kept) - LEDGER_SHOWN} earlier entries", [rest]))
    if len(lines) > MOST_LEDGER_LINES:
        left_out = len(lines) - MOST_LEDGER_LINES
        parts.append(markup.paragraph(f"{left_out} still earlier entries are in campaign.history()."))
    return markup.section(heading, parts)


def _ledger_lines(entry: LedgerEntry, columns: Mapping[str, Column]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of one event, its last cell first; asks and cancellations have none."""

    def written(column: str, value: object) -> str:
        return _text(columns[column].text_of(value) if column in columns else value)

    start = (str(entry.number), _moment(entry.time), _text(entry.who or ""))
    because = f": {entry.reason}" if entry.reason else ""
    if entry.change is not None:
        yield (*start, _text(f"{entry.what}{because}"), "", "", _text(entry.change), "")
    elif entry.kind == "extended":
        first = _text(entry.lines[0].row) + (" …" if len(entry.lines) > 1 else "")
        yield (*start, f"{count(len(entry.lines), 'row')} added", first, "", "", "")
    elif entry.kind in ("told", "refused", "corrected", "contradicted"):
        for line in reversed(entry.lines):
            value = "" if line.value is None else written(line.column, line.value)
            if entry.kind == "corrected":
                value = f"{written(line.column, line.old)} → {value}"
            elif entry.kind == "contradicted":
                value = f"{value}, known: {written(line.column, line.old)}"
            price = "" if line.price is None else money_text(line.price)
            yield (*start, _text(f"{entry.what}{because}"), _text(line.row), _text(line.column), value, price)


def _moment(time: datetime) -> str:
    return f"{time.day} {time:%b %Y, %H:%M}"


def _priced(header: tuple[str, ...], currency: str | None) -> tuple[str, ...]:
    """Return a header whose last column holds prices, with their currency."""
    return (*header[:-1], in_currency(header[-1], currency))


def _text(value: object) -> str:
    return _cut(shown(value, ".6g") if isinstance(value, float) else str(value), LONGEST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
