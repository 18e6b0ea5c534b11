"""Check, back up, restore, and move whole campaigns: between files, servers and plain text.

A campaign is copied with its record and all its events. Its fingerprint, the last link of its chain of
checksums (see `cellworth.campaign.stores.checksums`), is the same wherever it is kept; every copy is compared
with its source by it. Caches and snapshots are left behind: they only save time.
"""

from __future__ import annotations

import base64
import gzip
import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO, cast

from cellworth.campaign.clock import clock_problem, late_leases
from cellworth.campaign.event_codec import decode
from cellworth.campaign.founding_table import unpack_founding
from cellworth.campaign.log import Log, utc_now
from cellworth.campaign.settings import current_settings
from cellworth.campaign.state import State
from cellworth.campaign.state_snapshots import SnapshotAudit
from cellworth.campaign.stores import CampaignRecord, Store, StoredEvent, open_store
from cellworth.campaign.stores.checksums import HOW_TO_GO_ON, chained, seal_of
from cellworth.campaign.stores.store_protocol import event_rows, record_row
from cellworth.errors import ConflictError, DataError
from cellworth.messages import listing, shorten

_PAGE = 1000  # events read at a time
_KIND, _VERSION = "cellworth campaign", 1


@dataclass(frozen=True)
class CheckedCampaign:
    """What a check of a campaign found.

    Attributes
    ----------
    name : str
    events : int
        How many events are intact, from the first one on.
    fingerprint : str
        The link of the last intact event; of the settings if there is none.
    problem : str or None
        What is wrong with the next event or with the settings; None if the whole campaign is intact.
    note : str or None
        What is odd about the times of an intact campaign: a clock was wrong, or leases end late.
    log_intact : bool
        Whether the problem, if there is one, is that of a table in files of its own: all events are intact.
    """

    name: str
    events: int
    fingerprint: str
    problem: str | None
    note: str | None = None
    log_intact: bool = False


class EventsOf:
    """The events of a campaign up to ``until``, read page by page each time they are iterated."""

    def __init__(self, store: Store, name: str, until: int | None = None) -> None:
        self._store = store
        self._name = name
        self._until = until

    def __iter__(self) -> Iterator[StoredEvent]:
        number, most = 0, _PAGE
        while self._until is None or number < self._until:
            left = most if self._until is None else min(most, self._until - number)
            try:
                page = self._store.events(self._name, number, left)
            except DataError:
                if left == 1:
                    raise
                most = 1  # something in this page is damaged: get as far as possible
                continue
            yield from page
            if not page:
                return
            number = page[-1].number


def check_campaign(store: Store, name: str, *, with_table: bool = True) -> CheckedCampaign:
    """Read a whole campaign, verify every checksum, and apply every event to its table; O(n p + events).

    A table in row blocks is not in the store; its files are verified, too, unless ``with_table`` is False.
    """
    number, chain, log_intact = 0, "", False
    try:
        record = store.record(name)
        chain = seal_of(record_row(record, ""))
        current_settings(record.settings, name)
        founding = unpack_founding(record.table)
        state, audit = State(founding), SnapshotAudit(store, name)
        for event in EventsOf(store, name):
            audit.check(event)
            _apply(state, event)
            audit.note(state)
            number, chain = event.number, _link(name, event, chain)
        log_intact = True
        if with_table:
            founding.check_at(founding.place, thorough=True)
    except DataError as error:
        problem = str(error).replace(HOW_TO_GO_ON, "Restore the store from a backup.")
        return CheckedCampaign(name, number, chain, problem, log_intact=log_intact)
    note = _odd_times(name, state, record, Log.clock_of(store, utc_now)())
    return CheckedCampaign(name, number, chain, None, note)


def _odd_times(name: str, state: State, record: CampaignRecord, now: datetime) -> str | None:
    ends = [ask.until for ask in state.open.asked.values() if ask.until is not None]
    ends += [hold.until for hold in state.open.held.values()]
    last = state.time or record.created
    found = [clock_problem(name, last, now) if last > now else None, late_leases(ends, max(last, now))]
    return " ".join(each for each in found if each is not None) or None


