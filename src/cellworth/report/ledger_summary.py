"""The ledger: who did what, when, to which cells, at what price; for pages, the report and CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from cellworth.campaign import Campaign
from cellworth.table.write_csv import csv_text, guard

FIELDS = ("event", "time", "who", "what", "row", "column", "value", "old value", "price", "reason")


@dataclass(frozen=True)
class LedgerLine:
    """What an event says about a cell, or about an added row, which has no column.

    Attributes
    ----------
    row, column : str
    value, old : object
        The value told or corrected, and the one it replaces, or the one known that it contradicts.
    price : float or None
    """

    row: str
    column: str = ""
    value: object = None
    old: object = None
    price: float | None = None


@dataclass(frozen=True)
class LedgerEntry:
    """One event.

    Attributes
    ----------
    number : int
    time : datetime
    who : str or None
    kind : str
        As in the log, such as "told".
    what : str
        The kind in everyday words, such as "bought".
    reason : str or None
    lines : tuple of LedgerLine
        Empty if the event concerns the whole campaign.
    change : str or None
        What an event that concerns the whole campaign changed.
    """

    number: int
    time: datetime
    who: str | None
    kind: str
    what: str
    reason: str | None
    lines: tuple[LedgerLine, ...]
    change: str | None = None


def ledger_entries(campaign: Campaign, after: int = 0, most: int | None = None) -> list[LedgerEntry]:
    """Return the events after a number, oldest first, at most ``most``."""
    currency = campaign.prices.currency
    return [
        LedgerEntry(
            event.number,
            event.time,
            event.who,
            event.kind,
            event.content.words,
            getattr(event.content, "reason", None),
            tuple(LedgerLine(*line[:5]) for line in event.content.lines()),
            event.content.change(currency),
        )
        for event in campaign.events(after, most)
    ]


def ledger_csv(entries: Iterable[LedgerEntry]) -> str:
    """Return entries as CSV, one line per cell or change; text that looks like a formula is escaped."""
    return csv_text([FIELDS, *(fields for entry in entries for fields in _csv_lines(entry))])


def ledger_rows(entries: Iterable[LedgerEntry]) -> Iterator[list[str | None]]:
    """Yield `FIELDS`, and one row of texts per cell or change, as they are; None where there is nothing."""
    yield list(FIELDS)
    for entry in entries:
        start = [str(entry.number), entry.time.isoformat(timespec="seconds"), entry.who, entry.what]
        for line in entry.lines:
            values = (line.row, line.column, line.value, line.old, line.price)
            yield [*start, *(None if each is None else str(each) for each in values), entry.reason]
        if entry.change is not None:
            yield [*start, None, None, entry.change, None, None, entry.reason]


def _csv_lines(entry: LedgerEntry) -> Iterator[list[str]]:
    start = [str(entry.number), entry.time.isoformat(timespec="seconds"), guard(entry.who or ""), entry.what]
    for line in entry.lines:
        values = (line.row, line.column, line.value, line.old, line.price)
        yield [*start, *map(_safe, values), guard(entry.reason or "")]
    if entry.change is not None:
        yield [*start, "", "", guard(entry.change), "", "", guard(entry.reason or "")]


def _safe(value: object) -> str:
    """Format a value; numbers keep their sign, and text that starts like a formula gets an apostrophe."""
    if value is None:
        return ""
    return guard(value) if isinstance(value, str) else str(value)
