"""A table in row blocks with kinds, target and row ids: what `Table` is for a table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.cell_rules import AddedBlock, CellRules, KnownCells, Span, TableBlock
from cellworth.blocks.encoded_table import EncodedTable, FileMemory
from cellworth.blocks.engine_protocol import Blocks, Engine, add, join
from cellworth.blocks.row_source import Source, StoredTable
from cellworth.blocks.writing import new_folder, whole_folder, write_part
from cellworth.cached_property import cached_property
from cellworth.errors import DataError
from cellworth.messages import not_there
from cellworth.table import ColumnLayout, Table
from cellworth.table.column import Column
from cellworth.table.keywords import table_keywords
from cellworth.table.target import Target
from cellworth.table.write_table import summary_of


@dataclass(frozen=True, repr=False, eq=False)
class BlockTable:
    """A table that is read in row blocks. Create one with `Table.open`.

    It has the columns, the target and the names of a `Table`, but its cells stay in their files: what needs
    them makes a pass over the blocks, on `engine`.

    Attributes
    ----------
    stored : StoredTable
        The files.
    rules : CellRules
        How cells are read.
    engine : Engine
        Where the blocks run.
    known : (p,) int array
        How many cells of each column have a value.
    labelled : int
        How many rows have a label.
    fineness : tuple of int or None, length p
        How finely the known values are written; see `Column.fineness`.
    learned : KnownCells or None
        Cells that are known besides those in the files.
    corrects : bool
        Whether some of them replace values of the files.
    added : (p,) int array or None
        How many of them fill holes of each column.
    added_labels : int
        How many of them are labels of rows that had none.
    memory : FileMemory
        What was found in the files.
    more : Table or None
        Rows that were added after those of the files.
    """

    stored: StoredTable
    rules: CellRules
    engine: Engine
    known: IntArray
    labelled: int
    fineness: tuple[int | None, ...]
    learned: KnownCells | None = field(default=None, repr=False)
    corrects: bool = False
    added: IntArray | None = field(default=None, repr=False)
    added_labels: int = 0
    memory: FileMemory = field(default_factory=FileMemory, repr=False)
    more: Table | None = field(default=None, repr=False)

    @property
    def known_in_files(self) -> IntArray:
        """How many cells of each column have a value in the files, (p,)."""
        return self.known if self.added is None else self.known - self.added

    @property
    def labelled_in_files(self) -> int:
        """How many rows have a label in the files."""
        return self.labelled - self.added_labels

    @property
    def columns(self) -> tuple[Column, ...]:
        """The p features, without the target and the row ids."""
        return self.rules.columns

    @property
    def target(self) -> Target | None:
        """The target, whose labels are read with the rows: its ``values`` are empty."""
        return self.rules.target

    @property
    def row_id(self) -> str | None:
        """The column that the row ids come from; None if rows are numbered from 0."""
        return self.rules.row_id

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.stored.n_rows + (0 if self.more is None else len(self.more.row_ids))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows n and of columns p."""
        return self.n_rows, len(self.columns)

    @property
    def n_holes(self) -> int:
        """Number of cells without a value."""
        return self.n_rows * len(self.columns) - int(self.known.sum())

    @property
    def n_unlabelled(self) -> int:
        """Number of rows without a label; 0 without a target."""
        return 0 if self.target is None else self.n_rows - self.labelled

    @property
    def holes_by_column(self) -> IntArray:
        """Number of cells without a value in each column, (p,)."""
        return np.asarray(self.n_rows - self.known)

    @property
    def unmeasured(self) -> BoolArray:
        """(p,) bool, True for columns without a known value."""
        return np.asarray(self.known == 0)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the p columns."""
        return tuple(column.name for column in self.columns)

    @property
    def layout(self) -> ColumnLayout:
        """Which numeric columns represent which column."""
        return self.rules.layout

    def column_index(self, name: str) -> int:
        """Return the index of the column with this name; DataError suggests the closest name."""
        if name not in self.column_names:
            raise DataError(not_there("column", name, self.column_names))
        return self.column_names.index(name)

    def keywords(self) -> dict[str, Any]:
        """Return the keywords that make `Table.open` read the same table."""
        return table_keywords(self.columns, self.target, self.row_id)

    def source(self) -> Source:
        """Return the table as numeric columns in row blocks, as completers take it."""
        return Source(self.stored if self.is_sparse else EncodedTable(self), self.engine)

    @property
    def is_sparse(self) -> bool:
        """Whether it is a sparse matrix, whose columns are numbers in one unit."""
        return getattr(self.stored, "is_sparse", False)

    def on(self, engine: Engine) -> BlockTable:
        """Return the same table on another engine."""
        return replace(self, engine=engine)

    def cell_blocks(self, most_rows: int, *, with_ids: bool = False) -> list[TableBlock]:
        """Split the table into blocks of 1 to ``most_rows`` rows; what was added is a block of its own."""

        def made(kind: type[TableBlock], block: Any, **more: Any) -> TableBlock:
            learned = None if self.learned is None else self.learned.between(block.start, block.stop)
            return kind(block, self.rules, learned, self.stored.dtype.str, with_ids, **more)

        found = [made(TableBlock, block) for block in self.stored.blocks(most_rows)]
        if self.more is not None:
            found.append(made(AddedBlock, Span(self.stored.n_rows, self.n_rows), added=self.more))
        return found

    @cached_property
    def blocks(self) -> Blocks:
        """One `TableBlock` per row block, of a size that suits the engine."""
        row_bytes = self.layout.width * self.stored.dtype.itemsize
        return Blocks(self.cell_blocks(self.engine.rows_per_block(self.n_rows, row_bytes)))

    def every(self, k: int) -> Table:
        """Return every k-th row, from the first, as a table in memory; one pass."""
        found = self.engine.reduce(_every, join, self.blocks, shared=(k,))
        return self._in_memory(found)

    def rows(self, numbers: Sequence[int] | IntArray) -> Table:
        """Return some rows, given by their numbers in increasing order, as a table in memory.

        Reads the blocks that these rows are in.
        """
        return self._in_memory(self._read_at(_some, np.asarray(numbers, dtype=np.intp)))

    def _read_at(self, function: Any, wanted: IntArray, *beside: IntArray) -> tuple[Any, ...]:
        """Join ``function(block, rows, ...)`` of the blocks with some of these rows, in increasing order.

        Rows are counted from the first of the block; ``beside`` are arrays (k,) that are cut like them.
        """
        asked = []
        for block in self.blocks.items:
            first, last = np.searchsorted(wanted, [block.start, block.stop])
            if first < last:
                asked.append(
                    (block, wanted[first:last] - block.start, *(each[first:last] for each in beside))
                )
        return self.engine.reduce(function, join, *map(Blocks, zip(*asked, strict=True))) if asked else ()

    def parts(self, most_rows: int) -> Iterator[Table]:
        """Yield the table in parts of at most so many rows, each in memory; one pass, in this process."""
        for block in self.cell_blocks(most_rows, with_ids=True):
            yield self._in_memory(_some(block, np.arange(block.stop - block.start)))

    def head(self, rows: int = 5) -> Table:
        """Return the first rows as a table in memory."""
        return self.rows(range(min(max(0, rows), self.n_rows)))

    def row_ids(self, numbers: IntArray) -> list[str]:
        """Return the ids of some rows, given by their numbers in any order; reads the ids of their blocks."""
        if self.row_id is None and self.more is None:
            return [str(number) for number in numbers.tolist()]
        wanted, place = np.unique(numbers, return_inverse=True)
        texts = self._read_at(_ids, wanted)
        return [texts[at] for at in place.tolist()] if texts else []

    def row_numbers(self, row_ids: Sequence[str]) -> IntArray:
        """Return the numbers of the rows with these ids; DataError names the first that is not there.

        Reads the column of the ids once, however many are asked for.
        """
        found = self.find_rows(row_ids)
        for text in (row_ids[at] for at in np.flatnonzero(found < 0)[:1].tolist()):
            some = self.row_ids(np.arange(min(self.n_rows, 1000)))
            raise DataError(not_there("row", text, some, self.n_rows))
        return found

    def find_rows(self, row_ids: Sequence[str]) -> IntArray:
        """Return the numbers of the rows with these ids, -1 where there is none; reads the ids once."""
        wanted = list(dict.fromkeys(row_ids))
        places: dict[str, int] = {}
        if self.row_id is None:
            known = {} if self.more is None else {t: i for i, t in enumerate(self.more.row_ids)}
            n = self.stored.n_rows
            places = {text: n + known[text] for text in wanted if text in known}
            numbers = {text: int(text) for text in wanted if text.isdecimal() and len(text) < 19}
            places |= {text: row for text, row in numbers.items() if row < n and str(row) == text}
        elif wanted:
            found = self.engine.reduce(_find_ids, join, self.blocks, shared=(wanted,))
            places = {wanted[at]: row for rows, which in found for row, at in zip(rows, which, strict=True)}
        return np.array([places.get(text, -1) for text in row_ids], dtype=np.intp)

    def unlabelled_rows(self, most: int) -> IntArray:
        """Return the numbers of the first rows without a label, at most so many; reads the labels."""
        if self.target is None:
            return np.arange(min(most, self.n_rows))
        found = self.engine.reduce(_unlabelled, join, self.blocks, shared=(most,))
        return np.concatenate([np.zeros(0, dtype=np.intp), *found])[:most]

    def values_at(self, rows: IntArray, columns: IntArray) -> Float64Array:
        """Return the values (k,) of some cells in any order, NaN for a hole; reads their blocks.

        A label is a cell of the column after the last, with a value of the target's column.
        """
        order = np.argsort(rows, kind="stable")
        values = np.empty(len(rows))
        values[order] = np.concatenate([np.empty(0), *self._read_at(_at, rows[order], columns[order])])
        return values

    def row_index(self, row_id: object) -> int:
        """Return the number of the row with this id; reads the column of the ids."""
        return int(self.row_numbers([str(row_id)])[0])

    def with_cells(
        self,
        rows: IntArray,
        columns: IntArray,
        values: Float64Array,
        were_known: BoolArray | None = None,
    ) -> BlockTable:
        """Return the table with some cells set, (k,) each; NaN opens a hole. The files stay as they are.

        Labels are those of the column after the last, as values of the target's column; classes never seen
        before are added. The counts in ``known`` and ``labelled`` are brought up to date for cells that were
        holes: all of them, but for those that ``were_known`` (k,).
        """
        order, p = np.lexsort((columns, rows)), len(self.columns)
        learned = KnownCells(rows[order], columns[order], values[order])
        new = ~np.isnan(values) if were_known is None else ~np.isnan(values) & ~were_known
        filled = np.bincount(columns[new], minlength=p + 1)
        known = np.minimum(self.known_in_files + filled[:p], self.n_rows)
        target = None if self.target is None else self.target.with_classes_of(values[columns == p])
        rules = replace(self.rules, unmeasured=np.asarray(known == 0), target=target)
        return replace(
            self,
            learned=learned,
            known=known,
            rules=rules,
            corrects=not new.all(),
            added=known - self.known_in_files,
            labelled=self.labelled_in_files + int(filled[p]),
            added_labels=int(filled[p]),
        )

    def with_rows(self, rows: Table) -> BlockTable:
        """Return the table with rows added at its end, which have its columns and target."""
        more = rows if self.more is None else _one_after_other(self.more, rows)
        known = self.known + (~rows.holes).sum(axis=0)
        labels, target = np.zeros(0) if rows.target is None else rows.target.cells, self.target
        labelled, n_rows = self.labelled + int((~np.isnan(labels)).sum()), self.n_rows + len(rows.row_ids)
        target = None if target is None else target.with_classes_of(labels)
        rules = replace(self.rules, unmeasured=np.asarray(known == 0), n_rows=n_rows, target=target)
        return replace(self, known=known, more=more, labelled=labelled, rules=rules)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table as a Parquet folder, which appears once it is complete; one pass.

        Row ids come first, the target last; categories, whole numbers, dates and bounds are kept, so that
        `Table.open` reads it back.
        """
        partial, final = new_folder(path)
        blocks = Blocks([replace(block, with_ids=True) for block in self.blocks.items])
        numbers = Blocks(range(len(blocks)))
        shared = self.columns, self.target, self.row_id, str(partial)
        self.engine.reduce(_write_block, add, blocks, numbers, shared=shared)
        whole_folder(partial, final)

    def _in_memory(self, found: Sequence[tuple[Any, ...]]) -> Table:
        if not found:
            return Table(self.columns, np.empty((0, len(self.columns))), (), self.target, self.row_id)
        values, labels, ids = zip(*found, strict=True)
        target = self.target
        if target is not None:
            target = replace(target, values=np.concatenate(labels))
        names = tuple(str(name) for part in ids for name in part)
        return Table(self.columns, np.concatenate(values), names, target, self.row_id)

    def __repr__(self) -> str:
        lines = summary_of(self.columns, self.n_rows, self.n_holes, self.target, self.n_rows - self.labelled)
        return lines.replace("Table of", "BlockTable of", 1)


