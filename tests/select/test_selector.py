"""What all selectors share."""

import numpy as np
import pytest

from cellworth.errors import ParameterError
from cellworth.select import Draw, Knapsack, Poss, Ratio, Top
from cellworth.testing.selector_contract import check_selector
from tests.select.offers import offer_of

SPREADS = [{}, {"per_row": 2}, {"crowding": 0.5}, {"per_row": 3, "crowding": 0.7}]
SELECTORS = [kind(**spread) for kind in (Top, Ratio, Draw, Knapsack) for spread in SPREADS]
SELECTORS += [Poss(1000, **spread) for spread in SPREADS]
SELECTORS += [Draw("price"), Draw("price", power=2.0, crowding=0.5), Draw(power=0)]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_keeps_the_contract(selector):
    check_selector(selector)


@pytest.mark.parametrize("kind", [Top, Ratio, Draw, Knapsack, Poss])
@pytest.mark.parametrize(
    "wrong", [{"per_row": 0}, {"per_row": 1.5}, {"crowding": 0}, {"crowding": 1.1}, {"crowding": "x"}]
)
def test_refuses_a_spread_that_makes_no_sense(kind, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        kind(**wrong)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Draw, {"per": "row"}),
        (Draw, {"power": -1}),
        (Draw, {"power": np.nan}),
        (Poss, {"iterations": 0}),
        (Poss, {"iterations": 1.5}),
        (Knapsack, {"effort": 0}),
    ],
)
def test_refuses_parameters_that_make_no_sense(kind, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        kind(**wrong)


@pytest.mark.parametrize("selector", [Top(), Ratio(), Draw(), Knapsack(), Poss(3000)], ids=repr)
@pytest.mark.parametrize(("budget", "cells"), [(1.0, 10), (0.8, 8), (0.75, 7)])
def test_ten_cells_of_a_tenth_cost_one(selector, budget, cells):
    batch = selector.select(offer_of(np.ones((4, 5)), 0.1), budget=budget, rng=np.random.default_rng(0))
    assert len(batch.cells) == cells
    assert batch.cost <= budget


@pytest.mark.parametrize("selector", [Top(), Ratio(), Draw(), Knapsack(), Poss(3000)], ids=repr)
def test_a_tie_at_the_budget_is_decided_as_people_would(selector):
    """Three times 0.1 is 0.3, though a little more in binary: three are bought."""
    batch = selector.select(offer_of(np.ones((4, 5)), 0.1), budget=0.3, rng=np.random.default_rng(0))
    assert batch.cost == 0.3
    assert len(batch.cells) == 3


@pytest.mark.parametrize("selector", [Top(), Ratio(), Draw(), Knapsack(), Knapsack(crowding=0.5)], ids=repr)
@pytest.mark.parametrize("budget", [1e9, np.inf])
def test_a_budget_without_end_buys_everything(selector, budget):
    scores = np.random.default_rng(0).random((30, 7)) + 0.1
    offer = offer_of(scores, np.random.default_rng(1).random((30, 7)) + 0.1)
    assert len(selector.select(offer, budget=budget, rng=np.random.default_rng(0)).cells) == 210
