import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cellworth.errors import DataError
from cellworth.table import Table
from cellworth.table.encoded import ColumnLayout

from .tables import tables


@settings(max_examples=60, deadline=None)
@given(tables(holes=False), st.integers(0, 2**32 - 1))
def test_a_complete_table_comes_back_bit_for_bit(table, seed):
    encoded = table.encode()
    noise = np.random.default_rng(seed).normal(size=encoded.X.shape)
    assert encoded.decode(encoded.X).tobytes() == table.values.tobytes()
    assert encoded.decode(noise).tobytes() == table.values.tobytes()


@settings(max_examples=100, deadline=None)
@given(tables(), st.data())
def test_decoded_cells_are_always_allowed(table, data):
    encoded = table.encode()
    filled = data.draw(hnp.arrays(float, encoded.X.shape, elements=st.floats(-1e300, 1e300)))
    cells = encoded.decode(filled)
    assert not np.isnan(cells).any()
    assert cells[~table.holes].tobytes() == table.values[~table.holes].tobytes()
    for place, column in enumerate(table.columns):
        assert not column.invalid(cells[:, place]).any()
        assert all(column.parse(column.format(value)) == value for value in cells[:, place])
    assert table.with_values(cells).values.tobytes() == cells.tobytes()


@settings(max_examples=60, deadline=None)
@given(tables())
def test_encoding_a_completed_table_and_decoding_it_is_the_identity(table):
    encoded = table.encode()
    complete = table.with_values(encoded.decode(np.zeros(encoded.X.shape)))
    assert encoded.decode(complete.encode().X).tobytes() == complete.values.tobytes()


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(0, 2**32 - 1))
def test_scores_are_summed_over_the_columns_of_a_cell(table, seed):
    encoded = table.encode()
    scores = np.random.default_rng(seed).random(encoded.X.shape)
    wanted = np.zeros(table.shape)
    for j, owner in enumerate(encoded.owner):
        wanted[:, owner] += scores[:, j]
    np.testing.assert_allclose(encoded.sum_by_cell(scores), wanted, rtol=1e-13)


@settings(max_examples=40, deadline=None)
@given(tables())
def test_shapes_and_holes_agree_with_the_cells(table):
    encoded = table.encode()
    widths = [
        len(column.categories) if column.kind == "category" and len(column.categories) > 2 else 1
        for column in table.columns
    ]
    assert encoded.owner.tolist() == list(np.repeat(np.arange(len(widths)), widths))
    assert len(encoded.feature_names) == encoded.X.shape[1] == sum(widths)
    assert np.array_equal(encoded.holes, table.holes[:, encoded.owner])


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(0, 2**32 - 1))
def test_the_layout_needs_no_cells_and_agrees_with_them(table, seed):
    encoded, layout = table.encode(), ColumnLayout(table.columns)
    assert layout == encoded.layout
    assert layout.feature_names == encoded.feature_names
    assert layout.width == encoded.X.shape[1]
    assert layout.encode(table.values).tobytes() == encoded.X.tobytes()
    assert np.array_equal(layout.known(encoded.X), ~table.holes)
    assert np.array_equal(layout.by_column(table.holes), encoded.holes)
    scores = np.random.default_rng(seed).random(encoded.X.shape)
    by_hand = [scores[:, layout.columns_of(j)].sum(axis=1) for j in range(table.shape[1])]
    np.testing.assert_allclose(layout.sum_by_cell(scores), np.column_stack(by_hand), rtol=1e-13)
    np.testing.assert_array_equal(layout.sum_by_cell(scores[0]), layout.sum_by_cell(scores)[0])


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(0, 2**32 - 1))
def test_ends_of_intervals_are_values_of_kinds_with_an_order(table, seed):
    encoded = table.encode()
    end = np.random.default_rng(seed).normal(scale=100, size=encoded.X.shape)
    cells, decoded = encoded.decode_ends(end), encoded.decode(end)
    for j, column in enumerate(table.columns):
        holes = table.holes[:, j]
        assert cells[~holes, j].tobytes() == table.values[~holes, j].tobytes()
        if column.kind in ("boolean", "category"):
            assert np.isnan(cells[holes, j]).all()
        else:
            assert np.array_equal(cells[holes, j], decoded[holes, j])


def test_scores_of_another_width_are_refused():
    layout = ColumnLayout(Table.from_arrays([[1.0, "a"], [2.0, "b"], [3.0, "c"]]).columns)
    with pytest.raises(DataError, match="each of the 4 encoded columns, got the shape \\(2,\\)"):
        layout.sum_by_cell([1.0, 2.0])


def test_rounded_integers_respect_bounds_with_fractions():
    table = Table.from_arrays(
        [[1], [None], [None], [None]], kinds={"x0": "integer"}, bounds={"x0": (0.5, 3.2)}
    )
    assert table.encode().decode([[9], [-5.0], [3.4], [2.4]]).ravel().tolist() == [1, 1, 3, 2]


def test_dates_are_whole_days_only_where_the_observed_ones_are():
    cells = [["2020-01-01", "2020-01-01T12:00"], [None, None]]
    table = Table.from_arrays(cells)
    decoded = table.encode().decode([[0, 0], [18262.4, 18262.4]])
    assert decoded[1, 0] == 18262.0
    assert decoded[1, 1] == pytest.approx(18262.4, abs=1e-11)


def test_two_categories_take_one_column_and_one_category_a_constant():
    table = Table.from_arrays([["a", "x"], ["b", "x"], [None, None]])
    encoded = table.encode()
    assert encoded.feature_names == ("x0=b", "x1")
    assert encoded.decode([[0, 0], [0, 0], [0.7, 5]])[2].tolist() == [1, 0]


@pytest.mark.parametrize("given_matrix", [[[1.0]], [["a", "b"]], [[np.nan], [np.nan]]])
def test_a_matrix_that_does_not_fit_is_refused(given_matrix):
    table = Table.from_arrays([[1.0], [np.nan]])
    with pytest.raises(DataError, match="X_filled"):
        table.encode().decode(given_matrix)


def test_encoded_arrays_are_read_only():
    encoded = Table.from_arrays([[1.0], [2.0]]).encode()
    with pytest.raises(ValueError, match="read-only"):
        encoded.X[0, 0] = 3
