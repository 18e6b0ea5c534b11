"""The value and status of each cell of a campaign's table, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.campaign.array_codec import slim, widened
from cellworth.campaign.cell_index import Cell, CellIndex, ListedRows
from cellworth.campaign.table_codec import unpack
from cellworth.prices.prices import with_target_column
from cellworth.table import Column, Table
from cellworth.table.more_categories import recoded, with_columns


class CellStatus(IntEnum):
    """The status of a cell."""

    HOLE = 0
    ASKED = 1
    KNOWN = 2
    TOLD = 3
    REFUSED = 4


HAS_VALUE = (CellStatus.KNOWN, CellStatus.TOLD)
MARKED = (CellStatus.ASKED, CellStatus.TOLD, CellStatus.REFUSED)
"""Cells whose status an event has set."""
MAY_COME = (CellStatus.HOLE, CellStatus.ASKED)
"""Cells without a value that can be bought, or are out."""


class CellValues(Protocol):
    """The cells of a campaign's table: those of its founding table, changed by events.

    Events change holes of the founding table, and correct its values; nothing else.
    """

    def status_of(self, cell: Cell) -> CellStatus:
        """Return the status of one cell."""

    def value_of(self, cell: Cell) -> float:
        """Return the value of one cell, NaN for a hole."""

    def at(self, rows: IntArray, columns: IntArray) -> tuple[NDArray[np.uint8], Float64Array]:
        """Return the status and values (k,) of some cells, which later calls then find in O(1)."""

    def status_between(self, column: int, start: int, stop: int) -> NDArray[np.uint8]:
        """Return the status (stop - start,) of a column's cells from one row up to before another."""

    def values_between(self, column: int, start: int, stop: int) -> Float64Array:
        """Return the values (stop - start,) of these cells, NaN for a hole; do not modify."""

    def marked(self) -> tuple[IntArray, IntArray, NDArray[np.uint8]]:
        """Return the rows, columns and status (k,) of all cells asked for, told or refused, by row."""

    def known_in(self, column: int) -> Float64Array:
        """Return known values of a column: all of them, or those of a sample of rows and all told."""

    def count(self, status: CellStatus, *, labels: bool = False) -> int:
        """Return how many cells have a status; if ``labels``, how many labels. O(1)."""

    def put(self, rows: IntArray, columns: IntArray, values: Float64Array) -> None:
        """Record answers."""

    def correct(self, cell: Cell, value: float) -> None:
        """Replace the value of a cell; its status stays."""

    def mark(self, cell: Cell, status: CellStatus) -> None:
        """Set the status of a cell without a value."""

    def extend(self, packed: bytes) -> None:
        """Append the rows of a packed table."""

    def recode(self, place: int, column: Column) -> None:
        """Hold the cells of a column as another one does, which has all its categories and more."""

    def table(self, number: int) -> Any:
        """Return the table as it is, given the number of the last event that changed it."""

    def to_plain(self) -> dict[str, Any]:
        """Return what events have changed, as arrays and JSON."""

    def restore(self, plain: dict[str, Any]) -> None:
        """Make the changes that `to_plain` returned."""


