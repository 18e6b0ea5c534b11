"""What the report measures and draws, against plain loops and known truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import GaussianCompleter, Table, fill
from cellworth.campaign.cells import CellArrays
from cellworth.report.cell_map import codes, mosaic, uncertainty
from cellworth.report.columns import mean_prices, mean_worths, plus_minus
from cellworth.report.measures import LEVEL, measure
from tests.campaign.campaigns import make_table


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 9), st.integers(0, 1000))
@settings(max_examples=40)
def test_the_map_shows_each_cell_in_proportion(n, p, band, seed):
    code = np.random.default_rng(seed).choice([0.0, 1.0, 2.5, 4.0], size=(n, p))
    image = mosaic(code, band)
    assert len(image) == -(-n // band)
    width = image.shape[1] // p
    for line, start in enumerate(range(0, n, band)):
        for j in range(p):
            cells = code[start : start + band, j]
            shown = image[line, j * width : (j + 1) * width]
            assert (np.diff(shown) >= 0).all()
            for value in (0.0, 1.0, 2.5, 4.0):
                share = (cells == value).mean()
                assert abs((shown == value).mean() - share) <= 1 / width + 1e-12 or band == 1
            assert band > 1 or set(shown) == set(cells)


def some_cells(rng, n=12, p=4):
    kind = rng.integers(0, 4, size=(n, p))
    return CellArrays(
        kind == 0,
        kind == 1,
        kind == 2,
        np.zeros((n, p), dtype=bool),
        kind == 3,
        rng.uniform(1, 9, (n, p)),
        (kind == 3) * rng.random((n, p)),
    )


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_means_of_columns_are_over_the_holes_that_can_be_had(seed):
    cells = some_cells(np.random.default_rng(seed))
    worths, prices = mean_worths(cells), mean_prices(cells)
    everywhere = [float(w) for w in cells.worth[cells.available]]
    for j in range(4):
        rows = [i for i in range(12) if cells.available[i, j]]
        if not rows:
            assert np.isnan(worths[j])
            assert np.isnan(prices[j])
            continue
        average = sum(everywhere) / len(everywhere)
        assert worths[j] == pytest.approx(sum(cells.worth[i, j] for i in rows) / len(rows) / average)
        assert prices[j] == pytest.approx(sum(cells.price[i, j] for i in rows) / len(rows))


def test_codes_tell_the_four_states_apart():
    cells = some_cells(np.random.default_rng(0))
    code = codes(cells, np.full((12, 4), 0.25))
    assert (code[cells.known] == 0).all()
    assert (code[cells.bought] == 1).all()
    assert (code[cells.refused] == 4).all()
    assert (code[cells.available] == 2.25).all()


def test_a_cell_is_unsure_where_its_row_says_nothing():
    rng = np.random.default_rng(0)
    twin = rng.normal(size=400)
    X = np.column_stack([twin, twin + 0.01 * rng.normal(size=400), rng.normal(size=400)])
    X[:50, 0] = np.nan  # its twin is known
    X[50:100, 2] = np.nan  # nothing says anything about it
    table = Table.from_arrays(X)
    shade = uncertainty(table, fill(table, GaussianCompleter(), level=0.9))
    assert (shade[~table.holes] == 0).all()
    assert shade[:50, 0].max() < 0.1
    assert shade[50:100, 2].min() > 0.8


def test_errors_are_measured_on_cells_that_were_hidden():
    """A column with a noisy twin has the noise as its error; one by itself that of the best guess."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=600)
    X = np.column_stack([10 * base, 10 * base + rng.normal(size=600), 5 * rng.normal(size=600)])
    X[rng.random(X.shape) < 0.1] = np.nan
    found = measure(Table.from_arrays(X), GaussianCompleter())
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
        zip(table.column_names, measure(table.with_values(values), GaussianCompleter()), strict=True)
    )
    assert found["dose"] is None
    assert 0 <= found["hue"].error <= 1
    assert found["hue"].covered is None
    assert found["smokes"].covered is None
    assert found["age"].covered <= found["age"].hidden


def test_long_tables_are_measured_on_some_rows(monkeypatch):
    monkeypatch.setattr("cellworth.report.measures.MOST_ROWS", 50)
    found = measure(make_table(200), GaussianCompleter())
    assert all(each.hidden < 50 for each in found)


def test_a_constant_column_is_filled_exactly():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(60), rng.normal(size=60)])
    table = Table.from_arrays(X)
    assert fill(table).table.equals(table)
    assert measure(table, GaussianCompleter())[0].error == 0


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
