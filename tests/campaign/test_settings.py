"""What a campaign can begin with, and which of a store's campaigns is opened."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cellworth import Prices, Table, strategy
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.strategy.registry import unregister
from tests.campaign.campaigns import begin, make_table


def test_names_of_campaigns():
    store = MemoryStore()
    with pytest.raises(DataError, match="no campaign"):
        Campaign.open(store)
    begin(store=store, name="one")
    assert Campaign.open(store).name == "one"
    begin(store=store, name="two")
    with pytest.raises(DataError, match=r"several campaigns.*'one', 'two'"):
        Campaign.open(store)
    assert Campaign.open(store, "two").name == "two"
    with pytest.raises(DataError, match="Did you mean 'two'"):
        Campaign.open(store, "twoo")
    with pytest.raises(ConflictError, match="already"):
        begin(store=store, name="two")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"strategy": strategy.get("random")}, r"by name.*register.*'random'"),
        ({"strategy": "randon"}, "Did you mean 'random'"),
        ({"budget": -1}, "the budget must be"),
        ({"budget": float("nan")}, "the budget must be"),
        ({"budget": "5"}, "the budget must be"),
        ({"budget": 0}, "a budget of 0 buys nothing"),
        ({"prices": [1, 2]}, "prices must be a number, a mapping"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"who": "x" * 1_000_000}, "who must have at most"),
        ({"who": " "}, "who must be text"),
        ({"name": " "}, "the name of a campaign"),
        ({"who": 3}, "who must be text"),
        ({"table": [[1.0]]}, "expected a Table, a pandas"),
        ({"prices": Prices.per_cell(lambda row, column: 1.0)}, "function cannot be stored"),
    ],
)
def test_what_a_campaign_cannot_begin_with(keywords, message):
    with pytest.raises(ParameterError, match=message):
        begin(**keywords)


def test_an_empty_column_and_a_cell_without_a_price():
    table = make_table()
    values = np.array(table.values)
    values[:, 1] = np.nan
    begin(table.with_values(values))  # its bounds are known
    columns = [replace(column, bounds=(-math.inf, math.inf)) for column in table.columns]
    with pytest.raises(DataError, match=r"'age': nobody has measured it yet.*bounds="):
        begin(Table(columns, values, table.row_ids, table.target))
    with pytest.raises(DataError, match="every column needs a price"):
        begin(table, prices=Prices.per_column({"age": 1.0}))


def test_a_strategy_that_is_not_there_any_more():
    mine = strategy.Strategy("mine", *(getattr(strategy.get("random"), part) for part in PARTS))
    strategy.register(mine)
    store = MemoryStore()
    begin(store=store, strategy="mine").ask(count=1)
    unregister("mine")
    with pytest.raises(ParameterError, match=r"no strategy 'mine'.*registered before"):
        Campaign.open(store)


PARTS = ("completer", "scorer", "selector")


def test_a_store_without_campaigns_is_named_by_its_path_but_never_by_its_url(tmp_path):
    with pytest.raises(
        DataError, match=r"the store .*nope\.db has no campaigns\. Check where it is, or start"
    ):
        Campaign.open(tmp_path / "nope.db")
    assert not (tmp_path / "nope.db").exists()
    with pytest.raises(DataError, match=r"^the store has no campaigns"):
        Campaign.open(f"sqlite:///{tmp_path}/nope.db")
