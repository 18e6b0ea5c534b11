"""Bundles against all subsets of a row."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.select.bundles import Bundles
from tests.select.offers import tiny_offers


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
