"""Look up cells by row and column name, or by position."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from cellworth.arrays import IntArray
from cellworth.errors import DataError
from cellworth.messages import not_there, shorten
from cellworth.table import Column, Table
from cellworth.table.parse_values import label

Cell = tuple[int, int]
"""The positions of a cell's row and column."""


class CellIndex:
    """Finds rows and columns by name, in O(1); rows can be appended.

    Labels are cells, too: the column of the target, if there is one, is the last of ``columns``.
    """

    def __init__(self, table: Table) -> None:
        self.row_ids: list[str] = []
        target = () if table.target is None else (table.target.answer_column,)
        self.columns: tuple[Column, ...] = (*table.columns, *target)
        self.features = len(table.columns)
        self._rows: dict[str, int] = {}
        self._columns = {column.name: place for place, column in enumerate(self.columns)}
        self.add(table.row_ids)

    def add(self, row_ids: Sequence[str]) -> None:
        """Append rows; O(new rows)."""
        self._rows.update({row: place for place, row in enumerate(row_ids, start=len(self.row_ids))})
        self.row_ids.extend(row_ids)

    def __contains__(self, row: str) -> bool:
        return row in self._rows

    def cell(self, row: object, column: object) -> Cell:
        """Return the positions of a cell; DataError suggesting the closest name if there is none."""
        i = self.row(row)
        j = self._columns.get(column) if isinstance(column, str) else None
        if j is None:
            raise DataError(not_there("column", column, [column.name for column in self.columns]))
        return i, j

    def row(self, row: object) -> int:
        """Return the position of a row; DataError suggesting the closest id if there is none."""
        i = self._rows.get(row) if isinstance(row, str) else None
        i = self._rows.get(label(row)) if i is None else i
        if i is None:
            raise DataError(not_there("row", label(row), self.row_ids))
        return i

    def places(self, rows: Iterable[str]) -> IntArray:
        """Return the positions of rows, -1 for those that `row` might find but not by this very text."""
        return np.fromiter(map(self._rows.get, rows, itertools.repeat(-1)), dtype=np.int64)

    def column_places(self, columns: Iterable[str]) -> IntArray:
        """Return the positions of columns, -1 for those that do not exist."""
        return np.fromiter(map(self._columns.get, columns, itertools.repeat(-1)), dtype=np.int64)

    def names(self, cell: Cell) -> tuple[str, str]:
        """Return the names of a cell's row and column."""
        return self.row_ids[cell[0]], self.columns[cell[1]].name

    def words(self, cell: Cell) -> str:
        """Name a cell in a message, as in "row 'p17', column 'age'"."""
        row, column = self.names(cell)
        return f"row {shorten(row)}, column {shorten(column)}"
