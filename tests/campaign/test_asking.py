"""What is asked for: within a limit, by the price list, drawn anew each time; previews leave no trace."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ParameterError
from tests.campaign.campaigns import (
    PRICES,
    VALUES,
    Clock,
    answers_to,
    begin,
    cells,
    counted_completions,
    make_table,
    rounds_of,
    same_state,
)


def test_an_ask_needs_a_limit():
    campaign = begin(budget=None)
    assert campaign.left is None
    with pytest.raises(ParameterError, match="give budget=, count="):
        campaign.ask()
    assert len(campaign.ask(budget=5.0)) > 1
    for wrong in ({"budget": -1}, {"count": -1}, {"count": 1.5}, {"lease": "soon", "count": 1}):
        with pytest.raises(ParameterError):
            campaign.ask(**wrong)
    assert campaign.number == 1


def test_what_is_left_of_the_budget_may_be_too_little():
    campaign = begin(make_table(n=8, seed=3), prices=2.0, budget=5.0, strategy="random")
    assert len(campaign.ask()) == 2
    said = "No cell that is left costs less than 2.00, and only 1.00 can be spent."
    assert [campaign.ask().note, campaign.ask(budget=3.0).note, campaign.ask(key="k").note] == [said] * 3
    assert campaign.ask(count=0, budget=4.0).note == said


def test_an_ask_for_which_nothing_can_be_had_runs_and_records_nothing():
    campaign = begin(budget=0.05)
    full = begin(Table.from_arrays([[1.0, 2.0], [3.0, 5.0]], [0, 1]), prices=None)
    with counted_completions() as counted:
        assert campaign.ask() == []
        assert campaign.ask(count=0) == []
        assert full.ask() == []
    assert counted == []
    assert campaign.number == full.number == 0


def test_the_seed_decides_the_draw():
    one, same, other = (begin(seed=seed).ask(count=5) for seed in (1, 1, 2))
    assert cells(one) == cells(same) != cells(other)


def test_each_ask_draws_anew():
    campaign = begin()
    batch = campaign.ask(count=5)
    campaign.cancel(batch)
    assert cells(campaign.ask(count=5)) != cells(batch)
    assert rounds_of(campaign) == [0]


def test_every_batch_follows_the_price_list():
    store = MemoryStore()
    campaign = begin(store=store, budget=None)
    table = campaign.table
    batch = campaign.ask(count=40)
    places = [(table.row_index(p.row), table.column_index(p.column)) for p in batch]
    assert PRICES.on(table).cost(places, ~table.holes) == pytest.approx(sum(p.price for p in batch))
    assert same_state(Campaign.open(store, clock=Clock()), campaign)


def test_a_preview_records_nothing_and_changes_nothing():
    """A campaign that is looked at goes on as one that is not, through rounds that depend on each other."""
    looked, plain = (begin(strategy="afasmc", seed=1) for _ in range(2))
    for turn in range(4):
        number = looked.number
        seen = looked.preview(count=3)
        assert looked.number == number
        if turn % 2:  # the table changes between the look and the ask
            for each in (looked, plain):
                each.correct("p0", "age", 20 + turn)
            looked.preview(count=2)
        batches = [each.ask(count=3) for each in (looked, plain)]
        if not turn % 2:
            assert [(p.row, p.column, p.price) for p in seen] == [
                (p.row, p.column, p.price) for p in batches[0]
            ]
        assert batches[0] == batches[1]
        for each in (looked, plain):
            each.tell({(p.row, p.column): VALUES[p.column] for p in batches[0]})
    assert looked.preview(count=0) == []


def test_a_preview_that_comes_to_nothing_costs_one_round_only():
    campaign = begin(strategy="afasmc")
    for _ in range(3):
        campaign.tell(answers_to(campaign.ask(count=2)))
    with counted_completions() as counted:
        campaign.preview(count=2)
        campaign.correct("p0", "age", 21)  # the previewed round will never be in the log
        campaign.ask(count=2)
    assert len(counted) == 2


@pytest.mark.parametrize("seed", range(4))
def test_the_papers_strategy_asks_on_wide_tables_with_a_number_as_target(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 40))
    y = X[:, 0] + rng.normal(size=10)
    table = Table.from_arrays(np.where(rng.random(X.shape) < 0.4, np.nan, X), y)
    assert len(begin(table, prices=Prices.same(1.0), strategy="afasmc").ask(count=3)) == 3
