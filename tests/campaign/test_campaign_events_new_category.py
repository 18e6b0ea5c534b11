"""Categories that turn up during a campaign: what changes, what does not, and that it can be replayed."""

import numpy as np
import pytest

from cellworth import Campaign
from cellworth.campaign import state_snapshots
from cellworth.campaign.campaign_events import CategoryAdded
from cellworth.campaign.state import State
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import DataError, ParameterError
from tests.campaign.campaigns import answers_to, begin, make_table, same_state
from tests.campaign.on_blocks import begin_both, make_tables, shown, values_for
from tests.strategy.test_block_batch import both_of, make_frame

pytest.importorskip("pyarrow")


def told(batch, **instead):
    """Return answers to a batch, with others in some columns."""
    return {cell: instead.get(cell[1], value) for cell, value in answers_to(batch).items()}


def test_an_answer_with_a_new_category_is_refused_until_it_is_added(tmp_path):
    campaign = begin(strategy="random")
    batch = campaign.ask(count=40)
    cell = next((p.row, p.column) for p in batch if p.column == "hue")
    with pytest.raises(DataError, match=rf"row '{cell[0]}', column 'hue'.*add_category\('hue', 'pink'\)"):
        campaign.tell({cell: "pink"})
    path = tmp_path / "answers.csv"
    path.write_text(f"row,column,value\n{cell[0]},hue,pink\n")
    with pytest.raises(DataError, match=r"line 2.*add_category\('hue', 'pink'\)"):
        campaign.tell_file(path)
    assert campaign.add_category("hue", "pink", who="Ann", reason="seen")
    assert not campaign.add_category("hue", "pink")
    assert campaign.events()[-1].content == CategoryAdded("hue", "pink", None, "seen")
    assert campaign.tell_file(path).new == 1
    assert campaign.columns[3].categories == ("blue", "green", "red", "pink")
    assert campaign.table.columns == campaign.columns[:-1]
    assert campaign.row(cell[0]).cells[3].value == "pink"
    with pytest.raises(DataError, match=r"age.*only columns of categories"):
        campaign.add_category("age", "old")
    with pytest.raises(DataError, match="no column 'hues'"):
        campaign.add_category("hues", "pink")
    with pytest.raises(ParameterError, match="the reason"):
        campaign.add_category("hue", "grey", reason=" ")


def test_what_is_known_keeps_its_meaning_if_a_category_comes_before_it():
    campaign = begin(strategy="random")
    campaign.tell(told(campaign.ask(count=20), stage="III"))
    campaign.extend({"q1": {"stage": "I", "outcome": "ill"}})
    before = campaign.table.to_csv()
    assert campaign.add_category("stage", "0", before="I")
    assert campaign.add_category("outcome", "cured")
    assert campaign.table.to_csv() == before
    campaign.extend({"q2": {"stage": "0", "outcome": "cured"}})
    assert (
        campaign.table.target.classes == ("cured", "ill", "well") or "cured" in campaign.table.target.classes
    )
    assert campaign.replay(campaign.number - 3).table.to_csv() == before
    assert campaign.replay(campaign.number - 3).columns[2].categories == ("I", "II", "III")


@pytest.mark.parametrize("strategy", ["linear-impact", "afasmc"])
def test_another_process_asks_for_the_same(strategy):
    """Rounds before and after an added category, those of scorers with a memory as well."""
    store, twin = MemoryStore(), MemoryStore()
    campaigns = [begin(make_table(40), store=each, strategy=strategy, seed=2) for each in (store, twin)]
    for step in range(4):
        batches = [campaign.ask(count=4) for campaign in campaigns]
        assert [(p.row, p.column) for p in batches[0]] == [(p.row, p.column) for p in batches[1]]
        for campaign, batch in zip(campaigns, batches, strict=True):
            campaign.tell(answers_to(batch))
            if step == 1:
                campaign.add_category("hue", "pink")
                campaign.add_category("stage", "0", before="I")
        campaigns[1] = Campaign.open(twin, clock=campaigns[1]._log._clock)  # from caches, or from the log
    assert same_state(*campaigns)


