"""The rows of a block as values of a table: how cells are read, and what was learned since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, Float64Array, FloatArray, IntArray
from cellworth.blocks.block_cells import places_of, texts_at
from cellworth.blocks.row_source import Part
from cellworth.cached_property import cached_property
from cellworth.table import ColumnLayout, Table
from cellworth.table.column import LABELLED, Column
from cellworth.table.dates import strptime_format
from cellworth.table.infer_kind import to_codes, to_values
from cellworth.table.missing_marks import MissingMarks, open_holes
from cellworth.table.raw_cells import Cells, CodedCells, Origin, RawColumn, TextCells, TextCounts
from cellworth.table.target import Target
from cellworth.table.text_file import with_dates
from cellworth.table.unmeasured_column import with_prior


@dataclass(frozen=True)
class CellRules:
    """How the cells of a block become values; sent to where the blocks are.

    Attributes
    ----------
    name : str
        Of the table, for messages.
    columns : tuple of Column, length p
    target : Target or None
        Without labels.
    row_id : str or None
    marks : mapping of column name to MissingMarks
        For texts, those that occur.
    date_format : str or None
    unmeasured : (p,) bool array
    n_rows : int
    """

    name: str
    columns: tuple[Column, ...]
    target: Target | None
    row_id: str | None
    marks: Mapping[str, MissingMarks]
    date_format: str | None
    unmeasured: BoolArray
    n_rows: int

    @cached_property
    def layout(self) -> ColumnLayout:
        """Which numeric columns represent which column."""
        return ColumnLayout(self.columns)

    def values(self, column: Column, cells: Cells, start: int = 0) -> Float64Array:
        """Return the values (m,) of the cells of a column in rows from ``start`` on, NaN = hole."""
        numbers: Any = range(start, start + self.n_rows)
        origin = Origin(self.name, numbers)
        opened = open_holes(cells, self.marks[column.name])
        if self.date_format is not None and isinstance(opened, TextCells):
            (raw,) = with_dates([RawColumn(column.name, opened)], self.date_format)
            opened = raw.cells
            origin = replace(origin, date_format=strptime_format(self.date_format))
        if column.kind not in LABELLED:
            values = to_values(opened, column.kind, column.name, origin)
            return values if column.kind == "number" else values + 0.0  # -0.0 becomes 0.0
        if isinstance(opened, CodedCells):
            codes = np.where(opened.holes, -1, np.nan_to_num(opened.codes)).astype(np.intp)
            opened = TextCells.counted(TextCounts(opened.categories, codes))
        ordered = column.kind == "ordered"
        return to_codes(opened, column.categories, column.name, origin, ordered=ordered)[0]

    def labels(self, cells: Cells) -> Float64Array:
        """Return the labels (m,) as `Target.values` has them."""
        assert self.target is not None
        values = self.values(self.target.column, cells)
        if self.target.classes is None:
            return values
        known = np.array([self.target.column.parse(label) for label in self.target.classes])
        return np.where(np.isnan(values), np.nan, np.searchsorted(known, values))


@dataclass(frozen=True)
class KnownCells:
    """Cells that were learned after the files were written, sorted by row and column; (k,) each.

    Labels are cells, too: those of the column after the last.
    """

    rows: IntArray
    columns: IntArray
    values: Float64Array

    def between(self, start: int, stop: int) -> KnownCells:
        """Return those of the rows from ``start`` to ``stop``, counted from there; O(log k + result)."""
        first, last = np.searchsorted(self.rows, [start, stop])
        some = slice(first, last)
        return KnownCells(self.rows[some] - start, self.columns[some], self.values[some])

    def put_into(self, values: Float64Array) -> None:
        """Put the cells into values (m, p), and leave labels out."""
        cells = self.columns < values.shape[1]
        values[self.rows[cells], self.columns[cells]] = self.values[cells]

    def with_labels(self, labels: Float64Array, target: Target, p: int) -> Float64Array:
        """Return labels (m,), as ``target.values`` holds them, with those that were learned."""
        new = self.columns == p
        if not new.any():
            return labels
        changed = np.array(labels)
        changed[self.rows[new]] = target.codes_of(self.values[new])
        return changed


@dataclass(frozen=True)
class TableBlock:
    """Some rows of a table: the block of the files, how its cells are read, and what was learned since."""

    block: Any
    rules: CellRules
    learned: KnownCells | None = None
    dtype: str = "float64"
    with_ids: bool = False

    @property
    def start(self) -> int:
        """Index of the first row in the whole table."""
        return int(self.block.start)

    @property
    def stop(self) -> int:
        """Index after the last row."""
        return int(self.block.stop)

    def cells(self) -> tuple[Float64Array, Float64Array | None, AnyArray | None]:
        """Read the values (m, p), NaN = hole, the labels (m,) and, if wanted, the row ids (m,)."""
        rules = self.rules
        names = [column.name for column in rules.columns]
        extra = [] if rules.target is None else [rules.target.name]
        ids = [rules.row_id] if self.with_ids and rules.row_id is not None else []
        read = self.block.cells([*names, *extra, *ids])
        values = np.empty((self.stop - self.start, len(names)))
        for j, column in enumerate(rules.columns):
            values[:, j] = rules.values(column, read[j], self.start)
        if self.learned is not None:
            self.learned.put_into(values)
        y = self._now(rules.labels(read[len(names)])) if extra else None
        every = np.arange(len(values))
        row_ids: AnyArray | None = None
        if self.with_ids:
            texts = texts_at(read[-1], every) if ids else [str(row) for row in range(self.start, self.stop)]
            row_ids = np.array(texts, dtype=object)
        return values, y, row_ids

    def ids_at(self, rows: IntArray) -> list[str]:
        """Read the ids of some rows, counted from the first of the block."""
        if self.rules.row_id is None:
            return [str(self.start + row) for row in rows.tolist()]
        return texts_at(self.block.cells([self.rules.row_id])[0], rows)

    def find_ids(self, wanted: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the rows whose id is wanted, counted from the first, and which each is."""
        return places_of(self.block.cells([self.rules.row_id])[0], wanted)

    def labels(self) -> Float64Array:
        """Read the labels (m,)."""
        assert self.rules.target is not None
        return self._now(self.rules.labels(self.block.cells([self.rules.target.name])[0]))

    def _now(self, labels: Float64Array) -> Float64Array:
        """Return labels (m,) with those that were learned."""
        target = self.rules.target
        if self.learned is None or target is None:
            return labels
        return self.learned.with_labels(labels, target, len(self.rules.columns))

    def at(self, rows: IntArray, columns: IntArray) -> Float64Array:
        """Read the values (k,) of some cells, given by places; a label is a value of its column.

        If they are of one column, only that is read.
        """
        if (columns == columns[0]).all():
            return self.column(int(columns[0]))[rows]
        values, y, _ = self.cells()
        p = values.shape[1]
        found = values[rows, np.minimum(columns, p - 1)]
        of_labels = columns == p
        if of_labels.any():
            assert self.rules.target is not None
            assert y is not None
            found[of_labels] = self.rules.target.cells_of(y[rows[of_labels]])
        return found

    def column(self, place: int) -> Float64Array:
        """Read the values (m,) of one column, or of the labels, which come after the last."""
        rules = self.rules
        if place == len(rules.columns):
            assert rules.target is not None
            return rules.target.cells_of(self.labels())
        values = np.array(self._stored_column(place))
        if self.learned is not None:
            here = self.learned.columns == place
            values[self.learned.rows[here]] = self.learned.values[here]
        return values

    def _stored_column(self, place: int) -> Float64Array:
        """Read the values (m,) of a column as they were at the start."""
        column = self.rules.columns[place]
        return self.rules.values(column, self.block.cells([column.name])[0], self.start)

    def read(self) -> Part:
        """Read the rows as numeric columns for models; see `Encoded`."""
        values, y, row_ids = self.cells()
        rules = self.rules
        made_up = with_prior(rules.columns, values, rules.unmeasured, start=self.start, n_rows=rules.n_rows)
        X: FloatArray = rules.layout.encode(made_up).astype(self.dtype, copy=False)
        return Part(X, y, row_ids, self.start)


