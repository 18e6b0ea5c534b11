"""Overview, front and preview: the same numbers as the library's own calls."""

import numpy as np
import pytest

from cellworth.progress import heard_by
from cellworth.report import front_summary, overview_summary, preview_summary, to_json
from tests.campaign.campaigns import answers_to, begin, make_table
from tests.report.campaigns import as_json, played

pytestmark = pytest.mark.usefixtures("linear_model_in_use")


def test_overview_has_the_status(campaign):
    found = overview_summary(campaign).to_json()
    assert found["status"] == to_json(campaign.status().to_json())
    assert found["status"]["history"][-1]["spent"] == pytest.approx(campaign.spent)


def test_changed_counts_the_last_round_with_answers():
    campaign = played(2)
    before = campaign.spent
    begun = campaign.number
    batch = campaign.ask(count=5)
    campaign.tell(answers_to(batch[:3]))
    campaign.refuse(batch[3:4], "no")
    first = overview_summary(campaign).to_json()["changed"]
    assert first["since"] == begun
    assert (first["cells"], first["refused"], first["rows"], first["corrected"]) == (3, 1, 0, 0)
    assert first["money"] == pytest.approx(campaign.spent - before)
    assert sum(cells for _, cells in first["columns"]) == 3
    assert first["gain"]["low"] <= first["gain"]["value"] <= first["gain"]["high"]
    campaign.ask(count=2)  # a new round without answers: the last one is still what changed
    assert overview_summary(campaign).to_json()["changed"] == first


def test_the_gain_of_the_last_round_is_that_between_two_statuses():
    campaign = played(1)
    found = overview_summary(campaign).to_json()
    # With one round the change of the round is the change since the start.
    gain = campaign.status().gain
    assert found["changed"]["gain"] == pytest.approx(
        {"value": gain.value, "low": gain.low, "high": gain.high}
    )


def test_nothing_changed_before_the_first_answer():
    campaign = begin(make_table(40))
    campaign.ask(count=2)
    assert overview_summary(campaign).to_json()["changed"] is None


def test_front_holds_the_last_batch(campaign):
    found = front_summary(campaign).to_json()
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
    found = front_summary(campaign).to_json()
    assert len(found["search"]["money"]) == len(found["search"]["worth"]) > 1
    assert max(found["search"]["worth"]) >= found["batch"]["worth"] * (1 - 1e-9)


def test_no_front_before_the_first_ask():
    assert front_summary(begin(make_table(40))).to_json()["number"] is None


def test_preview_buys_what_ask_buys():
    campaign = played(1)
    found = preview_summary(campaign, 10.0, None).to_json()
    number = campaign.number
    assert found["as_of"] == number
    as_json(found)
    batch = campaign.ask(10.0)
    assert [(each["row"], each["column"]) for each in found["purchases"]] == [
        (p.row, p.column) for p in batch
    ]
    assert found["money"] == pytest.approx(sum(each.price for each in batch))
    assert sum(column["cells"] for column in found["columns"]) == found["cells"] == len(batch)


def test_the_work_on_an_overview_is_heard_step_by_step():
    """The bar of the first results shows steps that are done, not a guess of the time."""
    heard = []
    with heard_by(heard.append):
        overview_summary(played(2))
    assert len(heard) > 8
    assert max(np.diff([0.0, *heard])) < 0.3  # no long silence
    assert heard[-1] > 0.95