def _one_after_other(a: Table, b: Table) -> Table:
    target = a.target
    if target is not None and b.target is not None:
        target = target.with_cells(np.concatenate([target.cells, b.target.cells]))
    return Table(a.columns, np.vstack([a.values, b.values]), (*a.row_ids, *b.row_ids), target, a.row_id)


def _every(block: TableBlock, k: int) -> tuple[tuple[Any, ...], ...]:
    return _some(block, np.arange((-block.start) % k, block.stop - block.start, k))


def _some(block: TableBlock, rows: IntArray) -> tuple[tuple[Any, ...], ...]:
    if not len(rows):
        return ()
    values, y, ids = replace(block, with_ids=True).cells()
    assert ids is not None
    return ((values[rows], None if y is None else y[rows], ids[rows]),)


def _write_block(
    block: TableBlock,
    number: int,
    columns: tuple[Column, ...],
    target: Target | None,
    row_id: str | None,
    folder: str,
) -> tuple[int]:
    values, y, ids = block.cells()
    assert ids is not None
    if target is not None and y is not None:
        target = replace(target, values=y)
    table = Table(columns, values, tuple(ids.tolist()), target, row_id)
    write_part(table, Path(folder), number, np.dtype(block.dtype))
    return (1,)


def _at(block: TableBlock, rows: IntArray, columns: IntArray) -> tuple[Float64Array, ...]:
    return (block.at(rows, columns),)


def _ids(block: TableBlock, rows: IntArray) -> tuple[str, ...]:
    return tuple(block.ids_at(rows))


def _unlabelled(block: TableBlock, most: int) -> tuple[IntArray, ...]:
    return (np.flatnonzero(np.isnan(block.labels()))[:most] + block.start,)


def _find_ids(block: TableBlock, wanted: Sequence[str]) -> tuple[tuple[list[int], list[int]], ...]:
    rows, which = block.find_ids(wanted)
    return (((rows + block.start).tolist(), which.tolist()),)
