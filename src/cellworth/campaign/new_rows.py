"""New rows for a campaign's table, from memory or from a file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.campaign.campaign_events import Extended
from cellworth.campaign.state import State
from cellworth.campaign.table_codec import pack
from cellworth.errors import DataError, ParameterError
from cellworth.messages import listing, not_there, shorten
from cellworth.prices import Prices
from cellworth.setting_names import by_door, setting
from cellworth.table import Column, Table
from cellworth.table.build_table import check_names, check_row_ids
from cellworth.table.column import LABELLED
from cellworth.table.encoded import refuse_huge
from cellworth.table.files import (
    AnyFile,
    FileBytes,
    check_readable,
    file_of,
    format_of,
    other_files,
    read_bytes,
)
from cellworth.table.frames import index_column, library_of
from cellworth.table.keywords import Missing
from cellworth.table.missing_marks import USUAL_MARKS, missing_marks, open_holes
from cellworth.table.parse_values import label
from cellworth.table.raw_cells import Origin, as_texts, is_null, labels
from cellworth.table.read_csv import read_csv
from cellworth.table.read_options import PLAIN, ReadOptions
from cellworth.table.text_file import TextFile

Rows = Table | Mapping[object, Mapping[str, object]]


def extended(state: State, rows: Rows | AnyFile, prices: Prices, how: ReadOptions = PLAIN) -> Extended:
    """Return the rows to add; DataError if they do not fit or have no price. O(n p).

    A file is read as ``how`` says, unless it is a `TextFile`.
    """
    table = state.table()
    given: Any = rows
    if isinstance(rows, str | os.PathLike | FileBytes | TextFile):
        given = read_rows(how.file(rows), table, missing=how.missing)
    elif library_of(rows) is not None:
        given = rows_of_frame(rows, table)
    new = conform(given, table)
    state.index.meet(new.row_ids)
    taken = [row for row in new.row_ids if row in state.index]
    if taken:
        raise DataError(
            f"new rows must have new ids; already taken: {listing(taken)}. To add values to existing rows, "
            f"use tell, with {setting('unsolicited', True)} if they were never asked for."
        )
    refuse_huge(new.values, new.row_ids, new.columns, may_be_hole=False)
    _check_prices(table, new, prices)
    return Extended(tuple(new.row_ids), pack(new))


def _check_prices(table: Any, new: Table, prices: Prices) -> None:
    """Raise DataError if the new rows have no price, as by a matrix: now rather than at the next ask."""
    if not isinstance(table, Table):
        from cellworth.strategy.block_prices import BlockPrices

        BlockPrices.of(prices, table.with_rows(new))
        return
    values = np.vstack([table.values, new.values])
    target = table.target
    if target is not None and new.target is not None:
        target = target.with_cells(np.concatenate([target.cells, new.target.cells]))
    prices.on(Table(table.columns, values, (*table.row_ids, *new.row_ids), target, table.row_id))


def request_of(rows: Rows | AnyFile) -> object:
    """Return what distinguishes these rows from others, whatever the campaign has by now; O(their size)."""
    if isinstance(rows, str | os.PathLike | FileBytes | TextFile):
        return sha256(read_bytes(file_of(rows))).hexdigest()
    if library_of(rows) is not None:
        index = index_column(rows, None)
        return [None if index is None else as_texts(index.cells).texts, list(map(repr, _lines(rows)))]
    if isinstance(rows, Table):
        return sha256(rows.to_csv().encode("utf-8", "surrogatepass")).hexdigest()
    return [
        [label(row), sorted((column, repr(value)) for column, value in cells.items())]
        for row, cells in rows.items()
    ]


def read_rows(
    path: AnyFile,
    like: Table,
    *,
    missing: Missing = (),
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Rows:
    r"""Read rows that `Campaign.extend` can add to a table; O(cells of the file).

    Unlike `Table.read`, it does not infer kinds, since the table has them; so columns, including the target,
    may be omitted or entirely missing. A Parquet file must have all columns.

    Parameters
    ----------
    path : str or path
        As in `Table.read`. If the table's rows are numbered, new rows without an id column continue the
        numbering.
    like : Table
    missing, encoding, delimiter
        As in `Table.read`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> table = Table.from_arrays([[61, 1.5]], columns=["age", "dose"], row_ids=["a"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("row_id,age\nb,47\nc,?\n")
    >>> read_rows(path, table, missing=["?"])
    {'b': {'age': '47'}, 'c': {}}
    """
    file = file_of(path)
    if format_of(file, other_files()) == "parquet":
        return Table.read(file, missing=missing, **like.keywords())
    check_readable(file)
    stated = isinstance(file, TextFile) and file.delimiter is not None  # how the first file was written
    columns, source = read_csv(file, encoding, delimiter, as_is=(like.row_id,), any_separator=stated)
    check_names([column.name for column in columns], source)
    known = {column.name: column.categories for column in like.columns}
    if like.target is not None:
        known[like.target.name] = like.target.column.categories
    how = ReadOptions.of(file, missing, delimiter)
    texts = {}
    for column in columns:  # a row may be called NA
        named = USUAL_MARKS if column.name == like.row_id else known.get(column.name, ())
        marks = missing_marks(how.marks_of(column.name), named)
        texts[column.name] = as_texts(open_holes(column.cells, marks)).texts
    if like.row_id is None:
        row_ids = [str(like.shape[0] + place) for place in range(len(source.row_ids))]
    elif like.row_id in texts:
        row_ids = list(texts.pop(like.row_id))
    else:
        raise DataError(
            f"{file}: {not_there('column', like.row_id, list(texts))} This column must hold the row ids."
        )
    check_row_ids(row_ids, like.row_id, replace(source, row_ids=row_ids))
    names = (*like.column_names, *(() if like.target is None else (like.target.name,)))
    for name in texts:
        if name not in names:
            raise DataError(f"{file}: {not_there('column', name, names)}")
    columns_by_name = {column.name: column for column in like.columns}
    if like.target is not None:
        columns_by_name[like.target.name] = like.target.answer_column
    for name, cells in texts.items():
        _check_cells(columns_by_name[name], cells, replace(source, row_ids=row_ids))
    return {
        row: {name: cells[place] for name, cells in texts.items() if cells[place]}
        for place, row in enumerate(row_ids)
    }


def rows_of_frame(frame: Any, like: Table) -> dict[str, dict[str, object]]:
    """Return the rows of a frame as `Campaign.extend` takes them; O(n p).

    The column of the table's row ids names the rows, or else the frame's index. Rows without either
    continue the numbering of a table whose rows are numbered.
    """
    lines = _lines(frame)
    index = index_column(frame, None)
    if like.row_id is not None and lines and like.row_id in lines[0]:
        names = labels(line.pop(like.row_id) for line in lines)
    elif index is not None:
        names = list(as_texts(index.cells).texts)
    elif like.row_id is None:
        names = [str(like.shape[0] + place) for place in range(len(lines))]
    else:
        raise DataError(
            f"the new rows: expected row ids, got none. Add the column {shorten(like.row_id)}, or name the "
            "rows by the index."
        )
    check_row_ids(names, like.row_id, Origin("the new rows", names))
    return dict(zip(names, lines, strict=True))


def _lines(frame: Any) -> list[dict[str, object]]:
    """Return the rows of a frame as values by column name."""
    import narwhals as nw

    found = nw.from_native(frame, eager_only=True).iter_rows(named=True)
    return [{label(name): value for name, value in line.items()} for line in found]


def _check_cells(column: Column, cells: Sequence[str], source: Origin) -> None:
    """Raise DataError, which names the file, row and line of the first cell that a column rejects."""
    first: dict[str, int] = {}
    for place, text in enumerate(cells):
        if text:
            first.setdefault(text, place)
    for text, place in first.items():
        try:
            column.parse(text)
        except DataError as error:
            line = "" if source.lines is None else f", line {source.lines[place]}"
            raise DataError(f"{source.name}{line}: row {shorten(source.row_ids[place])}, {error}") from None


def conform(rows: Rows, like: Table) -> Table:
    """Return new rows as a table with the exact columns and target of another; DataError if they do not fit.

    A table must have the same columns, in any order, of the same kinds, with no new categories. A mapping of
    row id to values by column name may omit columns; these become holes.
    """
    if isinstance(rows, Table):
        return _from_table(rows, like)
    if not isinstance(rows, Mapping):
        raise ParameterError(
            "rows must be a Table, a DataFrame or a mapping of row ids to values, such as "
            f"{{'p9': {{'age': 61}}}}; got {shorten(rows)}."
        )
    return _from_mapping(rows, like)


def _from_table(rows: Table, like: Table) -> Table:
    _check_columns(rows.column_names, like.column_names)
    values = np.empty((len(rows.row_ids), len(like.columns)))
    for place, column in enumerate(like.columns):
        given = rows.column_index(column.name)
        values[:, place] = _recoded(rows.columns[given], rows.values[:, given], column, rows.row_ids)
    return _table(rows.row_ids, values, _labels(rows, like), like)


def _check_columns(given: tuple[str, ...], expected: tuple[str, ...]) -> None:
    for name in given:
        if name not in expected:
            raise DataError(f"the new rows: {not_there('column', name, expected)}")
    lacking = [name for name in expected if name not in given]
    if lacking:
        raise DataError(
            f"the new rows must have all columns of the campaign's table; got none for {listing(lacking)}."
        )


def _labels(rows: Table, like: Table) -> Float64Array | None:
    """Return the labels (m,) of new rows as values of their column; None if the campaign has no target."""
    given, target = rows.target, like.target
    if given is not None and (target is None or given.name != target.name):
        expected = "no target" if target is None else f"the target {shorten(target.name)}"
        raise DataError(f"the new rows must have {expected}; got the target {shorten(given.name)}.")
    if target is None:
        return None
    if given is None:
        return np.full(len(rows.row_ids), np.nan)
    return _recoded(given.column, given.cells, target.answer_column, rows.row_ids)


def _from_mapping(rows: Mapping[object, Mapping[str, object]], like: Table) -> Table:
    row_ids = tuple(label(row) for row in rows)
    columns = [*like.columns, *([] if like.target is None else [like.target.answer_column])]
    places = {column.name: place for place, column in enumerate(columns)}
    cells = np.full((len(rows), len(columns)), np.nan)
    for i, (row, given) in enumerate(zip(row_ids, rows.values(), strict=True)):
        if not isinstance(given, Mapping):
            raise ParameterError(f"row {shorten(row)}: expected values by column name; got {shorten(given)}.")
        for name, value in given.items():
            if name not in places:
                raise DataError(f"row {shorten(row)}: {not_there('column', name, list(places))}")
            if is_null(value):
                continue
            try:
                cells[i, places[name]] = columns[places[name]].parse(value)
            except DataError as error:
                raise DataError(f"row {shorten(row)}, {error}") from None
    labels = None if like.target is None else cells[:, -1]
    return _table(row_ids, cells[:, : len(like.columns)], labels, like)


def _remedy() -> str:
    return by_door(
        python="Read them with Table.read(path, **campaign.table.keywords()).",
        command_line="Write them as in the campaign's table.",
    )


def _recoded(given: Column, cells: Float64Array, column: Column, row_ids: tuple[str, ...]) -> Float64Array:
    """Return the cells (m,) of one column, recoded for another column of the same name."""
    place = f"column {shorten(column.name)}"
    both_labelled = {given.kind, column.kind} <= LABELLED
    if given.kind != column.kind and not both_labelled and (given.kind, column.kind) != ("integer", "number"):
        raise DataError(
            f"{place}: new rows must be of the kind {column.kind!r}, got {given.kind!r}. {_remedy()}"
        )
    numbers = cells
    if both_labelled:
        code = {text: float(number) for number, text in enumerate(column.categories)}
        codes = np.array([code.get(text, math.inf) for text in given.categories])
        known = ~np.isnan(cells)
        numbers = cells.copy()
        numbers[known] = codes[cells[known].astype(np.intp)]
    wrong = np.flatnonzero(column.invalid(numbers))
    if wrong.size:
        shown = shorten(given.format(float(cells[wrong[0]])))
        raise DataError(
            f"row {shorten(row_ids[wrong[0]])}, {place}: expected {column.expected}, got {shown}."
        )
    return numbers


def _table(row_ids: tuple[str, ...], values: Float64Array, labels: Float64Array | None, like: Table) -> Table:
    check_row_ids(row_ids, like.row_id, Origin("the new rows", row_ids))
    target = like.target
    if target is not None and labels is not None:
        target = target.with_cells(labels)
    return Table(like.columns, values, row_ids, target, like.row_id)
