import numpy as np

from cellworth import Table
from cellworth.table.write_table import MOST_COLUMNS, MOST_ROWS, html_table


def test_a_table_shows_its_first_rows_with_its_holes():
    X = [[1.5, "<b>"], [None, "red"], [2.5, None]]
    table = Table.from_arrays(X, ["yes", "no", "yes"], columns=["size", "hue"], row_ids=["p", "q", "r"])
    page = table._repr_html_()
    assert "Table of 3 rows and 2 columns" in page
    assert "<tr><th>row_id</th><th>size</th><th>hue</th><th>target</th></tr>" in page
    assert "<tr><td>p</td><td>1.5</td><td>&lt;b&gt;</td><td>yes</td></tr>" in page
    assert "<tr><td>q</td><td>—</td><td>red</td><td>no</td></tr>" in page


def test_a_large_table_is_cut():
    table = Table.from_arrays(np.ones((50, 30)))
    page = table._repr_html_()
    assert page.count("<tr>") == MOST_ROWS + 1
    assert page.count("<th>") == MOST_COLUMNS + 2
    assert "... and 40 more rows" in page
    assert "... 10 more" in page
    assert "x" * 121 not in html_table("", ["a"], [["x" * 500]])


def test_the_head_is_a_table_of_the_first_rows():
    table = Table.from_arrays(np.arange(20.0).reshape(10, 2), np.arange(10) % 2)
    head = table.head(3)
    assert head.shape == (3, 2)
    assert head.columns == table.columns
    np.testing.assert_array_equal(head.y, [0, 1, 0])
    assert table.head().shape == (5, 2)
    assert table.head(99).equals(table)
