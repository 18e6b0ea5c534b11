"""Top and Ratio against a plain loop that looks at every cell before each purchase."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.select import Draw, Knapsack, Ratio, Top
from cellworth.select.greedy import GreedyPurchase, descending
from tests.select.offers import budgets_for, offer_of, tiny_offers

KINDS = ["whole", "cents", "cell", "groups", "visits"]


def exact(amount):
    """Return the decimal number that a float shows."""
    return Fraction(repr(float(amount)))


def plain_greedy(offer, budget, count, per_row, crowding, by_price):
    """Buy the affordable cell of the highest priority, ties by row and column, until none is left.

    Money is added up in fractions: there is no rounding, and so no luck.
    """
    bill = offer.prices.bill(offer.before)
    chosen, spent = [], Fraction(0)
    taken = np.zeros(len(offer.scores), dtype=int)
    while len(chosen) < count:
        best = None
        for row, column in np.argwhere(offer.available).tolist():
            price = bill.price(row, column)
            if (row, column) in chosen or spent + exact(price) > exact(budget) or taken[row] >= per_row:
                continue
            priority = offer.scores[row, column] * crowding ** taken[row] / (price if by_price else 1)
            if best is None or priority > best[0]:
                best = priority, row, column
        if best is None:
            break
        spent += exact(bill.add(*best[1:]))
        taken[best[1]] += 1
        chosen.append(best[1:])
    return chosen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", [Top, Ratio])
@settings(max_examples=60)
@given(data=st.data())
def test_does_what_a_plain_loop_does(selector, kind, data):
    offer = data.draw(tiny_offers(kind))
    budget = budgets_for(data.draw, offer)
    count = data.draw(st.sampled_from([2, 5, 100]))
    per_row = data.draw(st.sampled_from([None, 1, 2]))
    crowding = data.draw(st.sampled_from([1.0, 0.5]))
    # Chunks of few cells, so that their seams are tested as well.
    with patch.object(GreedyPurchase, "_first_chunk", return_value=data.draw(st.sampled_from([1, 2, 1024]))):
        batch = selector(per_row, crowding).select(offer, budget=budget, count=count, rng=None)
    assert offer.prices.cost(batch.cells, offer.before) <= budget
    expected = plain_greedy(offer, budget, count, per_row or 99, crowding, selector is Ratio)
    assert [tuple(cell) for cell in batch.cells.tolist()] == expected


@pytest.mark.parametrize(
    ("prices", "budget", "bought"),
    [
        ([0.57, 0.47], 1.04, 2),
        ([0.57, 0.47], 1.0399999999999998, 1),
        ([0.1, 0.1, 0.1, 0.1], 0.3, 3),
        ([0.1] * 11, 1.0, 10),
        ([1.1, 2.2, 3.3], 6.6, 3),
        ([33.35, 33.35, 33.3], 100.0, 3),
    ],
)
@pytest.mark.parametrize(
    "selector", [Top(), Ratio(), Draw(), Knapsack(), Top(crowding=0.9), Draw(per_row=20)]
)
def test_a_budget_can_be_spent_to_the_last_cent(selector, prices, budget, bought):
    batch = selector.select(
        offer_of([[1.0] * len(prices)], prices), budget=budget, rng=np.random.default_rng(0)
    )
    assert len(batch.cells) == bought
    assert batch.cost <= budget
    assert sum(map(exact, batch.prices)) <= exact(budget)


def test_many_chunks_are_one_order():
    rng = np.random.default_rng(0)
    offer = offer_of(rng.integers(0, 50, size=(400, 30)), rng.integers(1, 11, size=30))
    batch = Top().select(offer, budget=12_000, rng=rng)
    spent, expected = 0.0, []
    for place in np.argsort(-offer.scores.ravel(), kind="stable").tolist():
        price = offer.prices.own.flat[place]
        if spent + price <= 12_000:
            spent += price
            expected.append(place)
    assert (batch.cells @ [30, 1]).tolist() == expected


@given(
    st.lists(st.integers(-3, 3), max_size=60),
    st.integers(1, 10),
)
def test_chunks_are_the_stable_order(values, size):
    priority = np.array(values, dtype=float)
    chunks = list(descending(priority, np.arange(len(values)), size, lambda rest: np.ones(len(rest), bool)))
    order = np.concatenate([np.zeros(0, dtype=int), *chunks])
    assert order.tolist() == np.argsort(-priority, kind="stable").tolist()


def test_equal_scores_stay_together_in_rows():
    batch = Top().select(offer_of(np.ones((5, 3))), count=4, rng=None)
    assert batch.cells.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]]


def test_a_price_that_falls_moves_a_cell_up():
    """Alone each of the two grouped cells is worth 5 / 11; once one is bought, the other is worth 5 / 1."""
    group = {"group_of": np.array([0, 0, -1]), "fee": np.array([10.0, 10.0, 0]), "lasting": np.zeros(1, bool)}
    offer = offer_of([[5.0, 5.0, 0.1], [0, 0, 4.0]], [1.0, 1.0, 10.0], **group)
    batch = Ratio().select(offer, budget=22, rng=None)
    assert batch.cells.tolist() == [[0, 0], [0, 1], [1, 2]]
    assert batch.prices.tolist() == [11.0, 1.0, 10.0]


def test_a_cell_passed_over_is_taken_once_it_is_cheap_enough():
    group = {"group_of": np.array([0, 0]), "fee": np.array([6.0, 5.0]), "lasting": np.zeros(1, bool)}
    offer = offer_of([[9.0, 8.0]], [5.0, 1.0], **group)
    assert Top().select(offer, budget=10.5, rng=None).cells.tolist() == [[0, 1]]
    offer = offer_of(
        [[9.0, 8.0, 8.5]],
        [5.0, 1.0, 1.0],
        group_of=np.array([0, 0, 0]),
        fee=np.array([5.0, 5.0, 0.5]),
        lasting=np.ones(1, bool),
    )
    assert Top().select(offer, budget=9.0, rng=None).cells.tolist() == [[0, 2], [0, 1]]
