"""The score against the money spent, and where it is expected to go."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellworth.campaign.status import Status
from cellworth.report import page
from cellworth.report.drawing import BOUGHT, FAINT, KNOWN, new_figure, to_svg

CAPTION = (
    "Each point is a model trained on the table as it was then, scored on the same rows and folds. The faint "
    "band is the 95 % interval of the score itself; the strong one that of its change since the first point, "
    "which is what the answers brought."
)


def learning_curve(standing: Status) -> str:
    """Return the section on the score, as HTML."""
    heading = "What the answers brought"
    if standing.score is None:
        return page.section(heading, [page.paragraph(f"There is no score: {standing.note}.")])
    outlook = standing.outlook()
    parts = [
        page.paragraph(f"{standing.metric}: {standing.note}."),
        page.paragraph(f"{outlook[0].upper()}{outlook[1:]}."),
    ]
    if len(standing.history) > 1:
        parts.append(page.picture(to_svg(_draw(standing)), "svg+xml", _in_words(standing), CAPTION))
    return page.section(heading, [*parts, page.folded("The figures", [_table(standing)])])


def _table(standing: Status) -> str:
    rows = [
        (
            f"{moment.spent:.2f}",
            str(moment.bought),
            f"{moment.score.value:.3f}",
            f"{moment.score.low:.3f} to {moment.score.high:.3f}",
            f"{moment.gain.value:+.3f}",
            f"{moment.gain.low:+.3f} to {moment.gain.high:+.3f}",
        )
        for moment in standing.history
    ]
    header = ("money spent", "cells bought", str(standing.metric), "95 % interval", "change", "95 % interval")
    return page.table("The score at moments of the campaign, and its change since the first.", header, rows)


def _in_words(standing: Status) -> str:
    first, last = standing.history[0], standing.history[-1]
    return (
        f"Line of {standing.metric} against money spent: from {first.score.value:.3f} at {first.spent:.2f} "
        f"to {last.score.value:.3f} at {last.spent:.2f}"
    )


def _draw(standing: Status) -> Any:
    figure = new_figure(5.6, 3.5)
    axis = figure.subplots()
    history = standing.history
    money = np.array([moment.spent for moment in history])
    score = np.array([moment.score.value for moment in history])
    start = score[0]
    axis.fill_between(
        money,
        [moment.score.low for moment in history],
        [moment.score.high for moment in history],
        color=KNOWN,
        alpha=0.10,
        linewidth=0,
        label="95 % interval of the score",
    )
    axis.fill_between(
        money,
        [start + moment.gain.low for moment in history],
        [start + moment.gain.high for moment in history],
        color=KNOWN,
        alpha=0.25,
        linewidth=0,
        label="of its change since the start",
    )
    axis.plot(money, score, "o-", color=KNOWN, markersize=4, linewidth=1.8, label="cross-validated")
    _draw_forecast(axis, standing, money[-1], score[-1])
    if standing.budget is not None and axis.get_xlim()[1] > standing.budget:
        axis.axvline(standing.budget, color=FAINT, linewidth=1, linestyle=":", label="budget")
    axis.set(xlabel="money spent", ylabel=standing.metric)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    return figure


def _draw_forecast(axis: Any, standing: Status, spent: float, score: float) -> None:
    projection = standing.forecast.projection
    if projection is None:
        return
    at = spent + projection.money
    axis.plot(at, score + projection.gain, "--", color=BOUGHT, linewidth=1.6, label="forecast")
    axis.fill_between(
        at, score + projection.low, score + projection.high, color=BOUGHT, alpha=0.2, linewidth=0
    )
