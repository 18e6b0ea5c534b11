"""What a campaign says of itself: status, forecast, and whether to go on."""

import warnings

import pytest
from sklearn.linear_model import LogisticRegression

from cellworth import Prices, StopRule
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import DataError
from cellworth.forecasting import StopWarning, decide
from tests.campaign.campaigns import Clock, begin, gaussian_table, play

pytestmark = pytest.mark.usefixtures("linear_model_in_use")

ALWAYS, NEVER = StopRule(least_gain=1.0), StopRule(least_gain=1e-9)
MODEL = LogisticRegression()


@pytest.fixture
def campaign():
    return begin(gaussian_table()[0], budget=None, prices=Prices.same(2.0))


def test_the_status_says_whether_to_go_on(campaign):
    found = campaign.status(repeats=1, until=ALWAYS)
    assert found.advice.stop
    assert str(found) == found.describe()
    assert found.describe().endswith(found.advice.sentence)
    assert found.prospect.describe() in found.describe()
    data = found.to_json()
    assert data["advice"]["sentence"] == found.advice.sentence
    assert data["prospect"]["now"]["value"] == found.prospect.now.value
    assert not campaign.status(repeats=1, until=NEVER).advice.stop


def test_an_ask_obeys_a_rule(campaign):
    with pytest.warns(StopWarning, match=r"Stop: .* Nothing was asked for"):
        batch = campaign.ask(count=3, until=ALWAYS)
    assert (len(batch), campaign.number) == (0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(campaign.ask(count=3, until=NEVER)) == 3


def test_a_repeated_request_gets_its_cells_whatever_the_rule_says_now(campaign):
    first = campaign.ask(count=2, key="mine", until=NEVER)
    assert campaign.ask(count=2, key="mine", until=ALWAYS) == first


def test_what_was_found_out_is_there_for_the_next_process(monkeypatch):
    store = MemoryStore()
    table, truth = gaussian_table()
    first = play(table, truth, rounds=1, store=store, strategy="random")
    found = first.status()
    for name in ("model.fitted_model.cross_validate", "model.model_search.choose_model"):
        monkeypatch.setattr(f"cellworth.{name}", None)  # nothing is scored or chosen again
    monkeypatch.setattr("cellworth.forecasting.table_forecast.outlook_of", None)
    other = Campaign.open(store, clock=Clock())
    assert other.assessment.has_forecast
    assert other.status() == found
    assert other.status().describe() == found.describe()
    assert other.replay(until=other.number).status().history == found.history
    assert other.gain_since(0).gain == found.gain
    other.ask(count=1)
    other.close()  # the rounds are cached beside
    assert Campaign.open(store, clock=Clock()).status().history == found.history


def test_a_store_that_cannot_keep_a_cache_still_gives_a_status(campaign):
    def full(*_):
        raise DataError("the disk is full")

    campaign._log.store.save_cache = full
    assert campaign.status(repeats=1).score is not None
    campaign._log.store.load_cache = lambda *_, **__: (0, b"cellworth cache\n" + bytes(8) + b"rounds")
    assert not Campaign.open(campaign._log.store).assessment.has_forecast


def test_without_a_rule_an_ask_only_warns_and_makes_no_forecast(campaign, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(campaign.ask(count=2)) == 2  # no forecast has been made
        campaign.status(repeats=1)
        monkeypatch.setattr("cellworth.campaign.assessment.assessment.outlook_ahead", None)
        campaign.ask(count=2)
    monkeypatch.setattr("cellworth.forecasting.stop_rule.StopRule", lambda: ALWAYS)
    with pytest.warns(StopWarning, match="Cells are asked for all the same"):
        assert len(campaign.ask(count=2)) == 2


def test_advice_follows_the_purchases():
    table, truth = gaussian_table()
    campaign = play(table, truth, rounds=1)
    before = campaign.advice()
    batch = campaign.ask(count=40)
    assert campaign.advice() == before  # nothing is known yet
    places = {p: (int(p.row), table.column_index(p.column)) for p in batch}
    campaign.tell({(p.row, p.column): truth[place] for p, place in places.items()})
    assert campaign.advice().money < before.money


def test_no_advice_where_there_is_no_forecast():
    campaign = begin(gaussian_table(kind="none")[0], budget=None, prices=Prices.same(2.0))
    assert campaign.advice() is None
    assert len(campaign.ask(count=2, until=ALWAYS)) == 2
    assert campaign.status().advice is None


def test_a_finished_campaign_says_stop():
    campaign = begin(gaussian_table(hidden=0.02)[0], budget=None, prices=Prices.same(2.0))
    campaign.forecast(model=MODEL)
    holes = int(campaign.table.holes.sum())
    campaign.refuse(campaign.ask(count=holes), "lost")
    assert campaign.advice().sentence == "Stop: nothing is left to buy."


def test_the_forecast_of_a_model(campaign):
    found = campaign.forecast(model=MODEL)
    assert found.model == "LogisticRegression"
    assert found.cost == campaign.prices.on(campaign.table).cost(
        list(zip(*campaign.table.holes.nonzero(), strict=True)), ~campaign.table.holes
    )
    assert campaign.advice().money == pytest.approx(found.cost / 10)


def test_status_forecast_and_advice_say_the_same(monkeypatch):
    """Whichever comes first, and after so many rounds that what they brought is weighed in."""
    monkeypatch.setattr("cellworth.model.model_search.choose_model", None)  # none is searched for
    (table, truth), store = gaussian_table(), MemoryStore()
    campaign = play(table, truth, rounds=4, store=store, strategy="random")
    first = campaign.advice()
    ahead = Campaign.open(store, clock=Clock()).forecast()
    assert first == decide(ahead)
    said = campaign.status()
    assert len(said.history) > 3  # what was bought is weighed in
    assert campaign.status(max_rounds=1).prospect.to_json() == ahead.to_json()
    assert said.prospect.to_json() == ahead.to_json()
    assert said.advice == first
    named = campaign.status(model="joint Gaussian", max_rounds=1).prospect
    assert named.model == "joint Gaussian"
