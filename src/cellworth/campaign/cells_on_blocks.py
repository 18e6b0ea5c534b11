"""Rows and cells of a table in row blocks, as a campaign sees them: what events changed, and the files.

Memory is O(cells and rows that events name), whatever the size of the table. Applying events reads no file:
the holes of the founding table are the only cells that are asked for, told and refused, and an event states
the numbers of rows that the log names for the first time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import Float64Array, IntArray
from cellworth.blocks.encoded_table import FileMemory
from cellworth.campaign.array_codec import slim, widened
from cellworth.campaign.cell_index import Cell, ListedRows
from cellworth.campaign.cell_values import HAS_VALUE, MARKED, CellStatus, changed_cells
from cellworth.campaign.columnar_dict import ColumnarDict
from cellworth.campaign.table_codec import unpack
from cellworth.prices.price_list import CellsLeft
from cellworth.table import Column, Table
from cellworth.table.more_categories import answerable, recoded, with_answers, with_columns

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable
    from cellworth.campaign.founding_blocks import FoundingBlocks

SO_MANY_READ = 1_000_000
"""Cells and names of the files that are kept at hand, at most; they are read again when needed."""


class RowsOnBlocks:
    """The names of rows that are in the table's files; see `RowNames`."""

    def __init__(self, founding: FoundingBlocks) -> None:
        self._founding = founding
        self._stated: dict[str, int] = {}  # by events
        self._read: dict[str, int] = {}  # from the files, since
        self._names: dict[int, str] = {}
        self.added = ListedRows(())  # after those of the files

    def __len__(self) -> int:
        return self._founding.n_rows + len(self.added)

    @property
    def _numbered(self) -> bool:
        return self._founding.row_id is None

    def name(self, place: int) -> str:
        """Return the name of the row at a position; reads its block if it was not met before."""
        if place >= self._founding.n_rows:
            return self.added.name(place - self._founding.n_rows)
        if self._numbered:
            return str(place)
        if place not in self._names:
            self.meet_places(np.array([place]))
        return self._names[place]

    def place(self, name: str) -> int | None:
        """Return the position of the row with this very name; reads all names if it was not met before."""
        found = self._met(name)
        if found is None:
            found = int(self.places([name])[0])
        return None if found < 0 else found

    def places(self, names: Iterable[str]) -> IntArray:
        """Return the positions of rows, -1 for names that do not exist; reads all names once, if at all."""
        wanted = list(names)
        found = [self._met(name) for name in wanted]
        unknown = list(dict.fromkeys(name for name, at in zip(wanted, found, strict=True) if at is None))
        if unknown:
            numbers = self._founding.table.find_rows(unknown).tolist()
            self._forget(len(unknown))
            self._read.update(zip(unknown, numbers, strict=True))
            for name, number in zip(unknown, numbers, strict=True):
                if number >= 0:
                    self._names[number] = name
            found = [self._read[name] if at is None else at for name, at in zip(wanted, found, strict=True)]
        return np.array(found, dtype=np.int64)

    def _met(self, name: str) -> int | None:
        """Return the position of a row, -1 if there is none; None if that is not known yet."""
        new = self.added.place(name)
        if new is not None:
            return self._founding.n_rows + new
        if self._numbered:
            number = int(name) if name.isdecimal() and len(name) < 19 else -1
            return number if 0 <= number < self._founding.n_rows and str(number) == name else -1
        found = self._stated.get(name)
        return self._read.get(name) if found is None else found

    def meet_places(self, places: IntArray) -> None:
        """Read the names at these positions at once."""
        unknown = [at for at in np.unique(places).tolist() if at not in self._names]
        unknown = [at for at in unknown if at < self._founding.n_rows and not self._numbered]
        if unknown:
            names = self._founding.table.row_ids(np.array(unknown, dtype=np.intp))
            self._forget(len(unknown))
            self._names.update(zip(unknown, names, strict=True))
            self._read.update(zip(names, unknown, strict=True))

    def names_between(self, start: int, stop: int) -> Sequence[str]:
        """Return the names of the rows from ``start`` up to before ``stop``; keeps none of them."""
        n = self._founding.n_rows
        first = np.arange(start, min(stop, n), dtype=np.intp)
        added = self.added.names_between(max(start - n, 0), max(stop - n, 0))
        return [*self._founding.table.row_ids(first), *added]

    def _forget(self, new: int) -> None:
        """Make room for names to be read."""
        if len(self._read) + new > SO_MANY_READ:
            self._read = {}
            self._names = {number: name for name, number in self._stated.items()}

    def unstated(self, names: Iterable[str]) -> dict[str, int]:
        """Return the positions of those of these rows that no event has stated."""
        if self._numbered:
            return {}
        new = [name for name in dict.fromkeys(names) if name not in self._stated]
        new = [name for name in new if self.added.place(name) is None]
        return {name: place for name in new if (place := self.place(name)) is not None}

    def state(self, places: dict[str, int]) -> None:
        """Note positions that an event states."""
        self._stated.update(places)
        self._names.update({number: name for name, number in places.items()})

    def alike(self) -> Sequence[str]:
        """Return the names in the sample of rows, and of rows that were added, to suggest one of them."""
        return [*self._founding.sample.row_ids, *self.added.ids]

    def add(self, row_ids: Sequence[str]) -> None:
        """Append rows; O(new rows)."""
        self.added.add(row_ids)
        for name in row_ids:  # it was looked for before, and not there
            self._read.pop(name, None)

    def to_plain(self) -> list[Any]:
        """Return what events have stated, as arrays and JSON."""
        stated = dict(sorted(self._stated.items()))
        return [list(stated), slim(np.array(list(stated.values()), dtype=np.int64))]

    def restore(self, plain: list[Any]) -> None:
        """Note what `to_plain` returned."""
        names, numbers = plain
        self.state(dict(zip(names, widened(numbers, len(names), np.int64).tolist(), strict=True)))


