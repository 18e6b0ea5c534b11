"""The table as a map: what is known, bought, refused or out, and how unsure the rest is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign import Campaign
from cellworth.errors import ParameterError
from cellworth.report.cell_map import MOST_COLUMNS, short, uncertainty
from cellworth.web.findings.look import Look, look_of
from cellworth.web.findings.plain import plain

Found = dict[str, Any]
Array = NDArray[np.float64]

KNOWN, BOUGHT, REFUSED, ESTIMATED = 0, 1, 2, 100
"""Codes of cells; that of an estimate is ESTIMATED and its uncertainty in per cent added."""
OUT = 1000
"""Is added to the code of an estimate that is asked for."""
MOST_ROWS = 2000
MOST_CELLS = 120_000  # with a code each, at most 4 figures and a comma
MOST_GROUPED = 16_000  # with six numbers each
LONGEST = 40  # characters of a row's name


def cell_map(campaign: Campaign, first: int = 0, last: int | None = None) -> Found:
    """Say what is the matter with each cell of some rows; of many rows, of groups of rows.

    Costs one completion and the newest round; nothing anew if the table is the same. Below 1 MB as JSON.

    Parameters
    ----------
    campaign : Campaign
    first, last : int
        Places of the first row and of the one after the last; by default all rows.

    Returns
    -------
    dict
        ``first``, ``last`` and ``rows``, those of the table in all; ``columns``, names; ``columns_left_out``,
        how many are not shown; ``counts`` of all cells of the table by ``known``, ``bought``, ``refused``,
        ``out`` and ``estimated`` (out or not); ``unsure_known``, whether the completer says how sure it is;
        ``group``, the rows in a group.

        For single rows (``group`` is 1): ``ids`` of the rows, shortened, and ``codes``, for each row a list
        with a code per column. For groups: ``starts``, the place of each group's first row, and ``known``,
        ``bought``, ``refused``, ``out``, ``estimated`` and ``unsure`` (the mean uncertainty of the estimates,
        0 to 1), for each group a list with a number per column.
    """
    look = look_of(campaign)
    n, p = look.table.shape
    last = n if last is None else min(last, n)
    if not 0 <= first < last:
        raise ParameterError(f"rows must be from 0 to {n}, the first before the last; got {first} to {last}.")
    shown = min(p, MOST_COLUMNS)
    group = _group(last - first, shown)
    cells = look.cells
    found: Found = {
        "as_of": look.number,
        "first": first,
        "last": last,
        "rows": n,
        "group": group,
        "columns": [short(column.name) for column in look.table.columns[:shown]],
        "columns_left_out": p - shown,
        "unsure_known": look.filled is None or look.filled.variance is not None,
        "counts": {
            "known": int(cells.known.sum()),
            "bought": int(cells.bought.sum()),
            "refused": int(cells.refused.sum()),
            "out": int(look.out.sum()),
            "estimated": int(cells.available.sum()),
        },
    }
    part = np.s_[first:last, :shown]
    found |= _single(look, part) if group == 1 else _grouped(look, part, group)
    return plain(found)


def _group(rows: int, columns: int) -> int:
    """Return how many rows go together, so that the map stays small."""
    if rows <= MOST_ROWS and rows * columns <= MOST_CELLS:
        return 1
    return -(-rows // max(1, min(400, MOST_GROUPED // columns)))


def _unsure(look: Look, part: Any) -> Array:
    if look.filled is None:
        return np.zeros(look.table.shape)[part]
    return uncertainty(look.table, look.filled)[part]


def _single(look: Look, part: Any) -> Found:
    cells = look.cells
    code = np.select(
        [cells.known[part], cells.bought[part], cells.refused[part]],
        [KNOWN, BOUGHT, REFUSED],
        ESTIMATED + np.rint(100 * _unsure(look, part)).astype(np.int64) + OUT * look.out[part],
    )
    ids = [short(row, LONGEST) for row in look.table.row_ids[part[0]]]
    return {"ids": ids, "codes": code}


def _grouped(look: Look, part: Any, group: int) -> Found:
    starts = np.arange(0, part[0].stop - part[0].start, group)

    def sums(values: NDArray[Any]) -> Array:
        return np.add.reduceat(values.astype(np.float64), starts, axis=0)

    cells = look.cells
    masks = {
        "known": cells.known,
        "bought": cells.bought,
        "refused": cells.refused,
        "out": look.out,
        "estimated": cells.available,
    }
    counts = {name: sums(mask[part]).astype(np.int64) for name, mask in masks.items()}
    unsure = sums(np.where(cells.available[part], _unsure(look, part), 0.0))
    mean = np.divide(unsure, counts["estimated"], out=np.zeros_like(unsure), where=counts["estimated"] > 0)
    return {"starts": starts + part[0].start, **counts, "unsure": np.round(mean, 2)}
