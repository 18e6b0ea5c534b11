"""Money, the learning curve with its forecast, and what the last round changed."""

from __future__ import annotations

from typing import Any

from cellworth import strategy as strategies
from cellworth.campaign import Campaign
from cellworth.campaign.events import Asked, Corrected, Extended, Refused, Told
from cellworth.campaign.validation import Estimate
from cellworth.web.findings.look import Look, look_of
from cellworth.web.findings.plain import plain

Found = dict[str, Any]


def overview(campaign: Campaign) -> Found:
    """Say where a campaign stands: `Status.to_json`, the forecast's curve, and what changed.

    Costs a standing, and two completions for the change of the score; nothing anew if the table is the same.

    Returns
    -------
    dict
        ``standing`` as in `Status.to_json`; ``projection`` with the equally long lists ``money`` (spent in
        all, by then), ``score``, ``low`` and ``high``, or None; ``outlook``, a sentence; ``changed`` as in
        `changed`; ``strategy`` and ``summary``.
    """
    look = look_of(campaign)
    standing = look.standing_now
    outlook = standing.outlook() if standing.score is not None else f"there is no score: {standing.note}"
    found = {
        "as_of": look.number,
        "standing": standing.to_json(),
        "projection": _projection(look),
        "outlook": outlook,
        "changed": changed(look),
        "strategy": campaign.strategy,
        "summary": strategies.get(campaign.strategy).summary,
    }
    data: Found = plain(found)
    return data


def changed(look: Look) -> Found | None:
    """Say what the last round that was answered brought; None before the first answer.

    A round begins with the first ask on its scores. Its answers are those that came between the first ask of
    the round in which the last answer came, and now.

    Returns
    -------
    dict
        ``round``; ``since``, the number of the event before it; ``cells`` told, ``refused`` and ``corrected``
        since then, ``rows`` added, ``money`` spent; ``columns``, told cells by column, the most first;
        ``metric`` and ``gain`` of the score, an estimate with its 95 % interval, None without a score.
    """
    begun, number = _last_answered(look)
    if number is None:
        return None
    happened = [event.content for event in look.view.events(after=begun)]
    told = [cell for what in happened if isinstance(what, Told) for cell in what.cells]
    by_column: dict[str, int] = {}
    for cell in told:
        by_column[cell.column] = by_column.get(cell.column, 0) + 1
    basis = look.view.table_number, begun
    metric, gain = look.once("gain", basis, lambda: _gain(look, begun))
    return {
        "round": number,
        "since": begun,
        "cells": len(told),
        "money": sum(cell.price for cell in told),
        "refused": sum(len(what.cells) for what in happened if isinstance(what, Refused)),
        "corrected": sum(isinstance(what, Corrected) for what in happened),
        "rows": sum(len(what.rows) for what in happened if isinstance(what, Extended)),
        "columns": sorted(by_column.items(), key=lambda item: (-item[1], item[0])),
        "metric": metric,
        "gain": None if gain is None else plain(gain),
    }


def _last_answered(look: Look) -> tuple[int, int | None]:
    """Return the event before the last round with an answer, and that round; (0, None) without an answer."""
    round_now, begun, found = 0, 0, None
    answered = 0
    for event in look.view.events():
        what = event.content
        if isinstance(what, Asked) and what.round > round_now:
            round_now, begun = what.round, event.number - 1
        elif isinstance(what, Told):
            answered, found = begun, round_now
    return answered, found


def _gain(look: Look, begun: int) -> tuple[str | None, Estimate | None]:
    """Return how much the score has risen since an event, on the same rows."""
    if look.standing.score is None:
        return None, None
    gain = look.view.gain_since(begun)
    return (None, None) if gain is None else gain


def _projection(look: Look) -> Found | None:
    standing = look.standing
    projection, score = standing.forecast.projection, standing.score
    if projection is None or score is None:
        return None
    return {
        "money": standing.spent + projection.money,
        "score": score.value + projection.gain,
        "low": score.value + projection.low,
        "high": score.value + projection.high,
    }
