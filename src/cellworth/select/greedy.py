"""Greedy batches with a bound, where prices are not additive or a batch is spread."""

from __future__ import annotations

import numpy as np

from cellworth.select.bundles import Bundles
from cellworth.select.offer import Array, Mask, Offer, Places, Selection
from cellworth.select.spread import Spread
from cellworth.select.walk import Walk


def by_bundles(offer: Offer, wanted: Mask, budget: float, count: float) -> Selection:
    """Buy bundles of rows by falling ratio of score to money; without spread.

    The relaxed problem is solved by the bundles before the first one that does not fit, and a part of that
    one. So the best batch is worth at most as much as those bundles and that one together. The better of the
    bundles before it, and of its row's bundles up to it, has at least half of that, if the latter fit the
    budget. Both are then filled up with single cells.
    """
    bundles, width = Bundles(offer, wanted), offer.scores.shape[1]
    chosen: list[int] = []
    rival: list[int] = []
    spent = 0.0
    cheapest = offer.prices.own[wanted].min()
    while bundles.heap and len(chosen) < count and (budget - spent >= cheapest or not rival):
        row, columns, cost = bundles.pop()
        cells = (row * width + columns).tolist()
        if spent + cost <= budget and len(chosen) + len(cells) <= count:
            chosen += cells
            spent += cost
            bundles.buy(row, columns)
        elif not rival:
            rival = [cell for cell in chosen if cell // width == row] + cells
    batches = [fill(offer, wanted, Spread(), budget, count, begin) for begin in (chosen, rival, [])]
    return max(batches, key=lambda batch: batch.score)


def by_gains(offer: Offer, wanted: Mask, spread: Spread, budget: float, count: float) -> Selection:
    """Buy cell by cell what adds most to the worth of the batch for its money; with spread.

    The worth of a batch is a submodular function of its cells. For additive prices the better of the greedy
    batch and the best single cell has at least (1 - 1/e) / 2 of the best worth. A cell past the limit of a
    row adds what it is better than the worst that counts, and that one leaves the batch in the end.
    """
    walk = Walk(_only(offer, wanted), Spread(), budget, count)
    rows: dict[int, list[int]] = {}

    def gain_per_money(cells: Places, prices: Array, taken: int, last: int) -> Array:
        members = rows.setdefault(int(walk.rows[last]), [])
        members.append(last)
        gains = spread.gains(walk.scores[members], walk.scores[cells]) / prices
        return np.where(gains > 0, gains, -np.inf)

    greedy = walk.run(walk.scores / walk.prices, gain_per_money)
    kept = greedy.cells[spread.within_rows(greedy.cells[:, 0], greedy.scores)]
    best = walk.places[[int(np.argmax(walk.scores))]]
    begins = [(kept @ [offer.scores.shape[1], 1]).tolist(), best.tolist(), []]
    batches = [fill(offer, wanted, spread, budget, count, begin) for begin in begins]
    return max(batches, key=lambda batch: spread.total(batch.cells[:, 0], batch.scores))


def fill(
    offer: Offer, wanted: Mask, spread: Spread, budget: float, count: float, begin: list[int]
) -> Selection:
    """Buy the cells of ``begin`` (flat numbers) first and then single cells by score per money."""
    walk = Walk(_only(offer, wanted), spread, budget, count)

    def per_money(cells: Places, prices: Array, taken: int, last: int) -> Array:
        return walk.scores[cells] * spread.crowding**taken / prices

    first = np.searchsorted(walk.places, begin).tolist()
    return walk.run(walk.scores / walk.prices, per_money, begin=first)


def _only(offer: Offer, wanted: Mask) -> Offer:
    return Offer(offer.scores, wanted, offer.prices, offer.before)
