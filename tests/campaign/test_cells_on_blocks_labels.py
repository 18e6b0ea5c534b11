"""Labels in a campaign on row blocks: what happens to them is what happens in memory."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cellworth import Campaign, Prices, Table, strategy
from cellworth.blocks import ThreadEngine
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.cells_on_blocks import CellsOnBlocks, RowsOnBlocks
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import ConflictError, DataError, QuestionedError
from cellworth.strategy.registry import unregister
from tests.campaign.campaigns import Clock
from tests.campaign.on_blocks import settle, shown
from tests.strategy.labelled_in_part import both_without_labels
from tests.strategy.test_block_batch_labels import NORMAL, SCORERS, Draw

pytest.importorskip("pyarrow")

PRICES = Prices.per_column({"ill": 3.0}, default=1.5)
QUICK = {"quick": SCORERS[0], "quick-labels": SCORERS[-1]}
CATEGORIES = {"ill": ["dead", "ill", "sick", "well"]}


@pytest.fixture(scope="module", autouse=True)
def quick():
    for name, scorer in QUICK.items():
        strategy.register(strategy.Strategy(name, NORMAL, scorer, Draw("price", by="auto")))
    yield
    for name in QUICK:
        unregister(name)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    return {
        "two": both_without_labels(folder / "two"),
        "three": both_without_labels(folder / "three", kind="three", said={"categories": CATEGORIES}),
        "number": both_without_labels(folder / "number", kind="number"),
    }


def begin_both(tables, which="two", **said):
    """Return a campaign on row blocks and one in memory, in which labels have a price."""
    said = {"prices": PRICES, "budget": 200, "strategy": "quick", "seed": 3, "clock": Clock(), **said}
    return [Campaign.create(table, store=MemoryStore(), **said) for table in tables[which]]


def answers_for(purchases, table, rng):
    """Return an answer to each purchase: a value, or a label, that occurs in its column."""
    found = {}
    for each in purchases:
        if each.column == "ill":
            column, values = table.target.column, table.target.cells
        else:
            j = table.column_index(each.column)
            column, values = table.columns[j], table.values[:, j]
        found[each.row, each.column] = column.format(float(rng.choice(values[~np.isnan(values)])))
    return found


def labels_of(campaign):
    """Return the labels of all rows, and all that is shown of them."""
    return [each.label for each in campaign.rows(0, 1000)]


def unlabelled(table):
    return [row for row, y in zip(table.row_ids, table.target.values, strict=True) if np.isnan(y)]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["two", "three", "number"])
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_same_happens_as_in_memory(tables, which, data):
    """Whatever people do with cells and labels, the same is asked for, and costs the same."""
    both = begin_both(tables, which, strategy="quick" if which != "number" else "quick-labels")
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    for _ in range(data.draw(st.integers(2, 3))):
        lists = [campaign.ask(budget=24.0, lease="2d") for campaign in both]
        assert lists[0].cells == lists[1].cells
        assert [p.price for p in lists[0]] == [p.price for p in lists[1]]
        assert [p.why for p in lists[0]] == [p.why for p in lists[1]]
        answers = answers_for(lists[0], tables[which][1], rng)
        settle(both, answers, data, ["tell", "tell", "refuse", "cancel", "take"])
        assert shown(both[0]) == shown(both[1])
        assert labels_of(both[0]) == labels_of(both[1])
    assert len({campaign.number for campaign in both}) == 1


def test_a_told_label_is_in_the_table_and_costs_what_was_asked(tables):
    for campaign in begin_both(tables):
        batch = [each for each in campaign.ask(30.0) if each.column == "ill"]
        before = campaign.totals()
        assert campaign.tell({(batch[0].row, "ill"): 1, (batch[1].row, "ill"): 0}) == 2
        assert campaign.tell({(batch[0].row, "ill"): 1}) == 0
        after = campaign.totals()
        assert (after.bought, after.missing) == (before.bought + 2, before.missing - 2)
        assert campaign.spent == 6.0
        assert campaign.row(batch[0].row).label.status == "bought"
        assert campaign.row(batch[2].row).label.status == "out"
    big = begin_both(tables)[0]
    row = unlabelled(tables["two"][1])[0]
    labelled = big.table.labelled
    big.tell({(row, "ill"): 1}, unsolicited=True)
    now = big.table
    assert (now.labelled, now.n_unlabelled) == (labelled + 1, now.n_rows - labelled - 1)
    assert now.rows(now.row_numbers([row])).target.values.tolist() == [1.0]
    assert now.row_numbers([row])[0] not in now.unlabelled_rows(1000)


def test_wrong_labels_are_refused_and_nothing_is_recorded(tables):
    for which, wrong in (
        ("two", [(2, "expected one of the classes 0, 1, got 2"), ("yes", "got 'yes'")]),
        ("three", [("fine", "expected one of .*, got 'fine'"), (3, "got 3"), (None, "got None")]),
        ("number", [("high", "expected a number, got 'high'")]),
    ):
        for campaign, table in zip(begin_both(tables, which), tables[which], strict=True):
            row = unlabelled(tables[which][1])[0]
            for value, message in wrong:
                with pytest.raises(DataError, match=f"row '{row}', column 'ill': .*{message}"):
                    campaign.tell({(row, "ill"): value}, unsolicited=True)
            assert campaign.number == 0
            assert table.target.name == "ill"
    for campaign in begin_both(tables, "number"):
        with pytest.raises(QuestionedError, match="column 'ill'"):
            campaign.tell({(row, "ill"): 20_000.0}, unsolicited=True)


def test_a_label_that_is_known_contradicts_and_can_be_corrected(tables):
    small = tables["three"][1]
    place = int(np.flatnonzero(~np.isnan(small.target.values))[0])
    row, old = small.row_ids[place], small.target.classes[int(small.target.values[place])]
    new = next(each for each in ("ill", "well") if each != old)
    both = begin_both(tables, "three")
    for campaign in both:
        with pytest.raises(
            ConflictError, match=f"row '{row}', column 'ill': got '{new}', but '{old}' is known, from"
        ):
            campaign.tell({(row, "ill"): new})
        with pytest.raises(ConflictError, match="cannot be refused"):
            campaign.refuse([(row, "ill")], "no consent")
        with pytest.raises(DataError, match="has no value yet"):
            campaign.correct(unlabelled(small)[0], "ill", "ill")
        assert campaign.correct(row, "ill", new, reason="a slip")
        assert campaign.row(row).label.value == new
    assert both[0].table.labelled == both[0].original.labelled
    assert both[0].ask(30.0).cells == both[1].ask(30.0).cells


def test_a_class_that_nobody_had_may_be_told_if_the_table_admits_it(tables):
    both = begin_both(tables, "three")
    rows = unlabelled(tables["three"][1])
    for campaign in both:
        campaign.ask(12.0)
        assert campaign.table.target.classes == ("ill", "sick", "well")
        campaign.tell({(row, "ill"): "dead" for row in rows[:4]}, unsolicited=True)
        assert campaign.table.target.classes == ("dead", "ill", "sick", "well")
        campaign.extend({"q1": {"weight": 70.0, "ill": "dead"}, "q2": {"weight": 71.0}})
        campaign.tell({("q2", "ill"): "well"}, unsolicited=True)
        assert campaign.row("q1").label.value == "dead"
    big, small = (campaign.table for campaign in both)
    np.testing.assert_array_equal(big.every(1).target.values, small.target.values)
    lists = [campaign.ask(30.0) for campaign in both]
    assert lists[0].cells == lists[1].cells
    assert labels_of(both[0]) == labels_of(both[1])


def test_rows_with_a_new_class_are_in_snapshots_and_exports(tables, tmp_path):
    campaign = begin_both(tables, "three")[0]
    campaign.extend({"q1": {"weight": 70.0, "ill": "dead"}, "q2": {"ill": "well"}, "q3": {}})
    campaign.tell({("q3", "ill"): "sick"}, unsolicited=True)
    state = campaign._log.state
    again = CellsOnBlocks(campaign._log.founding, RowsOnBlocks(campaign._log.founding))
    again.restore(state.cells.to_plain())
    for status in CellStatus:
        for labels in (False, True):
            assert again.count(status, labels=labels) == state.cells.count(status, labels=labels)
    np.testing.assert_array_equal(
        again.table(9).every(1).target.values, campaign.table.every(1).target.values
    )
    campaign.table.write(tmp_path / "now")
    written = Table.open(tmp_path / "now", target="ill", row_id="id")
    found = written.rows(written.row_numbers(["q1", "q2", "q3"])).target
    assert [found.classes[int(code)] for code in found.values] == ["dead", "well", "sick"]


def test_counts_of_labels_are_those_in_memory(tables):
    both = begin_both(tables)
    for campaign in both:
        batch = campaign.ask(40.0)
        labels = [each for each in batch if each.column == "ill"]
        campaign.refuse([labels[0]], "no consent")
        campaign.cancel([labels[1]])
        campaign.tell({(labels[2].row, "ill"): 1})
    states = [campaign._log.state for campaign in both]
    for status in CellStatus:
        for of_labels in (False, True):
            assert len({state.count(status, labels=of_labels) for state in states}) == 1
    assert both[0].totals() == both[1].totals()
    lost = labels[0].row
    for campaign in both:  # the cells of a row whose label cannot be had come last
        assert lost not in {each.row for each in campaign.preview(30.0)}


def test_prices_of_labels_may_come_and_go(tables):
    both = begin_both(tables, prices=Prices.same(1.5))
    for campaign in both:
        assert "ill" not in {each.column for each in campaign.ask(9.0)}
        campaign.change_prices(PRICES)
        campaign.tell(dict.fromkeys([(unlabelled(tables["two"][1])[0], "ill")], 1), unsolicited=True)
        bought = campaign.ask(30.0)
        assert "ill" in {each.column for each in bought}
        campaign.change_prices(Prices.same(1.5))
        campaign.cancel([each for each in bought if each.column == "ill"])
    lists = [campaign.preview(30.0) for campaign in both]
    assert lists[0].cells == lists[1].cells
    assert "ill" not in {each.column for each in lists[0]}


def test_a_round_is_taken_up_from_the_store(tables):
    store = MemoryStore()
    said = {"prices": PRICES, "strategy": "labels-only", "seed": 3}
    first = Campaign.create(tables["two"][0], store=store, **said)
    rng = np.random.default_rng(1)
    first.tell(answers_for(first.ask(count=6), tables["two"][1], rng))
    first.ask(count=2)
    again = Campaign.open(store, engine=ThreadEngine(1, 37))
    assert again.preview(count=4).cells == first.preview(count=4).cells
    assert again._asker._rounds.runs == 0


def test_labels_that_are_told_need_no_new_summary_of_the_files(tables, monkeypatch):
    """What the files hold is summarised once; labels that fill gaps are added to it."""
    from cellworth.complete import table_summary

    campaign = begin_both(tables)[0]
    first = campaign.ask(20.0)
    passes = []
    found = table_summary._in_a_pass
    monkeypatch.setattr(table_summary, "_in_a_pass", lambda source: passes.append(1) or found(source))
    campaign.tell({(each.row, "ill"): 1 for each in first if each.column == "ill"})
    campaign.ask(20.0)
    assert not passes
