"""Look up cells by row and column name, or by position."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from cellworth.arrays import IntArray
from cellworth.errors import DataError
from cellworth.messages import not_there, shorten
from cellworth.prices import Prices
from cellworth.setting_names import by_door
from cellworth.table import Column
from cellworth.table.missing_marks import USUAL_MARKS
from cellworth.table.more_categories import answerable, can_have_more
from cellworth.table.parse_values import label

Cell = tuple[int, int]
"""The positions of a cell's row and column."""


class RowNames(Protocol):
    """The names of a table's rows, which are in memory or in the table's files."""

    def __len__(self) -> int:
        """Return how many rows there are."""

    def name(self, place: int) -> str:
        """Return the name of the row at a position."""

    def place(self, name: str) -> int | None:
        """Return the position of the row with this very name; None if there is none."""

    def places(self, names: Iterable[str]) -> IntArray:
        """Return the positions of rows, looked up at once, -1 for names that do not exist."""

    def meet_places(self, places: IntArray) -> None:
        """Look the names at these positions up at once, so that `name` of each takes O(1) from now on."""

    def names_between(self, start: int, stop: int) -> Sequence[str]:
        """Return the names of the rows from ``start`` up to before ``stop``, all of which exist."""

    def unstated(self, names: Iterable[str]) -> dict[str, int]:
        """Return the positions of those of these rows that no event has stated, if events must."""

    def state(self, places: dict[str, int]) -> None:
        """Note positions that an event states."""

    def alike(self) -> Sequence[str]:
        """Return names to suggest in place of one that does not exist."""

    def add(self, row_ids: Sequence[str]) -> None:
        """Append rows; O(new rows)."""


class ListedRows:
    """The names of rows in memory; see `RowNames`."""

    def __init__(self, row_ids: Sequence[str]) -> None:
        self.ids: list[str] = []
        self._places: dict[str, int] = {}
        self.add(row_ids)

    def __len__(self) -> int:
        return len(self.ids)

    def name(self, place: int) -> str:
        """Return the name of the row at a position."""
        return self.ids[place]

    def place(self, name: str) -> int | None:
        """Return the position of the row with this very name; None if there is none."""
        return self._places.get(name)

    def places(self, names: Iterable[str]) -> IntArray:
        """Return the positions of rows, -1 for names that do not exist."""
        return np.fromiter(map(self._places.get, names, itertools.repeat(-1)), dtype=np.int64)

    def meet_places(self, places: IntArray) -> None:
        """Do nothing: all names are at hand."""

    def names_between(self, start: int, stop: int) -> Sequence[str]:
        """Return the names of the rows from ``start`` up to before ``stop``."""
        return self.ids[start:stop]

    def unstated(self, names: Iterable[str]) -> dict[str, int]:
        """Return nothing: names and positions follow from the table."""
        return {}

    def state(self, places: dict[str, int]) -> None:
        """Do nothing: names and positions follow from the table."""

    def alike(self) -> Sequence[str]:
        """Return all names."""
        return self.ids

    def add(self, row_ids: Sequence[str]) -> None:
        """Append rows; O(new rows)."""
        self._places.update({row: place for place, row in enumerate(row_ids, start=len(self.ids))})
        self.ids.extend(row_ids)


class CellIndex:
    """Finds rows and columns by name, in O(1) once `meet` has seen them; rows can be appended.

    Labels are cells, too: the column of the target, if there is one, is the last of ``columns``.

    Parameters
    ----------
    table : Table or BlockTable
        The columns and, unless ``rows`` are given, the rows.
    rows : RowNames, optional
    """

    def __init__(self, table: Any, rows: RowNames | None = None) -> None:
        self.columns: tuple[Column, ...] = answerable(table)
        self.features = len(table.columns)
        self._table = table
        self.rows: RowNames = ListedRows(table.row_ids) if rows is None else rows
        self._columns = {column.name: place for place, column in enumerate(self.columns)}

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def sells_labels(self, prices: Prices) -> bool:
        """Return whether labels are cells that have a price."""
        return len(self.columns) > self.features and prices.sells_labels(self._table)

    def add(self, row_ids: Sequence[str]) -> None:
        """Append rows; O(new rows)."""
        self.rows.add(row_ids)

    def replace(self, place: int, column: Column) -> None:
        """Put another column of the same name in the place of one."""
        self.columns = (*self.columns[:place], column, *self.columns[place + 1 :])

    def meet(self, rows: Iterable[object]) -> None:
        """Look rows up at once; each of them is then found in O(1)."""
        self.rows.places(row if isinstance(row, str) else label(row) for row in rows)

    def __contains__(self, row: str) -> bool:
        return self.rows.place(row) is not None

    def cell(self, row: object, column: object) -> Cell:
        """Return the positions of a cell; DataError suggesting the closest name if there is none."""
        return self.row(row), self.column(column)

    def column(self, column: object) -> int:
        """Return the position of a column; DataError suggesting the closest name if there is none."""
        j = self._columns.get(column) if isinstance(column, str) else None
        if j is None:
            raise DataError(not_there("column", column, [column.name for column in self.columns]))
        return j

    def row(self, row: object) -> int:
        """Return the position of a row; DataError suggesting the closest id if there is none."""
        i = self.rows.place(row) if isinstance(row, str) else None
        i = self.rows.place(label(row)) if i is None else i
        if i is None:
            raise DataError(not_there("row", label(row), self.rows.alike(), self.n_rows))
        return i

    def places(self, rows: Iterable[str]) -> IntArray:
        """Return the positions of rows, -1 for those that `row` might find but not by this very text."""
        return self.rows.places(rows)

    def column_places(self, columns: Iterable[str]) -> IntArray:
        """Return the positions of columns, -1 for those that do not exist."""
        return np.fromiter(map(self._columns.get, columns, itertools.repeat(-1)), dtype=np.int64)

    def names(self, cell: Cell) -> tuple[str, str]:
        """Return the names of a cell's row and column."""
        return self.rows.name(cell[0]), self.columns[cell[1]].name

    def parse(self, cell: Cell, value: object) -> float:
        """Return the number that stands for a value of a cell; DataError if the cell cannot hold it."""
        column = self.columns[cell[1]]
        try:
            return column.parse(value)
        except DataError as error:
            row = shorten(self.rows.name(cell[0]))
            raise DataError(f"row {row}, {error}{_remedy(column, value)}") from None

    def words(self, cell: Cell) -> str:
        """Name a cell in a message, as in "row 'p17', column 'age'"."""
        row, column = self.names(cell)
        return f"row {shorten(row)}, column {shorten(column)}"


def _remedy(column: Column, value: object) -> str:
    """Say how a value that is no category of a column may become one; nothing if it cannot."""
    if not can_have_more(column) or not isinstance(value, str) or value.strip() in {"", *USUAL_MARKS}:
        return ""
    how = by_door(
        python=f"add_category({column.name!r}, {value!r})",
        command_line="cellworth category",
        rest="POST .../categories",
    )
    return f" If it is right, add it to the categories of the column first: {how}."
