"""Knapsack against brute force, and against a table of all costs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.select import Knapsack, Poss, Ratio, Top
from cellworth.select.row_spread import Spread
from tests.conftest import first_quick
from tests.select.offers import best_worth, budgets_for, by_table, large_offer, offer_of, tiny_offers


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["whole", "cents", "cell"])
@settings(max_examples=80)
@given(data=st.data())
def test_is_the_best_of_all_batches(kind, data):
    offer = data.draw(tiny_offers(kind))
    budget = budgets_for(data.draw, offer)
    batch = Knapsack().select(offer, budget=budget, rng=None)
    assert batch.cost <= budget
    # Prices of many digits are counted in a binary unit: there a tie in the last digit may be lost.
    least = budget * (1 - 1e-12) if kind == "cell" else budget
    assert batch.score >= best_worth(offer, least) - 1e-9
    assert batch.score <= best_worth(offer, budget) + 1e-9


@settings(max_examples=60)
@given(data=st.data())
def test_a_whole_budget_can_be_spent_to_the_last(data):
    offer = data.draw(tiny_offers("whole"))
    budget = data.draw(st.integers(0, 60))
    batch = Knapsack().select(offer, budget=budget, rng=None)
    assert math.isclose(batch.score, best_worth(offer, budget), abs_tol=1e-9)


@pytest.mark.parametrize("kind", ["whole", "cents", "cell"])
@settings(max_examples=25)
@given(data=st.data())
def test_is_the_best_within_a_count_too(kind, data):
    offer = data.draw(tiny_offers(kind))
    budget = budgets_for(data.draw, offer) * 1.001 + 1e-3
    count = data.draw(st.integers(1, 4))
    batch = Knapsack().select(offer, budget=budget, count=count, rng=None)
    assert len(batch.cells) <= count
    assert batch.score >= best_worth(offer, budget * (1 - 3e-6), count) * (1 - 1e-5) - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["groups", "visits"])
@settings(max_examples=60)
@given(data=st.data())
def test_has_half_of_the_best_with_groups_and_visits(kind, data):
    offer = data.draw(tiny_offers(kind))
    rows = [
        np.argwhere(offer.available & (np.arange(len(offer.scores)) == i)[:, None])
        for i in range(len(offer.scores))
    ]
    dearest = max(offer.prices.cost(cells, offer.before) for cells in rows)
    budget = max(budgets_for(data.draw, offer), dearest) + 1e-9
    batch = Knapsack().select(offer, budget=budget, rng=None)
    assert batch.score >= best_worth(offer, budget) / 2 - 1e-9
    assert batch.score >= Ratio().select(offer, budget=budget, rng=None).score - 1e-9


def test_a_visit_is_shared_where_single_cells_do_not_pay():
    """One cell at a time, row 1 looks better; together the cells of row 0 are worth more for the money."""
    offer = offer_of(
        [[4.0] * 5, [6.0, 0, 0, 0, 0]],
        1.0,
        group_of=np.full(5, -1),
        fee=np.zeros(5),
        lasting=np.zeros(0, bool),
        visit=10.0,
    )
    assert Ratio().select(offer, budget=15, rng=None).cells[0].tolist() == [1, 0]
    batch = Knapsack().select(offer, budget=15, rng=None)
    assert batch.cells[:, 0].tolist() == [0] * 5
    assert batch.score == 20


@pytest.mark.parametrize("per_row", [None, 1, 2])
@pytest.mark.parametrize("crowding", [1.0, 0.5])
@settings(max_examples=25)
@given(data=st.data())
def test_keeps_its_bound_with_spread(per_row, crowding, data):
    offer = data.draw(tiny_offers(data.draw(st.sampled_from(["whole", "cell"]))))
    budget = budgets_for(data.draw, offer) + 1e-9
    spread = Spread(per_row, crowding)
    batch = Knapsack(per_row, crowding).select(offer, budget=budget, rng=None)
    worth = spread.total(batch.cells[:, 0], batch.scores)
    assert worth >= (1 - 1 / math.e) / 2 * best_worth(offer, budget, spread=spread) - 1e-9


@settings(max_examples=40)
@given(data=st.data())
def test_a_count_alone_gives_the_best_worth_with_spread(data):
    offer = data.draw(tiny_offers("whole"))
    spread = Spread(data.draw(st.sampled_from([None, 2])), data.draw(st.sampled_from([1.0, 0.5])))
    count = data.draw(st.integers(0, 5))
    batch = Knapsack(spread.per_row, spread.crowding).select(offer, count=count, rng=None)
    worth = spread.total(batch.cells[:, 0], batch.scores)
    assert math.isclose(worth, best_worth(offer, np.inf, count, spread), abs_tol=1e-9)


@settings(max_examples=15)
@given(data=st.data())
def test_no_other_selector_does_better(data):
    offer = data.draw(tiny_offers("cents"))
    budget = budgets_for(data.draw, offer) + 1e-9
    best = Knapsack().select(offer, budget=budget, rng=None).score
    for other in (Top(), Ratio(), Poss(500)):
        assert other.select(offer, budget=budget, rng=np.random.default_rng(0)).score <= best + 1e-9


def test_the_front_holds_batches_that_are_best_for_their_cost():
    offer = large_offer(30, 5)
    front = Knapsack().select(offer, budget=60, rng=None).front
    prices, scores = offer.prices.own.ravel().astype(int), offer.scores.ravel()
    for cost, score in zip(front.costs, front.scores, strict=True):
        np.testing.assert_allclose(score, by_table(prices, scores, int(cost)))
    assert front.costs[0] == 0


def test_says_so_when_the_search_is_cut_short():
    rng = np.random.default_rng(0)
    own = rng.uniform(1, 10, size=(40, 5))
    with pytest.warns(RuntimeWarning, match="no batch within the budget is worth more than"):
        batch = Knapsack(effort=10).select(offer_of(own + 1, own), budget=100.0, rng=None)
    assert batch.score > 0


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([4, 9, 30]))
def test_a_count_and_a_budget_are_packed_as_well_as_by_a_table(seed, dearest):
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(1, 300)), int(rng.integers(1, 20))
    prices = rng.integers(1, dearest + 1, size=n)
    scores = rng.exponential(size=n)
    budget = int(rng.integers(1, 10 * count))
    best = np.zeros((count + 1, budget + 1))
    for price, score in zip(prices.tolist(), scores.tolist(), strict=True):
        if price <= budget:
            best[1:, price:] = np.maximum(best[1:, price:], best[:-1, : budget + 1 - price] + score)
    offer = offer_of(scores[:, None], prices[:, None])
    batch = Knapsack().select(offer, budget=budget, count=count, rng=None)
    np.testing.assert_allclose(batch.score, best[count, budget], rtol=1e-6)


@pytest.mark.parametrize("count", first_quick([None, 100]))
def test_many_cells_at_prices_of_their_own(count):
    """The sum of all prices, in units, is beyond 64 bits; the relaxation is an upper bound."""
    rng = np.random.default_rng(0)
    own, scores = rng.uniform(1, 10, size=(3000, 19)), rng.exponential(size=(3000, 19))
    limits = {"budget": 501.3, "count": count}
    batch = Knapsack().select(offer_of(scores, own), **limits, rng=None)
    greedy = [kind().select(offer_of(scores, own), **limits, rng=None).score for kind in (Top, Ratio)]
    assert batch.score > max(greedy)
    if count is None:
        order = np.argsort(-(scores / own).ravel())
        costs = np.cumsum(own.ravel()[order])
        prefix = np.searchsorted(costs, 501.3)
        relaxed = scores.ravel()[order[: prefix + 1]].sum()
        assert batch.score <= relaxed
        assert batch.score >= 0.9999 * np.interp(501.3, costs, np.cumsum(scores.ravel()[order]))


def test_many_cells_alike_at_odd_prices():
    own = np.repeat([[np.pi, np.e, np.sqrt(2)]], 20_000, axis=0)
    scores = np.repeat([[3.0, 2.6, 1.0]], 20_000, axis=0)
    batch = Knapsack().select(offer_of(scores, own), budget=30.0, rng=None)
    expected = max(
        3.0 * a + 2.6 * b + c
        for a in range(10)
        for b in range(12)
        for c in range(22)
        if a * np.pi + b * np.e + c * np.sqrt(2) <= 30
    )
    np.testing.assert_allclose(batch.score, expected)
