"""What the client sends and receives: library objects to and from plain data, and problems as errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import httpx

from cellworth.campaign import Totals
from cellworth.campaign.answers import answers_in_frame, as_cells
from cellworth.campaign.leases import parse_lease
from cellworth.errors import AccessError, ConflictError, DataError, ServerError
from cellworth.strategy import Purchase
from cellworth.table.frames import library_of

Cells = Iterable[tuple[object, str] | Purchase]
Triples = Mapping[tuple[object, str], object] | Iterable[tuple[object, str, object]]
_TIMES = ("until", "held_until")


@dataclass(frozen=True)
class RemoteTotals(Totals):
    """Money and cell counts of a campaign on a server; see `cellworth.campaign.Totals`."""

    name: str
    created: datetime
    strategy: str
    stage: str


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
    """Return answers as JSON, with dates as ISO strings; lines of a frame without a value are left out."""
    triples: Iterator[Any]
    if library_of(answers) is not None:
        triples = iter(answers_in_frame(answers))
    elif isinstance(answers, Mapping):
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


def checked(response: httpx.Response) -> httpx.Response:
    """Return a response, or raise its problem as the error the library would raise."""
    if response.is_success:
        return response
    try:
        detail = str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):  # not from our server but, say, from a proxy
        detail = f"the server answered {response.status_code}."
    status = response.status_code
    if status == 409:
        raise ConflictError(detail)
    if status in (401, 403, 421):
        raise AccessError(detail)
    raise (ServerError if status >= 500 else DataError)(detail)
