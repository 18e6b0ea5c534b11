"""Conversions for the wire: names as path segments, and library objects to and from JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import quote

from cellworth.campaign import Totals
from cellworth.campaign.answers import as_cells
from cellworth.campaign.leases import parse_lease
from cellworth.strategy import Purchase

Cells = Iterable[tuple[object, str] | Purchase]
Triples = Mapping[tuple[object, str], object] | Iterable[tuple[object, str, object]]
_TIMES = ("until", "held_until")
_ESCAPE = re.compile("~([0-9A-F]{2})")


@dataclass(frozen=True)
class RemoteTotals(Totals):
    """Money and cell counts of a campaign on a server; see `cellworth.campaign.Totals`."""

    name: str
    created: datetime
    strategy: str


@dataclass(frozen=True)
class RemoteSummary:
    """A summary computed by the server's worker.

    Attributes
    ----------
    what : str
    as_of : int or None
        The number of the event it describes; None if there is no summary yet.
    newest : int
        The number of the newest event.
    renewing : bool
        Whether a newer summary is on its way.
    error : str or None
        Why the last update failed, if it did.
    data : dict or None
    """

    what: str
    as_of: int | None
    newest: int
    renewing: bool
    error: str | None
    data: dict[str, Any] | None


def segment(name: str) -> str:
    """Encode any name as one segment of a URL path.

    Servers decode URLs before splitting paths, and some decode them twice, so slashes get an escape of their
    own.

    >>> segment("a study"), segment("a/b"), segment("..")
    ('a%20study', 'a~2Fb', '~2E~2E')
    """
    inner = name.replace("~", "~7E").replace("/", "~2F")
    if name in (".", ".."):
        inner = name.replace(".", "~2E")
    return quote(inner, safe="~", errors="replace")


def name_of(part: str) -> str:
    """Return the name that `segment` encoded, from a URL-decoded segment.

    >>> name_of("a~2Fb"), name_of("study")
    ('a/b', 'study')
    """
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), part)


def purchase_from_json(plain: Mapping[str, Any]) -> Purchase:
    """Return a purchase from its JSON."""
    times = {name: plain[name] and datetime.fromisoformat(plain[name]) for name in _TIMES}
    return Purchase(**{**plain, **times})


def totals_from_json(plain: Mapping[str, Any]) -> RemoteTotals:
    """Return totals from their JSON."""
    return RemoteTotals(**{**plain, "created": datetime.fromisoformat(plain["created"])})


def event_from_json(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event from its JSON."""
    return {**plain, "time": datetime.fromisoformat(plain["time"])}


def cells_to_json(cells: Cells) -> list[dict[str, object]]:
    """Return cells as JSON."""
    return [{"row": str(row), "column": column} for row, column in as_cells(cells)]


def answers_to_json(answers: Triples) -> list[dict[str, object]]:
    """Return answers as JSON, with dates as ISO strings."""
    triples: Iterator[Any]
    if isinstance(answers, Mapping):
        triples = ((row, column, value) for (row, column), value in answers.items())
    else:
        triples = iter(answers)
    return [
        {"row": str(row), "column": column, "value": value_to_json(value)} for row, column, value in triples
    ]


def value_to_json(value: Any) -> Any:
    """Return a value as JSON: dates as ISO strings, and NumPy scalars as Python numbers."""
    if isinstance(value, date):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def lease_to_json(lease: str | timedelta | None) -> str | None:
    """Return a lease as JSON."""
    span = parse_lease(lease)
    return None if span is None else f"{span.total_seconds() / 60:f}m"
