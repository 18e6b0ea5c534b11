"""Snapshots of a campaign's state, so that opening a long campaign takes no longer than opening a short one.

Writers make a snapshot now and then: the state after event M, as arrays and JSON. The next event that they
write, number N, states the SHA-256 of the snapshot, and thereby becomes its witness: events are chained by
checksums (see `cellworth.campaign.stores.checksums`), so nobody can change the snapshot, or put another in
its place, without changing event N and all links from there on. The snapshot is saved once event N is on
disk. To read it, check that event N states its SHA-256, and apply the events after M. One that is damaged,
has no witness or was made by another version is ignored, with a note in the log: every event is still there.

`FORM` must be raised whenever the same events give another state, or the same state other bytes.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, replace
from typing import Any

from cellworth.campaign.array_codec import pack_plain, unpack_plain
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.event_codec import Event, size
from cellworth.campaign.founding_table import AnyFounding
from cellworth.campaign.state import State
from cellworth.campaign.stores.checksums import HOW_TO_GO_ON
from cellworth.campaign.stores.store_protocol import LARGEST_BLOB, Store, StoredEvent
from cellworth.errors import CellworthError, DataError, UnusableCacheError
from cellworth.messages import shorten

FORM = 1
EVERY = 20_000
"""How many cells to apply, at most, when a campaign is opened; an event counts as `OVERHEAD` more."""
OVERHEAD = 10
SHARE = 50
"""In a campaign with very many cells, a snapshot is made after as many as this fraction of them."""
STATED = "snapshot"
"""The field of an event's data in which it states a snapshot: [form, number, SHA-256]."""
NO_END = 2**62
"""Above the number of any event."""
_WITNESS = 8  # bytes for the number of the event that states it

logger = logging.getLogger("cellworth.campaign")


@dataclass(frozen=True)
class StateSnapshot:
    """The state after an event, packed.

    Attributes
    ----------
    number : int
        The number of that event.
    packed : bytes
    """

    number: int
    packed: bytes

    @classmethod
    def of(cls, state: State) -> StateSnapshot:
        """Pack a state; UnusableCacheError if it is too large. O(n p + cells ever asked for)."""
        return cls(state.number, pack_plain({"form": FORM}, state.to_plain(), LARGEST_BLOB - _WITNESS))

    def statement(self) -> list[Any]:
        """Return what the event that witnesses it states."""
        return [FORM, self.number, hashlib.sha256(self.packed).hexdigest()]

    def stated_in(self, event: StoredEvent) -> StoredEvent:
        """Return the event with the statement in its data."""
        return replace(event, data={**event.data, STATED: self.statement()})


class Snapshots:
    """The snapshots of one campaign; ``original`` is its table."""

    def __init__(self, store: Store, name: str, original: AnyFounding) -> None:
        self._store = store
        self._name = name
        self._original = original
        self._since = 0  # cells applied since the last snapshot
        self._made: StateSnapshot | None = None  # and not stated yet

    def newest(self, at_most: int) -> State:
        """Return the newest state, up to event ``at_most``, of which there is a snapshot.

        The first one if no snapshot can be used. O(n p + cells out) and O(size of the snapshot).
        """
        try:
            found = self._store.load_snapshot(self._name, at_most)
            if found is not None:
                return self._read(*found)
        except UnusableCacheError as error:
            logger.info("ignoring the snapshot of campaign %s: %s", shorten(self._name), error)
        return State(self._original)

    def restart(self) -> None:
        """Count from here on."""
        self._since = 0

    def count(self, event: Event) -> None:
        """Note that an event was applied."""
        self._since += size(event) + OVERHEAD

    def look_at(self, event: StoredEvent) -> None:
        """If somebody else's event states a snapshot, there is no need for another one soon."""
        if STATED in event.data:
            self._since, self._made = 0, None

    def due(self, state: State) -> StateSnapshot | None:
        """Return a snapshot that the next event is to state; None if it is too early for one."""
        cells = state.count(CellStatus.TOLD) + state.count(CellStatus.ASKED)
        if self._since >= max(EVERY, cells // SHARE):
            self._since = 0
            try:
                self._made = StateSnapshot.of(state)
            except UnusableCacheError as error:
                logger.info("campaign %s has no snapshot: %s", shorten(self._name), error)
        return self._made

    def save(self, snapshot: StateSnapshot, witness: int) -> None:
        """Save a snapshot that an event, which is on disk, has stated."""
        self._made = None
        blob = witness.to_bytes(_WITNESS, "little") + snapshot.packed
        try:
            self._store.save_snapshot(self._name, snapshot.number, blob)
        except CellworthError as error:  # such as a full disk; the event is recorded all the same
            logger.info("campaign %s has no snapshot: %s", shorten(self._name), error)

    def _read(self, number: int, blob: bytes) -> State:
        witness, packed = int.from_bytes(blob[:_WITNESS], "little"), memoryview(blob)[_WITNESS:]
        _check_statement(self._store, self._name, number, witness, packed)
        content = unpack_plain(packed, {"form": FORM})
        try:
            state = State.restored(self._original, content)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UnusableCacheError(f"it is damaged: {type(error).__name__}: {error}") from error
        if state.number != number:
            raise UnusableCacheError(f"it is of event {state.number}, not of event {number}")
        return state


class SnapshotAudit:
    """Compares the snapshot of a campaign with what its events add up to, while somebody applies them all."""

    def __init__(self, store: Store, name: str) -> None:
        found = store.load_snapshot(name, NO_END)
        self._number = -1 if found is None else found[0]
        self._expected: list[Any] | None = None

    def note(self, state: State) -> None:
        """Note the state after an event; O(n p + cells ever asked for) at the snapshot, else O(1)."""
        if state.number == self._number:
            self._expected = StateSnapshot.of(state).statement()

    def check(self, event: StoredEvent) -> None:
        """Raise DataError if an event states the snapshot, and another one follows from the events."""
        stated = event.data.get(STATED)
        expected = self._expected
        if expected is None or not isinstance(stated, list) or stated[:2] != expected[:2]:
            return
        if stated != expected:
            raise DataError(
                f"Event {event.number} ({event.kind}) states a snapshot that is not what the events up to "
                f"number {self._number} add up to. {HOW_TO_GO_ON}"
            )


def _check_statement(store: Store, name: str, number: int, witness: int, packed: memoryview) -> None:
    """Raise UnusableCacheError unless an event after ``number`` states the SHA-256 of these bytes."""
    events = store.events(name, witness - 1, 1) if number < witness < NO_END else []
    stated = events[0].data.get(STATED) if events else None
    if stated != [FORM, number, hashlib.sha256(packed).hexdigest()]:
        raise UnusableCacheError("no event states its checksum")
