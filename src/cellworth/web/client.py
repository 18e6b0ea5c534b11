"""A campaign on a server, used like a local one."""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from cellworth.campaign.leases import ASK_LEASE, TAKE_LEASE
from cellworth.errors import AccessError, ServerError
from cellworth.forecasting import StopRule, StopWarning
from cellworth.strategy import Purchase
from cellworth.web.client_json import (
    Cells,
    RemoteSummary,
    RemoteTotals,
    Triples,
    answers_to_json,
    cells_to_json,
    checked,
    event_from_json,
    lease_to_json,
    purchase_from_json,
    totals_from_json,
    value_to_json,
)
from cellworth.web.url_paths import segment

__all__ = ["AccessError", "Client", "RemoteCampaign", "RemoteSummary", "RemoteTotals", "ServerError"]

PATIENCE = 300.0
"""Seconds to wait for a response: an ask on a large table takes a while."""
ATTEMPTS = 3
_PAUSE = 0.5  # seconds before the second attempt; doubles after each


class Client:
    """A connection to a cellworth server.

    Parameters
    ----------
    url : str
        The server's address, such as ``http://127.0.0.1:8000``.
    token : str, optional
        Your token, if the server requires one.
    who : str, optional
        Your name for the log, if the server requires no token.
    patience : float
        Seconds to wait for a response.
    transport : httpx.BaseTransport, optional
        Replaces the network, for tests.

    Notes
    -----
    Requests that fail on the way are retried a few times if that is safe. Asks and answers carry a key, so
    that they count once.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8000", token="cw_...")
    >>> client.campaign("study").name
    'study'
    >>> client.close()
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        who: str | None = None,
        patience: float = PATIENCE,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if who is not None:
            headers["Cellworth-Who"] = quote(who, safe="")
        self._http = httpx.Client(base_url=url, headers=headers, timeout=patience, transport=transport)

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        return [item["name"] for item in self.pages("/campaigns", after="")]

    def campaign(self, name: str) -> RemoteCampaign:
        """Return a campaign by name; the first call fails if it does not exist."""
        return RemoteCampaign(self, name)

    def create(
        self,
        table: Path | tuple[str, bytes],
        *,
        name: str,
        prices: Path | tuple[str, bytes] | None = None,
        target: str | None = None,
        row_id: str | None = None,
        missing: Iterable[str] = (),
        budget: float | None = None,
        strategy: str = "recommended",
        seed: int = 0,
    ) -> RemoteCampaign:
        """Create a campaign from a file, given as a path or as (name, bytes); see `Campaign.create`."""
        files = {"table": _named(table)} | ({} if prices is None else {"prices": _named(prices)})
        fields = {"name": name, "target": target, "row_id": row_id, "budget": budget, "strategy": strategy}
        data = {key: value for key, value in fields.items() if value is not None}
        self.send("POST", "/campaigns", files=files, data={**data, "seed": seed, "missing": list(missing)})
        return self.campaign(name)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(
        self, method: str, path: str, *, key: str | None = None, repeatable: bool = False, **content: Any
    ) -> httpx.Response:
        """Send a request under /api/v1 and return the response; raise an error if it reports a problem.

        GET requests are retried, as are requests with a key and those marked ``repeatable``.
        """
        headers = {} if key is None else {"Idempotency-Key": key}
        attempts = ATTEMPTS if repeatable or key is not None or method == "GET" else 1
        for attempt in range(1, attempts + 1):
            try:
                response = self._http.request(method, f"/api/v1{path}", headers=headers, **content)
            except httpx.TransportError as error:
                if attempt == attempts:
                    raise ServerError(f"the server cannot be reached: {error}. Try again.") from error
            else:
                if response.status_code != 503 or attempt == attempts:
                    return checked(response)
            time.sleep(_PAUSE * 2 ** (attempt - 1))
        raise AssertionError("unreachable")

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, across all its pages."""
        query = {name: value for name, value in query.items() if value is not None}
        while True:
            page = self.send("GET", path, params=query).json()
            yield from page["items"]
            if page["next"] is None:
                return
            query["after"] = page["next"]