class CellsInMemory:
    """The cells of a table in memory, as arrays; see `CellValues`.

    Labels are cells, too: their column, if there is a target, is the last.
    """

    def __init__(self, original: Table, index: CellIndex) -> None:
        self._original, self._index = original, index
        self._values = np.array(with_target_column(original).values)
        self._status = _status_of(self._values)
        self._counts = self._count(self._status)
        # The labels that rows came with, by the classes of the original.
        self._labels = np.empty(len(self._values)) if original.y is None else np.array(original.y)
        self._table: tuple[int, Table] = (0, original)

    @property
    def values(self) -> Float64Array:
        """The values, (n, p), NaN for a hole; do not modify."""
        return self._values[: self._index.n_rows]

    @property
    def status(self) -> NDArray[np.uint8]:
        """The `CellStatus` of each cell, (n, p); do not modify."""
        return self._status[: self._index.n_rows]

    def status_of(self, cell: Cell) -> CellStatus:
        """Return the status of one cell."""
        return CellStatus(int(self._status[cell]))

    def value_of(self, cell: Cell) -> float:
        """Return the value of one cell, NaN for a hole."""
        return float(self._values[cell])

    def at(self, rows: IntArray, columns: IntArray) -> tuple[NDArray[np.uint8], Float64Array]:
        """Return the status and values (k,) of some cells."""
        return self._status[rows, columns], self._values[rows, columns]

    def status_between(self, column: int, start: int, stop: int) -> NDArray[np.uint8]:
        """Return the status (stop - start,) of a column's cells; do not modify."""
        return self.status[start:stop, column]

    def values_between(self, column: int, start: int, stop: int) -> Float64Array:
        """Return the values (stop - start,) of these cells; do not modify."""
        found: Float64Array = self.values[start:stop, column]
        return found

    def marked(self) -> tuple[IntArray, IntArray, NDArray[np.uint8]]:
        """Return the rows, columns and status (k,) of all cells asked for, told or refused; O(n p)."""
        rows, columns = np.nonzero(np.isin(self.status, MARKED))
        return rows, columns, self.status[rows, columns]

    def known_in(self, column: int) -> Float64Array:
        """Return all known values of a column."""
        values = self.values[:, column].copy()  # a column of rows is slow to read
        found: Float64Array = values[~np.isnan(values)]
        return found

    def count(self, status: CellStatus, *, labels: bool = False) -> int:
        """Return how many cells have a status; if ``labels``, how many labels. O(1)."""
        return int(self._counts[int(labels), status])

    def put(self, rows: IntArray, columns: IntArray, values: Float64Array) -> None:
        """Record answers; O(answers)."""
        if len(rows) == 1:  # most events of long campaigns, and a tenth of the time
            cell = int(rows[0]), int(columns[0])
            self._values[cell] = values[0]
            self.mark(cell, CellStatus.TOLD)
            return
        self._values[rows, columns] = values
        places = np.sort(rows * (width := self._status.shape[1]) + columns)
        places = places[np.diff(places, prepend=-1) != 0]  # each cell counts once
        for kind in (0, 1):
            some = places[(places % width >= self._index.features) == kind]
            self._counts[kind] -= np.bincount(self._status.ravel()[some], minlength=len(CellStatus))
            self._counts[kind, CellStatus.TOLD] += len(some)
        self._status[rows, columns] = CellStatus.TOLD

    def correct(self, cell: Cell, value: float) -> None:
        """Replace the value of a cell; its status stays."""
        self._values[cell] = value

    def mark(self, cell: Cell, status: CellStatus) -> None:
        """Set the status of a cell."""
        counts = self._counts[int(cell[1] >= self._index.features)]
        counts[self._status[cell]] -= 1
        counts[status] += 1
        self._status[cell] = status

    def extend(self, packed: bytes) -> None:
        """Append the rows of a packed table."""
        rows = unpack(packed)
        target, cells = self._original.target, with_target_column(rows).values
        labels = None if target is None else target.codes_of(cells[:, -1])
        self._append(rows.row_ids, cells, _status_of(cells), labels)

    def recode(self, place: int, column: Column) -> None:
        """Hold the cells of a column as another one does, which has all its categories and more; O(n p)."""
        old = self._index.columns
        cells = self._values[: self._index.n_rows, place]
        cells[:] = recoded(cells, old[place], column)
        self._original = with_columns(self._original, (*old[:place], column, *old[place + 1 :]))

    def table(self, number: int) -> Table:
        """Return the table with all answers filled in; O(n p) after a change, else O(1)."""
        of, table = self._table
        if of != number:
            target, p = self._original.target, self._index.features
            table = Table(
                self._original.columns,
                self.values[:, :p],
                tuple(self._row_ids),
                None if target is None else target.with_cells(self.values[:, p]),
                self._original.row_id,
            )
            self._table = number, table
        return table

    def to_plain(self) -> dict[str, Any]:
        """Return what events have changed, given the original table; O(n p)."""
        old, (n, p) = self._original.values, (self._index.n_rows, self._index.features)
        now, status = self._values[: len(old), :p], self._status[:, :p]
        rows, columns = np.nonzero(_differs(now, status[: len(old)], old))
        plain = {
            "changed": [slim(rows), slim(columns), slim(status[rows, columns]), now[rows, columns]],
            "row_ids": self._row_ids[len(old) :],
            "added": [self._values[len(old) : n, :p], status[len(old) : n], self._labels[len(old) : n]],
        }
        # Only if labels have changed: the bytes, and so snapshots, of others stay as they were.
        if (target := self._original.target) is not None:
            labels, of_labels = self.values[:, p], self.status[:, p]
            rows = np.flatnonzero(_differs(labels, of_labels, target.cells_of(self._labels[:n])))
            if len(rows):
                plain["labels"] = [slim(rows), slim(of_labels[rows]), labels[rows]]
        return plain

    def restore(self, plain: dict[str, Any]) -> None:
        """Make the changes that `to_plain` returned; ValueError if they cannot be of this table."""
        values, status, labels = plain["added"]
        if self._original.target is not None:
            cells = self._original.target.cells_of(labels)
            values, status = np.column_stack([values, cells]), np.column_stack([status, _status_of(cells)])
        self._append(plain["row_ids"], values, status, labels)
        rows, columns, status, values = changed_cells(plain["changed"])
        self._values[rows, columns] = values
        self._status[rows, columns] = status
        if "labels" in plain:
            rows, status, values = plain["labels"]
            places = widened(rows, len(values), np.int64), -1
            self._values[places], self._status[places] = values, widened(status, len(values), np.uint8)
        self._counts = self._count(self.status)

    @property
    def _row_ids(self) -> list[str]:
        assert isinstance(self._index.rows, ListedRows)
        return self._index.rows.ids

    def _append(
        self,
        row_ids: Sequence[str],
        values: Float64Array,
        status: NDArray[np.uint8],
        labels: Float64Array | None,
    ) -> None:
        start = self._index.n_rows
        stop = start + len(row_ids)
        self._values = _with_room(self._values, stop)
        self._status = _with_room(self._status, stop)
        self._labels = _with_room(self._labels, stop)
        self._values[start:stop] = values
        self._status[start:stop] = status
        self._counts += self._count(status)
        if labels is not None:
            self._labels[start:stop] = labels
        self._index.add(row_ids)

    def _count(self, status: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Return how many cells (m, p) have each `CellStatus`, and how many labels, (2, statuses)."""
        parts = np.split(status, [self._index.features], axis=1)
        return np.array([np.bincount(part.ravel(), minlength=len(CellStatus)) for part in parts])


def changed_cells(plain: list[Any]) -> tuple[IntArray, IntArray, NDArray[np.uint8], Float64Array]:
    """Return the rows, columns, status and values (k,) of changed cells; ValueError if they cannot be any."""
    rows, columns, status, values = plain
    rows, columns = (widened(each, len(values), np.int64) for each in (rows, columns))
    status = widened(status, len(values), np.uint8)
    if status.max(initial=0) > max(CellStatus) or min(rows.min(initial=0), columns.min(initial=0)) < 0:
        raise ValueError("its cells are not those of a table")
    return rows, columns, status, values


def _status_of(values: Float64Array) -> NDArray[np.uint8]:
    """Return the status of cells that nobody has asked for."""
    return np.where(np.isnan(values), CellStatus.HOLE, CellStatus.KNOWN).astype(np.uint8)


def _differs(now: Float64Array, status: NDArray[np.uint8], old: Float64Array) -> BoolArray:
    """Return which cells are not as they were: known with the old value, or a hole."""
    return (now != old) & ~(np.isnan(now) & np.isnan(old)) | (status != _status_of(old))


def _with_room(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """Return the array, or a longer copy if it has too few rows; doubling makes repeated growth cheap."""
    if rows <= len(array):
        return array
    longer = np.zeros((max(rows, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
