"""The cells of a campaign on row blocks: what events changed, on top of the files."""

import numpy as np
import pytest

from cellworth import Campaign, Table
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.cells_on_blocks import CellsOnBlocks, RowsOnBlocks
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import ConflictError, DataError, QuestionedError
from tests.campaign.on_blocks import begin_both, make_tables, shown, values_for

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return make_tables(tmp_path_factory.mktemp("campaigns"))


def test_answers_nobody_asked_for_and_corrections(tables):
    both = begin_both(tables)
    table = tables["ids"][1]
    holes, known = np.argwhere(table.holes[:, :1])[:3], np.argwhere(~table.holes[:, :1])[:2]
    for campaign in both:
        answers = {(table.row_ids[i], "weight"): 70.5 for i, _ in holes}
        with pytest.raises(DataError, match="never asked for"):
            campaign.tell(answers)
        assert campaign.tell(answers, unsolicited=True) == 3
        assert campaign.tell(answers) == 0
        name = table.row_ids[known[0, 0]]
        with pytest.raises(ConflictError, match="is known, from the start"):
            campaign.tell({(name, "weight"): 1e3})
        with pytest.raises(QuestionedError):
            campaign.correct(name, "weight", 1e6)
        assert campaign.correct(name, "weight", 71.25, reason="misread")
        with pytest.raises(ConflictError, match="has the value"):
            campaign.refuse([(name, "weight")], "no")
        with pytest.raises(DataError, match="nobody"):
            campaign.tell({("nobody", "weight"): 1.0})
    assert shown(both[0]) == shown(both[1])
    big, small = (campaign.table for campaign in both)
    assert np.array_equal(big.every(1).values, small.values, equal_nan=True)
    assert big.n_holes == int(small.holes.sum())
    assert both[0].ask(count=5).cells == both[1].ask(count=5).cells


def test_a_snapshot_of_the_state_holds_all_of_it(tables, monkeypatch):
    monkeypatch.setattr("cellworth.campaign.state_snapshots.EVERY", 1)
    campaign, _ = begin_both(tables, strategy="random")
    for _ in range(3):
        batch = campaign.ask(count=4)
        cells = [(p.row, p.column) for p in batch]
        campaign.refuse(cells[:1], "no")
        campaign.cancel(cells[1:2])
        campaign.tell(values_for(batch[2:], tables["ids"][1], np.random.default_rng(1)))
    row, column = next(
        (record.row, cell.column)
        for record in campaign.rows(0, 50)
        for cell in record.cells
        if cell.status == "known" and cell.column == "weight"
    )
    campaign.correct(row, column, 70.125)
    campaign.ask(count=1)
    store = campaign._log.store
    assert store.load_snapshot("study", 2**40) is not None
    without = MemoryStore()
    without.create(store.record("study"), store.events("study"))
    states = [Campaign.open(each)._log.state.to_plain() for each in (store, without)]
    assert repr(states[0]) == repr(states[1])


NEW = {"new": {"weight": 61.0, "hue": "red"}, "newer": {"visits": 3}, "last": {}}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["ids", "numbers"])
def test_rows_are_added_and_bought_as_in_memory(tables, which):
    both = begin_both(tables, which)
    small, rng = tables[which][1], np.random.default_rng(1)
    for each in both:
        each.ask(count=3)
        each.extend(NEW)
        each.extend({"one more": {"weight": 70.0}})
        with pytest.raises(DataError, match="already taken: 'newer'"):
            each.extend({"newer": {}})
    for _ in range(3):
        batches = [each.ask(count=8) for each in both]
        first, other = ([(p.row, p.column, p.price) for p in batch] for batch in batches)
        assert first == other
        answers = values_for(batches[1], small, rng)
        for each in both:
            each.tell(answers)
    for each in both:
        each.tell({("newer", "weight"): 64.0}, unsolicited=True, price=1.0)
        each.correct("new", "weight", 62.0, reason="misread")
    assert shown(both[0]) == shown(both[1])
    assert both[0].row("one more").cells == both[1].row("one more").cells
    big = both[0].table
    np.testing.assert_array_equal(big.rows(np.arange(big.n_rows)).values, both[1].table.values)
    assert both[0].status().history == both[1].status().history


def test_added_rows_are_in_snapshots_exports_and_a_campaign_that_is_opened_again(tables, tmp_path):
    campaign = begin_both(tables)[0]
    campaign.extend(NEW)
    campaign.tell({("last", "weight"): 64.0}, unsolicited=True, price=1.0)
    state = campaign._log.state
    again = CellsOnBlocks(campaign._log.founding, RowsOnBlocks(campaign._log.founding))
    again.restore(state.cells.to_plain())
    for status in CellStatus:
        assert again.count(status) == state.cells.count(status)
    campaign.table.write(tmp_path / "now")
    written = Table.open(tmp_path / "now", target="ill", row_id="id")
    assert written.n_rows == campaign.original.n_rows + 3
    found = written.rows(written.row_numbers(["new", "newer", "last"]))
    assert found.row_ids == ("new", "newer", "last")
    weight = found.values[:, found.column_index("weight")]
    np.testing.assert_array_equal(weight, [61.0, np.nan, 64.0])
    opened = Campaign.open(campaign._log.store, name=campaign.name)
    assert opened.row("last").cells == campaign.row("last").cells
    assert opened.totals() == campaign.totals()