class RemoteCampaign:
    """A campaign on a server, with the methods of `Campaign`.

    Raises ConflictError and DataError as `Campaign` does, `AccessError` if your role does not allow the
    operation, and `ServerError` if the server fails or cannot be reached.
    """

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self._client = client
        self._path = f"/campaigns/{segment(name)}"

    def totals(self) -> RemoteTotals:
        """Return the current money and cell counts."""
        return totals_from_json(self._client.send("GET", self._path).json())

    def ask(
        self,
        budget: float | None = None,
        count: int | None = None,
        *,
        lease: str | timedelta | None = ASK_LEASE,
        key: str | None = None,
        until: StopRule | None = None,
    ) -> list[Purchase]:
        """Ask for the cells most worth buying now; see `Campaign.ask`, also for ``until``, a rule to stop."""
        rule = None if until is None else asdict(until)
        body = {"budget": budget, "count": count, "lease": lease_to_json(lease), "until": rule}
        return self._purchases("ask", body, key or _new_key())

    def preview(self, budget: float | None = None, count: int | None = None) -> list[Purchase]:
        """Return what `ask` would ask for now; see `Campaign.preview`."""
        return self._purchases("preview", {"budget": budget, "count": count}, repeatable=True)

    def take(
        self, cells: Cells | int, *, lease: str | timedelta = TAKE_LEASE, key: str | None = None
    ) -> list[Purchase]:
        """Take cells that are out; see `Campaign.take`."""
        wanted = {"count": cells} if isinstance(cells, int) else {"cells": cells_to_json(cells)}
        return self._purchases("take", {**wanted, "lease": lease_to_json(lease)}, key or _new_key())

    def give_back(self, cells: Cells) -> int:
        """Give back cells you have taken, so that others can take them; see `Campaign.give_back`."""
        return self._write("give-back", {"cells": cells_to_json(cells)}, repeatable=True)

    def tell(
        self,
        answers: Triples,
        *,
        key: str | None = None,
        unsolicited: bool = False,
        price: float | None = None,
        insist: bool = False,
    ) -> int:
        """Record values of cells; see `Campaign.tell`."""
        body: dict[str, Any] = {"answers": answers_to_json(answers), "unsolicited": unsolicited}
        body |= {"price": price, "insist": insist}
        return self._write("tell", body, key or _new_key())

    def tell_file(
        self,
        file: Path | tuple[str, bytes],
        *,
        key: str | None = None,
        insist: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Record the answers in a file, a path or (name, bytes), all or none; see `Campaign.tell_file`.

        Returns how many are ``new``, ``known`` and ``blank``; with ``dry_run``, also what is ``questioned``,
        and nothing is recorded.
        """
        query, files = {"insist": insist, "dry_run": dry_run}, {"answers": _named(file)}
        path = f"{self._path}/tell-file"
        sent = self._client.send("POST", path, key=key or _new_key(), params=query, files=files)
        found: dict[str, Any] = sent.json()
        return found

    def refuse(self, cells: Cells, reason: str) -> int:
        """Record that cells cannot be obtained; see `Campaign.refuse`."""
        return self._write("refuse", {"cells": cells_to_json(cells), "reason": reason}, repeatable=True)

    def cancel(self, cells: Cells) -> int:
        """Return asked cells to the pool; see `Campaign.cancel`."""
        return self._write("cancel", {"cells": cells_to_json(cells)}, repeatable=True)

    def correct(
        self, row: str, column: str, value: object, *, reason: str | None = None, insist: bool = False
    ) -> bool:
        """Replace a known value that turned out to be wrong; see `Campaign.correct`."""
        body = {"row": row, "column": column, "value": value_to_json(value)}
        body |= {"reason": reason, "insist": insist}
        return bool(self._write("correct", body, repeatable=True))

    def extend(
        self, rows: Mapping[str, Mapping[str, object]] | Path | tuple[str, bytes], *, key: str | None = None
    ) -> int:
        """Add rows at the end of the table; see `Campaign.extend`. A file is a path or (name, bytes)."""
        key = key or _new_key()
        if not isinstance(rows, Mapping):
            path, files = f"{self._path}/rows-file", {"rows": _named(rows)}
            return int(self._client.send("POST", path, key=key, files=files).json()["new"])
        plain = {
            str(row): {name: value_to_json(value) for name, value in cells.items()}
            for row, cells in rows.items()
        }
        return self._write("rows", {"rows": plain}, key)

    def release(self, cells: Cells, *, reason: str | None = None) -> int:
        """Take back cells that anybody has taken; see `Campaign.release`."""
        return self._write("release", {"cells": cells_to_json(cells), "reason": reason}, repeatable=True)

    def rename(self, new: str) -> None:
        """Give the campaign another name; this object follows."""
        self._client.send("POST", f"{self._path}/rename", json={"name": new})
        self.name, self._path = new, f"/campaigns/{segment(new)}"

    def change_stage(self, stage: str, *, reason: str | None = None) -> bool:
        """Close or archive the campaign, or open it again; see `Campaign.change_stage`."""
        return bool(self._write("stage", {"stage": stage, "reason": reason}, repeatable=True))

    def set_clock(self, *, reason: str | None = None) -> bool:
        """Set the campaign's time by the server's clock; see `Campaign.set_clock`."""
        return bool(self._write("clock", {"reason": reason}, repeatable=True))

    def change_budget(self, budget: float | None, *, reason: str | None = None) -> bool:
        """Change the budget of the campaign; see `Campaign.change_budget`."""
        return bool(self._write("budget", {"budget": budget, "reason": reason}, repeatable=True))

    def add_category(
        self, column: str, category: str, *, before: str | None = None, reason: str | None = None
    ) -> bool:
        """Let the cells of a column hold one more category; see `Campaign.add_category`."""
        body = {"column": column, "category": category, "before": before, "reason": reason}
        return bool(self._write("categories", body, repeatable=True))

    def change_prices(self, prices: Path | tuple[str, bytes], *, reason: str | None = None) -> bool:
        """Change the prices to those of a file, a path or (name, bytes); see `Campaign.change_prices`."""
        files, data = {"prices": _named(prices)}, {} if reason is None else {"reason": reason}
        sent = self._client.send("POST", f"{self._path}/prices", repeatable=True, files=files, data=data)
        return bool(sent.json()["new"])

    def purchases(
        self,
        *,
        row: str | None = None,
        column: str | None = None,
        asked_by: str | None = None,
        holder: str | None = None,
        free: bool = False,
    ) -> Iterator[Purchase]:
        """Yield the cells that are out, page by page; see `Campaign.open_page`."""
        query = {"row": row, "column": column, "asked_by": asked_by, "holder": holder, "free": free}
        return map(purchase_from_json, self._client.pages(f"{self._path}/purchases", **query))

    def history(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the events after a number, oldest first; see `Campaign.history`."""
        return map(event_from_json, self._client.pages(f"{self._path}/events", after=after))

    def columns(self) -> list[dict[str, Any]]:
        """Return the columns: what their cells may hold, and how many are missing."""
        return list(self._client.pages(f"{self._path}/columns"))

    def row(self, row: str) -> dict[str, Any]:
        """Return a row; see `Campaign.row`."""
        found: dict[str, Any] = self._client.send("GET", f"{self._path}/rows/{segment(row)}").json()
        return found

    def rows(
        self,
        *,
        row_contains: str | None = None,
        column: str | None = None,
        status: Iterable[str] = (),
        sort: str | None = None,
        descending: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield all rows, or those that fit, page by page; see `Campaign.search_rows`."""
        which = {"row_contains": row_contains, "column": column, "status": list(status)}
        return self._client.pages(f"{self._path}/rows", **which, sort=sort, descending=descending or None)

    def estimates(self, row: str) -> dict[str, Any]:
        """Return a row with an estimate, an interval and a worth for each missing cell."""
        path = f"{self._path}/rows/{segment(row)}/estimates"
        found: dict[str, Any] = self._client.send("GET", path).json()
        return found

    def download(self, what: str, ending: str = "csv") -> bytes:
        """Return "table", "filled" (the table with its holes filled) or "ledger" as csv, xlsx or parquet."""
        return self._client.send("GET", f"{self._path}/download/{what}", params={"format": ending}).content

    def report(self) -> bytes:
        """Return the report, one HTML page; see `Campaign.write_report`."""
        return self._client.send("GET", f"{self._path}/report.html").content

    def counts(self) -> dict[str, Any]:
        """Return how many cells are out: in all, free, and by column, asker and holder."""
        found: dict[str, Any] = self._client.send("GET", f"{self._path}/purchases/counts").json()
        return found

    def summary(self, what: str) -> RemoteSummary:
        """Return the newest available summary: "overview", "columns", "cell_map", "front" or "people"."""
        return RemoteSummary(**self._client.send("GET", f"{self._path}/summaries/{what}").json())

    def table_csv(self) -> str:
        """Return the table with all answers, as CSV that `Table.read` can read."""
        return self._client.send("GET", f"{self._path}/table.csv", params={"raw": True}).text

    def _purchases(
        self, verb: str, body: dict[str, Any], key: str | None = None, repeatable: bool = False
    ) -> list[Purchase]:
        path = f"{self._path}/{verb}"
        found = self._client.send("POST", path, key=key, repeatable=repeatable, json=body).json()
        if found.get("stop"):
            warnings.warn(found["stop"], StopWarning, stacklevel=3)
        return [purchase_from_json(each) for each in found["purchases"]]

    def _write(
        self, verb: str, body: dict[str, Any], key: str | None = None, repeatable: bool = False
    ) -> int:
        path = f"{self._path}/{verb}"
        return int(self._client.send("POST", path, key=key, repeatable=repeatable, json=body).json()["new"])


def _new_key() -> str:
    return uuid.uuid4().hex


def _named(file: Path | tuple[str, bytes]) -> tuple[str, bytes]:
    return file if isinstance(file, tuple) else (file.name, file.read_bytes())
