"""What can be bought, and what cells owe that share fees."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cellworth import Campaign, Table
from cellworth.blocks import ThreadEngine
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.choosing import Limits
from cellworth.campaign.log import Log
from cellworth.campaign.stores import MemoryStore
from tests.campaign.campaigns import Clock, begin, make_table
from tests.campaign.on_blocks import FEES, begin_both, counted_reads, make_tables, settle, shown, values_for

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_it_is_plain_when_nothing_can_be_bought():
    campaign = begin(make_table(n=8, seed=3), prices=2.0, strategy="random")
    log = campaign._log
    chooser = log.founding.chooser(log, BudgetAndPrices(log))
    now = log.now()
    assert isinstance(log, Log)
    assert chooser.can_buy(Limits(2.0, None), now)
    assert not chooser.can_buy(Limits(1.99, None), now)
    assert not chooser.can_buy(Limits(None, 0), now)
    campaign.ask(count=10_000, lease="1h")
    assert not chooser.can_buy(Limits(None, 1), log.now())


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return make_tables(tmp_path_factory.mktemp("campaigns"))


@pytest.mark.parametrize("which", ["ids", "numbers"])
@pytest.mark.parametrize("prices", [1.5, FEES], ids=["same", "fees"])
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_same_happens_as_in_memory(tables, which, prices, data):
    """Whatever people do, the same cells are asked for, and cost the same."""
    both = begin_both(tables, which, prices=prices)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    for _ in range(data.draw(st.integers(1, 3))):
        lists = [campaign.ask(budget=data.draw(st.just(9.0)), lease="2d") for campaign in both]
        assert lists[0].cells == lists[1].cells
        assert [p.price for p in lists[0]] == [p.price for p in lists[1]]
        assert [p.why for p in lists[0]] == [p.why for p in lists[1]]
        answers = values_for(lists[0], tables[which][1], rng)
        settle(both, answers, data, ["tell", "refuse", "cancel", "leave", "take"])
        assert shown(both[0]) == shown(both[1])
    assert len({campaign.number for campaign in both}) == 1


@pytest.mark.parametrize(
    ("prices", "budget", "least"), [(1.5, 1.0, "1.50"), (FEES, 2.9, "3.00")], ids=["same", "fees"]
)
def test_too_little_money_is_named_with_the_lowest_price(tables, prices, budget, least):
    """With fees, the money is above each cell's own price, but not above a cell and the visit."""
    for campaign in begin_both(tables, prices=prices, strategy="random"):
        said = f"No cell that is left costs less than {least}, and only {budget:.2f} can be spent."
        for batch in (campaign.ask(budget=budget), campaign.preview(budget=budget)):
            assert (len(batch), batch.note) == (0, said)
        assert campaign.number == 0
        assert campaign.ask(budget=float(least)).note is None


def test_a_round_is_taken_up_from_the_store(tables):
    """What the Gaussian has fitted is small, and is kept; then no other process need run the rounds."""
    store = MemoryStore()
    first = Campaign.create(tables["ids"][0], store=store, prices=1.5, strategy="posterior", seed=3)
    rng = np.random.default_rng(1)
    for _ in range(2):
        first.tell(values_for(first.ask(count=6), tables["ids"][1], rng))
    first.ask(count=2)
    again = Campaign.open(store, engine=ThreadEngine(1, 37))
    assert again.preview(count=4).cells == first.preview(count=4).cells
    assert again._asker._rounds.runs == 0
    first.tell(values_for(first.open_purchases(), tables["ids"][1], rng))
    assert again.preview(count=4).cells == first.preview(count=4).cells


def test_leases_that_end_free_their_cells(tables):
    clock = Clock()
    store = MemoryStore()
    said = {"prices": 1.5, "budget": 3.0, "strategy": "random", "seed": 1, "clock": clock}
    campaign = Campaign.create(tables["ids"][0], store=store, **said)
    assert len(campaign.ask(lease="1h")) == 2
    assert not campaign.ask(count=1)
    clock.advance(hours=2)
    assert len(campaign.ask(count=1)) == 1


@pytest.mark.parametrize(("strategy", "passes"), [("posterior", [5, 2, 2]), ("recommended", [6, 3, 3])])
def test_how_often_an_ask_reads_the_table(tmp_path, monkeypatch, strategy, passes):
    """First for sums, rows to choose by, sums of pairs, the fit and the choice; later for the last two.

    And for the rows on which a model is trained, by which "recommended" scores.
    """
    n, rng = 9_000, np.random.default_rng(0)
    factor = rng.normal(size=n)
    holes = rng.random((n, 4)) < 0.3
    frame = {name: pa.array(factor + rng.normal(size=n), mask=holes[:, j]) for j, name in enumerate("abcd")}
    frame["ill"] = pa.array(factor > 0, mask=rng.random(n) < 0.3)
    pq.write_table(pa.table(frame), tmp_path / "table.parquet", row_group_size=3_000)
    reads = counted_reads(monkeypatch)
    table = Table.open(tmp_path, target="ill", engine=ThreadEngine(1, 3_000))
    campaign = Campaign.create(table, store=MemoryStore(), strategy=strategy, budget=100)
    for expected in passes:
        reads.clear()
        asked = campaign.ask(count=5)
        assert reads == {0: expected, 3_000: expected, 6_000: expected}
        campaign.tell({(each.row, each.column): 0.5 for each in asked})
