"""The list command: which campaigns a store holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellworth.cli import options
from cellworth.cli.options import usage
from cellworth.cli.output import print_json, print_table

LIST_EXAMPLE = "Example: cellworth list --store study.db"


def list_campaigns(store: options.Store = options.DEFAULT_STORE, as_json: options.Json = False) -> None:
    """List the campaigns in a store, with their money and cells."""
    found = _campaigns(store)
    if as_json:
        print_json({"campaigns": found})
    elif not found:
        print(f"There are no campaigns in {store}")
    else:
        rows = [
            (
                each["name"],
                f"{each['created']:%Y-%m-%d}",
                each["rows"],
                each["columns"],
                each["strategy"],
                f"{each['spent']:.2f}",
                "no limit" if each["budget"] is None else f"{each['budget']:.2f}",
                each["open"],
            )
            for each in found
        ]
        header = ("name", "started", "rows", "columns", "strategy", "spent", "budget", "out")
        print_table(header, rows, right=("rows", "columns", "spent", "budget", "out"))


def _campaigns(store: str) -> list[dict[str, Any]]:
    from cellworth.campaign import Campaign
    from cellworth.campaign.stores import open_store
    from cellworth.campaign.stores.address import read_address

    with usage():
        address = read_address(store)
        if address.kind == "sqlite" and not Path(address.rest).exists():
            return []
        place = open_store(store, reading=True)
    found = []
    try:
        for name in place.names():
            campaign = Campaign.open(place, name)
            totals = campaign.totals()
            found.append(
                {
                    "name": name,
                    "created": campaign.created,
                    "rows": totals.rows,
                    "columns": totals.columns,
                    "strategy": campaign.strategy,
                    "spent": totals.spent,
                    "budget": totals.budget,
                    "open": totals.open,
                }
            )
    finally:
        place.close()
    return found
