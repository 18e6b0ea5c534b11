"""Price against worth of each column, its holes, and how well they are filled."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellworth.campaign import Campaign
from cellworth.report.columns import error_in_words, mean_prices, mean_worths
from cellworth.report.measures import LEVEL, Measure
from cellworth.table import Column
from cellworth.web.findings.look import Look, look_of
from cellworth.web.findings.plain import plain

Found = dict[str, Any]

MOST_COLUMNS = 500
"""Of wider tables the columns of the most worth per money are given."""


def columns(campaign: Campaign) -> Found:
    """Say for each column what its holes cost, what they are worth, and how well they are filled.

    Costs the newest round and one to ten completions; nothing anew if the table is the same.

    Returns
    -------
    dict
        ``columns``, a list of dicts, the best buy first, then those without holes that can be had: ``name``,
        ``kind``, ``unit``; ``price`` (mean, each cell bought alone), ``price_low``, ``price_high`` in money;
        ``worth`` (mean) and ``worth_low``, ``worth_high`` (quartiles), ``worth_most``, in units of the
        average hole; ``per_money``; ``holes_before`` and ``holes`` as shares of the rows; ``missing``,
        ``bought``, ``refused``, ``out``, counts of cells; ``error`` as in `_error`, None if too few are
        known. ``left_out`` is the number of columns beyond `MOST_COLUMNS`.
    """
    look = look_of(campaign)
    cells, table = look.cells, look.table
    if cells.available.any():
        worth, price = mean_worths(cells), mean_prices(cells)
    else:
        worth = price = np.full(table.shape[1], np.nan)
    per_money = worth / price
    order = np.argsort(-np.nan_to_num(per_money, nan=-1.0), kind="stable")[:MOST_COLUMNS]
    found = [
        {
            **_counts(look, j),
            **_worths(look, j),
            "worth": worth[j],
            "price": price[j],
            "per_money": per_money[j],
            "error": _error(table.columns[j], look.measures[j]),
        }
        for j in order.tolist()
    ]
    return plain(
        {
            "as_of": look.number,
            "level": LEVEL,
            "columns": found,
            "left_out": max(0, table.shape[1] - MOST_COLUMNS),
        }
    )


def _counts(look: Look, j: int) -> Found:
    column, cells = look.table.columns[j], look.cells
    return {
        "name": column.name,
        "kind": column.kind,
        "unit": column.unit,
        "price_low": cells.price[:, j].min(),
        "price_high": cells.price[:, j].max(),
        "holes_before": 1 - cells.known[:, j].mean(),
        "holes": look.table.holes[:, j].mean(),
        "missing": int(look.table.holes[:, j].sum()),
        "bought": int(cells.bought[:, j].sum()),
        "refused": int(cells.refused[:, j].sum()),
        "out": int(look.out[:, j].sum()),
    }


def _worths(look: Look, j: int) -> Found:
    here = look.cells.worth[look.cells.available[:, j], j] / look.average_worth
    ends = np.quantile(here, [0.25, 0.75, 1.0]) if here.size else np.full(3, np.nan)
    return dict(zip(("worth_low", "worth_high", "worth_most"), ends, strict=True))


def _error(column: Column, measure: Measure | None) -> Found | None:
    """Say how far the filling is off on known cells that were hidden: numbers, and words with the unit.

    ``relative`` is the error over that of the best single guess: 0 is perfect, 1 is no better than it.
    """
    if measure is None:
        return None
    words, guess = error_in_words(column, measure)
    return {
        "words": words,
        "guess_words": guess,
        "error": measure.error,
        "spread": measure.spread,
        "guess": measure.guess,
        "relative": measure.error / measure.guess if measure.guess > 0 else None,
        "hidden": measure.hidden,
        "covered": measure.covered,
    }
