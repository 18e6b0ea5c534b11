"""What comes over the line, as objects of the library, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import httpx

from cellworth.campaign import Tally
from cellworth.campaign.answers import as_cells
from cellworth.campaign.lease import parse_lease
from cellworth.errors import AccessError, ConflictError, DataError, ServerError
from cellworth.strategy import Purchase

Cells = Iterable[tuple[object, str] | Purchase]
Triples = Mapping[tuple[object, str], object] | Iterable[tuple[object, str, object]]
_TIMES = ("until", "held_until")


@dataclass(frozen=True)
class RemoteTally(Tally):
    """Money and cells of a campaign on a server; see `Tally`."""

    name: str
    created: datetime
    strategy: str


@dataclass(frozen=True)
class RemoteFinding:
    """A result of the server's worker.

    Attributes
    ----------
    what : str
    as_of : int or None
        The number of the event that it is as of; None if there is no result yet.
    newest : int
        The number of the newest event.
    renewing : bool
        Whether a newer result is on its way.
    error : str or None
        Why there is no newer result, if the last attempt failed.
    data : dict or None
    """

    what: str
    as_of: int | None
    newest: int
    renewing: bool
    error: str | None
    data: dict[str, Any] | None


def as_purchase(plain: Mapping[str, Any]) -> Purchase:
    """Return a purchase that came as JSON."""
    times = {name: plain[name] and datetime.fromisoformat(plain[name]) for name in _TIMES}
    return Purchase(**{**plain, **times})


def as_tally(plain: Mapping[str, Any]) -> RemoteTally:
    """Return a tally that came as JSON."""
    return RemoteTally(**{**plain, "created": datetime.fromisoformat(plain["created"])})


def as_record(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event that came as JSON."""
    return {**plain, "time": datetime.fromisoformat(plain["time"])}


def cells_to_plain(cells: Cells) -> list[dict[str, object]]:
    """Return cells as JSON has them."""
    return [{"row": str(row), "column": column} for row, column in as_cells(cells)]


def answers_to_plain(answers: Triples) -> list[dict[str, object]]:
    """Return answers as JSON has them; dates as ISO texts."""
    triples: Iterator[Any]
    if isinstance(answers, Mapping):
        triples = ((row, column, value) for (row, column), value in answers.items())
    else:
        triples = iter(answers)
    return [
        {"row": str(row), "column": column, "value": value_to_plain(value)} for row, column, value in triples
    ]


def value_to_plain(value: Any) -> Any:
    """Return a value as JSON has it: dates as ISO texts, and NumPy's numbers as Python's."""
    if isinstance(value, date):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def lease_to_plain(lease: str | timedelta | None) -> str | None:
    """Return a lease as JSON has it."""
    span = parse_lease(lease)
    return None if span is None else f"{span.total_seconds() / 60:f}m"


def checked(response: httpx.Response) -> httpx.Response:
    """Return an answer, or raise the problem that it tells of as the library would."""
    if response.is_success:
        return response
    try:
        detail = str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):  # from something between us and the server
        detail = f"the server answered {response.status_code}."
    status = response.status_code
    if status == 409:
        raise ConflictError(detail)
    if status in (401, 403, 421):
        raise AccessError(detail)
    raise (ServerError if status >= 500 else DataError)(detail)
