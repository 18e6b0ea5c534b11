"""Maps of large tables: groups of rows whose counts add up, and never more than 1 MB."""

import json

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.web import findings
from cellworth.web.findings.cell_map import ESTIMATED, LONGEST, MOST_CELLS, MOST_GROUPED, MOST_ROWS


def long_campaign(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.3] = np.nan
    ids = [f"a rather long name of a row {i}" for i in range(n)]
    columns = [f"a rather long name of a column {j}" for j in range(p)]
    table = Table.from_arrays(X, columns=columns, row_ids=ids)
    return Campaign.create(table, store=MemoryStore(), prices=Prices.same(1.0), strategy="posterior")


@pytest.mark.parametrize(("n", "p"), [(5000, 6), (2000, 60), (150, 500)])
def test_large_maps_stay_small(n, p):
    campaign = long_campaign(n, p)
    found = findings.cell_map(campaign)
    assert len(json.dumps(found, allow_nan=False)) < 1_000_000
    shown = len(found["columns"])
    if found["group"] == 1:
        assert len(found["codes"]) == n
        return
    sums = sum(np.array(found[name]) for name in ("known", "bought", "refused", "estimated"))
    assert sums[:, 0].sum() == n
    assert (sums[:-1] == found["group"]).all()
    holes = campaign.table.holes[: found["group"], :shown].sum(axis=0)
    assert found["estimated"][0] == holes.tolist()
    close = findings.cell_map(campaign, found["starts"][1], found["starts"][2])
    assert close["group"] == 1
    assert (np.array(close["codes"]) >= ESTIMATED).sum(axis=0).tolist() == found["estimated"][1]


def test_the_largest_maps_by_their_bounds():
    # What the limits allow in the worst case, in bytes of JSON without blanks; letters may take four bytes.
    single = MOST_CELLS * len("1200,") + MOST_ROWS * (4 * LONGEST + len('"",[],'))
    grouped = MOST_GROUPED * (5 * len("20000,") + len("0.55,"))
    assert max(single, grouped) < 1_000_000