def copy_campaigns(
    source: Store, target: Store, *, name: str | None = None, until: int | None = None
) -> list[CheckedCampaign]:
    """Copy all campaigns of a store, or one, into another store, and return what was copied.

    With ``until``, only the events up to that number, as to save the intact beginning of a damaged campaign.
    Each campaign is copied as a whole or not at all; nothing is copied if a name is taken (ConflictError).
    """
    names = source.names() if name is None else [name]
    if not names:
        raise DataError("the store has no campaigns, so there is nothing to copy. Check its address.")
    taken = sorted(set(names) & set(target.names()))
    if taken:
        raise ConflictError(
            f"the store already has {listing(taken)}, and nothing is overwritten. Restore into a new store, "
            "or move the old one away first."
        )
    copied = []
    for each in names:
        target.create(source.record(each), EventsOf(source, each, until))
        copied.append(_compared(source, target, each, until))
    return copied


def backup(
    store: str | Path, path: str | Path, *, name: str | None = None, until: int | None = None
) -> list[CheckedCampaign]:
    """Copy a store, while others write to it, into a new SQLite file, which is a store itself.

    See `copy_campaigns`. Every checksum is verified; if any is wrong, no file is made.
    """
    out = Path(path)
    if out.exists():
        raise DataError(f"{out} already exists, and nothing is overwritten. Give another name.")
    draft = out.with_name(f".{out.stem}-{uuid.uuid4().hex}.db")
    try:
        copied = restore(store, draft, name=name, until=until)
        if draft.exists():
            draft.rename(out)
    finally:
        for suffix in ("", "-wal", "-shm"):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)
    return copied


def restore(
    source: str | Path, store: str | Path, *, name: str | None = None, until: int | None = None
) -> list[CheckedCampaign]:
    """Copy the campaigns of a backup, or of any store, into a store of either kind; see `copy_campaigns`."""
    with ExitStack() as stack:
        one = open_store(source)
        stack.callback(one.close)
        other = open_store(store)
        stack.callback(other.close)
        return copy_campaigns(one, other, name=name, until=until)


def dump(store: Store, name: str, path: str | Path, *, until: int | None = None) -> CheckedCampaign:
    """Write a campaign as plain text: JSON lines, of which the first is its record and each other an event.

    The file ends in .jsonl or .jsonl.gz, and must not exist. The last line states the number of events and
    the fingerprint, by which `load` notices a damaged or shortened file.
    """
    out = Path(path)
    record = store.record(name)
    row = record_row(record, "")
    number, chain = 0, seal_of(row)
    try:
        with _text_file(out, "x") as file:
            about: dict[str, Any] = {"kind": _KIND, "version": _VERSION, "name": name}
            about |= {"created": row["created"], "settings": record.settings, "digest": record.digest}
            _write_line(file, about | {"table": base64.b64encode(record.table).decode("ascii")})
            for event in EventsOf(store, name, until):
                number, chain = event.number, _link(name, event, chain)
                _write_line(file, asdict(event) | {"time": event.time.isoformat(timespec="microseconds")})
            _write_line(file, {"events": number, "fingerprint": chain})
    except FileExistsError:
        raise DataError(f"{out} already exists, and nothing is overwritten. Give another name.") from None
    except BaseException:
        out.unlink(missing_ok=True)
        raise
    return CheckedCampaign(name, number, chain, None)


def load(path: str | Path, store: Store, *, name: str | None = None) -> CheckedCampaign:
    """Create the campaign in a file that `dump` wrote, by default under its own name; all or nothing.

    Raises DataError, naming the line, if the file is damaged, and ConflictError if the name is taken.
    """
    file = _DumpedCampaign(Path(path))
    checked = file.check()
    record = file.record if name is None else replace(file.record, name=name)
    store.create(record, file)
    return replace(checked, name=record.name)


