"""A campaign's log: read it, fold it into a state, append to it alongside other writers, and show it."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from cellworth.campaign.events import (
    Asked,
    BudgetChanged,
    Content,
    Corrected,
    Event,
    Extended,
    Told,
    check_optional_text,
    decode,
    encode,
    fingerprint,
)
from cellworth.campaign.settings import current_settings
from cellworth.campaign.state import State
from cellworth.campaign.stores.store_protocol import Store
from cellworth.campaign.table_bytes import digest, unpack
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.messages import shorten
from cellworth.optional_packages import require
from cellworth.settings_language import named
from cellworth.table import Table

AHEAD = timedelta(minutes=10)
"""How far the last event may be ahead of the clock before that is reported."""
Clock = Callable[[], datetime]
Make = Callable[[State, datetime], Content | None]
"""Maps the newest state and the time to an event's content; None if there is nothing to record."""


FAIR = 2
"""After losing this often against other writers, a writer keeps them waiting."""


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Log:
    """The record and events of one campaign in its store, and the state they add up to.

    With ``until``, an event number or a time, the log ends there and is read-only.

    Attributes
    ----------
    original : Table
    settings : dict
        What the campaign was created with.
    owns_store : bool
        Whether to close the store with the campaign.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        clock: Clock = utc_now,
        until: int | datetime | None = None,
        *,
        owns_store: bool = False,
    ) -> None:
        record = store.record(name)
        if digest(record.table) != record.digest:
            raise DataError(
                f"campaign {shorten(name)}: the original table is damaged; its SHA-256 is not the one "
                "recorded. Restore the store from a backup."
            )
        self.store = store
        self.name = name
        self.settings = current_settings(record.settings, name)
        self.created = record.created
        self.original = unpack(record.table)
        self.until = until
        self.owns_store = owns_store
        self._clock = self.clock_of(store, clock)
        self._warned = False
        self._state = State(self.original)
        self._whole = False  # whether all of the events read so far, and nothing else, are in the state
        self.refresh()

    @staticmethod
    def clock_of(store: Store, clock: Clock) -> Clock:
        """Return the clock to use: that of the store's server, if it has one and no other was given."""
        return getattr(store, "now", clock) if clock is utc_now else clock

    @property
    def state(self) -> State:
        """The state as of the last event that was read.

        If applying an event was interrupted, say by Ctrl-C, all events are read and applied again.
        """
        if not self._whole:
            state = State(self.original)
            for event in self.events():
                state.apply(event)
            self._state, self._whole = state, True
        return self._state

    @property
    def read_only(self) -> bool:
        """Whether this shows the campaign at some point in the past."""
        return self.until is not None

    def events(self, after: int = 0, most: int | None = None) -> Iterator[Event]:
        """Read the events numbered above ``after``, at most ``most``, up to the end of this log."""
        for stored in self.store.events(self.name, after, most):
            if isinstance(self.until, datetime) and stored.time > self.until:
                return
            if isinstance(self.until, int) and stored.number > self.until:
                return
            yield decode(stored)

    def refresh(self) -> bool:
        """Read new events, and return whether there were any. O(new events)."""
        before = self.state.number
        if not self.read_only:
            for event in self.events(after=before):
                self._apply(event)
        return self.state.number > before

    def newest(self) -> State:
        """Read new events, and return the state."""
        self.refresh()
        return self.state

    def close(self) -> None:
        """Close the store, if the campaign owns it."""
        if self.owns_store:
            self.store.close()

    def now(self) -> datetime:
        """Return the time for an event written now, in UTC; never before the last event."""
        last = self.state.time or self.created
        if isinstance(self.until, datetime):
            return max(last, self.until)
        if self.read_only:
            return last
        time = self._clock()
        if time.tzinfo is None:
            raise ParameterError(f"the clock must return times with a time zone; got {time!r}.")
        if last - time > AHEAD and not self._warned:
            self._warned = True
            warnings.warn(
                f"the last event of campaign {shorten(self.name)} is dated {last:%Y-%m-%d %H:%M} UTC, but "
                f"the clock says {time.astimezone(UTC):%Y-%m-%d %H:%M} UTC: one of the two clocks was wrong. "
                "Until then new events get the time of the last one, so leases do not end. Correct the clock "
                "that is wrong; cancel releases cells whose lease ends too late.",
                stacklevel=2,
            )
        return max(last, time.astimezone(UTC))

    def tables(self, numbers: list[int]) -> Iterator[Table]:
        """Yield the table as of each event number, in non-decreasing order; O(events) for past ones."""
        state, events = State(self.original), None
        for number in numbers:
            if number == self.state.table_number:
                yield self.state.table()
                continue
            events = self.events() if events is None else events
            while state.number < number:
                state.apply(next(events))
            yield state.table()

    def write(
        self,
        kind: type[Content],
        make: Make,
        *,
        who: str | None,
        key: str | None = None,
        request: Callable[[State], object] = lambda _: None,
    ) -> Event | None:
        """Append the event that ``make`` describes, of one kind, and return it; None if there is none.

        ``request`` returns plain data that distinguishes this request from others, given the newest state.

        If somebody else writes first, read the new events and call ``make`` again. Each failure means that
        another writer succeeded, so some writer always makes progress. After `FAIR` failures, nobody else may
        write until ``make`` is done, so that long work is not repeated forever. If the key was used by the
        same request, return that event; if by a different one, raise ConflictError.
        """
        if self.read_only:
            raise ParameterError(
                f"this is campaign {shorten(self.name)} as of event {self.state.number}, read-only. "
                "Open the campaign to write to it."
            )
        check_optional_text("who", who)
        check_optional_text("key", key)
        self.refresh()
        signature = None if key is None else fingerprint([kind.kind, request(self.state)])
        for attempt in itertools.count():
            conflict = None
            with self.store.alone(self.name) if attempt >= FAIR else nullcontext():
                if attempt >= FAIR:
                    self.refresh()
                if key is not None and key in self.state.keyed:
                    return _same(self.state.keyed[key], key, signature)
                event = self.sketch(make, who=who, key=key, signature=signature)
                if event is None:
                    return None
                try:
                    self.store.append(self.name, self.state.number, [encode(event)])
                except ConflictError as error:
                    conflict = error
            if conflict is None:  # and the event is on disk
                self._apply(event)
                return event
            if not self.refresh():
                raise conflict
        raise AssertionError

    def following(self) -> Event | None:
        """Return the event after the end of a replay; None if there is none, or it cannot be read."""
        stored = self.store.events(self.name, self.state.number, 1)
        try:
            return decode(stored[0]) if stored else None
        except DataError:
            return None

    def _apply(self, event: Event) -> None:
        state, self._whole = self.state, False
        state.apply(event)
        self._whole = True

    def sketch(
        self, make: Make, *, who: str | None, key: str | None = None, signature: str | None = None
    ) -> Event | None:
        """Return the next event without writing it."""
        time = self.now()
        content = make(self.state, time)
        if content is None:
            return None
        return Event(self.state.number + 1, time, who, key, signature, content)


