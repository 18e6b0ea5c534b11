"""The status of a campaign: its numbers, its progress, and what it says."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from cellworth.errors import ParameterError
from tests.campaign.campaigns import PRICES, answers_to, begin, gaussian_table, make_table, play

pytestmark = pytest.mark.usefixtures("linear_model_in_use")

QUICK = {"repeats": 1, "model": "logistic regression"}


def test_numbers_are_those_of_the_campaign():
    campaign = begin(make_table(60))
    batch = campaign.ask(count=6)
    campaign.tell(answers_to(batch[:3]))
    campaign.refuse(batch[3:4], "lost")
    found = campaign.status(**QUICK)
    assert (found.spent, found.reserved, found.left) == (campaign.spent, campaign.reserved, campaign.left)
    assert (found.bought, found.refused, found.open) == (3, 1, 2)
    assert found.known == int((~campaign.original.holes).sum())
    assert found.known + found.bought + found.missing == campaign.table.values.size
    assert found.metric == "AUC"
    assert [point.number for point in found.history] == [0, 2]
    assert [point.spent for point in found.history] == [0, campaign.spent]
    assert found.gain.low <= found.history[1].score.value - found.history[0].score.value <= found.gain.high
    assert found.forecast.verdict == "too early"
    text = found.describe()
    for words in (f"{campaign.spent:.2f} spent", "3 bought", "1 refused, 2 out"):
        assert words in text
    # Where the cells at hand tell what is ahead, it is not said that it is too early to tell.
    assert ("too early to tell" in text) == (found.prospect is None)
    alone = replace(found, prospect=None, advice=None).describe()
    prospect = SimpleNamespace(describe=lambda: "With 60 % known.")
    ahead = replace(found, prospect=prospect, advice=SimpleNamespace(sentence="Go on."))
    assert "too early to tell" in alone
    assert "too early to tell" not in ahead.describe()
    assert "ahead  With 60 % known.\n       Go on." in ahead.describe()
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["bought"] == 3
    assert campaign.status(**QUICK) == found
    assert campaign.replay(until=0).status(**QUICK).bought == 0


def test_a_finished_campaign_has_nothing_left_to_buy():
    campaign = play(*gaussian_table(), rounds=9, count=60)
    found = campaign.status(**QUICK)
    assert (found.missing, found.forecast.verdict) == (0, "nothing left")
    assert "nothing is left to buy" in found.describe()


@pytest.mark.parametrize(
    "wrong", [{"folds": 1}, {"repeats": 0}, {"max_rounds": 0}, {"ahead": 0.0}, {"ahead": float("inf")}]
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        begin(prices=PRICES).status(**wrong)


def test_progress_goes_from_nothing_to_all_points():
    campaign = play(*gaussian_table(), rounds=3)
    told = []
    found = campaign.status(**QUICK, progress=lambda done, total: told.append((done, total)))
    points = len(found.history)
    assert told == [(done, points) for done in range(points + 1)]


def test_the_forecast_is_for_what_a_round_costs():
    campaign = play(*gaussian_table(), rounds=5, count=20)
    expected = campaign.status(repeats=1).forecast
    assert expected.money == pytest.approx(campaign.spent / 5)


def test_one_event_is_not_plural():
    campaign = begin(make_table(40))
    campaign.ask(count=1)
    assert "after 1 event\n" in campaign.status(repeats=1, max_rounds=1).describe()
    assert "1 event," in repr(campaign)
