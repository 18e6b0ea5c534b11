"""The log: read in pages, as records and as of an earlier time; written once, whoever else writes."""

import warnings
from datetime import UTC, datetime, timedelta

import pytest

from cellworth.campaign import Campaign, log
from cellworth.campaign.stores import sql_store
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError, ParameterError
from tests.campaign.campaigns import Clock, Interrupted, answers_to, begin, cells


def test_a_damaged_store_is_noticed():
    store = MemoryStore()
    campaign = begin(store=store)
    campaign.ask(count=2)
    row = store._records["study"]
    row["content"] = row["content"][:-1] + b"x"
    with pytest.raises(DataError, match="damaged"):
        Campaign.open(store)


def test_a_replay_shows_what_was_and_writes_nothing():
    clock = Clock()
    campaign = begin(clock=clock, strategy="afasmc")
    batches = []
    for _ in range(3):
        batches.append(cells(campaign.ask(count=3)))
        clock.advance(hours=1)
        campaign.tell(answers_to(campaign.open_purchases()))
        clock.advance(hours=1)
    for k, batch in enumerate(batches):
        then = campaign.replay(2 * k)
        assert then.number == 2 * k
        assert cells(then.ask(count=3)) == batch
        assert then.number == 2 * k
    half = campaign.replay(datetime(2024, 5, 1, 12, 30, tzinfo=UTC))
    assert half.number == 1
    assert len(half.open_purchases()) == 3
    assert half.table.equals(campaign.original)
    with pytest.raises(ParameterError, match=r"as of event 1, read-only"):
        half.tell(answers_to(half.open_purchases()))
    for wrong in (-1, True, "yesterday", datetime(2024, 5, 1)):
        with pytest.raises(ParameterError, match="until must be"):
            campaign.replay(wrong)
    assert campaign.number == 6


def test_the_clock_must_know_its_zone():
    store = MemoryStore()
    begin(store=store)
    campaign = Campaign.open(store, clock=lambda: datetime(2024, 5, 1))
    with pytest.raises(ParameterError, match="time zone"):
        campaign.ask(count=1)


def test_the_history_in_plain_records_and_frames():
    campaign = begin()
    batch = campaign.ask(count=2, who="Ann")
    campaign.tell(answers_to(batch), who="Bob")
    campaign.correct("p0", "age", 33, who="Cy")
    campaign.extend({"new": {"age": 3}})
    kinds = [record["kind"] for record in campaign.history()]
    assert kinds == ["asked", "told", "corrected", "extended"]
    asked = campaign.history()[0]
    assert [(c["row"], c["column"], c["price"]) for c in asked["cells"]] == cells(batch)
    frame = campaign.history("pandas")
    assert frame["kind"].tolist() == ["asked"] * 2 + ["told"] * 2 + ["corrected", "extended"]
    assert frame["row"].tolist()[-2:] == ["p0", "new"]
    assert frame["value"].tolist()[-2] == "33"
    assert len(campaign.history("polars")) == len(campaign.history("pyarrow")) == 6
    with pytest.raises(ParameterError, match="frame must be one of"):
        campaign.history("excel")
    assert "4 events" in repr(campaign)


def test_pages_of_the_log():
    campaign = begin()
    for age in range(20, 30):
        campaign.correct("p0", "age", age)
    assert [r["number"] for r in campaign.history(after=3, most=4)] == [4, 5, 6, 7]
    assert [r["number"] for r in campaign.history(after=9)] == [10]
    assert campaign.history(after=10) == campaign.history(most=0) == []
    assert [r["number"] for r in campaign.replay(5).history(after=3, most=9)] == [4, 5]
    assert len(campaign.history("polars", after=8)) == 2


@pytest.fixture
def campaign():
    return begin()


def test_a_key_is_good_for_one_thing(campaign):
    batch = campaign.ask(count=4, key="first")
    assert campaign.ask(count=4, key="first") == batch
    with pytest.raises(
        ConflictError, match="'first' was used before, for a different request: event 1, asked"
    ):
        campaign.ask(count=5, key="first")
    told = answers_to(batch[:2])
    assert campaign.tell(told, key="post-1") == 2
    assert campaign.tell(dict(reversed(told.items())), key="post-1") == 2
    assert campaign.number == 2
    with pytest.raises(ConflictError, match="Use a new key"):
        campaign.tell(answers_to(batch[:1]), key="post-1")
    with pytest.raises(ConflictError, match="Use a new key"):
        campaign.tell(told, key="first")
    assert campaign.number == 2


def test_people_are_named_and_clocks_do_not_run_backwards():
    clock = Clock()
    campaign = begin(clock=clock, who="Ann")
    campaign.ask(count=1, who="Bob")
    noon = clock.time
    clock.advance(hours=-5)
    campaign.ask(count=1)
    first, second = campaign.history()
    assert (first["who"], second["who"]) == ("Bob", None)
    assert first["time"] == second["time"] == noon
    with pytest.raises(ParameterError, match="who must be text"):
        campaign.ask(count=1, who="")


def test_a_request_that_is_sent_twice_at_once(shared):
    store, clock, other = shared
    first = []
    late = Campaign.open(Interrupted(store, lambda: first.extend(other.ask(count=3, key="k"))), clock=clock)
    assert late.ask(count=3, key="k") == first
    assert late.number == 1


def test_a_store_that_is_always_in_conflict_is_not_tried_for_ever():
    store = MemoryStore()
    campaign = begin(store=store)

    def refuse(*_):
        raise ConflictError("never")

    store.append = refuse
    with pytest.raises(ConflictError, match="never"):
        campaign.ask(count=1)


def test_a_server_tells_the_time(postgresql_url, opened, monkeypatch):
    """Writers whose own clocks are wrong write the same time as the others."""

    class FastClock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(days=3650)

    before = datetime.now(UTC) - timedelta(minutes=1)
    for module in (log, sql_store):
        monkeypatch.setattr(module, "datetime", FastClock)
    campaign = begin(store=opened(postgresql_url), clock=log.utc_now, strategy="random")
    batch = campaign.ask(count=1, lease="7d")
    assert before < campaign.created < before + timedelta(minutes=5)
    assert before < batch[0].until - timedelta(days=7) < before + timedelta(minutes=5)


def test_an_event_from_the_future_is_reported_once(shared):
    store, clock, campaign = shared
    clock.advance(days=300)
    campaign.ask(count=1)
    clock.advance(days=-300)
    other = Campaign.open(store, clock=clock)
    with pytest.warns(UserWarning, match=r"is dated 2025-.*but the clock says 2024-.*one of the two clocks"):
        other.totals()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.totals()


def test_time_stands_still_within_one_read(tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    with begin(store=url, strategy="random") as writer, Campaign.open(url, clock=Clock()) as reader:
        with reader.at_one_moment():
            before = reader.number
            writer.ask(count=1)
            assert reader.number == before
            assert reader.open_purchases() == []
        assert reader.number == before + 1
        with pytest.raises(ZeroDivisionError), reader.at_one_moment():
            _ = 1 / 0
        writer.ask(count=1)
        assert reader.number == before + 2
