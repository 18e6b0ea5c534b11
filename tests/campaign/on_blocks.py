"""Campaigns on the same table in row blocks and in memory."""

import numpy as np

from cellworth import Campaign, Group, Prices
from cellworth.campaign.stores import MemoryStore
from tests.campaign.campaigns import Clock
from tests.strategy.test_block_batch import both_of, make_frame

FEES = Prices.per_column(
    {"weight": 2.0, "visits": 1.0, "seen": 3.0},
    groups=[Group("talk", ["hue", "smoker"], first=6.0, then=1.5)],
    visit=2.0,
)


def make_tables(folder):
    """Return the same table in blocks and in memory, with row ids and with numbered rows."""
    frame = make_frame(np.random.default_rng(0))
    return {
        "ids": both_of(folder / "ids", frame),
        "numbers": both_of(folder / "numbers", frame.drop_columns(["id"]), block_rows=23, row_id=None),
    }


def begin_both(tables, which="ids", **said):
    """Return a campaign on blocks and one in memory."""
    said = {"prices": 1.5, "budget": 90, "strategy": "posterior", "seed": 3, **said}
    clock = Clock()
    return [Campaign.create(table, store=MemoryStore(), clock=clock, **said) for table in tables[which]]


def values_for(purchases, table, rng):
    """Return an answer to each purchase: a value that occurs in its column."""
    found = {}
    for each in purchases:
        j = table.column_index(each.column)
        known = table.values[~np.isnan(table.values[:, j]), j]
        found[each.row, each.column] = table.columns[j].format(float(rng.choice(known)))
    return found


def shown(campaign):
    """Return all that people see of a campaign but for worths, which differ by rounding."""
    out = [(p.row, p.column, p.price, p.until, p.holder) for p in campaign.open_purchases()]
    rows = [(each.row, each.place, each.cells) for each in campaign.rows(0, 1000)]
    return campaign.totals(), out, rows, campaign.table_number
