"""The columns: means, order and errors against plain loops."""

import pytest

from cellworth.report import columns_summary
from cellworth.report.column_summaries import plus_minus
from cellworth.report.fill_errors import fill_errors
from cellworth.strategy import get


def test_columns_are_summarised_over_the_holes_that_can_be_had(campaign):
    found = {column["name"]: column for column in columns_summary(campaign).to_json()["columns"]}
    cells, table = campaign.cells(), campaign.table
    average = cells.worth[cells.available].mean()
    errors = fill_errors(table, get(campaign.strategy).completer)
    assert set(found) == set(table.column_names)
    for j, name in enumerate(table.column_names):
        column = found[name]
        holes = [i for i in range(table.shape[0]) if cells.available[i, j]]
        worths, prices = ([float(array[i, j]) for i in holes] for array in (cells.worth, cells.price))
        assert column["worth"] == pytest.approx(sum(worths) / len(holes) / average)
        assert column["price"] == pytest.approx(sum(prices) / len(holes))
        assert column["worth_low"] <= column["worth_high"] <= column["worth_most"]
        assert column["missing"] == table.holes[:, j].sum()
        assert column["bought"] == cells.bought[:, j].sum()
        assert column["error"]["error"] == pytest.approx(errors[j].error)
    order = [column["per_money"] for column in columns_summary(campaign).to_json()["columns"]]
    assert order == sorted(order, reverse=True)
    assert "mg" in found["dose"]["error"]["words"]
    assert "days" in found["visit"]["error"]["words"]
    assert "wrong" in found["hue"]["error"]["words"]


@pytest.mark.parametrize(
    ("value", "spread", "written"),
    [
        (258.3, 71.0, "260 ± 70"),
        (0.01138, 0.00066, "0.0114 ± 0.0007"),
        (3.0, 0.0, "3 ± 0"),
        (9.96, 1.0, "10 ± 1"),
    ],
)
def test_a_number_and_its_error_end_at_the_same_place(value, spread, written):
    assert plus_minus(value, spread) == written
