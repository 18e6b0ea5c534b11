"""How well columns are filled, against known truth."""

import numpy as np
import pytest

from cellworth import GaussianCompleter, Table, fill
from cellworth.report.fill_errors import LEVEL, fill_errors
from tests.campaign.campaigns import make_table


def test_errors_are_measured_on_cells_that_were_hidden():
    """A column with a noisy twin has the noise as its error; one by itself that of the best guess."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=600)
    X = np.column_stack([10 * base, 10 * base + rng.normal(size=600), 5 * rng.normal(size=600)])
    X[rng.random(X.shape) < 0.1] = np.nan
    found = fill_errors(Table.from_arrays(X), GaussianCompleter())
    # 1 where the twin is known, 10 in the fifth of the rows where it is not: sqrt(0.81 + 0.19 * 100) = 4.5
    assert found[0].error == pytest.approx(4.5, rel=0.25)
    assert found[2].error == pytest.approx(5.0, rel=0.1)
    assert found[2].guess == pytest.approx(5.0, rel=0.1)
    for each in found:
        assert each.hidden >= 500  # every known cell but one, once
        assert abs(each.covered / each.hidden - LEVEL) < 0.05
        assert 0 < each.spread < each.error


def test_columns_of_all_kinds_are_measured_and_those_with_too_few_cells_are_not():
    table = make_table(60)
    values = np.array(table.values)
    values[5:, 0] = np.nan
    found = dict(
        zip(table.column_names, fill_errors(table.with_values(values), GaussianCompleter()), strict=True)
    )
    assert found["dose"] is None
    assert 0 <= found["hue"].error <= 1
    assert found["hue"].covered is None
    assert found["smokes"].covered is None
    assert found["age"].covered <= found["age"].hidden


def test_long_tables_are_measured_on_some_rows(monkeypatch):
    monkeypatch.setattr("cellworth.report.fill_errors.MOST_ROWS", 50)
    found = fill_errors(make_table(200), GaussianCompleter())
    assert all(each.hidden < 50 for each in found)


def test_a_constant_column_is_filled_exactly():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(60), rng.normal(size=60)])
    table = Table.from_arrays(X)
    assert fill(table).table.equals(table)
    assert fill_errors(table, GaussianCompleter())[0].error == 0
