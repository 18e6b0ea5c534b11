"""A campaign's log: read on, fold, write at the end whoever else is writing, and show as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from cellworth.campaign.events import (
    Content,
    Corrected,
    Event,
    Extended,
    check_optional_text,
    decode,
    encode,
    fingerprint,
)
from cellworth.campaign.state import State
from cellworth.campaign.stores.store_protocol import Store
from cellworth.campaign.table_bytes import digest, unpack
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.messages import shorten
from cellworth.optional_packages import require
from cellworth.table import Table

Clock = Callable[[], datetime]
Make = Callable[[State, datetime], Content | None]
"""From the newest state and the time to what happens; None if there is nothing to record."""


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


class Log:
    """The record and the events of one campaign in its store, and the state that they add up to.

    With ``until``, a number or a time, it ends there: it is never read further, and nothing can be written.

    Attributes
    ----------
    original : Table
    settings : dict
        What the campaign was created with.
    state : State
        As of the last event that was read.
    owns_store : bool
        Whether the store is to be closed with the campaign.
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
                f"campaign {shorten(name)}: the original table is damaged, its SHA-256 is not the one that "
                "was recorded. Restore the store from a copy."
            )
        self.store = store
        self.name = name
        self.settings = record.settings
        self.created = record.created
        self.original = unpack(record.table)
        self.until = until
        self.owns_store = owns_store
        self._clock = clock
        self.state = State(self.original)
        for event in self.events():
            self.state.apply(event)

    @property
    def read_only(self) -> bool:
        """Whether this is the campaign as of some time in the past."""
        return self.until is not None

    def events(self, after: int = 0, most: int | None = None) -> Iterator[Event]:
        """Read the events above a number, ``most`` of them at most, up to the end of this log."""
        for stored in self.store.events(self.name, after, most):
            if isinstance(self.until, datetime) and stored.time > self.until:
                return
            if isinstance(self.until, int) and stored.number > self.until:
                return
            yield decode(stored)

    def refresh(self) -> bool:
        """Read on; say whether there was anything new. O(new events)."""
        before = self.state.number
        if not self.read_only:
            for event in self.events(after=before):
                self.state.apply(event)
        return self.state.number > before

    def newest(self) -> State:
        """Read on, and return the state."""
        self.refresh()
        return self.state

    def close(self) -> None:
        """Let go of the store, if it is to be closed with the campaign."""
        if self.owns_store:
            self.store.close()

    def now(self) -> datetime:
        """Return the time of an event that is written now, in UTC; never before the last one."""
        last = self.state.time or self.created
        if isinstance(self.until, datetime):
            return max(last, self.until)
        if self.read_only:
            return last
        time = self._clock()
        if time.tzinfo is None:
            raise ParameterError(f"the clock must give times with a time zone; got {time!r}.")
        return max(last, time.astimezone(UTC))

    def tables(self, numbers: list[int]) -> Iterator[Table]:
        """Yield the table as of each event number, which must not fall; O(events) for those of the past."""
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
        """Append what ``make`` says, of one kind, and return it; None if there is nothing to record.

        ``request`` gives plain data that tell this request from others, by the newest state.

        If somebody else writes first, read on and let ``make`` say it again. Each failure means that another
        writer succeeded, so that of any number of writers one always gets on. A key that is taken by the
        same request gives its event; by another one, ConflictError.
        """
        if self.read_only:
            raise ParameterError(
                f"this is campaign {shorten(self.name)} as of event {self.state.number}, for looking only. "
                "Open the campaign to write to it."
            )
        check_optional_text("who", who)
        check_optional_text("key", key)
        self.refresh()
        signature = None if key is None else fingerprint([kind.kind, request(self.state)])
        while True:
            if key is not None and key in self.state.keyed:
                return _same(self.state.keyed[key], key, signature)
            event = self.sketch(make, who=who, key=key, signature=signature)
            if event is None:
                return None
            try:
                self.store.append(self.name, self.state.number, [encode(event)])
            except ConflictError:
                if not self.refresh():
                    raise
                continue
            self.state.apply(event)
            return event

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
            f"the key {shorten(key)} was used before, for something else: event {event.number}, "
            f"{event.kind} at {event.time.isoformat()}. Use a new key."
        )
    return event


def check_moment(until: object) -> int | datetime:
    """Return the number of an event, or a time in UTC."""
    if isinstance(until, datetime) and until.tzinfo is not None:
        return until.astimezone(UTC)
    if isinstance(until, int) and not isinstance(until, bool) and until >= 0:
        return until
    raise ParameterError(
        f"until must be the number of an event, or a time with its time zone; got {shorten(until)}."
    )


Library = Literal["pandas", "polars", "pyarrow"]
Record = dict[str, Any]

_FRAME = ("number", "time", "kind", "who", "row", "column", "value", "price", "worth", "round", "reason")


def records(events: Iterable[Event]) -> list[Record]:
    """Return each event as a dict: number, time, kind, who, key, and what it holds by name."""
    return [_record(event) for event in events]


def cell_frame(events: Iterable[Event], library: Library) -> Any:
    """Return a frame with a line for each cell of each event; values are texts, as they were written."""
    import narwhals  # only where a frame is wanted

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
    if isinstance(content, Extended):
        del record["table"]
    elif not isinstance(content, Corrected):
        record["cells"] = [cell._asdict() for cell in content.cells]
    return record


def _lines(event: Event) -> Iterator[Record]:
    record = _record(event)
    if isinstance(event.content, Corrected):
        cells = [{"row": record["row"], "column": record["column"], "value": record["new"]}]
    elif isinstance(event.content, Extended):
        cells = [{"row": row} for row in record["rows"]]
    else:
        cells = record.pop("cells")
    for cell in cells:
        line = {**record, **cell}
        if line.get("value") is not None:
            line["value"] = str(line["value"])
        yield line
