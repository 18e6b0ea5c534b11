"""A campaign as one HTML page that opens anywhere, without a network."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import cellworth
from cellworth import strategy as strategies
from cellworth.campaign import Campaign
from cellworth.campaign.forecast import VISIBLE
from cellworth.campaign.status import Status
from cellworth.optional import require
from cellworth.progress import Steps
from cellworth.report import page, style
from cellworth.report.cell_map import cell_map
from cellworth.report.columns import column_table, worth_and_price
from cellworth.report.curve import learning_curve
from cellworth.report.ledger import ledger
from cellworth.report.measures import measure
from cellworth.table.files import replace_file


def write_report(
    campaign: Campaign,
    path: str | os.PathLike[str],
    *,
    standing: Status | None = None,
    progress: Steps | None = None,
) -> None:
    """Write where a campaign stands as one HTML page: curve, map, worths and prices, columns, ledger.

    The page refers to nothing outside itself, runs no script, and holds at most some 2,000 lines of the
    ledger. The file is replaced whole or not at all.

    Parameters
    ----------
    campaign : Campaign
        Or a replay of it: the page is then as of that time.
    path : str or path
        Where to write it; its name usually ends in .html.
    standing : Status, optional
        Of the same campaign, if it is at hand; else it is found by ``campaign.status()``.
    progress : callable, optional
        Is told how many steps are done, and how many there are in all.

    Notes
    -----
    Costs the standing, one completion for the map, one to ten for the errors of the columns, and the newest
    round: some 15 seconds after twelve rounds on 10,000 rows and 30 columns. Needs matplotlib.

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
    >>> write_report(campaign, path)
    >>> path.read_text("utf-8").startswith("<!DOCTYPE html>")
    True
    """
    require("matplotlib")  # before any work is done
    told = progress or (lambda done, total: None)
    of_page = 3  # the map, the columns, and the file, beside the moments of the standing
    moments = 0

    def of_standing(done: int, total: int) -> None:
        nonlocal moments
        moments = total
        told(done, total + of_page)

    def of_parts(done: int) -> None:
        told(moments + done, moments + of_page)

    text = _page(campaign, standing or campaign.status(progress=of_standing), of_parts)
    replace_file(Path(path), lambda part: _write(part, text))
    of_parts(of_page)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _page(campaign: Campaign, standing: Status, done: Callable[[int], None]) -> str:
    table, history = campaign.table, campaign.history()
    cells = campaign.cells()
    completer = strategies.get(campaign.strategy).completer
    drawn_map = cell_map(table, cells, campaign.fill() if table.holes.any() else None)
    done(1)
    measured = measure(table, completer)
    done(2)
    parts = [
        _at_a_glance(standing),
        _facts(campaign, standing),
        learning_curve(standing),
        drawn_map,
        worth_and_price(table, cells),
        column_table(table, cells, measured),
        ledger(history, spent=standing.spent),
    ]
    return page.page(f"Campaign {campaign.name}", parts, style.STYLE + style.CAMPAIGN)


def _at_a_glance(standing: Status) -> str:
    budget = "no budget" if standing.budget is None else f"of {standing.budget:.2f}"
    items = [
        ("money spent", f"{standing.spent:.2f}", f"{budget}; {standing.reserved:.2f} reserved"),
        ("cells bought", str(standing.bought), f"{standing.known} known at the start"),
        ("cells missing", str(standing.missing), f"{standing.refused} refused, {standing.open} out"),
    ]
    if standing.left is not None:
        items.insert(1, ("money left", f"{standing.left:.2f}", "after what is spent and reserved"))
    score, gain, ahead = standing.score, standing.gain, standing.forecast.gain
    if score is not None:
        interval = f"95 % interval {score.low:.3f} to {score.high:.3f}"
        items.append((f"{standing.metric} now", f"{score.value:.3f}", interval))
    if gain is not None:
        items.append(
            ("change so far", f"{gain.value:+.3f}", f"95 % interval {gain.low:+.3f} to {gain.high:+.3f}")
        )
    if ahead is not None:
        interval = f"95 % interval {ahead.low:.3f} to {ahead.high:.3f}"
        seen = ahead.value >= VISIBLE
        figure = f"{ahead.value:+.3f}" if seen else f"below {max(ahead.high, 0.001):.3f}"
        items.append((f"next {standing.forecast.money:.2f} expected", figure, interval))
    return page.tiles(items)


def _facts(campaign: Campaign, standing: Status) -> str:
    history = campaign.history()
    target = campaign.table.target
    until = f", {history[-1]['time']:%Y-%m-%d %H:%M} UTC" if history else ""
    return page.facts(
        [
            ("begun", f"{campaign.created:%Y-%m-%d %H:%M} UTC"),
            ("as of", f"event {standing.number}{until}"),
            ("table", f"{standing.rows} rows, {standing.columns} columns"),
            ("target", "none" if target is None else f"{target.name}, {target.kind}"),
            ("strategy", f"{campaign.strategy}: {strategies.get(campaign.strategy).summary}"),
            ("made by", f"cellworth {cellworth.__version__}"),
        ]
    )
