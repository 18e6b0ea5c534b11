"""Poss against brute force."""

import importlib.util
import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import ParameterError
from cellworth.select import Knapsack, Poss, Ratio, Top, poss
from cellworth.select.poss import (
    MOST_ITERATIONS,
    PAPER_ITERATIONS,
    _draw,
    default_iterations,
    whole_scores,
)
from cellworth.select.row_spread import Spread
from tests.conftest import need
from tests.select.offers import (
    best_worth,
    budgets_for,
    large_offer,
    offer_of,
    pareto_front,
    problem_of,
    tiny_offers,
)

KINDS = ["whole", "cents", "cell", "groups", "visits"]
SPREADS = [Spread(), Spread(per_row=2), Spread(crowding=0.5), Spread(2, 0.7)]


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    need(importlib.util.find_spec("numba") is not None, 'numba: pip install "cellworth[fast]"')


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", SPREADS, ids=str)
@settings(max_examples=8)
@given(data=st.data())
def test_a_long_run_finds_the_best_batch_and_the_whole_front(kind, spread, data):
    """With 9 candidates any set is one of 512 flips from any other: after 30,000 iterations all are found."""
    offer = data.draw(tiny_offers(kind))
    budget = (
        budgets_for(data.draw, offer) + 0.003
    )  # no batch costs the budget or twice that to the last digit
    selector = Poss(30_000, spread.per_row, spread.crowding)
    batch = selector.select(offer, budget=budget, rng=np.random.default_rng(0))
    worth = spread.total(batch.cells[:, 0], batch.scores)
    np.testing.assert_allclose(worth, best_worth(offer, budget, spread=spread), atol=1e-9)
    if spread.per_row is None:
        costs, worths = pareto_front(offer, 2 * budget, spread)
        apart = len(costs) == len(batch.front.costs)
        assert apart, (costs, batch.front.costs)
        np.testing.assert_allclose(batch.front.costs, costs, atol=1e-6)
        np.testing.assert_allclose(batch.front.scores, worths, atol=1e-6)


def test_flips_are_distinct_and_binomial():
    """The number of flips is Binomial(n, 1/n); each candidate is as likely as any other."""
    n, iterations = 4, 50_000
    choice, starts, flips = _draw(n, iterations, np.random.default_rng(0))
    sizes = np.diff(starts)
    assert len(choice) == iterations
    for size in range(n + 1):
        chance = [81, 108, 54, 12, 1][size] / 256
        assert abs((sizes == size).sum() - iterations * chance) < 5 * np.sqrt(iterations * chance)
    sets = [tuple(flips[a:b]) for a, b in itertools.pairwise(starts)]
    assert all(len(set(s)) == len(s) and list(s) == sorted(s) for s in sets)
    pairs = [s for s in sets if len(s) == 2]
    for pair in {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}:
        assert abs(pairs.count(pair) - len(pairs) / 6) < 5 * np.sqrt(len(pairs) / 6)


def test_more_iterations_come_closer_to_the_best():
    offer = large_offer(300, 6)
    best = Knapsack().select(offer, budget=100, rng=None).score
    scores = [
        Poss(iterations, start="empty").select(offer, budget=100, rng=np.random.default_rng(0)).score / best
        for iterations in (1000, 30_000, 1_000_000)
    ]
    assert scores[0] < scores[1] < scores[2] <= 1 + 1e-12
    assert scores[2] > 0.9


@pytest.mark.parametrize("limits", [{"budget": 100.0}, {"budget": 40.0, "count": 20}, {"count": 30}], ids=str)
@pytest.mark.parametrize("spread", [{}, {"per_row": 1}])
def test_from_the_order_of_ratios_no_batch_is_below_the_greedy_one(limits, spread):
    offer = large_offer(300, 6)
    rng = np.random.default_rng(0)
    greedy = Ratio(**spread) if "budget" in limits else Top(**spread)
    batch = Poss(10, **spread).select(offer, rng=rng, **limits)
    assert batch.score >= greedy.select(offer, rng=rng, **limits).score * (1 - 1e-12)
    assert len(batch.front.costs) > 20  # the prefixes, which few random steps have left alone


def test_from_the_empty_set_a_batch_below_the_greedy_one_is_said_to_be():
    offer = large_offer(300, 6)
    with pytest.warns(RuntimeWarning, match=r"with \d+% of the score that Ratio gets"):
        Poss(1000, start="empty").select(offer, budget=100, rng=np.random.default_rng(0))
    with pytest.raises(ParameterError, match="'ratio' or 'empty'; got 'full'"):
        Poss(start="full")


def test_a_count_alone_counts_every_cell_as_one():
    offer = offer_of([[5.0, 1.0, 4.0], [3.0, 2.0, 6.0]], [100.0, 1.0, 1.0])
    batch = Poss(20_000).select(offer, count=3, rng=np.random.default_rng(0))
    assert sorted(batch.scores) == [4.0, 5.0, 6.0]
    assert batch.front.costs.tolist() == [0, 1, 2, 3, 4, 5]


def test_the_default_is_the_publications_number_up_to_a_limit():
    small = problem_of(offer_of(np.ones((3, 2)), 1.0), 2.0, Spread())
    assert default_iterations(small, 2) == int(np.ceil(2 * np.e * 2**2 * 6))
    large = problem_of(large_offer(), 500.0, Spread())
    assert default_iterations(large, 500) == MOST_ITERATIONS
    assert default_iterations(large, 500, PAPER_ITERATIONS) == PAPER_ITERATIONS
    assert repr(Poss("paper")) == "Poss(iterations='paper', per_row=None, crowding=1.0, start='ratio')"
    with pytest.raises(ParameterError, match="'paper' or None; got 'fast'"):
        Poss("fast")


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_long_search_shows_its_progress_on_a_terminal(monkeypatch, capsys, on_terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: on_terminal)
    monkeypatch.setattr(poss, "PATIENCE", 0.0)
    Poss(2 * poss.CHUNK).select(large_offer(20, 4), budget=5, rng=np.random.default_rng(0))
    said = capsys.readouterr().err
    assert ("searching batches" in said and "2/2" in said) == on_terminal


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=30))
def test_whole_scores_keep_their_size_and_their_sum_is_small(scores):
    whole, shift = whole_scores(np.array(scores))
    assert sum(whole.tolist()) < 2**61
    np.testing.assert_allclose(np.ldexp(whole.astype(float), -shift), scores, atol=max(scores) * 2.0**-50)
