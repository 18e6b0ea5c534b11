"""Open a table for reading in row blocks: kinds, categories, target and row ids, found in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, Float64Array, IntArray
from cellworth.blocks.array_source import SparseParts, array_table, is_sparse_table
from cellworth.blocks.block_cells import texts_at
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.cell_rules import CellRules
from cellworth.blocks.column_digest import ColumnDigest
from cellworth.blocks.engine_protocol import Blocks, Engine, add, join
from cellworth.blocks.frame_source import frame_table, is_dask_frame
from cellworth.blocks.parquet_source import parquet_table
from cellworth.blocks.row_source import Source, StoredTable
from cellworth.blocks.thread_engine import on_threads
from cellworth.errors import DataError, ParameterError
from cellworth.messages import listing, shorten
from cellworth.setting_names import setting
from cellworth.table.build_table import build_column, check_names
from cellworth.table.column import LABELLED, Column
from cellworth.table.keywords import TableKeywords
from cellworth.table.missing_marks import BLANKS, MissingMarks, open_holes
from cellworth.table.raw_cells import Cells, CodedCells, Origin, RawColumn, TextCells, TextCounts
from cellworth.table.target import Target, make_target
from cellworth.table.text_file import with_dates

FILLED_BYTES = 2 * 10**7  # of the rows of a sparse block with all holes filled
NO_CELLS = TextCells.counted(TextCounts((), np.zeros(0, dtype=np.intp)))


def open_table(
    path: Any,
    said: TableKeywords,
    *,
    columns: Sequence[str] | None = None,
    labels: Any = None,
    engine: Engine | None = None,
) -> BlockTable:
    """Open a Parquet folder or file, a Zarr array, an array or a Dask data frame; see `Table.open`."""
    stored, names = _stored(path, columns, labels, said)
    if labels is not None:
        said = replace(said, target=names[-1])
    name = str(path) if isinstance(path, str | PathLike) else f"the {type(path).__name__}"
    return _described_table(stored, names, said, Origin(name), engine)


def table_of_source(source: Source) -> BlockTable:
    """Return a table of numbers in row blocks, as `open_blocks` opens it, with its target and row ids."""
    stored = source.table
    if isinstance(stored, SparseParts):
        return _sparse_table(stored, source.engine)
    if not all(hasattr(block, "cells") for block in source.blocks.items[:1]):
        raise ParameterError(
            f"{type(stored).__name__} gives numbers only, not the cells of a table. Open its files with "
            "Table.open."
        )
    names = [*stored.columns, *(name for name in (stored.target, stored.row_id) if name is not None)]
    said = TableKeywords(stored.target, stored.row_id)
    return _described_table(stored, names, said, Origin("the table"), source.engine)


def _sparse_table(stored: SparseParts, engine: Engine) -> BlockTable:
    """Return a sparse table, whose columns are numbers, cut into blocks that can be filled; one pass."""
    table = stored.cut(FILLED_BYTES)
    counts = engine.reduce(_known_cells, add, Blocks(stored.blocks(0)))[0]
    columns = tuple(Column(name, "number") for name in stored.columns)
    rules = CellRules("the table", columns, None, None, {}, None, np.asarray(counts == 0), stored.n_rows)
    return BlockTable(table, rules, engine, counts, 0, (None,) * len(columns))


def _known_cells(block: Any) -> tuple[IntArray]:
    X = block.read().X
    return (np.bincount(X.indices, minlength=X.shape[1]),)


def _described_table(
    stored: StoredTable, names: Sequence[str], said: TableKeywords, origin: Origin, engine: Engine | None
) -> BlockTable:
    """Make the pass that finds kinds, categories, labels and holes."""
    check_names(names, origin)
    said.check(names, origin)
    declared = getattr(stored, "declared", {})
    said = said.completed_by([RawColumn(name, NO_CELLS, declared.get(name, {})) for name in names])
    runs_on = on_threads(engine)
    found = _digests(stored, names, said, runs_on)
    if said.row_id is not None:
        _check_ids(stored, said.row_id, found, origin, runs_on)
    built: dict[str, _Described] = {}
    for name, digest in found.columns.items():
        digest.check(name, origin.name)
        built[name] = _described(name, digest, said, origin, declared.get(name, {}))
    marks = {name: each.marks for name, each in built.items()}
    target, labelled = None, 0
    if said.target is not None:
        label = built.pop(said.target)
        target = _target(label, said, found.columns[said.target].origin(origin.name))
        labelled = label.known
    if not built:
        raise DataError(
            f"{origin.name}: expected at least one column besides the target and the row ids, got "
            f"{listing(names)}. Add a column with features."
        )
    known = np.array([each.known for each in built.values()], dtype=np.intp)
    rules = CellRules(
        origin.name,
        tuple(each.column for each in built.values()),
        target,
        said.row_id,
        marks,
        said.date_format,
        known == 0,
        stored.n_rows,
    )
    fineness = tuple(each.fineness for each in built.values())
    return BlockTable(stored, rules, runs_on, known, labelled, fineness)


def _stored(
    path: Any, columns: Sequence[str] | None, labels: Any, said: TableKeywords
) -> tuple[StoredTable, list[str]]:
    """Return the files as a table, and the names of its columns, the labels last if they are apart."""
    if is_sparse_table(path):
        raise ParameterError(
            "a sparse matrix is not a Table: its columns are numbers without names. Give it to "
            "SparseCompleter or to advise, or open it with cellworth.blocks.open_blocks."
        )
    extra = [name for name in (said.target, said.row_id) if name is not None]
    chosen = None if columns is None else list(dict.fromkeys([*columns, *extra]))
    if is_dask_frame(path):
        if labels is not None:
            raise ParameterError("labels is for arrays; of a data frame, name the column with target")
        frame = frame_table(path, chosen)
        return frame, list(frame.columns)
    if isinstance(path, str | PathLike):
        place = Path(fspath(path)).absolute()
        if place.suffix != ".zarr":
            table = parquet_table(place, None, None, chosen, numbers=False)
            return table, list(table.columns)
        path = str(place)
    if isinstance(labels, str | PathLike):
        labels = str(Path(fspath(labels)).absolute())
    arrays = array_table(_array(path), None if labels is None else _array(labels), columns)
    names = list(arrays.columns)
    return arrays, names if labels is None else [*names, "target" if "target" not in names else "target_"]


def stored_table(path: Path, names: Sequence[str], labels: Path | None) -> StoredTable:
    """Return the files of a table that was opened before, given the columns that were used."""
    if path.suffix != ".zarr":
        return parquet_table(path, None, None, list(names), numbers=False)
    return array_table(str(path), None if labels is None else str(labels), list(names))


def _array(given: Any) -> Any:
    return given if isinstance(given, str) or hasattr(given, "dask") else np.asarray(given)


@dataclass(frozen=True, eq=False)
class TableDigest:
    """The digests of all columns, and what is known of the row ids.

    Attributes
    ----------
    columns : dict of column name to ColumnDigest
    ids : tuple of (first, last, is_increasing)
        Of each block, in order; ids that increase need no comparison.
    blank : tuple of int
        The numbers of rows without an id.
    """

    columns: dict[str, ColumnDigest]
    ids: tuple[tuple[Any, Any, bool], ...]
    blank: tuple[int, ...]

    def merged(self, other: TableDigest) -> TableDigest:
        """Return the digest of two adjacent parts."""
        columns = {name: digest.merged(other.columns[name]) for name, digest in self.columns.items()}
        return TableDigest(columns, self.ids + other.ids, (self.blank + other.blank)[:3])


def _digests(stored: StoredTable, names: Sequence[str], said: TableKeywords, engine: Engine) -> TableDigest:
    rows = engine.rows_per_block(stored.n_rows, max(1, len(names)) * 8)
    wanted = {name: said.for_column(name) for name in names if name != said.row_id}
    as_labels = {
        name
        for name, about in wanted.items()
        if about.is_target or about.categories is not None or about.kind in (*LABELLED, "boolean", "date")
    }
    marks = {name: about.marks for name, about in wanted.items()}
    shared = (tuple(names), marks, frozenset(as_labels), said.row_id)
    found: TableDigest = engine.reduce(
        _digest, TableDigest.merged, Blocks(stored.blocks(rows)), shared=shared
    )
    return found


def _digest(
    block: Any,
    names: tuple[str, ...],
    marks: dict[str, MissingMarks],
    labels: frozenset[str],
    row_id: str | None,
) -> TableDigest:
    cells: dict[str, Cells] = dict(zip(names, block.cells(names), strict=True))

    def ids(rows: AnyArray) -> list[str]:
        if row_id is None:
            return [str(block.start + row) for row in rows.tolist()]
        return texts_at(cells[row_id], rows)

    columns = {
        name: ColumnDigest.of(cells[name], marks[name], block.start, ids, labels=name in labels)
        for name in names
        if name != row_id
    }
    if row_id is None:
        return TableDigest(columns, (), ())
    keys, missing = _id_keys(cells[row_id])
    rising = bool(np.all(keys[1:] > keys[:-1]))
    blank = tuple((np.flatnonzero(missing)[:3] + block.start).tolist())
    return TableDigest(columns, ((keys[0], keys[-1], rising),), blank)


def _id_keys(cells: Cells) -> tuple[AnyArray, AnyArray]:
    """Return a key (m,) of each row id, which increases as they do, and which ids are blank."""
    if isinstance(cells, TextCells):
        counted = cells.text_counts
        texts = np.array([*counted.distinct, ""], dtype=object)[counted.codes]
        blank = np.array([*(text in BLANKS for text in counted.distinct), True])[counted.codes]
        return texts, blank
    if isinstance(cells, CodedCells):
        texts = np.array([*cells.categories, ""], dtype=object)
        codes = np.where(cells.holes, -1, np.nan_to_num(cells.codes)).astype(np.intp)
        return texts[codes], cells.holes
    return cells.values, cells.holes


def _check_ids(stored: StoredTable, name: str, found: TableDigest, origin: Origin, engine: Engine) -> None:
    """Raise DataError if a row has no id or two rows share one.

    Ids that increase from row to row were checked in the first pass. Others are compared by a second pass
    over their column, with 8 bytes for each row.
    """
    if found.blank:
        raise DataError(
            f"{origin.column(name)}: every row needs an id, got none in row number {found.blank[0] + 1}. "
            f"Fill it in, or leave {setting('row_id')} out to number the rows from 0."
        )
    bounds = [(first, last) for first, last, _ in found.ids]
    if all(rising for *_, rising in found.ids) and all(
        before[1] < after[0] for before, after in pairwise(bounds)
    ):
        return
    blocks = Blocks(stored.blocks(engine.rows_per_block(stored.n_rows, 64)))
    hashes = np.concatenate(engine.reduce(_hashes, join, blocks, shared=(name,)))
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if not len(same):
        return
    rows = np.unique(order[np.concatenate([same, same + 1])])
    texts = engine.reduce(_texts_of, join, blocks, shared=(name, rows))
    first: dict[str, int] = {}
    for row, text in zip(rows.tolist(), texts, strict=True):
        if text in first:
            raise DataError(
                f"{origin.column(name)}: row ids must differ, got {shorten(text)} in rows number "
                f"{first[text] + 1} and {row + 1}. Correct one of them, or leave {setting('row_id')} out to "
                "number the rows from 0."
            )
        first[text] = row


def _hashes(block: Any, name: str) -> tuple[AnyArray]:
    (cells,) = block.cells([name])
    keys, _ = _id_keys(cells)
    if keys.dtype != object:
        return (keys.view(np.uint64).copy(),)
    return (np.fromiter(map(_hash, keys.tolist()), dtype=np.uint64, count=len(keys)),)


def _hash(text: str) -> int:
    """Return a 64-bit hash that is the same in every process."""
    from hashlib import blake2b

    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _texts_of(block: Any, name: str, rows: IntArray) -> tuple[str, ...]:
    first, last = np.searchsorted(rows, [block.start, block.stop])
    if first == last:
        return ()
    (cells,) = block.cells([name])
    return tuple(texts_at(cells, rows[first:last] - block.start))


@dataclass(frozen=True, eq=False)
class _Described:
    """A column, the values (k,) of its digest, its known cells, how fine they are, and marks of holes."""

    column: Column
    values: Float64Array
    known: int
    fineness: int | None
    marks: MissingMarks


def _described(
    name: str, digest: ColumnDigest, said: TableKeywords, origin: Origin, declared: Any
) -> _Described:
    raw = digest.raw(name, declared)
    if said.date_format is not None:
        (raw,) = with_dates([raw], said.date_format, (said.row_id,))
    column, values = build_column(raw, said.for_column(name), digest.origin(origin.name))
    known, fineness, seen = digest.known, digest.fineness, ~np.isnan(values)
    if digest.complete:
        known, fineness = int(digest.times[seen].sum()), column.fineness(values[seen])
    return _Described(column, values, known, fineness, _marks(name, digest, said))


def _marks(name: str, digest: ColumnDigest, said: TableKeywords) -> MissingMarks:
    """Return the marks of holes in a column; for texts those that occur, as found on the whole column."""
    stated = said.for_column(name).marks
    raw = digest.raw(name, {})
    if not isinstance(raw.cells, TextCells):
        return stated
    opened = open_holes(raw.cells, stated)
    assert isinstance(opened, TextCells)
    left = set(opened.text_counts.distinct)
    marked = frozenset(text for text in raw.cells.text_counts.distinct if text not in left)
    return MissingMarks(texts=marked, stated=marked)


def _target(label: _Described, said: TableKeywords, origin: Origin) -> Target:
    kind = said.for_column(label.column.name).kind
    stated = said.target_kind or ("number" if kind == "number" else None)
    return replace(make_target(label.column, label.values, stated, origin), values=np.zeros(0))
