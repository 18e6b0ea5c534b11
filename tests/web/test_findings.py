"""What the pages show: plain, small, and the same numbers as the library's own calls."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cellworth import Table
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import DataError, ParameterError
from cellworth.report.columns import mean_prices, mean_worths
from cellworth.report.measures import measure
from cellworth.strategy import get
from cellworth.web import findings
from cellworth.web.findings import look as looking
from cellworth.web.findings.cell_map import (
    BOUGHT,
    ESTIMATED,
    KNOWN,
    OUT,
    REFUSED,
)
from cellworth.web.findings.plain import plain
from tests.campaign.campaigns import answers_to, begin, make_table


def played(rounds=3, **keywords):
    """Return a campaign with answers, a refusal in each round, and open cells."""
    campaign = begin(make_table(60), budget=200.0, **keywords)
    for _ in range(rounds):
        batch = campaign.ask(count=8, who="Ann")
        campaign.tell(answers_to(batch[:6]), who="Bob")
        campaign.refuse(batch[6:7], "the sample is lost")
    return campaign


@pytest.fixture(scope="module")
def campaign():
    return played()


def as_json(found):
    """Return the length of what is sent; fails on NaN, infinity and anything that is not plain."""
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text) == found
    return len(text)


@pytest.mark.parametrize("what", findings.FINDINGS)
def test_findings_are_plain_and_say_what_they_are_as_of(campaign, what):
    found = findings.FINDINGS[what](campaign)
    assert as_json(found) < 100_000
    assert found["as_of"] == campaign.number


@pytest.mark.parametrize("what", findings.FINDINGS)
def test_a_campaign_without_events_target_or_budget(what):
    table = Table.from_arrays(np.array([[1.0, np.nan, 3.0], [2.0, 5.0, np.nan], [4.0, 1.0, 2.5]] * 5))
    bare = Campaign.create(table, store=MemoryStore())
    as_json(findings.FINDINGS[what](bare))


@pytest.mark.parametrize("what", findings.FINDINGS)
def test_a_table_without_holes(what):
    full = begin(make_table(30).with_values(np.nan_to_num(make_table(30).values, nan=0.0)))
    found = findings.FINDINGS[what](full)
    as_json(found)
    if what == "columns":
        assert all(column["worth"] is None for column in found["columns"])
    assert "estimate" not in findings.row_detail(full, "p3")["cells"][0]


def test_overview_is_the_standing(campaign):
    found = findings.overview(campaign)
    assert found["standing"] == plain(campaign.status().to_json())
    assert found["standing"]["history"][-1]["spent"] == pytest.approx(campaign.spent)


def test_changed_counts_the_last_round_with_answers():
    campaign = played(2)
    before = campaign.spent
    begun = campaign.number
    batch = campaign.ask(count=5)
    campaign.tell(answers_to(batch[:3]))
    campaign.refuse(batch[3:4], "no")
    first = findings.overview(campaign)["changed"]
    assert first["since"] == begun
    assert (first["cells"], first["refused"], first["rows"], first["corrected"]) == (3, 1, 0, 0)
    assert first["money"] == pytest.approx(campaign.spent - before)
    assert sum(cells for _, cells in first["columns"]) == 3
    assert first["gain"]["low"] <= first["gain"]["value"] <= first["gain"]["high"]
    campaign.ask(count=2)  # a new round without answers: the last one is still what changed
    assert findings.overview(campaign)["changed"] == first


def test_the_gain_of_the_last_round_is_that_between_two_standings():
    campaign = played(1)
    found = findings.overview(campaign)
    # With one round the change of the round is the change since the start.
    gain = campaign.status().gain
    assert found["changed"]["gain"] == pytest.approx(
        {"value": gain.value, "low": gain.low, "high": gain.high}
    )


def test_nothing_changed_before_the_first_answer():
    campaign = begin(make_table(40))
    campaign.ask(count=2)
    assert findings.overview(campaign)["changed"] is None


def test_columns_are_those_of_the_report(campaign):
    found = {column["name"]: column for column in findings.columns(campaign)["columns"]}
    cells, table = campaign.cells(), campaign.table
    worth, price = mean_worths(cells), mean_prices(cells)
    measures = measure(table, get(campaign.strategy).completer)
    assert set(found) == set(table.column_names)
    for j, name in enumerate(table.column_names):
        column = found[name]
        assert column["worth"] == pytest.approx(worth[j])
        assert column["price"] == pytest.approx(price[j])
        assert column["worth_low"] <= column["worth_high"] <= column["worth_most"]
        assert column["missing"] == table.holes[:, j].sum()
        assert column["bought"] == cells.bought[:, j].sum()
        assert column["error"]["error"] == pytest.approx(measures[j].error)
    order = [column["per_money"] for column in findings.columns(campaign)["columns"]]
    assert order == sorted(order, reverse=True)
    assert "mg" in found["dose"]["error"]["words"]
    assert "days" in found["visit"]["error"]["words"]
    assert "wrong" in found["hue"]["error"]["words"]


def test_the_map_says_what_each_cell_is(campaign):
    found = findings.cell_map(campaign)
    code = np.array(found["codes"])
    cells = campaign.cells()
    assert code.shape == campaign.table.shape
    np.testing.assert_array_equal(code == KNOWN, cells.known)
    np.testing.assert_array_equal(code == BOUGHT, cells.bought)
    np.testing.assert_array_equal(code == REFUSED, cells.refused)
    np.testing.assert_array_equal(code >= ESTIMATED, cells.available)
    assert (code % OUT).max() <= ESTIMATED + 100
    out = {(found["ids"][i], found["columns"][j]) for i, j in np.argwhere(code >= OUT)}
    assert out == {(each.row, each.column) for each in campaign.open_purchases()}
    assert found["counts"]["out"] == len(out)


def test_a_part_of_the_map(campaign):
    whole, part = findings.cell_map(campaign), findings.cell_map(campaign, 10, 13)
    assert part["ids"] == whole["ids"][10:13]
    assert part["codes"] == whole["codes"][10:13]
    assert part["counts"] == whole["counts"]
    with pytest.raises(ParameterError, match="from 0 to 60"):
        findings.cell_map(campaign, 60, 61)


def test_row_detail_has_values_estimates_and_reasons(campaign):
    table = campaign.table
    row = next(i for i in range(table.shape[0]) if 0 < table.holes[i].sum() < table.shape[1])
    found = findings.row_detail(campaign, table.row_ids[row])
    as_json(found)
    assert found["place"] == row
    assert found["target"]["name"] == "outcome"
    filled, cells = campaign.fill(), campaign.cells()
    average = cells.worth[cells.available].mean()
    for j, cell in enumerate(found["cells"]):
        if not table.holes[row, j]:
            assert cell["status"] in ("known", "bought")
            assert "estimate" not in cell
            continue
        column = table.columns[j]
        assert column.parse(cell["estimate"]) == pytest.approx(filled.table.values[row, j], rel=1e-3)
        if "low" in cell:
            assert column.parse(cell["low"]) <= column.parse(cell["high"])
        if cell["status"] != "refused":
            assert cell["worth"] == pytest.approx(cells.worth[row, j] / average)
            assert 1 <= cell["rank"] <= cell["of"] == cells.available.sum()
            assert f"costs {cell['price']:.2f}" in cell["why"]


def test_the_best_cell_ranks_first(campaign):
    cells, table = campaign.cells(), campaign.table
    per_money = np.where(cells.available, cells.worth / cells.price, -1)
    i, j = np.unravel_index(np.argmax(per_money), per_money.shape)
    cell = findings.row_detail(campaign, table.row_ids[i])["cells"][j]
    assert cell["rank"] == 1


def test_row_detail_of_no_row(campaign):
    with pytest.raises(DataError, match="p1"):
        findings.row_detail(campaign, "p1x")


def test_front_holds_the_last_batch(campaign):
    found = findings.front(campaign)
    last = [event for event in campaign.history() if event["kind"] == "asked"][-1]
    assert found["number"] == last["number"]
    assert found["batch"]["cells"] == len(last["cells"])
    assert found["batch"]["money"] == pytest.approx(sum(cell["price"] for cell in last["cells"]))
    for name in ("money", "worth"):
        assert (np.diff(found["greedy"][name]) >= 0).all()
    assert found["search"] is None  # a strategy that draws has no front
    # Worths are those that the batch was chosen by.
    cells = campaign.replay(last["number"] - 1).cells()
    unit = cells.worth[cells.available].mean()
    assert found["batch"]["worth"] == pytest.approx(sum(cell["worth"] for cell in last["cells"]) / unit)


def test_front_of_a_search():
    campaign = begin(make_table(40), strategy="afasmc-poss", budget=30.0)
    campaign.tell(answers_to(campaign.ask(budget=4)))
    campaign.ask(budget=4)
    found = findings.front(campaign)
    assert len(found["search"]["money"]) == len(found["search"]["worth"]) > 1
    assert max(found["search"]["worth"]) >= found["batch"]["worth"] * (1 - 1e-9)


def test_no_front_before_the_first_ask():
    assert findings.front(begin(make_table(40)))["number"] is None


def test_preview_buys_what_ask_buys():
    campaign = played(1)
    found = findings.preview(campaign, 10.0, None)
    number = campaign.number
    assert found["as_of"] == number
    as_json(found)
    batch = campaign.ask(10.0)
    assert [(each["row"], each["column"]) for each in found["purchases"]] == [
        (p.row, p.column) for p in batch
    ]
    assert found["money"] == pytest.approx(sum(each.price for each in batch))
    assert sum(column["cells"] for column in found["columns"]) == found["cells"] == len(batch)


def test_what_is_costly_is_worked_out_once(monkeypatch):
    campaign = played(2)
    counts = {"cells": 0, "status": 0, "measure": 0}
    for name, owner in (("cells", Campaign), ("status", Campaign), ("measure", looking)):
        original = getattr(owner, name)

        def counted(*arguments, name=name, original=original):
            counts[name] += 1
            return original(*arguments)

        monkeypatch.setattr(owner, name, counted)

    def look():
        for function in findings.FINDINGS.values():
            function(campaign)
        findings.row_detail(campaign, "p3")

    look()
    look()
    campaign.take(1, who="Bob")  # changes no number
    look()
    assert counts == {"cells": 2, "status": 1, "measure": 1}  # cells of now, and of the last ask
    campaign.refuse(campaign.open_purchases()[:1], "gone")
    look()
    assert counts["cells"] == 3
    assert not findings.look_of(campaign).cells.available[findings.look_of(campaign).cells.refused].any()


def test_money_and_open_cells_are_of_the_newest_event():
    campaign = played(1)
    findings.overview(campaign)
    campaign.cancel(campaign.open_purchases())
    found = findings.overview(campaign)["standing"]
    assert found == plain(replace(campaign.status(), number=campaign.number).to_json())
    assert found["open"] == 0
    assert found["reserved"] == 0


def test_plain_refuses_what_json_cannot_hold():
    with pytest.raises(TypeError, match="set"):
        plain({"a": {1}})
