"""A campaign's log: read it, fold it into a state, append to it alongside other writers, and show it."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from cellworth.campaign.campaign_events import ClockSet, check_open
from cellworth.campaign.cell_events import Asked
from cellworth.campaign.clock import clock_problem, may_lease
from cellworth.campaign.event_codec import Content, Event, check_optional_text, decode, encode, fingerprint
from cellworth.campaign.founding_table import unpack_founding
from cellworth.campaign.settings import current_settings
from cellworth.campaign.state import State
from cellworth.campaign.state_snapshots import NO_END, Snapshots, StateSnapshot
from cellworth.campaign.stores.store_protocol import Store, StoredEvent
from cellworth.campaign.table_codec import digest
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.messages import shorten
from cellworth.optional_packages import require
from cellworth.prices import Prices
from cellworth.setting_names import named

Clock = Callable[[], datetime]
Make = Callable[[State, datetime], Content | None]
"""Maps the newest state and the time to an event's content; None if there is nothing to record."""


PAGE = 10_000
"""Events read at a time, so that memory does not grow with their number."""
FAIR = 2
"""After losing this often against other writers, an ask keeps them waiting; anything else after one loss."""


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Log:
    """The record and events of one campaign in its store, and the state they add up to.

    With ``until``, an event number or a time, the log ends there and is read-only. A founding table in row
    blocks is processed on ``engine``, by default threads of this process.

    Attributes
    ----------
    founding : FoundingTable
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
        engine: Any = None,
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
        self.founding = unpack_founding(record.table, engine)
        self.until = until
        self._end = _last_number(store, name, until) if isinstance(until, datetime) else until
        self.owns_store = owns_store
        self._clock = self.clock_of(store, clock)
        self._warned = False
        self._still = False
        self._snapshots = Snapshots(store, name, self.founding)
        self._state = State(self.founding)
        self._whole = False  # whether all of the events read so far, and nothing else, are in the state
        self.refresh()

    @property
    def original(self) -> Any:
        """The table that the campaign started with: a `Table`, or a `BlockTable`."""
        return self.founding.table

    @staticmethod
    def clock_of(store: Store, clock: Clock) -> Clock:
        """Return the clock to use: that of the store's server, if it has one and no other was given."""
        return getattr(store, "now", clock) if clock is utc_now else clock

    @property
    def state(self) -> State:
        """The state as of the last event that was read.

        If applying an event was interrupted, say by Ctrl-C, begin again with a snapshot and the events since.
        """
        if not self._whole:
            state = self._snapshots.newest(NO_END if self._end is None else self._end)
            self._snapshots.restart()
            for event in self.events(after=state.number):
                state.apply(event)
                self._snapshots.count(event)
            self._state, self._whole = state, True
        return self._state

    @property
    def read_only(self) -> bool:
        """Whether this shows the campaign at some point in the past."""
        return self.until is not None

    def events(self, after: int = 0, most: int | None = None) -> Iterator[Event]:
        """Read the events numbered above ``after``, at most ``most``, up to the end of this log."""
        return map(decode, self._stored(after, most))

    def _stored(self, after: int, most: int | None = None) -> Iterator[StoredEvent]:
        end = NO_END if self._end is None else self._end
        return _paged(self.store, self.name, after, end if most is None else min(end, max(after, 0) + most))

    def refresh(self) -> bool:
        """Read new events, and return whether there were any. O(new events)."""
        before = self.state.number
        if not self.read_only:
            for stored in self._stored(after=before):
                self._snapshots.look_at(stored)
                self._apply(decode(stored))
        return self.state.number > before

    def newest(self) -> State:
        """Read new events, unless time stands still, and return the state."""
        if not self._still:
            self.refresh()
        return self.state

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Read new events once, and none in what follows: all that is read then is as of one event."""
        self.refresh()
        self._still = True
        try:
            yield
        finally:
            self._still = False

    def close(self) -> None:
        """Close the store, if the campaign owns it."""
        if self.owns_store:
            self.store.close()

    def now(self) -> datetime:
        """Return the time for an event written now, in UTC; never before the last event."""
        last = self.last_time
        if isinstance(self.until, datetime):
            return max(last, self.until)
        if self.read_only:
            return last
        time = self.clock_time()
        if time < last and not self._warned and (problem := clock_problem(self.name, last, time)):
            self._warned = True
            warnings.warn(problem, stacklevel=2)
        return max(last, time)

    @property
    def last_time(self) -> datetime:
        """The time of the last event; before the first, that of the beginning."""
        return self.state.time or self.created

    def clock_time(self) -> datetime:
        """Return the time by the clock, in UTC."""
        time = self._clock()
        if time.tzinfo is None:
            raise ParameterError(f"the clock must return times with a time zone; got {time!r}.")
        return time.astimezone(UTC)

    def check_clock(self) -> None:
        """Raise ConflictError if the clock may not date a lease; warn if it is odd. See `may_lease`."""
        if self.read_only:
            return
        self.refresh()
        last, time = self.last_time, self.clock_time()
        if not may_lease(last, time, ends_leases=self.state.open.ends_between(last, time)):
            raise ConflictError(clock_problem(self.name, last, time))
        if time > last and (problem := clock_problem(self.name, last, time)):
            warnings.warn(problem, stacklevel=3)

    def tables(self, numbers: list[int]) -> Iterator[Any]:
        """Yield the table as of each event number, in non-decreasing order; O(events) for past ones."""
        state: State | None = None
        events: Iterator[Event] = iter(())
        for number in numbers:
            if number == self.state.table_number:
                yield self.state.table()
                continue
            if state is None:
                state = self._snapshots.newest(number)
                events = self.events(after=state.number)
            while state.number < number:
                state.apply(next(events))
            yield state.table()

    @property
    def sample_words(self) -> str:
        """Nothing: this is the log of all rows, not of a sample."""
        return ""

    def prices_of(self, prices: Prices) -> Prices:
        """Return the prices of the rows of this log: of all rows."""
        return prices

    def purchases_by(self) -> dict[int, tuple[float, int]] | None:
        """Return None: what was spent, and on how many cells, is in the events themselves."""
        return None

    def state_at(self, number: int) -> State:
        """Return the state after an event."""
        return Log(self.store, self.name, until=number).state

    def keyed(self, key: str) -> Event | None:
        """Return the event with a key; None if there is none. One or two queries."""
        number = self.store.number_of(self.name, key)
        return None if number is None else next(self.events(number - 1, 1), None)

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
        another writer succeeded, so some writer always makes progress. After one failure (`FAIR` for an ask),
        nobody else may write until ``make`` is done, so that long work is not repeated forever. If the key
        was used by the same request, return that event; if by a different one, raise ConflictError.
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
        losses = FAIR if kind is Asked else 1
        for attempt in itertools.count():
            conflict = None
            with self.store.alone(self.name) if attempt >= losses else nullcontext():
                if attempt >= losses:
                    self.refresh()
                known = None if key is None else self.keyed(key)
                if known is not None:
                    return _same(known, str(key), signature)
                check_open(self.name, self.state, kind)
                event = self.sketch(make, who=who, key=key, signature=signature)
                if event is None:
                    return None
                snapshot = self._due_snapshot()
                stored = encode(event) if snapshot is None else snapshot.stated_in(encode(event))
                try:
                    self.store.append(self.name, self.state.number, [stored])
                except ConflictError as error:
                    conflict = error
            if conflict is None:  # and the event is on disk
                self._apply(event)
                if snapshot is not None:
                    self._snapshots.save(snapshot, event.number)
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
        self._snapshots.count(event)
        self._whole = True

    def _due_snapshot(self) -> StateSnapshot | None:
        """Return the snapshot that the next event is to state, if one is due."""
        state, self._whole = self.state, False  # making it rearranges the state
        snapshot = self._snapshots.due(state)
        self._whole = True
        return snapshot

    def sketch(
        self, make: Make, *, who: str | None, key: str | None = None, signature: str | None = None
    ) -> Event | None:
        """Return the next event without writing it."""
        time = self.now()
        content = make(self.state, time)
        if content is None:
            return None
        if isinstance(content, ClockSet):  # the only event that may be dated before the last one
            time = self.last_time - timedelta(seconds=content.back)
        rows = self.state.index.rows.unstated(line.row for line in content.lines())
        return Event(self.state.number + 1, time, who, key, signature, content, rows)


def _paged(store: Store, name: str, after: int = 0, end: int = NO_END) -> Iterator[StoredEvent]:
    """Read the events numbered above ``after``, up to number ``end``, page by page."""
    while after < end:
        page = store.events(name, after, min(PAGE, end - max(after, 0)))
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].number


def _last_number(store: Store, name: str, until: datetime) -> int:
    """Return the number of the last event dated at or before a time; 0 if there is none. O(events)."""
    return max((event.number for event in _paged(store, name) if event.time <= until), default=0)


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
    envelope = {name: getattr(event, name) for name in ("number", "time", "kind", "who", "key")}
    return {**envelope, **event.content.shown()}


def _lines(event: Event) -> Iterator[Record]:
    record = _record(event)
    if event.content.whole:
        yield {**record, "value": _text(record.get("new"))}
        return
    for line in event.content.lines():
        yield {**record, **line._asdict(), "column": line.column or None, "value": _text(line.value)}


def _text(value: object) -> str | None:
    return None if value is None else str(value)
