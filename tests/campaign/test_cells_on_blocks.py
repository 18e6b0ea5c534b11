"""The cells of a campaign on row blocks: what events changed, on top of the files."""

import numpy as np
import pytest

from cellworth import Campaign
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
