"""An in-memory store: the reference model of what a store promises, for experiments and tests."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cellworth.campaign.stores.store_protocol import (
    CampaignRecord,
    StoredEvent,
    check_new_name,
    event_from,
    event_rows,
    name_taken,
    record_from,
    record_row,
)
from cellworth.errors import ConflictError, DataError
from cellworth.messages import not_there, shorten

Row = dict[str, Any]


class MemoryStore:
    """Keeps campaigns in memory, for this process only.

    It returns exactly what a database would: records and events are kept as database rows.

    Examples
    --------
    >>> from cellworth.campaign.stores.memory import MemoryStore
    >>> MemoryStore().names()
    []
    """

    def __init__(self) -> None:
        self._records: dict[str, Row] = {}
        self._events: dict[str, list[Row]] = {}
        self._caches: dict[str, tuple[int, bytes]] = {}
        self._snapshots: dict[str, tuple[int, bytes]] = {}
        self._lock = threading.RLock()
        self._turns: dict[str, threading.RLock] = {}

    def create(self, record: CampaignRecord, events: Iterable[StoredEvent] = ()) -> None:
        """Create a campaign, with its events if it is a copy; ConflictError if its name is taken."""
        row = record_row(record, token="")
        log = event_rows(record.name, 0, list(events), token="")
        with self._lock:
            if record.name in self._records:
                raise name_taken(record.name)
            self._events[record.name] = log
            self._records[record.name] = row

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        return sorted(self._records)

    def rename(self, name: str, new: str) -> None:
        """Give a campaign a new name; ConflictError if it is taken."""
        self._check(name)
        check_new_name(new)
        with self._lock:
            if new in self._records:
                raise name_taken(new)
            self._records[new] = {**self._records.pop(name), "name": new}
            self._events[new] = [{**row, "campaign": new} for row in self._events.pop(name)]
            for part in (self._caches, self._snapshots):
                if name in part:
                    part[new] = part.pop(name)

    def delete(self, name: str) -> None:
        """Delete a campaign with all its events, for good."""
        self._check(name)
        with self._lock:
            for part in (self._records, self._events, self._caches, self._snapshots):
                part.pop(name, None)

    def record(self, name: str) -> CampaignRecord:
        """Return a campaign's record; DataError suggesting the closest name if there is none."""
        self._check(name)
        return record_from(self._records[name])

    def events(self, name: str, after: int = 0, most: int | None = None) -> list[StoredEvent]:
        """Return the events numbered above ``after``, in order; at most ``most`` if given."""
        self._check(name)
        stop = None if most is None else max(after, 0) + most
        return [event_from(row) for row in self._events[name][max(after, 0) : stop]]

    def number_of(self, name: str, key: str) -> int | None:
        """Return the number of the event with a key; None if there is none. O(events)."""
        self._check(name)
        return next((row["number"] for row in self._events[name] if row["key"] == key), None)

    def append(self, name: str, after: int, events: Sequence[StoredEvent]) -> None:
        """Append events numbered ``after + 1``, ..., all or none; ConflictError if somebody wrote first."""
        self._check(name)
        rows = event_rows(name, after, events, token="")
        with self._lock:
            log = self._events[name]
            if after != len(log):
                raise ConflictError(
                    f"the last event is number {len(log)}, not {after}. Read the new events and try again."
                )
            taken = {row["key"] for row in log} - {None}
            for row in rows:
                if row["key"] in taken:
                    raise ConflictError(
                        f"the key {shorten(row['key'])} is taken. Read the new events and try again."
                    )
            log.extend(rows)

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Keep other writers waiting while the block runs; if it raises, it has appended nothing."""
        self._check(name)
        with self._lock:
            length = len(self._events[name])
            try:
                yield
            except BaseException:
                del self._events[name][length:]
                raise

    @contextmanager
    def turn(self, name: str, patience: float) -> Iterator[bool]:
        """Take the turn at a campaign's rounds; a thread that has it may take it again."""
        self._check(name)
        with self._lock:
            turn = self._turns.setdefault(name, threading.RLock())
        taken = turn.acquire(timeout=patience)
        try:
            yield taken
        finally:
            if taken:
                turn.release()

    def save_cache(self, name: str, number: int, blob: bytes) -> None:
        """Save a cache derived from the events up to ``number``; an older cache is dropped."""
        self._save(self._caches, name, number, blob)

    def load_cache(self, name: str, at_most: int, first: int | None = None) -> tuple[int, bytes] | None:
        """Return the newest cache derived from events up to ``at_most``, with its number; None if absent."""
        found = self._load(self._caches, name, at_most)
        return None if found is None else (found[0], found[1][:first])

    def save_snapshot(self, name: str, number: int, blob: bytes) -> None:
        """Save a snapshot of the state after event ``number``; an older snapshot is dropped."""
        self._save(self._snapshots, name, number, blob)

    def load_snapshot(self, name: str, at_most: int) -> tuple[int, bytes] | None:
        """Return the newest snapshot of a state up to event ``at_most``, with its number; None if absent."""
        return self._load(self._snapshots, name, at_most)

    def drop_cache(self, name: str) -> None:
        """Delete the cache; it only saves time."""
        self._caches.pop(name, None)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _save(self, blobs: dict[str, tuple[int, bytes]], name: str, number: int, blob: bytes) -> None:
        self._check(name)
        with self._lock:
            if number >= blobs.get(name, (0, b""))[0]:
                blobs[name] = number, bytes(blob)

    def _load(self, blobs: dict[str, tuple[int, bytes]], name: str, at_most: int) -> tuple[int, bytes] | None:
        self._check(name)
        found = blobs.get(name)
        return found if found is not None and found[0] <= at_most else None

    def _check(self, name: str) -> None:
        if name not in self._records:
            raise DataError(not_there("campaign", name, self.names()))
