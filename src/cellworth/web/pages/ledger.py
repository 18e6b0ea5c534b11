"""The history: all events as lines, newest first, filtered by person, row, kind and day; and as a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from typing import Annotated, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.campaign.campaign_events import PricesChanged
from cellworth.prices import Prices
from cellworth.prices.money import add_up
from cellworth.report import LedgerEntry, ledger_csv, ledger_entries
from cellworth.table import Column
from cellworth.web.dependencies import CampaignName, PoolDep, require_role
from cellworth.web.pages.language import message
from cellworth.web.pages.page_layout import Head, head_of, show

router = APIRouter(include_in_schema=False)

A_PAGE = 50  # events
STEP = 500
"""Events looked through at once for those that fit a filter."""
MOST_STEPS = 200
MOST_CELLS = 20
"""Most values listed per event; the file has all of them."""
KINDS = {
    "asked": message("asked for"),
    "told": message("bought"),
    "refused": message("not available"),
    "corrected": message("corrected"),
    "contradicted": message("contradicted"),
    "cancelled": message("withdrawn"),
    "taken": message("taken"),
    "given back": message("given back"),
    "released": message("freed"),
    "extended": message("rows added"),
    "budget changed": message("budget changed"),
    "prices changed": message("prices changed"),
    "clock set": message("clock set"),
    "stage changed": message("closed, archived or opened"),
    "category added": message("category added"),
    "table moved": message("table moved"),
}


@dataclass(frozen=True)
class LedgerFilter:
    """Which events to show: by person, by a row they concern, by kind and by day (UTC).

    ``before`` is the number of the event after the first one shown, "" for the newest.
    """

    who: str = ""
    row: str = ""
    kind: str = ""
    day: str = ""
    before: str = ""

    def query(self, **other: object) -> str:
        """Return it as a URL query, with other fields added or replaced."""
        fields = {**asdict(self), **other}
        return urlencode({name: value for name, value in fields.items() if value not in ("", None)})

    @property
    def is_set(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.who or self.row or self.kind or self.day)

    def keeps(self, entry: LedgerEntry) -> bool:
        """Return whether to show an event."""
        return (
            (not self.who or (entry.who or "").casefold() == self.who.casefold())
            and (not self.kind or entry.kind == self.kind)
            and (not self.day or entry.time.date().isoformat() == self.day)
            and (not self.row or any(line.row.casefold() == self.row.casefold() for line in entry.lines))
        )


async def _filter(
    who: str = "", row: str = "", kind: str = "", day: str = "", before: str = ""
) -> LedgerFilter:
    shown = kind if kind in KINDS else ""
    return LedgerFilter(
        who.strip()[:200], row.strip()[:200], shown, _day(day), before if _fits(before) else ""
    )


LedgerDep = Annotated[LedgerFilter, Depends(_filter)]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _fits(text: str) -> bool:
    return text.isdecimal() and len(text) < 12


@dataclass(frozen=True)
class LedgerPage:
    """Some events, newest first, what each cost, and where the next page begins; None for the last.

    ``people`` are those who wrote them, ``columns`` those of the table, by name, ``prices`` the new ones of
    events that changed them, by event.
    """

    head: Head
    entries: list[tuple[LedgerEntry, float | None]]
    before: int | None
    people: list[str]
    columns: dict[str, Column]
    prices: dict[int, Prices]


def page_of(view: Campaign, chosen: LedgerFilter) -> LedgerPage:
    """Return a page of events; O(events looked through)."""
    head = head_of(view)
    before = int(chosen.before) if chosen.before else head.number + 1
    found: list[LedgerEntry] = []
    for entry in _backwards(view, min(before, head.number + 1)):
        if chosen.keeps(entry):
            found.append(entry)
        if len(found) > A_PAGE:
            break
    shown = found[:A_PAGE]
    people = sorted({entry.who for entry in found if entry.who})
    rest = shown[-1].number if len(found) > A_PAGE else None
    columns = {column.name: column for column in view.columns}
    prices = {entry.number: _prices_of(view, entry) for entry in shown if entry.kind == "prices changed"}
    return LedgerPage(head, [(entry, cost_of(entry)) for entry in shown], rest, people, columns, prices)


def _prices_of(view: Campaign, entry: LedgerEntry) -> Prices:
    [event] = view.events(entry.number - 1, 1)
    return Prices.from_dict(cast("PricesChanged", event.content).prices)


def _backwards(view: Campaign, before: int) -> Iterator[LedgerEntry]:
    for _ in range(MOST_STEPS):
        after = max(0, before - 1 - STEP)
        yield from reversed(ledger_entries(view, after, before - 1 - after))
        if after == 0:
            return
        before = after + 1


def cost_of(entry: LedgerEntry) -> float | None:
    """Return what the answers of an event cost; None for an event that cost nothing."""
    prices = [line.price for line in entry.lines if line.price is not None]
    return float(add_up(prices)) if prices else None


@router.get("/campaigns/{name}/ledger", dependencies=[require_role("read")], name="ledger")
async def ledger(request: Request, name: CampaignName, pool: PoolDep, chosen: LedgerDep) -> Response:
    """Show a page of events."""
    found = await pool.read(name, lambda view: page_of(view, chosen))
    return show(
        request,
        "ledger.html",
        found.head,
        tab="ledger",
        found=found,
        filter=chosen,
        kinds=KINDS,
        most=MOST_CELLS,
    )


@router.get("/campaigns/{name}/ledger.csv", dependencies=[require_role("read")], name="ledger_file")
async def ledger_file(name: CampaignName, pool: PoolDep, chosen: LedgerDep) -> Response:
    """Send all events that fit the filter as CSV, one line per value; formulas are escaped."""
    text = await pool.read(name, lambda view: ledger_csv(filter(chosen.keeps, ledger_entries(view))))
    headers = {"Content-Disposition": 'attachment; filename="ledger.csv"'}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")