def _same(event: Event, key: str, signature: str | None) -> Event:
    if event.request != signature:
        raise ConflictError(
            f"the key {shorten(key)} was used before, for a different request: event {event.number}, "
            f"{event.kind} at {event.time.isoformat()}. Use a new key."
        )
    return event


def check_moment(until: object) -> int | datetime:
    """Return an event number, or a time in UTC; ParameterError for anything else."""
    if isinstance(until, datetime) and until.tzinfo is not None:
        return until.astimezone(UTC)
    if isinstance(until, int) and not isinstance(until, bool) and until >= 0:
        return until
    raise ParameterError(
        f"{named('until')} must be an event number, or a time with a time zone; got {shorten(until)}."
    )


Library = Literal["pandas", "polars", "pyarrow"]
Record = dict[str, Any]

_FRAME = ("number", "time", "kind", "who", "row", "column", "value", "price", "worth", "round", "reason")


def records(events: Iterable[Event]) -> list[Record]:
    """Return each event as a dict: number, time, kind, who, key, and its content by name."""
    return [_record(event) for event in events]


def cell_frame(events: Iterable[Event], library: Library) -> Any:
    """Return a frame with one row per cell of each event; values are strings, as written."""
    import narwhals  # only when a frame is wanted

    if library not in get_args(Library):
        raise ParameterError(f"frame must be one of {', '.join(get_args(Library))}; got {library!r}.")
    require(library)
    lines = [line for event in events for line in _lines(event)]
    data = {name: [line.get(name) for line in lines] for name in _FRAME}
    return narwhals.from_dict(data, backend=library).to_native()


def _record(event: Event) -> Record:
    content = event.content
    record: Record = {
        "number": event.number,
        "time": event.time,
        "kind": event.kind,
        "who": event.who,
        "key": event.key,
        **content.to_json(),
    }
    if isinstance(content, Asked):
        del record["terms"]
        if content.wish is None:  # version 1 did not record it
            del record["wish"]
    if isinstance(content, Told):
        del record["stated"]
    if isinstance(content, Extended):
        del record["table"]
    elif hasattr(content, "cells"):
        record["cells"] = [cell._asdict() for cell in content.cells]
    return record


def _lines(event: Event) -> Iterator[Record]:
    record = _record(event)
    if isinstance(event.content, Corrected):
        cells = [{"row": record["row"], "column": record["column"], "value": record["new"]}]
    elif isinstance(event.content, Extended):
        cells = [{"row": row} for row in record["rows"]]
    elif isinstance(event.content, BudgetChanged):
        cells = [{"value": record["new"]}]
    else:
        cells = record.pop("cells", [{}])
    for cell in cells:
        line = {**record, **cell}
        if line.get("value") is not None:
            line["value"] = str(line["value"])
        yield line
