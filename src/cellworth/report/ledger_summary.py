"""The ledger: who did what, when, to which cells, at what price; for pages, the report and CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from cellworth.campaign import Campaign
from cellworth.campaign.events import (
    Asked,
    BudgetChanged,
    ClockSet,
    Content,
    Contradicted,
    Corrected,
    Extended,
    PricesChanged,
    StageChanged,
    Told,
)
from cellworth.prices import Prices
from cellworth.prices.currency import money_text
from cellworth.table.csv_format import csv_text, guard

FIELDS = ("event", "time", "who", "what", "row", "column", "value", "old value", "price", "reason")
_WORDS = {
    "asked": "asked for",
    "told": "bought",
    "refused": "refused",
    "cancelled": "withdrawn",
    "corrected": "corrected",
    "extended": "row added",
    "taken": "taken",
    "given back": "given back",
    "budget changed": "budget changed",
    "prices changed": "prices changed",
    "contradicted": "contradicted",
    "released": "taken back",
    "clock set": "clock set",
    "stage changed": "stage changed",
}


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
            _WORDS[event.kind],
            getattr(event.content, "reason", None),
            tuple(_lines(event.content)),
            _change(event.content, currency),
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


def _lines(content: Content) -> Iterator[LedgerLine]:
    match content:
        case Corrected():
            yield LedgerLine(content.row, content.column, content.new, content.old)
        case Extended():
            yield from map(LedgerLine, content.rows)
        case Told():
            yield from (LedgerLine(*cell[:3], price=cell.price) for cell in content.cells)
        case Asked():
            yield from (LedgerLine(*cell[:2], price=cell.price) for cell in content.cells)
        case Contradicted():
            yield from (LedgerLine(*cell) for cell in content.cells)
        case BudgetChanged() | PricesChanged() | ClockSet() | StageChanged():
            pass
        case _:
            yield from (LedgerLine(*cell) for cell in content.cells)


def _change(content: Content, currency: str | None) -> str | None:
    match content:
        case BudgetChanged(old=old, new=new):
            before, after = (
                "no limit" if each is None else money_text(each, currency) for each in (old, new)
            )
            return f"from {before} to {after}"
        case ClockSet(back=back):
            return f"{'back' if back > 0 else 'forward'} by {timedelta(seconds=round(abs(back)))}"
        case StageChanged(old=old, new=new):
            return f"from {old} to {new}"
        case PricesChanged(prices=prices):
            return repr(Prices.from_dict(prices))
        case _:
            return None


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
