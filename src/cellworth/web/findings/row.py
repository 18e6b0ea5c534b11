"""One row: its values and estimates, and why a cell of it is worth asking for."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

from cellworth.campaign import Campaign
from cellworth.report.cell_map import uncertainty
from cellworth.table import Column
from cellworth.web.findings.look import Look, look_of
from cellworth.web.findings.plain import plain

Found = dict[str, Any]


def row_detail(campaign: Campaign, row: str) -> Found:
    """Say what is known of a row, and what is thought of the rest; DataError if there is no such row.

    Costs one completion and the newest round; O(n p) if the table is the same as before.

    Returns
    -------
    dict
        ``row``, ``place``; ``target`` with its name and the row's label (None if it has none), or None;
        ``level`` of the intervals; ``cells``, a dict per column: ``column``, ``kind``, ``unit``, ``status``
        ("known", "bought", "refused", "out" or "estimated"), ``value`` as written if it is known,
        ``estimate``, ``low`` and ``high`` if it is not, ``unsure`` from 0 to 1, ``price`` in money, ``worth``
        in units of the average hole, ``rank`` by worth per money among the ``of`` cells that can be had,
        ``why``, a sentence.
    """
    look = look_of(campaign)
    place = look.view.row(row).place
    target = look.table.target
    label = None
    if target is not None:
        number = float(target.values[place])
        label = None if np.isnan(number) else target.column.format(number)
    unsure = None if look.filled is None else uncertainty(look.table, look.filled)[place]
    return plain(
        {
            "as_of": look.number,
            "row": look.table.row_ids[place],
            "place": place,
            "target": None if target is None else {"name": target.name, "label": written(label)},
            "level": None if look.filled is None else look.filled.level,
            "cells": [
                _cell(look, place, j, 0.0 if unsure is None else float(unsure[j]))
                for j in range(len(look.table.columns))
            ],
        }
    )


def _cell(look: Look, i: int, j: int, unsure: float) -> Found:
    column, cells = look.table.columns[j], look.cells
    found: Found = {
        "column": column.name,
        "kind": column.kind,
        "unit": column.unit,
        "status": _status(look, i, j),
        "price": cells.price[i, j],
        "unsure": unsure,
    }
    if not look.table.holes[i, j]:
        return {**found, "value": written(column.format(float(look.table.values[i, j])))}
    assert look.filled is not None  # there is a hole
    found["estimate"] = _rounded(column, look.filled.table.values[i, j])
    for name, ends in (("low", look.filled.lower), ("high", look.filled.upper)):
        if ends is not None and np.isfinite(ends[i, j]):
            found[name] = _rounded(column, ends[i, j])
    if not cells.available[i, j]:
        return found
    rank, of = _rank(look, i, j)
    found |= {"worth": cells.worth[i, j] / look.average_worth, "rank": rank, "of": of}
    return {**found, "why": _why(found, look.filled.level)}


def _status(look: Look, i: int, j: int) -> str:
    cells = look.cells
    for name, mask in (("known", cells.known), ("bought", cells.bought), ("refused", cells.refused)):
        if mask[i, j]:
            return name
    return "out" if look.out[i, j] else "estimated"


def _rank(look: Look, i: int, j: int) -> tuple[int, int]:
    """Return the place of a cell among those that can be had, by worth per money, and their number."""
    cells = look.cells
    per_money = cells.worth[cells.available] / cells.price[cells.available]
    better = per_money > cells.worth[i, j] / cells.price[i, j] * (1 + 1e-12)
    return 1 + int(better.sum()), per_money.size


def _why(cell: Found, level: float | None) -> str:
    unit = f" {cell['unit']}" if cell["unit"] else ""
    words = f"Thought to be {cell['estimate']}{unit}"
    if "low" in cell:
        words += f" ({100 * level:.0f} % interval {cell['low']} to {cell['high']})"
    much = f"{cell['worth']:.2g} times as much as the average hole"
    best = f"number {cell['rank']} of {cell['of']} by worth for the money"
    return f"{words}. Worth {much}, costs {cell['price']:.2f}: {best}."


def _rounded(column: Column, number: float) -> str:
    """Write an estimate to the figures that make sense."""
    value = column.format(float(column.nearest(np.array([float(number)]))[0]))
    return f"{value:.4g}" if isinstance(value, float) else str(written(value))


def written(value: object) -> object:
    """Write a value of the user as on a page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, date):
        return value.isoformat()
    return f"{value:.10g}" if isinstance(value, float) else value
