"""More categories for a column, once a value turns up that the table did not know of.

A category is stored as its place in the column's list. Those of an ordered column may move when one is put
before them, so values are recoded from one list to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.errors import DataError
from cellworth.messages import did_you_mean, listing, shorten
from cellworth.table.column import LABELLED, Column
from cellworth.table.parse_values import label
from cellworth.table.table import Table
from cellworth.table.target import ClassColumn, Target


def with_category(column: Column, category: object, before: object = None) -> Column:
    """Return a column that may hold one more category; the column itself if it has it.

    Parameters
    ----------
    column : Column
        A category or an ordered column.
    category : str
    before : str, optional
        The category of an ordered column that the new one comes before; by default it is the highest.

    Raises
    ------
    DataError
        If the column holds no categories, or does not have ``before``, or is not ordered.

    Examples
    --------
    >>> stage = Column("stage", "ordered", categories=("I", "II"))
    >>> with_category(stage, "0", before="I").categories
    ('0', 'I', 'II')
    """
    place = f"column {shorten(column.name)}"
    if not can_have_more(column):
        holds = "classes that are numbers" if isinstance(column, ClassColumn) else f"the kind {column.kind!r}"
        raise DataError(f"{place}: only columns of categories can have one more, and this one has {holds}.")
    text = label(category).strip()
    if not text:
        raise DataError(f"{place}: the new category must not be blank.")
    if text in column.categories:
        return column
    at = len(column.categories)
    if before is not None:
        at = _place_of(column, before)
    return replace(column, categories=(*column.categories[:at], text, *column.categories[at:]))


def can_have_more(column: Column) -> bool:
    """Return whether a column holds categories, to which others may be added."""
    return column.kind in LABELLED and not isinstance(column, ClassColumn)


def _place_of(column: Column, category: object) -> int:
    if column.kind != "ordered":
        raise DataError(
            f"column {shorten(column.name)}: its categories have no order, so none comes before another."
        )
    text = label(category).strip()
    if text not in column.categories:
        hint = did_you_mean(text, column.categories)
        raise DataError(
            f"column {shorten(column.name)}: expected one of {listing(column.categories)}, got "
            f"{shorten(text)}.{hint}"
        )
    return column.categories.index(text)


def recoded(values: Float64Array, old: Column, new: Column) -> Float64Array:
    """Return cells (n,) of one column as another one holds them, which has all its categories; O(n)."""
    if old.categories == new.categories[: len(old.categories)]:
        return values
    places = np.array([new.categories.index(category) for category in old.categories], dtype=np.float64)
    holes = np.isnan(values)
    return np.where(holes, np.nan, places[np.where(holes, 0, values).astype(np.intp)])


def with_columns(table: Table, columns: Sequence[Column]) -> Table:
    """Return a table whose columns may hold more categories; those of the target, if any, come last; O(n p).

    The table itself if it has these columns.
    """
    if answerable(table) == tuple(columns):
        return table
    target = table.target
    values = np.column_stack(
        [recoded(table.values[:, j], column, columns[j]) for j, column in enumerate(table.columns)]
    )
    p = len(table.columns)
    widened = None if target is None else with_answers(target, columns[p])
    return Table(tuple(columns[:p]), values, table.row_ids, widened, table.row_id)


def answerable(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table, with that of the labels, if any, as the last."""
    return (*table.columns, *(() if table.target is None else (table.target.answer_column,)))


def with_answers(target: Target, column: Column) -> Target:
    """Return a target whose ``answer_column`` may hold more categories; its labels stay."""
    same = isinstance(column, ClassColumn) or target.column == column
    return target if same else replace(target, column=column)
