"""All summaries: plain, small, as of the newest event, and nothing costly computed twice."""

import numpy as np
import pytest

from cellworth import GaussianCompleter, Table, fill
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.report import SUMMARIES, overview_summary, row_summary, to_json
from cellworth.report.summaries import inputs_of, uncertainty
from tests.campaign.campaigns import begin, make_table
from tests.report.campaigns import as_json, played

pytestmark = pytest.mark.usefixtures("linear_model_in_use")


@pytest.mark.parametrize("what", SUMMARIES)
def test_summaries_are_plain_and_say_what_they_are_as_of(campaign, what):
    found = SUMMARIES[what](campaign).to_json()
    assert as_json(found) < 100_000
    assert found["as_of"] == campaign.number


@pytest.mark.parametrize("what", SUMMARIES)
def test_a_campaign_without_events_target_or_budget(what):
    table = Table.from_arrays(np.array([[1.0, np.nan, 3.0], [2.0, 5.0, np.nan], [4.0, 1.0, 2.5]] * 5))
    bare = Campaign.create(table, store=MemoryStore())
    as_json(SUMMARIES[what](bare).to_json())


@pytest.mark.parametrize("what", SUMMARIES)
def test_a_table_without_holes(what):
    full = begin(make_table(30).with_values(np.nan_to_num(make_table(30).values, nan=0.0)))
    found = SUMMARIES[what](full).to_json()
    as_json(found)
    if what == "columns":
        assert all(column["worth"] is None for column in found["columns"])
    assert row_summary(full, "p3").cells[0].estimate is None


def test_what_is_costly_is_computed_once(monkeypatch):
    campaign = played(2)
    counts = {"cells": 0, "status": 0, "fill": 0}
    for name in counts:
        original = getattr(Campaign, name)

        def counted(view, name=name, original=original):
            counts[name] += 1
            return original(view)

        monkeypatch.setattr(Campaign, name, counted)

    def summarise_all():
        for function in SUMMARIES.values():
            function(campaign)
        row_summary(campaign, "p3").to_json()

    summarise_all()
    summarise_all()
    campaign.take(1, who="Bob")  # changes no number
    summarise_all()
    assert counts == {"cells": 2, "status": 1, "fill": 1}  # cells now, and when the last batch was asked for
    campaign.refuse(campaign.open_purchases()[:1], "gone")
    summarise_all()
    assert counts["cells"] == 3
    assert not inputs_of(campaign).cells.available[inputs_of(campaign).cells.refused].any()


def test_money_and_open_cells_are_of_the_newest_event():
    campaign = played(1)
    overview_summary(campaign).to_json()
    campaign.cancel(campaign.open_purchases())
    found = overview_summary(campaign).to_json()["status"]
    assert found == to_json(campaign.status().to_json())
    assert found["open"] == 0
    assert found["reserved"] == 0


def test_to_json_refuses_what_json_cannot_hold():
    with pytest.raises(TypeError, match="set"):
        to_json({"a": {1}})


def test_a_cell_is_unsure_where_its_row_says_nothing():
    rng = np.random.default_rng(0)
    twin = rng.normal(size=400)
    X = np.column_stack([twin, twin + 0.01 * rng.normal(size=400), rng.normal(size=400)])
    X[:50, 0] = np.nan  # its twin is known
    X[50:100, 2] = np.nan  # nothing says anything about it
    table = Table.from_arrays(X)
    shade = uncertainty(table, fill(table, GaussianCompleter(), level=0.9))
    assert (shade[~table.holes] == 0).all()
    assert shade[:50, 0].max() < 0.1
    assert shade[50:100, 2].min() > 0.8
