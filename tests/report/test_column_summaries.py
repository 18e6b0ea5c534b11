"""The columns: means, order and errors against plain loops."""

import pytest
from scipy import stats

from cellworth.report import columns_summary
from cellworth.report.column_summaries import digits, log_interval, wilson
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


def test_the_interval_of_an_error_is_positive_and_holds_the_error():
    low, high = log_interval(0.723, 0.813)
    assert 0 < low < 0.723 < high
    assert low * high == pytest.approx(0.723**2)
    assert log_interval(0.0, 0.0) == (0.0, 0.0)
    # For a small spread it is the usual one.
    assert log_interval(10.0, 0.1) == pytest.approx((10 - 0.196, 10 + 0.196), abs=0.002)


@pytest.mark.parametrize(("wrong", "n"), [(0, 10), (10, 10), (3, 10), (150, 500)])
def test_the_interval_of_a_share_is_wilsons(wrong, n):
    result = stats.binomtest(wrong, n).proportion_ci(0.95, method="wilson")
    assert wilson(wrong / n, n) == pytest.approx((result.low, result.high), abs=1e-9)


def test_large_numbers_are_written_in_full():
    assert [digits(value, 2) for value in (1234.5, 12.3, 9.87, 0.0123)] == ["1,234", "12", "9.9", "0.012"]
