"""Worth against money: the best that each sum could have bought, and what the last batch did buy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth import strategy as strategies
from cellworth.campaign import Campaign
from cellworth.campaign.events import Asked, Event
from cellworth.select import Offer, Ratio, Selection
from cellworth.web.findings.look import Look, look_of
from cellworth.web.findings.plain import plain

Array = NDArray[np.float64]
Found = dict[str, Any]

MOST_POINTS = 200
TIMES = 3.0
"""The greedy curve goes to so many times the bill of the batch: further right it tells nothing of it."""


def front(campaign: Campaign) -> Found:
    """Lay the last batch beside what its money could have bought, by the worths that it was chosen by.

    Costs the rounds since the last cache of the campaign, and two selections.

    Returns
    -------
    dict
        ``number`` of the event and its ``time``, None before the first ask; ``batch`` with ``money``,
        ``worth`` and ``cells``; ``greedy``, the cells of the most worth for the money taken one after the
        other, and ``search``, the front of a strategy that searches for one, else None: each with the equally
        long lists ``money`` and ``worth``, both rising. Worths are sums, in units of the average cell
        that could be had then.

    Notes
    -----
    A strategy that draws its batch, or looks at worth alone, lies below the greedy curve on purpose: cells
    that are alike bring less together than their sum.
    """
    look = look_of(campaign)
    last = _last_ask(look)
    if last is None:
        return {"as_of": look.number, "number": None}
    found = look.once("front", last.number, lambda: _of(look, last))
    return {"as_of": look.number, "number": last.number, "time": last.time.isoformat(), **plain(found)}


def _last_ask(look: Look) -> Event | None:
    asks = [event for event in look.view.events() if isinstance(event.content, Asked)]
    return asks[-1] if asks else None


def _of(look: Look, ask: Event) -> Found:
    then = look.view.replay(ask.number - 1)
    cells, asked = then.cells(), ask.content
    assert isinstance(asked, Asked)
    unit = float(cells.worth[cells.available].mean()) or 1.0
    chosen = np.array([(then.table.row_index(c.row), then.table.column_index(c.column)) for c in asked.cells])
    money = float(sum(cell.price for cell in asked.cells))
    offer = Offer(cells.worth / unit, cells.available, then.prices.on(then.table), ~then.table.holes)
    rng = np.random.default_rng(0)
    greedy = Ratio().select(offer, budget=TIMES * money, rng=rng)
    searched = strategies.get(then.strategy).selector.select(offer, budget=money, rng=rng).front
    return {
        "batch": {"money": money, "worth": offer.scores[tuple(chosen.T)].sum(), "cells": len(chosen)},
        "greedy": _curve(*_sums(greedy)),
        "search": None if searched is None else _curve(searched.costs, searched.scores),
    }


def _sums(selection: Selection) -> tuple[Array, Array]:
    return np.cumsum(np.append(0.0, selection.prices)), np.cumsum(np.append(0.0, selection.scores))


def _curve(money: Array, worth: Array) -> Found:
    """Return the curve at some of its points, the first and the last among them."""
    kept = np.unique(np.linspace(0, len(money) - 1, MOST_POINTS).astype(np.intp))
    return {"money": money[kept], "worth": worth[kept]}
