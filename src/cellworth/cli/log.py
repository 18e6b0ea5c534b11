"""``cellworth log``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import count, print_json, print_table

EXAMPLE = "Example: cellworth log --since 12"
MOST_CELLS = 3  # of an event that are shown


def log(
    since: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Only the events after this one.")] = 0,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """List all that happened in a campaign, the first first."""
    with opened(store, name) as campaign:
        records = [record for record in campaign.history() if record["number"] > since]
        if as_json:
            print_json({"name": campaign.name, "events": records})
        elif not records:
            print("There are no events" + (f" after {since}" if since else " yet"))
        else:
            rows = [
                (r["number"], f"{r['time']:%Y-%m-%d %H:%M:%S}", r["kind"], r["who"] or "", _what(r))
                for r in records
            ]
            print_table(("number", "time (UTC)", "kind", "who", "what"), rows, right=("number",))


def _what(record: dict[str, Any]) -> str:
    """Say in a few words what an event holds."""
    if record["kind"] == "corrected":
        because = "" if record["reason"] is None else f": {record['reason']}"
        return f"{record['row']}:{record['column']} from {record['old']} to {record['new']}{because}"
    if record["kind"] == "extended":
        return _listed(record["rows"], "row")
    cells = [
        f"{cell['row']}:{cell['column']}" + (f"={cell['value']}" if "value" in cell else "")
        for cell in record["cells"]
    ]
    because = f": {record['reason']}" if record.get("reason") else ""
    return _listed(cells, "cell") + because


def _listed(names: list[str], noun: str) -> str:
    more = ", ..." if len(names) > MOST_CELLS else ""
    return f"{count(len(names), noun)} ({', '.join(names[:MOST_CELLS])}{more})"