@dataclass(frozen=True)
class Span:
    """The numbers of some rows: from ``start``, up to before ``stop``."""

    start: int
    stop: int


@dataclass(frozen=True)
class AddedBlock(TableBlock):
    """Rows that were added to a table after its files were written: they are in memory."""

    added: Table | None = None

    @property
    def _rows(self) -> Table:
        assert self.added is not None
        return self.added

    def cells(self) -> tuple[Float64Array, Float64Array | None, AnyArray | None]:
        """Return the values (m, p), the labels (m,) and, if wanted, the row ids (m,)."""
        values = np.array(self._rows.values)
        if self.learned is not None:
            self.learned.put_into(values)
        ids = np.array(self._rows.row_ids, dtype=object) if self.with_ids else None
        return values, None if self.rules.target is None else self.labels(), ids

    def _stored_column(self, place: int) -> Float64Array:
        values: Float64Array = self._rows.values[:, place]
        return values

    def ids_at(self, rows: IntArray) -> list[str]:
        """Return the ids of some rows."""
        return [self._rows.row_ids[row] for row in rows.tolist()]

    def find_ids(self, wanted: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the rows whose id is wanted, and which each is."""
        which = {text: at for at, text in enumerate(wanted)}
        found = [(row, which[text]) for row, text in enumerate(self._rows.row_ids) if text in which]
        rows, places = np.array(found, dtype=np.intp).reshape(-1, 2).T
        return rows, places

    def labels(self) -> Float64Array:
        """Return the labels (m,)."""
        assert self.rules.target is not None
        assert self._rows.target is not None
        return self._now(self.rules.target.codes_of(self._rows.target.cells))
