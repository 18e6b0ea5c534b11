"""What the next ask would buy."""

from __future__ import annotations

from typing import Any

from cellworth.campaign import Campaign
from cellworth.web.findings.plain import plain

Found = dict[str, Any]

MOST_LISTED = 200


def preview(campaign: Campaign, budget: float | None = None, count: int | None = None) -> Found:
    """Say what `Campaign.preview` would buy; nothing is recorded.

    Costs what the ask costs.

    Returns
    -------
    dict
        ``cells``, how many; ``money``, their bill; ``rows``, how many rows they lie in; ``columns``, dicts
        with ``name``, ``cells`` and ``money``, the dearest first; ``purchases``, the first `MOST_LISTED`,
        with ``row``, ``column``, ``price``, ``worth``, ``why``.
    """
    number = campaign.number
    batch = campaign.preview(budget, count)
    by_column: dict[str, Found] = {}
    for each in batch:
        entry = by_column.setdefault(each.column, {"name": each.column, "cells": 0, "money": 0.0})
        entry["cells"] += 1
        entry["money"] += each.price
    listed = [
        {"row": each.row, "column": each.column, "price": each.price, "worth": each.worth, "why": each.why}
        for each in batch[:MOST_LISTED]
    ]
    return plain(
        {
            "as_of": number,
            "cells": len(batch),
            "money": sum(each.price for each in batch),
            "rows": len({each.row for each in batch}),
            "columns": sorted(by_column.values(), key=lambda entry: (-entry["money"], entry["name"])),
            "purchases": listed,
        }
    )