class _DumpedCampaign:
    """A campaign in a file of JSON lines; its events are read anew each time they are iterated."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._errors(1), _text_file(path, "r") as file:
            about = json.loads(file.readline())
            if about["kind"] != _KIND or about["version"] != _VERSION:
                raise ValueError(f"expected a {_KIND} of version {_VERSION}")
            table = base64.b64decode(about["table"], validate=True)
            created = datetime.fromisoformat(about["created"])
            self.record = CampaignRecord(about["name"], created, about["settings"], table, about["digest"])

    def __iter__(self) -> Iterator[StoredEvent]:
        return (event for event, _ in self._lines() if isinstance(event, StoredEvent))

    def check(self) -> CheckedCampaign:
        """Verify the whole file; a DataError names its first wrong line."""
        with self._errors(1):
            number, chain = 0, seal_of(record_row(self.record, ""))
            state = State(unpack_founding(self.record.table))
        stated: dict[str, Any] | None = None
        for event, line in self._lines():
            with self._errors(line):
                if isinstance(event, dict):
                    stated = event
                else:
                    chain = _link(self.record.name, event, chain, number)
                    number = event.number
                    _apply(state, event)
        if stated != {"events": number, "fingerprint": chain}:
            raise DataError(
                f"{self._path} is damaged: its events do not add up to the fingerprint on its last line. Use "
                "another copy."
            )
        return CheckedCampaign(self.record.name, number, chain, None)

    def _lines(self) -> Iterator[tuple[StoredEvent | dict[str, Any], int]]:
        with _text_file(self._path, "r") as file:
            number = 1
            while True:
                number += 1
                with self._errors(number):
                    text = file.readline() if number > 2 else (file.readline(), file.readline())[1]
                    if not text:
                        return
                    line = json.loads(text)
                    if "fingerprint" not in line:
                        line = StoredEvent(**(line | {"time": datetime.fromisoformat(line["time"])}))
                yield line, number

    def _errors(self, line: int) -> _Blame:
        return _Blame(self._path, line)


class _Blame:
    """Turns whatever a damaged line raises into a DataError that names the line."""

    def __init__(self, path: Path, line: int) -> None:
        self._where = f"{path}, line {line}"

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, FileNotFoundError):
            return
        if isinstance(error, DataError | LookupError | TypeError | ValueError | EOFError | OSError):
            raise DataError(f"{self._where} is damaged ({error}). Use another copy.") from error


def _apply(state: State, event: StoredEvent) -> None:
    try:
        state.apply(decode(event))
    except (LookupError, TypeError, ValueError) as error:  # DataError among them
        raise DataError(f"event {event.number} ({event.kind}) does not fit the table: {error}") from error


def _link(name: str, event: StoredEvent, before: str, after: int | None = None) -> str:
    after = event.number - 1 if after is None else after
    return chained(event_rows(name, after, [event], ""), before)


def _compared(source: Store, target: Store, name: str, until: int | None) -> CheckedCampaign:
    """Compare a copy with its source, which may have grown meanwhile."""
    checked = check_campaign(target, name, with_table=False)
    if checked.problem is not None:
        raise DataError(f"The copy of campaign {shorten(name)} is damaged: {checked.problem}")
    chain = seal_of(record_row(source.record(name), ""))
    for event in EventsOf(source, name, checked.events):
        chain = _link(name, event, chain)
    if chain != checked.fingerprint or (until is not None and checked.events > until):
        raise DataError(f"The copy of campaign {shorten(name)} differs from its source. Copy it again.")
    return checked


def _write_line(file: TextIO, line: dict[str, Any]) -> None:
    file.write(json.dumps(line) + "\n")


def _text_file(path: Path, mode: str) -> TextIO:
    if path.name.endswith(".jsonl.gz"):
        return cast(TextIO, gzip.open(path, f"{mode}t", encoding="ascii"))
    if path.suffix != ".jsonl":
        raise DataError(f"expected a file that ends in .jsonl or .jsonl.gz; got {path}.")
    return cast(TextIO, path.open(mode, encoding="ascii"))
