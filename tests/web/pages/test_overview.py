"""The next batch, previewed and asked for."""

import re

import pytest

from cellworth.campaign import Campaign
from cellworth.forecasting import StopRule
from tests.web.pages.visitor import STUDY


def test_preview_then_ask(fresh):
    page = fresh.look(STUDY + "?preview=1&budget=10")
    assert "values in" in page.text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.number == 1  # nothing was asked for
    form = page.form("/ask")
    after = fresh.send(form)
    assert "Asked for" in after.text
    fresh.send(form)  # sent twice, asked once
    with Campaign.open(fresh.url) as campaign:
        history = campaign.history()
        assert [event["kind"] for event in history] == ["asked", "asked"]
        assert history[-1]["who"] == "Bob"
        assert sum(cell["price"] for cell in history[-1]["cells"]) <= 10
    assert "an amount of money" in fresh.look(STUDY + "?preview=1&budget=much").text
    again = fresh.send(form, budget="much")
    assert "an amount of money" in again.text
    assert again.forms[1].fields["budget"] == "much" or "much" in again.answer.text
    nothing = fresh.look(STUDY + "?preview=1&budget=0.01")
    assert "No value that is left costs less than 1.00, and only 0.01 can be spent." in nothing.text


def test_the_rule_to_stop_is_that_of_the_library(fresh):
    page = fresh.look(STUDY + "?preview=1&budget=10")
    assert f"brings less than {StopRule().least_gain:.3f}" in page.text


def test_it_is_said_that_no_value_is_left_whatever_the_money(fresh):
    form = fresh.look(STUDY + "?preview=1&budget=9").form("/ask")
    with Campaign.open(fresh.url) as campaign:
        campaign.change_budget(100_000)
        campaign.ask()
    assert "No value is left to ask for. Nothing was asked for." in fresh.send(form).text
    said = "No value is left to ask for: all are known, asked for or not available."
    assert said in fresh.look(STUDY + "?preview=1&budget=9").text


def test_a_link_from_another_site_starts_no_preview(fresh, monkeypatch):
    begun = []

    async def run(*arguments):
        begun.append(arguments)

    monkeypatch.setattr(fresh.client.app.state.jobs, "run", run)
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    answer = fresh.client.get(STUDY + "?preview=1&count=3", headers=headers)
    assert (answer.status_code, begun) == (200, [])


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [("budget=much", ["budget"]), ("budget=5&count=-1", ["count"]), ("budget=much&count=x", ["budget"])],
)
def test_only_the_field_that_is_wrong_is_marked(fresh, asked, wrong):
    page = fresh.client.get(f"{STUDY}?preview=1&{asked}").text
    assert re.findall(r'<input id="(budget|count)"[^>]*aria-invalid="true"', page) == wrong
