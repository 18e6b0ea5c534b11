"""Campaigns on the same table in row blocks and in memory."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from cellworth import Campaign, Group, Prices
from cellworth.blocks.cell_rules import TableBlock
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


def with_every_status(both, whole):
    """Let the same happen in both: cells of every status, and a new row."""
    for campaign in both:
        batch = campaign.ask(count=9)
        campaign.refuse([(each.row, each.column) for each in batch[:3]], "no")
        campaign.tell(values_for(batch[3:6], whole, np.random.default_rng(1)))
        campaign.extend({"New P1": {"weight": 71.5}})
    return both


def settle(both, answers, data, fates):
    """Let people do the same in both with the cells that were asked for, one of the fates with each."""
    fate = [data.draw(st.sampled_from(fates)) for _ in answers]
    some = {what: [c for c, f in zip(answers.items(), fate, strict=True) if f == what] for what in fates}
    for campaign in both:
        campaign.tell(dict(some["tell"]))
        for cell, _ in some["refuse"]:
            campaign.refuse([cell], "no")
        campaign.cancel([cell for cell, _ in some["cancel"]])
        campaign.take([cell for cell, _ in some["take"]], who="Ann")


def counted_reads(monkeypatch):
    """Return how often each block is read from now on, by its first row."""
    reads: Counter[int] = Counter()
    cells = TableBlock.cells

    def counted(block):
        reads[block.start] += 1
        return cells(block)

    monkeypatch.setattr(TableBlock, "cells", counted)
    return reads


def shown(campaign):
    """Return all that people see of a campaign but for worths, which differ by rounding."""
    out = [(p.row, p.column, p.price, p.until, p.holder) for p in campaign.open_purchases()]
    rows = [(each.row, each.place, each.cells) for each in campaign.rows(0, 1000)]
    return campaign.totals(), out, rows, campaign.table_number
