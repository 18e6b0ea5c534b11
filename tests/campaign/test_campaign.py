"""Beginning, opening, money, replays, and what comes of the answers."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Prices, Table, strategy
from cellworth.campaign import Campaign
from cellworth.campaign.leases import parse_lease
from cellworth.campaign.state import Account
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.strategy.registry import unregister
from tests.campaign.campaigns import (
    PRICES,
    Clock,
    answers_to,
    begin,
    cells,
    counted_completions,
    make_table,
    rounds_of,
    same_state,
)


def test_a_campaign_on_a_file_goes_on_where_it_was(tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    with Campaign.create(make_table(), prices=PRICES, budget=30, store=url, clock=Clock()) as campaign:
        campaign.tell(answers_to(campaign.ask(count=3)), who="Ann")
        left = campaign.left
        expected = cells(campaign.replay(2).ask(count=3))
    with Campaign.open(url, clock=Clock()) as again:
        assert (again.name, again.left, again.budget) == ("study", left, 30.0)
        assert again.prices == PRICES
        assert again.original.equals(make_table())
        assert cells(again.ask(count=3)) == expected


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
        ({"strategy": "randon"}, "did you mean 'random'"),
        ({"budget": -1}, "the budget must be"),
        ({"budget": float("nan")}, "the budget must be"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"name": " "}, "the name of a campaign"),
        ({"who": 3}, "who must be text"),
        ({"table": [[1.0]]}, "expected a cellworth Table"),
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
    with pytest.raises(DataError, match="at least one known value; got none in 'age'"):
        begin(table.with_values(values))
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


def test_a_damaged_store_is_noticed():
    store = MemoryStore()
    campaign = begin(store=store)
    campaign.ask(count=2)
    row = store._records["study"]
    row["content"] = row["content"][:-1] + b"x"
    with pytest.raises(DataError, match="damaged"):
        Campaign.open(store)


def test_money_is_reserved_spent_and_released():
    campaign = begin(budget=10.0)
    batch = campaign.ask(budget=4.0)
    total = sum(purchase.price for purchase in batch)
    assert 0 < total <= 4.0
    assert campaign.reserved == pytest.approx(total)
    campaign.tell(answers_to(batch[:1]))
    campaign.refuse(batch[1:2], "lost")
    assert campaign.spent == batch[0].price
    assert campaign.reserved == pytest.approx(total - batch[0].price - batch[1].price)
    assert campaign.left == pytest.approx(10.0 - total + batch[1].price)
    rest = campaign.ask()
    assert campaign.left >= 0
    assert rest
    for _ in range(3):  # rounding may leave a cent or ten for a second list
        last = campaign.ask()
    assert last == []
    assert 0 <= campaign.left < 0.5
    assert {p.group for p in batch + rest if p.column in ("dose", "age")} <= {"blood"}
    assert {p.group for p in batch + rest if p.column not in ("dose", "age")} <= {None}


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


def test_an_ask_for_which_nothing_can_be_had_runs_and_records_nothing():
    campaign = begin(budget=0.05)
    full = begin(Table.from_arrays([[1.0, 2.0], [3.0, 5.0]], [0, 1]), prices=None)
    with counted_completions() as counted:
        assert campaign.ask() == []
        assert campaign.ask(count=0) == []
        assert full.ask() == []
    assert counted == []
    assert campaign.number == full.number == 0


def read(amount):
    """The decimal number that people see."""
    return Fraction(Decimal(repr(amount)))


@settings(max_examples=100)
@given(st.lists(st.floats(0, 1e6), max_size=20), st.lists(st.floats(0, 1e6), max_size=20), st.floats(0, 1e8))
def test_money_adds_up_exactly(spent, reserved, budget):
    money = Account()
    for price in spent:
        money.spend(price)
    for price in reserved:
        money.reserve(price)
    exact = read(budget) - sum(map(read, spent)) - sum(map(read, reserved))
    assert money.spent == float(sum(map(read, spent)))
    assert money.left(budget) == float(exact)
    assert money.left(budget, reserved) == float(exact + sum(map(read, reserved)))
    assert 0 <= read(money.spendable(budget)) <= max(exact, 0)
    for price in reversed(reserved):
        money.release(price)
    assert money.reserved() == 0


@pytest.mark.parametrize(
    ("lease", "span"),
    [
        ("7d", timedelta(days=7)),
        (" 12 h", timedelta(hours=12)),
        ("1.5h", timedelta(minutes=90)),
        ("30m", timedelta(minutes=30)),
        (timedelta(seconds=1), timedelta(seconds=1)),
        (None, None),
    ],
)
def test_leases(lease, span):
    assert parse_lease(lease) == span


@pytest.mark.parametrize("lease", ["0d", "-1d", "d", "7 weeks", 7, timedelta(0), "1e9d"])
def test_leases_that_make_no_sense(lease):
    with pytest.raises(ParameterError, match="'7d', '12h' or '30m'"):
        parse_lease(lease)


def test_a_replay_shows_what_was_and_writes_nothing():
    clock = Clock()
    campaign = begin(clock=clock, strategy="afasmc")
    batches = []
    for _ in range(3):
        batches.append(cells(campaign.ask(count=3)))
        clock.advance(hours=1)
        campaign.tell(answers_to(campaign.open_purchases()))
        clock.advance(hours=1)
    for k, batch in enumerate(batches):
        then = campaign.replay(2 * k)
        assert then.number == 2 * k
        assert cells(then.ask(count=3)) == batch
        assert then.number == 2 * k
    half = campaign.replay(datetime(2024, 5, 1, 12, 30, tzinfo=UTC))
    assert half.number == 1
    assert len(half.open_purchases()) == 3
    assert half.table.equals(campaign.original)
    with pytest.raises(ParameterError, match=r"as of event 1, read-only"):
        half.tell(answers_to(half.open_purchases()))
    for wrong in (-1, True, "yesterday", datetime(2024, 5, 1)):
        with pytest.raises(ParameterError, match="until must be"):
            campaign.replay(wrong)
    assert campaign.number == 6


def test_the_seed_decides_the_draw():
    one, same, other = (begin(seed=seed).ask(count=5) for seed in (1, 1, 2))
    assert cells(one) == cells(same) != cells(other)


def test_each_ask_draws_anew():
    campaign = begin()
    batch = campaign.ask(count=5)
    campaign.cancel(batch)
    assert cells(campaign.ask(count=5)) != cells(batch)
    assert rounds_of(campaign) == [0]


def test_the_clock_must_know_its_zone():
    store = MemoryStore()
    begin(store=store)
    campaign = Campaign.open(store, clock=lambda: datetime(2024, 5, 1))
    with pytest.raises(ParameterError, match="time zone"):
        campaign.ask(count=1)


def test_the_filled_table_and_its_intervals():
    campaign = begin()
    filled = campaign.fill(level=0.8)
    table = campaign.table
    assert not filled.table.holes.any()
    assert np.array_equal(filled.table.values[~table.holes], table.values[~table.holes])
    known = ~table.holes
    assert np.array_equal(filled.lower[known], table.values[known])
    for j, column in enumerate(table.columns):
        holes = table.holes[:, j]
        if column.kind in ("boolean", "category"):
            assert np.isnan(filled.lower[holes, j]).all()
        else:
            assert (filled.lower[holes, j] <= filled.table.values[holes, j]).all()
            assert (filled.upper[holes, j] >= filled.table.values[holes, j]).all()
            assert not column.invalid(filled.lower[:, j]).any()
    assert begin(strategy="afasmc").fill().lower is None


@pytest.mark.parametrize("name", ["recommended", "afasmc", "qbc"])
def test_the_model_predicts_rows_with_holes(name):
    campaign = begin(make_table(n=120), strategy=name)
    fresh = make_table(n=100, seed=9, start=500)
    predicted = campaign.model().predict(fresh.encode().X)
    truth = np.array(fresh.target.classes)[fresh.y.astype(int)]
    # Two classes of like size, told by 0.5 sd of noise: a coin is right in 50 +- 5 % of 100 rows.
    assert np.mean(predicted == truth) > 0.65
    table = make_table(n=60)
    number = Table.from_arrays(table.values, np.nan_to_num(table.values[:, 0], nan=20.0) + 0.5)
    assert begin(number, prices=None).model().predict(number.encode().X).dtype == float
    with pytest.raises(DataError, match="a model needs labels"):
        begin(Table.from_arrays(table.values), prices=None).model()


def test_the_history_in_plain_records_and_frames():
    campaign = begin()
    batch = campaign.ask(count=2, who="Ann")
    campaign.tell(answers_to(batch), who="Bob")
    campaign.correct("p0", "age", 33, who="Cy")
    campaign.extend({"new": {"age": 3}})
    kinds = [record["kind"] for record in campaign.history()]
    assert kinds == ["asked", "told", "corrected", "extended"]
    asked = campaign.history()[0]
    assert [(c["row"], c["column"], c["price"]) for c in asked["cells"]] == cells(batch)
    frame = campaign.history("pandas")
    assert frame["kind"].tolist() == ["asked"] * 2 + ["told"] * 2 + ["corrected", "extended"]
    assert frame["row"].tolist()[-2:] == ["p0", "new"]
    assert frame["value"].tolist()[-2] == "33"
    assert len(campaign.history("polars")) == len(campaign.history("pyarrow")) == 6
    with pytest.raises(ParameterError, match="frame must be one of"):
        campaign.history("excel")
    assert "4 events" in repr(campaign)


def test_every_batch_follows_the_price_list():
    store = MemoryStore()
    campaign = begin(store=store, budget=None)
    table = campaign.table
    batch = campaign.ask(count=40)
    places = [(table.row_index(p.row), table.column_index(p.column)) for p in batch]
    assert PRICES.on(table).cost(places, ~table.holes) == pytest.approx(sum(p.price for p in batch))
    assert same_state(Campaign.open(store, clock=Clock()), campaign)
