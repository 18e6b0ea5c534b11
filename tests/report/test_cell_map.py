"""The map and the rows: each cell is what it is, in any size of table, and never more than 1 MB."""

import json

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import DataError, ParameterError
from cellworth.report import cell_map, cell_map_summary, row_summary
from cellworth.report.cell_map import (
    BOUGHT,
    ESTIMATED,
    KNOWN,
    LONGEST_ROW_NAME,
    MOST_CELLS,
    MOST_GROUPED,
    MOST_ROWS,
    OUT,
    REFUSED,
)
from tests.report.campaigns import as_json


def test_the_map_says_what_each_cell_is(campaign):
    found = cell_map_summary(campaign).to_json()
    code = np.array(found["codes"])
    cells = campaign.cells()
    assert code.shape == campaign.table.shape
    np.testing.assert_array_equal(code == KNOWN, cells.known)
    np.testing.assert_array_equal(code == BOUGHT, cells.bought)
    np.testing.assert_array_equal(code == REFUSED, cells.refused)
    np.testing.assert_array_equal(code >= ESTIMATED, cells.available)
    assert (code % OUT).max() <= ESTIMATED + 100
    out = {(found["ids"][i], found["columns"][j]) for i, j in np.argwhere(code >= OUT)}
    assert out == {(each.row, each.column) for each in campaign.open_purchases()}
    assert found["counts"]["out"] == len(out)


def test_a_part_of_the_map(campaign):
    whole, part = cell_map_summary(campaign).to_json(), cell_map_summary(campaign, 10, 13).to_json()
    assert part["ids"] == whole["ids"][10:13]
    assert part["codes"] == whole["codes"][10:13]
    assert part["counts"] == whole["counts"]
    with pytest.raises(ParameterError, match="last <= 60"):
        cell_map_summary(campaign, 60, 61).to_json()


def test_a_row_has_values_estimates_and_reasons(campaign):
    table = campaign.table
    row = next(i for i in range(table.shape[0]) if 0 < table.holes[i].sum() < table.shape[1])
    found = row_summary(campaign, table.row_ids[row]).to_json()
    as_json(found)
    assert found["place"] == row
    assert found["target"]["name"] == "outcome"
    filled, cells = campaign.fill(), campaign.cells()
    average = cells.worth[cells.available].mean()
    for j, cell in enumerate(found["cells"]):
        if not table.holes[row, j]:
            assert cell["status"] in ("known", "bought")
            assert cell["estimate"] is None
            continue
        column = table.columns[j]
        assert column.parse(cell["estimate"]) == pytest.approx(filled.table.values[row, j], rel=1e-3)
        if cell["low"] is not None:
            assert column.parse(cell["low"]) <= column.parse(cell["high"])
        if cell["status"] != "refused":
            assert cell["worth"] == pytest.approx(cells.worth[row, j] / average)
            assert 1 <= cell["rank"] <= cell["of"] == cells.available.sum()
            assert "per unit of money" in cell["why"]
            assert "costs" not in cell["why"]  # it stands beside


def test_the_best_cell_ranks_first(campaign):
    cells, table = campaign.cells(), campaign.table
    per_money = np.where(cells.available, cells.worth / cells.price, -1)
    i, j = np.unravel_index(np.argmax(per_money), per_money.shape)
    cell = row_summary(campaign, table.row_ids[i]).to_json()["cells"][j]
    assert cell["rank"] == 1


def test_a_row_of_no_row(campaign):
    with pytest.raises(DataError, match="p1"):
        row_summary(campaign, "p1x").to_json()


def long_campaign(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.3] = np.nan
    ids = [f"a rather long name of a row {i}" for i in range(n)]
    columns = [f"a rather long name of a column {j}" for j in range(p)]
    table = Table.from_arrays(X, columns=columns, row_ids=ids)
    return Campaign.create(table, store=MemoryStore(), prices=Prices.same(1.0), strategy="posterior")


@pytest.mark.parametrize(("n", "p"), [(5000, 6), (500, 6), (200, 6), (15, 50)])
def test_large_maps_stay_small(n, p, monkeypatch):
    if n < 5000:  # a tenth of the limits, for a tenth of the table
        limits = {"MOST_ROWS": 200, "MOST_CELLS": 1200, "MOST_GROUPED": 160, "MOST_COLUMNS": 40}
        for name, limit in limits.items():
            monkeypatch.setattr(cell_map, name, limit)
    campaign = long_campaign(n, p)
    found = cell_map_summary(campaign).to_json()
    assert len(json.dumps(found, allow_nan=False)) < 1_000_000
    shown = len(found["columns"])
    assert shown + found["columns_left_out"] == p
    if found["group"] == 1:
        assert len(found["codes"]) == n
        return
    sums = sum(np.array(found[name]) for name in ("known", "bought", "refused", "estimated"))
    assert sums[:, 0].sum() == n
    assert (sums[:-1] == found["group"]).all()
    holes = campaign.table.holes[: found["group"], :shown].sum(axis=0)
    assert found["estimated"][0] == holes.tolist()
    close = cell_map_summary(campaign, found["starts"][1], found["starts"][2]).to_json()
    assert close["group"] == 1
    assert (np.array(close["codes"]) >= ESTIMATED).sum(axis=0).tolist() == found["estimated"][1]


def test_the_largest_maps_by_their_bounds():
    # What the limits allow in the worst case, in bytes of JSON without blanks; letters may take four bytes.
    single = MOST_CELLS * len("1200,") + MOST_ROWS * (4 * LONGEST_ROW_NAME + len('"",[],'))
    grouped = MOST_GROUPED * (5 * len("20000,") + len("0.55,"))
    assert max(single, grouped) < 1_000_000
