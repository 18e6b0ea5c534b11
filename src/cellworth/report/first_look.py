"""First results on a large table, from a sample of its rows, while the whole is being worked out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cellworth.campaign import Campaign
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import CellworthError
from cellworth.report.summaries import to_json
from cellworth.table import Table

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable

LARGE = 1_000_000
"""Cells of a table above which a sample comes first."""
SAMPLE = 1_000
"""Rows of the sample."""


def quick_status(campaign: Campaign) -> dict[str, Any]:
    """Return the status of a campaign as plain data, scored by a linear model and as of now alone."""
    target = campaign.table.target
    is_number = target is not None and target.label_kind == "number"
    model = "ridge regression" if is_number else "logistic regression"
    return {"status": to_json(campaign.status(model=model, max_rounds=1))}


def first_look(campaign: Campaign, look: Callable[[Campaign], dict[str, Any]]) -> dict[str, Any] | None:
    """Return a look at a sample of the rows; None if the table is small, or it cannot be had.

    ``rows`` of the result are those of the sample. Worths, shares and scores are estimates of those of the
    whole table; money and numbers of cells are those of the sample. Costs a look at `SAMPLE` rows.
    """
    table = campaign.table
    is_small = table.shape[0] * table.shape[1] <= LARGE or table.shape[0] <= 2 * SAMPLE
    if is_small and isinstance(table, Table):
        return None
    strategy = "recommended" if campaign.strategy == "auto" else campaign.strategy
    try:
        few = sample_of(table, campaign.seed)
        said: dict[str, Any] = {"prices": campaign.prices, "strategy": strategy, "seed": campaign.seed}
        with Campaign.create(few, store=MemoryStore(), **said) as sample:
            return {**look(sample), "rows": few.shape[0]}
    except CellworthError:  # say, prices of single cells, which the sample has not
        return None


def sample_of(table: Table | BlockTable, seed: int) -> Table:
    """Return `SAMPLE` rows of a table, drawn at random, in their order; of row blocks, about as many."""
    if not isinstance(table, Table):
        return table.every(max(1, table.shape[0] // SAMPLE))
    rows = np.sort(np.random.default_rng(seed).choice(table.shape[0], SAMPLE, replace=False))
    target = None if table.target is None else replace(table.target, values=table.target.values[rows])
    ids = tuple(table.row_ids[place] for place in rows.tolist())
    return Table(table.columns, table.values[rows], ids, target, table.row_id)