def test_asked_for_before_and_told_after():
    """A round on the old columns has cells out, and reasons and guesses come from a new one."""
    campaign = begin(make_table(40))
    batch = campaign.ask(count=12)
    campaign.add_category("hue", "pink")
    campaign.add_category("stage", "0", before="I")
    assert campaign.ask(count=0) == []
    campaign.tell(told(batch, hue="pink", stage="0"))
    assert campaign.cells(0, 5).worth.shape == (5, 6)
    assert campaign.ask(count=3)[0].why


def test_snapshots_have_the_categories(monkeypatch):
    monkeypatch.setattr(state_snapshots, "EVERY", 30)
    store = MemoryStore()
    campaign = begin(make_table(40), store=store, strategy="random", budget=200)
    campaign.add_category("stage", "0", before="I")
    campaign.add_category("hue", "pink")
    for _ in range(8):
        campaign.tell(told(campaign.ask(count=5), stage="0", hue="pink"))
    assert store.load_snapshot(campaign.name, campaign.number) is not None
    again = Campaign.open(store, clock=campaign._log._clock)
    assert same_state(campaign, again)
    state = State(campaign._log.founding)
    for event in campaign.events():
        state.apply(event)
    assert state.table().equals(again.table)
    assert again.columns == campaign.columns


def test_the_status_scores_points_of_the_past_by_the_columns_of_now():
    campaign = begin(make_table(60), budget=100)
    campaign.tell(answers_to(campaign.ask(count=8)))
    campaign.add_category("stage", "0", before="I")
    campaign.add_category("hue", "pink")
    batch = campaign.ask(count=12)
    campaign.tell(told(batch, stage="0", hue="pink"))
    status = campaign.status()
    assert status.history[-1].bought == 20
    assert status.advice is not None


def test_an_ordered_column_of_row_blocks(tmp_path):
    order = {"kinds": {"hue": "ordered"}, "categories": {"hue": ["red", "green", "blue"]}}
    tables = {"ids": both_of(tmp_path, make_frame(np.random.default_rng(1)), **order)}
    both = begin_both(tables, strategy="linear-impact")
    for campaign in both:
        batch = campaign.ask(count=30)
        table = tables["ids"][1]
        campaign.tell(values_for(batch, table, np.random.default_rng(0)))
        campaign.extend({"new": {"hue": "red", "ill": "1"}})
        assert campaign.add_category("hue", "infrared", before="red")
        campaign.tell({("new", "smoker"): "yes"}, unsolicited=True)
    assert both[0].columns[2].categories == ("infrared", "red", "green", "blue")
    assert shown(both[0]) == shown(both[1])
    assert both[0].ask(count=9).cells == both[1].ask(count=9).cells
    again = [Campaign.open(each._log.store, clock=each._log._clock) for each in both]
    assert shown(again[0]) == shown(both[1])


@pytest.mark.parametrize("which", ["ids", "numbers"])
def test_a_campaign_on_row_blocks_asks_for_the_same_as_one_in_memory(tmp_path, which):
    both = begin_both(make_tables(tmp_path), which)
    for step in range(3):
        batches = [campaign.ask(count=8) for campaign in both]
        assert batches[0].cells == batches[1].cells
        rng = np.random.default_rng(step)
        table = both[1].table
        answers = {}
        for each in batches[0]:
            j = table.column_index(each.column)
            known = table.values[~np.isnan(table.values[:, j]), j]
            answers[each.row, each.column] = table.columns[j].format(float(rng.choice(known)))
            if each.column == "hue" and step == 1:
                answers[each.row, each.column] = "pink"
        for campaign in both:
            if step == 1:
                campaign.add_category("hue", "pink")
                campaign.extend({"new" if which == "ids" else "160": {"hue": "pink"}})
            campaign.tell(answers)
    assert shown(both[0]) == shown(both[1])
    assert both[0].table.every(1).to_csv() == both[1].table.to_csv()
