"""Columns with more categories: what they take, and that no value changes its meaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth import Table
from cellworth.errors import DataError
from cellworth.table import Column
from cellworth.table.more_categories import answerable, can_have_more, recoded, with_category, with_columns

STAGE = Column("stage", "ordered", categories=("I", "II", "III"))
HUE = Column("hue", "category", categories=("blue", "red"))
NAMES = st.lists(st.text("abcdef", min_size=1, max_size=3), min_size=1, max_size=6, unique=True)


def test_a_category_is_put_last_or_before_another():
    assert with_category(HUE, "green").categories == ("blue", "red", "green")
    assert with_category(STAGE, "IV").categories == ("I", "II", "III", "IV")
    assert with_category(STAGE, "IIa", before="III").categories == ("I", "II", "IIa", "III")
    assert with_category(HUE, 3.0).categories == ("blue", "red", "3")
    assert with_category(HUE, " red ") is HUE


@pytest.mark.parametrize(
    ("column", "category", "before", "said"),
    [
        (HUE, " ", None, "must not be blank"),
        (HUE, "green", "red", "have no order"),
        (STAGE, "0", "J", "expected one of 'I', 'II', 'III', got 'J'"),
        (Column("age", "integer"), "old", None, "only columns of categories"),
        (Column("smokes", "boolean"), "maybe", None, "only columns of categories"),
        (Table.from_arrays([[1.0]] * 3, [1, 2, 3]).target.answer_column, "4", None, "classes that are numb"),
    ],
)
def test_what_cannot_be_added_is_refused_with_the_column(column, category, before, said):
    with pytest.raises(DataError, match=f"column '{column.name}'.*{said}"):
        with_category(column, category, before)


def test_columns_of_categories_can_have_more():
    assert can_have_more(HUE)
    assert can_have_more(STAGE)
    assert not can_have_more(Column("age", "integer"))


@given(NAMES, st.data())
def test_every_value_stays_what_it_was(names, data):
    old = Column("c", "ordered", categories=tuple(names))
    new = old
    for _ in range(data.draw(st.integers(1, 3))):
        before = data.draw(st.sampled_from([None, *new.categories]))
        new = with_category(new, data.draw(st.text("uvwxyz", min_size=1, max_size=4)), before)
    codes = data.draw(st.lists(st.sampled_from([np.nan, *range(len(names))]), max_size=8))
    values = np.array(codes, dtype=float)
    assert new.texts(recoded(values, old, new)) == old.texts(values)


def test_a_table_keeps_its_cells_and_labels_under_other_columns():
    cells = [["I", "red"], [None, "blue"], ["III", None]]
    said = {"kinds": {"stage": "ordered", "ill": "ordered"}, "categories": {"stage": ["I", "II", "III"]}}
    said["categories"]["ill"] = ["no", "yes"]
    table = Table.from_arrays(cells, ["yes", "no", None], columns=["stage", "hue"], target="ill", **said)
    more = [
        with_category(column, "zero", before)
        for column, before in zip(answerable(table), ("I", None, "no"), strict=True)
    ]
    other = with_columns(table, more)
    assert answerable(other) == tuple(more)
    assert other.to_csv() == table.to_csv()
    assert other.target.classes == table.target.classes
    assert with_columns(table, answerable(table)) is table