class CellsOnBlocks:
    """The cells of a table in row blocks: what events changed, on top of its files; see `CellValues`.

    Labels are cells, too: those of the column after the last.
    """

    def __init__(self, founding: FoundingBlocks, rows: RowsOnBlocks) -> None:
        self._founding, self._rows = founding, rows
        self._changed: ColumnarDict[Cell, tuple[int, float]] = ColumnarDict(
            (int, int), (int, float), encode=tuple, decode=lambda status, value: (status, value)
        )
        self._read: dict[Cell, float] = {}  # from the files
        known, labelled = founding.n_known, founding.n_labelled
        unlabelled = 0 if founding.target is None else founding.n_rows - labelled
        self._counts = (  # of cells, and of labels
            Counter({CellStatus.KNOWN: known, CellStatus.HOLE: founding.n_cells - known}),
            Counter({CellStatus.KNOWN: labelled, CellStatus.HOLE: unlabelled}),
        )
        self._table: tuple[int, BlockTable] | None = None
        self._sample = founding.sample  # with the columns of now
        p = self._features = len(founding.columns)
        # The values and labels of added rows; a label is a value of the target's column.
        self._added: tuple[Float64Array, Float64Array] = np.empty((0, p)), np.empty(0)
        self._base: BlockTable | None = None

    def status_of(self, cell: Cell) -> CellStatus:
        """Return the status of one cell; reads its block if no event changed it."""
        return self._of(cell)[0]

    def value_of(self, cell: Cell) -> float:
        """Return the value of one cell, NaN for a hole; reads its block if no event changed it."""
        return self._of(cell)[1]

    def _of(self, cell: Cell) -> tuple[CellStatus, float]:
        changed = self._changed.get(cell)
        if changed is not None:
            return CellStatus(changed[0]), changed[1]
        if cell not in self._read:
            self.at(np.array([cell[0]]), np.array([cell[1]]))
        value = self._read[cell]
        return CellStatus.HOLE if np.isnan(value) else CellStatus.KNOWN, value

    def at(self, rows: IntArray, columns: IntArray) -> tuple[NDArray[np.uint8], Float64Array]:
        """Return the status and values (k,) of some cells; reads the blocks of those that are unchanged."""
        cells = list(zip(rows.tolist(), columns.tolist(), strict=True))
        found = [self._changed.get(cell) for cell in cells]
        open_ones = zip(cells, found, strict=True)
        unread = np.array(
            [cell for cell, at in open_ones if at is None and cell not in self._read], dtype=np.intp
        ).reshape(-1, 2)
        if len(unread):
            values = self._at_start().values_at(unread[:, 0], unread[:, 1]).tolist()
            if len(self._read) + len(values) > SO_MANY_READ:
                self._read = {cell: self._read[cell] for cell in cells if cell in self._read}
            self._read.update({(i, j): value for (i, j), value in zip(unread.tolist(), values, strict=True)})
        both = [self._of(cell) if at is None else at for cell, at in zip(cells, found, strict=True)]
        status, numbers = zip(*both, strict=True) if both else ((), ())
        return np.array(status, dtype=np.uint8), np.array(numbers, dtype=np.float64)

    def status_between(self, column: int, start: int, stop: int) -> NDArray[np.uint8]:
        """Return the status (stop - start,) of a column's cells; reads that column of their blocks."""
        values = self._values_at_start(column, start, stop)
        found = np.where(np.isnan(values), CellStatus.HOLE, CellStatus.KNOWN).astype(np.uint8)
        rows, status, _ = self._changed_between(column, start, stop)
        found[rows - start] = status
        return found

    def values_between(self, column: int, start: int, stop: int) -> Float64Array:
        """Return the values (stop - start,) of these cells; reads that column of their blocks."""
        found = self._values_at_start(column, start, stop)
        rows, status, values = self._changed_between(column, start, stop)
        known = np.isin(status, HAS_VALUE)
        found[rows[known] - start] = values[known]
        return found

    def _values_at_start(self, column: int, start: int, stop: int) -> Float64Array:
        return self._at_start().values_at(np.arange(start, stop), np.full(stop - start, column))

    def _changed_between(
        self, column: int, start: int, stop: int
    ) -> tuple[IntArray, NDArray[np.uint8], Float64Array]:
        """Return the rows, status and values (k,) of a column's cells that events changed."""
        rows, columns, status, values = self.changed()
        first, last = np.searchsorted(rows, [start, stop])
        some = first + np.flatnonzero(columns[first:last] == column)
        return rows[some], status[some], values[some]

    def marked(self) -> tuple[IntArray, IntArray, NDArray[np.uint8]]:
        """Return the rows, columns and status (k,) of all cells asked for, told or refused; no file."""
        rows, columns, status, _ = self.changed()
        some = np.isin(status, MARKED)
        return rows[some], columns[some], status[some]

    def known_in(self, column: int) -> Float64Array:
        """Return the known values of a column in the sample of rows, and all that were told."""
        sample, (values, labels) = self._sample, self._added
        if column < self._features:
            sampled, added = sample.values[:, column], values[:, column]
        else:
            sampled, added = sample.target.cells if sample.target is not None else np.empty(0), labels
        _, columns, status, numbers = self.changed()
        told = numbers[(columns == column) & (status == CellStatus.TOLD)]
        return np.concatenate([sampled[~np.isnan(sampled)], told, added[~np.isnan(added)]])

    def count(self, status: CellStatus, *, labels: bool = False) -> int:
        """Return how many cells have a status; if ``labels``, how many labels. O(1)."""
        return self._counts[int(labels)][status]

    def put(self, rows: IntArray, columns: IntArray, values: Float64Array) -> None:
        """Record answers; O(answers)."""
        for i, j, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
            self._set((i, j), CellStatus.TOLD, value)

    def correct(self, cell: Cell, value: float) -> None:
        """Replace the value of a cell: one told, or one known from the start."""
        before = self._changed.get(cell)
        self._changed[cell] = CellStatus.KNOWN if before is None else before[0], value

    def mark(self, cell: Cell, status: CellStatus) -> None:
        """Set the status of a cell without a value."""
        self._set(cell, status, np.nan)

    def _set(self, cell: Cell, status: CellStatus, value: float) -> None:
        before, counts = self._changed.get(cell), self._counts[int(cell[1] >= self._features)]
        counts[CellStatus.HOLE if before is None else CellStatus(before[0])] -= 1
        counts[status] += 1
        self._changed[cell] = status, value

    def extend(self, packed: bytes) -> None:
        """Append the rows of a packed table, which stay in memory."""
        rows = unpack(packed)
        self._append(rows.row_ids, rows.values, None if rows.target is None else rows.target.cells)

    def _append(self, row_ids: Sequence[str], values: Float64Array, labels: Float64Array | None) -> None:
        y = np.full(len(values), np.nan) if labels is None else labels
        self._added = np.vstack([self._added[0], values]), np.concatenate([self._added[1], y])
        self._rows.add(row_ids)
        parts = [values] if self._sample.target is None else [values, y]
        for counts, part in zip(self._counts, parts, strict=False):
            known = int((~np.isnan(part)).sum())
            counts[CellStatus.KNOWN] += known
            counts[CellStatus.HOLE] += part.size - known
        self._base = None

    def recode(self, place: int, column: Column) -> None:
        """Hold the cells of a column as another one does, which has all its categories and more."""
        old, (added, labels) = answerable(self._sample), self._added
        new = (*old[:place], column, *old[place + 1 :])
        self._sample = with_columns(self._sample, new)
        rows, columns, status, values = self.changed()
        of_column = columns == place
        moved = recoded(values[of_column], old[place], column)
        for i, kind, value in zip(rows[of_column].tolist(), status[of_column].tolist(), moved, strict=True):
            self._changed[i, place] = kind, float(value)
        if place < self._features:
            added = added.copy()
            added[:, place] = recoded(added[:, place], old[place], column)
        else:
            labels = recoded(labels, old[place], column)
        self._added, self._read, self._base, self._table = (added, labels), {}, None, None

    def _at_start(self) -> BlockTable:
        """Return the founding table with the rows that were added, as they were."""
        files: BlockTable = self._founding.table
        if self._base is None or self._base.stored is not files.stored:
            self._base, columns = files, self._sample.columns
            target = files.target
            if target is not None and self._sample.target is not None:
                target = with_answers(target, self._sample.target.answer_column)
            if columns != files.columns or target is not files.target:
                rules = replace(files.rules, columns=columns, target=target)
                self._base = replace(files, rules=rules, memory=FileMemory())
            if len(self._rows.added):
                values, labels = self._added
                target = None if target is None else target.with_cells(labels)
                ids = tuple(self._rows.added.ids)
                self._base = self._base.with_rows(Table(columns, values, ids, target, files.row_id))
        return self._base

    def changed(self) -> tuple[IntArray, IntArray, NDArray[np.uint8], Float64Array]:
        """Return the rows, columns, status and values (k,) of the cells that events changed, by row."""
        self._changed.settle()
        rows, columns, status, values = self._changed.columns
        return rows, columns, status.astype(np.uint8), values

    def left(self) -> CellsLeft:
        """Return how many cells of each column can still be bought or are out; reads no file."""
        founding, parts = self._founding, [self._added[0]]
        known = [*founding.about["known"]]
        if founding.target is not None:
            known, parts = [*known, founding.n_labelled], [*parts, self._added[1][:, np.newaxis]]
        wanted = founding.n_rows - np.array(known) + np.isnan(np.hstack(parts)).sum(axis=0)
        _, columns, status, _ = self.changed()
        closed = columns[np.isin(status, (CellStatus.TOLD, CellStatus.REFUSED))]
        wanted -= np.bincount(closed.astype(np.intp), minlength=len(wanted))
        return CellsLeft(wanted, len(self._rows))

    def table(self, number: int) -> BlockTable:
        """Return the table with all answers filled in, to be read in row blocks; O(changed cells)."""
        if self._table is None or self._table[0] != number:
            rows, columns, status, values = self.changed()
            known = np.isin(status, HAS_VALUE)
            were_known = status[known] == CellStatus.KNOWN
            founding = self._at_start()
            if known.any():
                founding = founding.with_cells(rows[known], columns[known], values[known], were_known)
            self._table = number, founding
        return self._table[1]

    def to_plain(self) -> dict[str, Any]:
        """Return what events have changed and stated, as arrays and JSON."""
        rows, columns, status, values = self.changed()
        plain: dict[str, Any] = {
            "changed": [slim(rows), slim(columns), slim(status), np.array(values)],
            "row_numbers": self._rows.to_plain(),
        }
        if len(self._rows.added):  # only then: the bytes of other snapshots stay as they were
            values, labels = self._added
            target = self._sample.target
            codes = labels if target is None else target.codes_of(labels)
            plain["added"] = [list(self._rows.added.ids), values, codes]
            if (np.isnan(codes) & ~np.isnan(labels)).any():  # of classes that the founding table lacks
                plain["added_labels"] = labels
        return plain

    def restore(self, plain: dict[str, Any]) -> None:
        """Make the changes that `to_plain` returned."""
        self._rows.restore(plain["row_numbers"])
        if "added" in plain:
            ids, values, codes = plain["added"]
            target = self._sample.target
            labels = codes if target is None else target.cells_of(codes)
            self._append(ids, values, plain.get("added_labels", labels))
        rows, columns, status, values = changed_cells(plain["changed"])
        self._changed.absorb([rows, columns, status.astype(np.int64), values])
        of_labels = columns >= self._features
        for counts, some in zip(self._counts, (~of_labels, of_labels), strict=True):
            times = np.bincount(status[some], minlength=len(CellStatus))
            of_start = int(times[CellStatus.KNOWN])  # corrected: they were known before
            counts[CellStatus.HOLE] -= int(some.sum()) - of_start
            for each in (CellStatus.HOLE, CellStatus.ASKED, CellStatus.TOLD, CellStatus.REFUSED):
                counts[each] += int(times[each])
