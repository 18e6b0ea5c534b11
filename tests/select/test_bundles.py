"""Bundles against all subsets of a row."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.select.bundles import Bundles, buy_bundles
from cellworth.select.row_spread import Spread
from tests.select.offers import budgets_for, tiny_offers


@pytest.mark.parametrize("kind", ["groups", "visits"])
@settings(max_examples=60)
@given(data=st.data())
def test_each_bundle_has_the_highest_ratio_that_is_left_and_ratios_fall(kind, data):
    offer = data.draw(tiny_offers(kind))
    wanted = offer.available & (offer.scores > 0)
    bundles = Bundles(offer, wanted)
    bill = offer.prices.bill(offer.before)
    bought = {row: [] for row in range(len(wanted))}
    last = np.inf
    while bundles.heap:
        ratio = -bundles.heap[0][0]
        row, columns, cost = bundles.pop()
        np.testing.assert_allclose(ratio, best_ratio(offer, wanted, bought), rtol=1e-9)
        assert ratio <= last * (1 + 1e-9)
        np.testing.assert_allclose(offer.scores[row, columns].sum() / cost, ratio, rtol=1e-9)
        np.testing.assert_allclose(sum(bill.add(row, int(j)) for j in columns), cost, atol=1e-9)
        bundles.buy(row, columns)
        bought[row] += columns.tolist()
        last = ratio
    assert all(sorted(bought[row]) == np.flatnonzero(wanted[row]).tolist() for row in bought)


def best_ratio(offer, wanted, bought):
    """Return the highest score per money of any set of cells of one row, on top of what is bought there."""
    best = 0.0
    for row, columns in bought.items():
        have = [(row, j) for j in columns]
        spent = offer.prices.cost(np.array(have).reshape(-1, 2), offer.before)
        left = [(row, j) for j in np.flatnonzero(wanted[row]).tolist() if j not in columns]
        for size in range(1, len(left) + 1):
            for more in itertools.combinations(left, size):
                cost = offer.prices.cost(np.array(have + list(more)), offer.before) - spent
                best = max(best, sum(offer.scores[cell] for cell in more) / cost)
    return best


@pytest.mark.parametrize("kind", ["groups", "visits"])
@pytest.mark.parametrize("spread", [Spread(2), Spread(None, 0.5), Spread(3, 0.8)], ids=repr)
@settings(max_examples=40)
@given(data=st.data())
def test_spread_cuts_a_bundle_where_its_ratio_is_highest(kind, spread, data):
    offer = data.draw(tiny_offers(kind))
    wanted = offer.available & (offer.scores > 0)
    whole, cut = Bundles(offer, wanted), Bundles(offer, wanted, spread)
    sets = {}
    while whole.heap:
        row, columns, _ = whole.pop()  # the first of each row
        sets[row] = sorted(columns.tolist(), key=lambda j: -offer.scores[row, j] / offer.prices.own[row, j])
    while cut.heap:
        ratio = -cut.heap[0][0]
        row, columns, cost = cut.pop()
        parts = [sets[row][:size] for size in range(1, min(len(sets[row]), spread.most) + 1)]
        np.testing.assert_allclose(
            ratio, max(ratio_of(offer, row, part, spread) for part in parts), rtol=1e-9
        )
        cells = [(row, j) for j in columns.tolist()]
        np.testing.assert_allclose(cost, offer.prices.cost(cells, offer.before), rtol=1e-9)
        assert sorted(columns.tolist()) in [sorted(part) for part in parts]


def ratio_of(offer, row, columns, spread):
    """Return the worth of these cells, each after those before it, per unit of money."""
    worth = sum(offer.scores[row, j] * spread.crowding**rank for rank, j in enumerate(columns))
    return worth / offer.prices.cost([(row, j) for j in columns], offer.before)


@pytest.mark.parametrize("kind", ["groups", "visits"])
@settings(max_examples=60)
@given(data=st.data())
def test_bundles_are_bought_until_one_does_not_fit(kind, data):
    offer = data.draw(tiny_offers(kind))
    wanted = offer.available & (offer.scores > 0)
    budget, count = budgets_for(data.draw, offer), data.draw(st.sampled_from([3, np.inf]))
    chosen, rival = buy_bundles(Bundles(offer, wanted), budget, count, skip=False)
    more, same = buy_bundles(Bundles(offer, wanted), budget, count, skip=True)
    assert more[: len(chosen)] == chosen
    assert same == rival
    width = wanted.shape[1]
    for batch in (chosen, more):
        cells = np.array([divmod(cell, width) for cell in batch], dtype=int).reshape(-1, 2)
        assert offer.prices.cost(cells, offer.before) <= budget * (1 + 1e-9)
        assert len(batch) <= count
        assert wanted[tuple(cells.T)].all()
    if rival:
        together = np.array([divmod(cell, width) for cell in dict.fromkeys(chosen + rival)])
        too_many = len(together) > count
        assert too_many or offer.prices.cost(together, offer.before) > budget * (1 - 1e-9)
