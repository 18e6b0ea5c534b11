"""Which columns belong to a category, against tables that are made of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.categories import as_one_cell, find_categories
from cellworth.table import Table


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    widths=st.lists(st.integers(1, 5), min_size=1, max_size=5),
    share=st.sampled_from([0.5, 0.8]),
)
def test_categories_are_found_and_numbers_are_not(seed, widths, share):
    """A width of 1 stands for a column of numbers; holes are drawn for each column of cells by itself."""
    rng = np.random.default_rng(seed)
    n, blocks, expected, start = 60, [], [], 0
    for width in widths:
        if width == 1:
            block = rng.normal(size=(n, 1))
        else:
            codes = np.concatenate([np.arange(width), rng.integers(width, size=n - width)])
            block = np.eye(width)[codes]
            expected.append(slice(start, start + width))
        known = np.concatenate([np.ones(width, dtype=bool), rng.random(n - width) < share])
        blocks.append(np.where(known[:, None], block, np.nan))
        start += width
    assert find_categories(np.hstack(blocks)) == tuple(expected)


def test_the_columns_of_an_encoded_table_are_found():
    rng = np.random.default_rng(0)
    hue, size = rng.choice(["red", "green", "blue"], 50).astype(object), rng.normal(size=50).round(2)
    open_, mark = rng.choice(["yes", "no"], 50), rng.choice(list("abcd"), 50)
    hue[[3, 7]] = None
    table = Table.from_arrays(np.column_stack([size.astype(object), hue, open_, mark]).tolist())
    encoded = table.encode()
    wide = [j for j, column in enumerate(table.columns) if len(column.categories or ()) > 2]
    assert len(wide) == 2
    assert find_categories(encoded.X) == tuple(encoded.layout.columns_of(j) for j in wide)


def test_columns_that_are_known_in_other_rows_or_overlap_are_no_category():
    eye = np.eye(3)[np.arange(12) % 3]
    holed = eye.copy()
    holed[0, 1] = np.nan
    assert find_categories(holed) == ()
    twice = eye.copy()
    twice[0] = [1, 1, 0]
    assert find_categories(twice) == ()
    none = eye.copy()
    none[0] = 0
    assert find_categories(none) == ()
    assert find_categories(2 * eye) == ()
    assert find_categories(np.ones((4, 2))) == ()
    assert find_categories(np.full((4, 2), np.nan)) == ()
    assert find_categories(np.zeros((0, 3))) == ()


def test_categories_are_hidden_as_one_cell():
    cells = np.array([[True, False, True, False], [False, True, False, False]])
    together = as_one_cell(cells, [slice(1, 4)])
    np.testing.assert_array_equal(together, [[True, False, False, False], [False, True, True, True]])
    np.testing.assert_array_equal(as_one_cell(cells, ()), cells)
