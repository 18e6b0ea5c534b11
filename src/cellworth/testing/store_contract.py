"""The contract of a campaign store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import numpy as np

from cellworth.campaign.stores.store_protocol import CampaignRecord, Store, StoredEvent
from cellworth.errors import ConflictError, DataError

MOMENT = datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)
ODD_NAMES = (
    "%",
    "a'b\"c",
    "a/b\\c",
    "Ähre 稲 🌾",
    "line\nbreak",
    " blank ",
    "DROP TABLE x; --",
    "A",
    "a",
    "x" * 100,
)


def check_store(
    make_store: Callable[[], Store], *, corrupt: Callable[[str], None] | None = None, seed: int = 0
) -> None:
    """Check that a store keeps the promises of every store.

    Records, events and caches come back exactly (floats bit for bit, text in any script, None, nested data,
    times to the microsecond, in UTC); names are sorted, and unusual ones stay distinct; a taken name, a taken
    key, or an ``after`` that is too small or too large raises ConflictError, and nothing of the batch is
    stored; misnumbered events and a wrong digest are refused; an unknown name raises DataError with the
    closest one; two stores open on the same location see each other's events at once; campaigns are
    independent; the newest cache and the newest snapshot are kept, apart from each other, and are not
    returned to a caller that asks for an older one; an event is found by its key; a campaign can be renamed
    and deleted, with all that belongs to it.

    Parameters
    ----------
    make_store : callable
        Opens a store on the same location each time. It has no campaigns before the first call.
    corrupt : callable, optional
        Given a name, modifies that campaign's stored table behind the store's back, which the store must
        detect. If omitted, this is not checked.
    seed : int

    Examples
    --------
    >>> import tempfile
    >>> from cellworth.campaign.stores import open_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_store(lambda: open_store(f"{folder}/study.db"))
    """
    rng = np.random.default_rng(seed)
    store, other = make_store(), make_store()
    try:
        _check_records(store, other, rng)
        _check_events(store, other, rng)
        _check_conflicts(store, other)
        _check_refused_events(store)
        _check_apart(store)
        _check_caches(store, other)
        _check_unknown(store)
        _check_renaming(store, other)
        if corrupt is not None:
            _check_corruption(store, corrupt)
        _check_lasting(store, make_store)
    finally:
        store.close()
        other.close()


def make_record(name: str, table: bytes = b"table", **settings: Any) -> CampaignRecord:
    """Return a record with the right digest."""
    return CampaignRecord(name, MOMENT, settings, table, hashlib.sha256(table).hexdigest())


def make_events(after: int, *keys: str | None) -> list[StoredEvent]:
    """Return one event per key, numbered from ``after + 1``."""
    return [
        StoredEvent(number, MOMENT + timedelta(seconds=number), "tell", "Ann", key, {"number": number})
        for number, key in enumerate(keys, start=after + 1)
    ]


def plain_data(rng: np.random.Generator) -> dict[str, Any]:
    """Return data of every plain type, with floats that reveal a lost bit."""
    floats = rng.normal(size=20) * 10.0 ** rng.integers(-300, 300, size=20)
    return {
        "floats": [*floats.tolist(), 0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, -0.0],
        "whole": [0, -1, 2**70],
        "nothing": None,
        "yes": True,
        "texts": ["", "Ähre 稲 🌾", "quo\"te '%s' :name", "line\nbreak\ttab", "nul\0", "\\u0041"],
        "nested": {"": [[], {}, [{"a": [None, {"b": 1.5}]}]], "ключ": {"deep": [[[["x"]]]]}},
    }


def _check_records(store: Store, other: Store, rng: np.random.Generator) -> None:
    assert store.names() == [], f"make_store must open an empty store at first; got {store.names()}"
    table = rng.bytes(100_000) + b"\0\xff"
    zone = timezone(timedelta(hours=5, minutes=45))
    record = replace(make_record("study", table, **plain_data(rng)), created=MOMENT.astimezone(zone))
    store.create(record)
    for reader in (store, other):
        _check_same_record(reader.record("study"), record)
    _expect(ConflictError, lambda: other.create(make_record("study")), "a taken name")
    _check_same_record(store.record("study"), record)
    false = replace(record, name="false", digest="0" * 64)
    _expect(DataError, lambda: store.create(false), "a wrong digest")
    for name in ODD_NAMES:
        store.create(make_record(name, name.encode()))
    names = other.names()
    assert names == sorted(["study", *ODD_NAMES]), f"names must be all names, sorted; got {names}"
    for name in ODD_NAMES:
        assert store.record(name).table == name.encode(), f"the name {name!r} must lead to its own record"
    store.create(make_record("empty", b""))
    assert store.record("empty").table == b"", "an empty table must come back"


def _check_same_record(got: CampaignRecord, expected: CampaignRecord) -> None:
    assert got == expected, "a record must come back as it was given"
    assert repr(got.settings) == repr(expected.settings), "the settings of a record must come back exactly"
    assert isinstance(got.table, bytes), f"a table must come back as bytes; got {type(got.table).__name__}"
    _check_utc(got.created)


def _check_utc(time: datetime) -> None:
    assert time.utcoffset() == timedelta(0), f"times must be read back in UTC; got {time!r}"


def _check_events(store: Store, other: Store, rng: np.random.Generator) -> None:
    assert store.events("study") == [], "a new campaign must have no events"
    zone = timezone(-timedelta(hours=9, minutes=30))
    batch = [
        StoredEvent(1, MOMENT, "ask", None, None, {}),
        StoredEvent(2, MOMENT.astimezone(zone), "tell", "Ähre 稲 🌾", "key 1", plain_data(rng)),
        StoredEvent(3, MOMENT.replace(microsecond=1), "tell", "", None, plain_data(rng)),
        StoredEvent(4, MOMENT.replace(microsecond=0), "Ähre", "x" * 1000, "稲" * 500, {"list": [1.0, 1]}),
    ]
    store.append("study", 0, batch[:1])
    store.append("study", 1, batch[1:])
    for reader in (other, store):
        for after in range(6):
            _check_same_events(reader.events("study", after), batch[after:])
        _check_same_events(reader.events("study"), batch)
        for most in range(6):
            _check_same_events(reader.events("study", 1, most), batch[1 : 1 + most])
    other.append("study", 4, make_events(4, None))
    _check_same_events(store.events("study", 4), make_events(4, None))
    store.append("study", 5, [])
    assert len(other.events("study")) == 5, "an empty batch must append nothing"
    many = make_events(5, *(f"many {i}" for i in range(1200)))
    store.append("study", 5, many)
    _check_same_events(other.events("study", 5), many)


def _check_same_events(got: Sequence[StoredEvent], expected: Sequence[StoredEvent]) -> None:
    numbers = [event.number for event in got]
    wanted = [event.number for event in expected]
    assert numbers == wanted, f"events must come in order and without gaps: {wanted}; got {numbers}"
    for event, given in zip(got, expected, strict=True):
        assert event == given, f"an event must come back as it was given: {given}; got {event}"
        assert repr(event.data) == repr(given.data), (
            f"data must come back exactly: {given.data}; got {event.data}"
        )
        _check_utc(event.time)


def _check_conflicts(store: Store, other: Store) -> None:
    store.create(make_record("race"))
    store.append("race", 0, make_events(0, "a", "b", None))
    before = store.events("race")

    def refuse(what: str, after: int, events: list[StoredEvent]) -> None:
        for writer in (other, store):
            _expect(ConflictError, partial(writer.append, "race", after, events), what)
            kept = store.events("race")
            assert kept == before, f"{what}: nothing of the batch may be stored; got {kept[len(before) :]}"

    refuse("an `after` that is too small", 2, make_events(2, "c"))
    refuse("an `after` of 0", 0, make_events(0, "a", "b", None))
    refuse("an `after` that is too large", 4, make_events(4, "c"))
    refuse("an empty batch with a wrong `after`", 2, [])
    refuse("a taken key", 3, make_events(3, "a"))
    refuse("a taken key in the middle of a batch", 3, make_events(3, "c", "b", "d"))
    refuse("a taken key at the end of a long batch", 3, make_events(3, *map(str, range(1500)), "a"))
    other.append("race", 3, make_events(3, "c", None, None))
    for key, number in {"a": 1, "c": 4, "d": None, "nul\0": None}.items():
        found = store.number_of("race", key)
        assert found == number, f"the event with the key {key!r} must be number {number}; got {found}"
    numbers = [event.number for event in store.events("race")]
    assert numbers == [1, 2, 3, 4, 5, 6], f"a conflict must leave no gap; got {numbers}"


def _check_refused_events(store: Store) -> None:
    good = make_events(6, "e", "f")
    batches = {
        "a gap in the numbers": [good[0], replace(good[1], number=9)],
        "numbers in the wrong order": good[::-1],
        "numbers that do not follow `after`": make_events(7, "e"),
        "a key used twice in a batch": make_events(6, "e", "e"),
    }
    for what, batch in batches.items():
        _expect((DataError, ConflictError), partial(store.append, "race", 6, batch), what)
        assert len(store.events("race")) == 6, f"{what}: nothing of the batch may be stored"


def _check_apart(store: Store) -> None:
    for name in ("A", "a"):
        store.append(name, 0, make_events(0, "the same key"))
    assert len(store.events("A")) == 1, "campaigns must be independent, and names are case-sensitive"


def _check_caches(store: Store, other: Store) -> None:
    _check_blobs(store, other, "cache")
    assert store.load_snapshot("study", 100) is None, "a cache must not be taken for a snapshot"
    _check_blobs(store, other, "snapshot")
    store.save_cache("race", 5, b"first and second")
    for first, expected in ((5, b"first"), (0, b""), (99, b"first and second")):
        found = other.load_cache("race", 5, first=first)
        assert found == (5, expected), (
            f"only the first {first} bytes of a cache must be returned; got {found}"
        )


def _check_blobs(store: Store, other: Store, what: str) -> None:
    save, save_there = (getattr(each, f"save_{what}") for each in (store, other))
    load, load_there = (getattr(each, f"load_{what}") for each in (store, other))
    assert load("study", 100) is None, f"there must be no {what} before one is saved"
    blob = bytes(range(256)) * 1000
    save("study", 3, blob)
    assert load_there("study", 3) == (3, blob), f"a {what} must come back with its number"
    assert load_there("study", 5) == (3, blob), f"a {what} that is old enough must be returned"
    assert load_there("study", 2) is None, f"a {what} of later events must not be returned"
    save_there("study", 3, b"again")
    assert load("study", 3) == (3, b"again"), f"a {what} of the same number must be replaced"
    save("study", 5, b"")
    save_there("study", 4, b"older")
    assert load("study", 5) == (5, b""), f"the newest {what} must be kept"
    earlier = load("study", 4)
    assert earlier in (None, (4, b"older")), f"an older {what} may be dropped, not changed; got {earlier}"
    assert load("race", 100) is None, f"campaigns must not share their {what}s"


def _check_unknown(store: Store) -> None:
    calls: dict[str, Callable[[], object]] = {
        "record": lambda: store.record("stuby"),
        "events": lambda: store.events("stuby"),
        "append": lambda: store.append("stuby", 0, make_events(0, None)),
        "save_cache": lambda: store.save_cache("stuby", 0, b""),
        "load_cache": lambda: store.load_cache("stuby", 0),
        "rename": lambda: store.rename("stuby", "new"),
        "delete": lambda: store.delete("stuby"),
        "save_snapshot": lambda: store.save_snapshot("stuby", 0, b""),
        "load_snapshot": lambda: store.load_snapshot("stuby", 0),
        "number_of": lambda: store.number_of("stuby", "key"),
    }
    for method, call in calls.items():
        message = _expect(DataError, call, f"{method} with an unknown name")
        assert "'study'" in message, f"{method} must suggest the closest name; got: {message}"
    _expect(DataError, lambda: store.record("nul\0"), "an unknown name with NUL in it")
    _expect(DataError, lambda: store.events("half \ud800"), "an unknown name with half a letter in it")


def _check_renaming(store: Store, other: Store) -> None:
    store.create(make_record("before", b"its table", seed=7))
    store.append("before", 0, make_events(0, "a", None))
    store.save_cache("before", 2, b"its cache")
    store.save_snapshot("before", 2, b"its snapshot")
    record, events = store.record("before"), store.events("before")
    for taken in ("study", "before"):
        _expect(ConflictError, partial(store.rename, "before", taken), "a new name that is taken")
    for odd in ("", "x" * 101, "nul\0"):
        _expect(DataError, partial(store.rename, "before", odd), f"the new name {odd!r}")
    store.rename("before", "Ähre 2")
    assert "before" not in other.names(), "a renamed campaign must have its new name only"
    _check_same_record(other.record("Ähre 2"), replace(record, name="Ähre 2"))
    _check_same_events(other.events("Ähre 2"), events)
    assert store.load_cache("Ähre 2", 2) in ((2, b"its cache"), None), "a cache may be dropped, not changed"
    kept = store.load_snapshot("Ähre 2", 2)
    assert kept in ((2, b"its snapshot"), None), "a snapshot may be dropped, not changed"
    other.append("Ähre 2", 2, make_events(2, "b"))
    _expect(ConflictError, lambda: store.append("Ähre 2", 3, make_events(3, "a")), "a key from before")
    store.create(make_record("before"))
    assert store.events("before") == [], "the old name must be free again"
    names = set(store.names())
    for name in ("before", "Ähre 2"):
        other.delete(name)
        _expect(DataError, partial(store.events, name), "the name of a deleted campaign")
    assert set(store.names()) == names - {"before", "Ähre 2"}, "only the campaign named must be deleted"
    store.create(make_record("before"))
    left = store.events("before"), store.load_cache("before", 9), store.load_snapshot("before", 9)
    assert left == ([], None, None), "nothing must be left of it"
    store.delete("before")


def _check_corruption(store: Store, corrupt: Callable[[str], None]) -> None:
    store.create(make_record("rotten", b"good table"))
    corrupt("rotten")
    message = _expect(DataError, lambda: store.record("rotten"), "a table that was changed behind its back")
    assert "rotten" in message, f"the error about a damaged table must name the campaign; got: {message}"
    assert store.record("study").name == "study", "other campaigns must remain readable"


def _check_lasting(store: Store, make_store: Callable[[], Store]) -> None:
    names, events = store.names(), store.events("study")
    later = make_store()
    try:
        assert later.names() == names, "campaigns must persist"
        assert later.events("study") == events, "events must persist"
        assert later.load_cache("study", 5) == (5, b""), "a cache must persist as long as nothing goes wrong"
    finally:
        later.close()


def _expect(
    error: type[Exception] | tuple[type[Exception], ...], call: Callable[[], object], what: str
) -> str:
    """Return the message of the error that the call raises."""
    try:
        call()
    except error as raised:
        return str(raised)
    names = " or ".join(e.__name__ for e in (error if isinstance(error, tuple) else (error,)))
    raise AssertionError(f"{what} must be refused with {names}")
