"""Stores that break one promise each are caught, and told which."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC

import pytest

from cellworth.errors import ConflictError, DataError
from cellworth.testing.store_contract import check_store


class Good:
    """Lists and dicts that keep every promise but to last."""

    def __init__(self):
        self.records, self.logs, self.caches, self.snapshots = {}, {}, {}, {}

    def create(self, record):
        if record.name in self.records:
            raise ConflictError("taken")
        if hashlib.sha256(record.table).hexdigest() != record.digest:
            raise DataError("digest")
        self.records[record.name] = replace(record, created=record.created.astimezone(UTC))
        self.logs[record.name] = []

    def names(self):
        return sorted(self.records)

    def known(self, name):
        if name not in self.records:
            raise DataError("did you mean 'study'?")

    def record(self, name):
        self.known(name)
        found = self.records[name]
        if hashlib.sha256(found.table).hexdigest() != found.digest:
            raise DataError(f"{name} is damaged")
        return found

    def events(self, name, after=0, most=None):
        self.known(name)
        return self.logs[name][after:][:most]

    def append(self, name, after, events):
        self.known(name)
        self.check_after(name, after)
        self.check_numbers(after, events)
        self.check_keys(name, events)
        self.logs[name] += [replace(event, time=event.time.astimezone(UTC)) for event in events]

    def check_after(self, name, after):
        if after != len(self.logs[name]):
            raise ConflictError("after")

    def check_numbers(self, after, events):
        if [event.number for event in events] != list(range(after + 1, after + 1 + len(events))):
            raise DataError("numbers")

    def check_keys(self, name, events):
        keys = [event.key for event in [*self.logs[name], *events] if event.key is not None]
        if len(set(keys)) < len(keys):
            raise ConflictError("key")

    def save_cache(self, name, number, blob):
        self.known(name)
        if number >= self.caches.get(name, (0, b""))[0]:
            self.caches[name] = number, blob

    def load_cache(self, name, at_most, first=None):
        self.known(name)
        kept = self.caches.get(name)
        return (kept[0], kept[1][:first]) if kept and kept[0] <= at_most else None

    def rename(self, name, new):
        self.known(name)
        if not new or len(new) > 100 or "\0" in new:
            raise DataError("name")
        if new in self.records:
            raise ConflictError("taken")
        self.records[new] = replace(self.records.pop(name), name=new)
        for part in (self.logs, self.caches, self.snapshots):
            if name in part:
                part[new] = part.pop(name)

    def delete(self, name):
        self.known(name)
        for part in (self.records, self.logs, self.caches, self.snapshots):
            part.pop(name, None)

    def save_snapshot(self, name, number, blob):
        self.known(name)
        if number >= self.snapshots.get(name, (0, b""))[0]:
            self.snapshots[name] = number, blob

    def load_snapshot(self, name, at_most):
        self.known(name)
        kept = self.snapshots.get(name)
        return kept if kept and kept[0] <= at_most else None

    def number_of(self, name, key):
        self.known(name)
        return next((event.number for event in self.logs[name] if event.key == key), None)

    def close(self):
        pass

    def corrupt(self, name):
        self.records[name] = replace(self.records[name], table=b"changed")


class TakesNamesTwice(Good):
    def create(self, record):
        self.records.pop(record.name, None)
        super().create(record)


class IgnoresDigests(Good):
    def create(self, record):
        super().create(replace(record, digest=hashlib.sha256(record.table).hexdigest()))


class ReadsWhatIsDamaged(Good):
    def record(self, name):
        self.known(name)
        return self.records[name]


class ForgetsOrder(Good):
    def names(self):
        return list(self.records)


class IgnoresCase(Good):
    def create(self, record):
        if record.name.upper() in self.records:
            raise ConflictError("taken")
        super().create(record)


class RoundsFloats(Good):
    def append(self, name, after, events):
        rounded = [
            json.loads(json.dumps(e.data), parse_float=lambda x: float(f"{float(x):.15g}")) for e in events
        ]
        super().append(name, after, [replace(e, data=d) for e, d in zip(events, rounded, strict=True)])


class LosesMicroseconds(Good):
    def append(self, name, after, events):
        super().append(name, after, [replace(e, time=e.time.replace(microsecond=0)) for e in events])


class KeepsZones(Good):
    def append(self, name, after, events):
        super().append(name, after, events)
        self.logs[name][after:] = events


class AllowsEarlier(Good):
    def check_after(self, name, after):
        if after > len(self.logs[name]):
            raise ConflictError("after")


class AllowsLater(Good):
    def check_after(self, name, after):
        if after < len(self.logs[name]):
            raise ConflictError("after")


class AllowsGaps(Good):
    def check_numbers(self, after, events):
        pass


class IgnoresKeys(Good):
    def check_keys(self, name, events):
        pass


class SharesKeys(Good):
    def check_keys(self, name, events):
        for log in self.logs:
            super().check_keys(log, events)


class KeepsHalves(Good):
    def append(self, name, after, events):
        for place, event in enumerate(events):
            super().append(name, after + place, [event])
        super().append(name, after + len(events), [])


class InventsNames(Good):
    def known(self, name):
        if name not in self.records:
            raise DataError("no such name")


class ForgivesUnknownNames(Good):
    def load_cache(self, name, at_most, first=None):
        return super().load_cache(name, at_most, first) if name in self.records else None


class GivesNewerCaches(Good):
    def load_cache(self, name, at_most, first=None):
        return super().load_cache(name, 10**9, first)


class GivesWholeCaches(Good):
    def load_cache(self, name, at_most, first=None):
        return super().load_cache(name, at_most)


class KeepsOlderCaches(Good):
    def save_cache(self, name, number, blob):
        self.caches.pop(name, None)
        super().save_cache(name, number, blob)


class RenamesOntoOthers(Good):
    def rename(self, name, new):
        if new != name:
            self.records.pop(new, None)
        super().rename(name, new)


class CopiesToRename(Good):
    def rename(self, name, new):
        old = self.records.get(name), self.logs.get(name)
        super().rename(name, new)
        self.records[name], self.logs[name] = old


class LosesEventsToRename(Good):
    def rename(self, name, new):
        super().rename(name, new)
        self.logs[new] = []


class KeepsCachesOfTheDead(Good):
    def delete(self, name):
        cache = self.caches.get(name)
        super().delete(name)
        if cache is not None or name == "before":
            self.caches[name] = cache or (0, b"")


class TakesCachesForSnapshots(Good):
    def load_snapshot(self, name, at_most):
        return self.load_cache(name, at_most)


class DropsSnapshots(Good):
    def load_snapshot(self, name, at_most):
        self.known(name)


class FindsNoKeys(Good):
    def number_of(self, name, key):
        self.known(name)


def check(kind):
    store = kind()
    check_store(lambda: store, corrupt=store.corrupt)


def test_a_good_store_passes():
    check(Good)


def test_stores_that_do_not_share_their_place_are_caught():
    with pytest.raises((AssertionError, DataError)):
        check_store(Good)


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (TakesNamesTwice, "a taken name must be refused"),
        (IgnoresDigests, "a wrong digest must be refused"),
        (ReadsWhatIsDamaged, "changed behind its back must be refused"),
        (ForgetsOrder, "names must be all names, sorted"),
        (RoundsFloats, "an event must come back as it was given"),
        (LosesMicroseconds, "an event must come back as it was given"),
        (KeepsZones, "times must be read back in UTC"),
        (AllowsEarlier, "an `after` that is too small must be refused"),
        (AllowsLater, "an `after` that is too large must be refused"),
        (AllowsGaps, "a gap in the numbers must be refused"),
        (IgnoresKeys, "a taken key must be refused"),
        (KeepsHalves, "in the middle of a batch: nothing of the batch may be stored"),
        (InventsNames, "must suggest the closest name"),
        (ForgivesUnknownNames, "load_cache with an unknown name must be refused"),
        (GivesNewerCaches, "a cache of later events must not be returned"),
        (GivesWholeCaches, "only the first 5 bytes of a cache must be returned"),
        (KeepsOlderCaches, "the newest cache must be kept"),
        (RenamesOntoOthers, "a new name that is taken must be refused"),
        (CopiesToRename, "must have its new name only"),
        (LosesEventsToRename, "events must come in order and without gaps"),
        (KeepsCachesOfTheDead, "nothing must be left of it"),
        (TakesCachesForSnapshots, "a cache must not be taken for a snapshot"),
        (DropsSnapshots, "a snapshot must come back with its number"),
        (FindsNoKeys, "the event with the key 'a' must be number 1"),
    ],
)
def test_a_broken_promise_is_named(kind, promise):
    with pytest.raises(AssertionError, match=promise):
        check(kind)


@pytest.mark.parametrize("kind", [IgnoresCase, SharesKeys])
def test_campaigns_that_touch_each_other_are_caught(kind):
    with pytest.raises(ConflictError):
        check(kind)
