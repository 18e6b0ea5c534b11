"""The rule by which values are far outside what was seen in their column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth import Table
from cellworth.table import Column
from cellworth.table.seen_values import LEAST, seen_by_column, seen_in

NUMBER, COUNT = Column("x", "number"), Column("n", "integer")


def limits(column, known):
    seen = seen_in(column, np.asarray(known, dtype=float))
    return None if seen is None else (seen.least, seen.most)


def test_the_rule_by_hand():
    # Of 201 values, the smallest and the largest are left out: 0.02 to 3.98 remain.
    assert limits(NUMBER, np.linspace(0, 4, 201)) == pytest.approx((0.02 - 2 * 3.96, 3.98 + 2 * 3.96))
    assert limits(NUMBER, [0.0] * 99 + [4.0]) == (-16.0, 20.0)  # 400 / n = 4
    assert limits(NUMBER, [0.0] * 49 + [4.0]) == (-32.0, 36.0)  # 400 / n = 8
    assert limits(NUMBER, [0.0] * 9 + [4.0]) == (-160.0, 164.0)  # 400 / n = 40
    assert limits(NUMBER, [0.0, 1.0, 2.0, 5.0]) == (-3125.0, 3130.0)  # 40,000 / n^3 = 625
    assert limits(NUMBER, [0.0] * (LEAST - 2) + [4.0]) is None
    assert limits(NUMBER, [7.0] * 200) == (-7.0, 21.0)  # no width: that of the value
    assert limits(Column("x", "number", bounds=(0, np.inf)), [0.0] * 99 + [4.0]) == (-np.inf, 20.0)
    assert limits(Column("x", "number", bounds=(0, 9)), [0.0] * 99 + [4.0]) == (-np.inf, np.inf)
    assert limits(Column("x", "boolean"), [0.0] * 50 + [1.0] * 50) is None
    assert limits(COUNT, [0.0] * 19 + [4.0]) == (0.0, 84.0)  # counts are not negative
    assert limits(COUNT, [0.0] * 18 + [4.0])[0] < 0  # too few to know
    assert limits(COUNT, [-1.0] * 50 + [4.0])[0] < -1
    assert limits(Column("d", "date"), [19000.0] * 200) == (19000 - 732, 19000 + 732)  # two years


def test_one_absurd_value_in_two_hundred_widens_nothing():
    known = np.append(np.linspace(0, 4, 250), -99999999.0)
    assert limits(NUMBER, known)[0] > -20


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=LEAST, max_size=40),
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 1e3),
)
def test_no_known_value_is_questioned_and_units_do_not_matter(known, shift, scale):
    least, most = limits(NUMBER, known)
    assert least <= min(known) <= max(known) <= most
    width = max(known) - min(known)
    if width > 1e-3 * max(map(abs, known)):
        again = limits(NUMBER, np.array(known) * scale)
        assert again == pytest.approx(
            (least * scale, most * scale), rel=1e-9, abs=1e-9 * scale * (most - least)
        )


def test_every_column_of_a_table_by_its_known_values():
    X = np.column_stack([np.linspace(0, 4, 50), np.full(50, np.nan)])
    X[::5, 0] = np.nan
    table = Table.from_arrays(X, columns=["a", "b"], kinds={"b": "number"}, bounds={"b": (0, 1)})
    seen = seen_by_column(table)
    assert seen == [seen_in(table.columns[0], X[~np.isnan(X[:, 0]), 0]), None]


def test_ends_are_shown_with_six_digits():
    known = np.linspace(1, 9, 50) / 3
    number, integer = (Column("a", kind) for kind in ("number", "integer"))
    assert seen_in(number, known).ends(number) == (0.333333, 3.0)
    large = np.arange(1234567.0, 1234667.0)
    assert seen_in(integer, large).ends(integer) == (1234567.0, 1234666.0)
