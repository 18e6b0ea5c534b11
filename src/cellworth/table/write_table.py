"""Write tables, as the user's own values: to CSV, Excel and Parquet files, frames, and notebooks as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.errors import ParameterError
from cellworth.messages import LONGEST_SHOWN, listing, shorten
from cellworth.optional_packages import require
from cellworth.setting_names import by_door
from cellworth.shown_numbers import shown
from cellworth.table.column import KINDS, LABELLED, MEASURED, Column
from cellworth.table.dates import stamps_from_days
from cellworth.table.excel import Field, write_sheet
from cellworth.table.write_csv import csv_text, guard, separator_of, with_mark, write_text

if TYPE_CHECKING:
    from cellworth.table.table import Table
    from cellworth.table.target import Target
from cellworth.table.files import check_folder, format_of, replace_file
from cellworth.table.keywords import field_metadata

Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = get_args(Library)


class OutColumn(NamedTuple):
    """A column to write: its description, its values (n,) and its role."""

    column: Column
    values: Float64Array
    role: str = "feature"
    target_kind: str | None = None


def out_columns(table: Table) -> list[OutColumn]:
    """Return the columns of a table to be written, the target last."""
    out = [OutColumn(column, table.values[:, place]) for place, column in enumerate(table.columns)]
    if table.target is not None:
        out.append(OutColumn(table.target.column, table.target.cells, "target", table.target.kind))
    return out


def write_table(
    path: Path,
    row_id: str | None,
    row_ids: Sequence[str],
    columns: Sequence[OutColumn],
    *,
    delimiter: str | None = None,
    decimal: str = ".",
) -> None:
    """Write the table in the format given by the path's suffix; O(n p)."""
    file_format = format_of(path, _other_files())
    if file_format == "xlsx":
        write_sheet(path, sheet_rows(row_id, row_ids, columns))
    elif file_format == "parquet":
        parquet = require("pyarrow.parquet")
        frame = to_frame("pyarrow", row_id, row_ids, columns)
        replace_file(path, lambda part: parquet.write_table(frame, part))
    else:
        text = table_as_csv(row_id, row_ids, columns, separator_of(path, delimiter), decimal)
        write_text(path, text)


def _other_files() -> str:
    return by_door(
        python="For other files use to_frame and write the frame.",
        command_line="Write one of these, and convert it.",
    )


def check_can_write(path: Path) -> None:
    """Raise DataError if a table cannot be written there: another format, or no such folder."""
    format_of(path, _other_files())
    check_folder(path)


def table_as_csv(
    row_id: str | None,
    row_ids: Sequence[str],
    columns: Sequence[OutColumn],
    separator: str = ",",
    decimal: str = ".",
    *,
    names: bool = True,
) -> str:
    """Return the table as delimited text, by default with its names in the first line; O(n p)."""
    header = [out.column.name for out in columns]
    fields: list[Sequence[str]] = [out.column.texts(out.values) for out in columns]
    if decimal != ".":
        fields = [
            [text.replace(".", decimal) for text in texts] if out.column.kind == "number" else texts
            for out, texts in zip(columns, fields, strict=True)
        ]
    if row_id is not None:
        header.insert(0, row_id)
        fields.insert(0, row_ids)
    return csv_text([*([header] if names else []), *zip(*fields, strict=True)], separator)


def sheet_rows(
    row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]
) -> Iterator[Sequence[Field]]:
    """Yield the rows of a workbook, names first; numbers and dates are numbers and dates there, too."""
    fields: list[Sequence[Field]] = [] if row_id is None else [row_ids]
    for column, values, *_ in columns:
        native = column.kind in MEASURED
        fields.append(user_values(column, values) if native else column.texts(values))
    yield [*(() if row_id is None else (row_id,)), *(out.column.name for out in columns)]
    yield from zip(*fields, strict=True)


def usual_library() -> Library:
    """Return the first of pandas, polars and pyarrow that is installed; pandas, to name it, if none is."""
    return next((library for library in LIBRARIES if find_spec(library) is not None), "pandas")


def to_frame(library: str, row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]) -> Any:
    """Build a frame: the row ids first, if they have a name, then the columns."""
    if library == "pandas":
        return _to_pandas(row_id, row_ids, columns)
    if library == "polars":
        return _to_polars(row_id, row_ids, columns)
    if library == "pyarrow":
        return _to_pyarrow(row_id, row_ids, columns)
    raise ParameterError(f"to_frame knows {listing(LIBRARIES)}, got {shorten(library)}.")


def _to_pandas(row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]) -> Any:
    pandas = require("pandas")
    data: dict[str, Any] = {} if row_id is None else {row_id: list(row_ids)}
    for column, values, *_ in columns:
        holes = np.isnan(values)
        if column.kind in LABELLED:
            codes = np.where(holes, -1, values).astype(np.intp)
            data[column.name] = pandas.Categorical.from_codes(
                codes, categories=list(column.categories), ordered=column.kind == "ordered"
            )
        elif column.kind in ("integer", "boolean"):
            native = np.where(holes, 0, values).astype(np.int64 if column.kind == "integer" else np.bool_)
            array = pandas.array(native, dtype="Int64" if column.kind == "integer" else "boolean")
            array[holes] = pandas.NA
            data[column.name] = array
        else:
            data[column.name] = stamps_from_days(values) if column.kind == "date" else values.copy()
    return pandas.DataFrame(data)


def _to_polars(row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]) -> Any:
    polars = require("polars")
    series = [] if row_id is None else [polars.Series(row_id, list(row_ids), dtype=polars.String)]
    for column, values, *_ in columns:
        dtype = {
            "number": polars.Float64,
            "integer": polars.Int64,
            "boolean": polars.Boolean,
            "category": polars.Categorical,
            "date": polars.Date if column.whole_days else polars.Datetime("us"),
        }.get(column.kind) or polars.Enum(list(column.categories))
        series.append(polars.Series(column.name, user_values(column, values), dtype=dtype))
    return polars.DataFrame(series)


def _to_pyarrow(row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]) -> Any:
    pyarrow = require("pyarrow")
    fields, arrays = [], []
    if row_id is not None:
        fields.append(pyarrow.field(row_id, pyarrow.string(), metadata=field_metadata(None, "row_id")))
        arrays.append(pyarrow.array(list(row_ids), pyarrow.string()))
    for column, values, role, target_kind in columns:
        array = _arrow_array(pyarrow, column, values)
        fields.append(
            pyarrow.field(column.name, array.type, metadata=field_metadata(column, role, target_kind))
        )
        arrays.append(array)
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))


def _arrow_array(pyarrow: Any, column: Column, values: Float64Array) -> Any:
    holes = np.isnan(values)
    if column.kind in LABELLED:
        codes = pyarrow.array(np.where(holes, 0, values).astype(np.int32), mask=holes)
        texts = pyarrow.array(list(column.categories), pyarrow.string())
        return pyarrow.DictionaryArray.from_arrays(codes, texts, ordered=column.kind == "ordered")
    if column.kind == "number":
        return pyarrow.array(values, mask=holes)
    if column.kind == "date":
        kind = pyarrow.date32() if column.whole_days else pyarrow.timestamp("us")
        stamps = stamps_from_days(values)
        return pyarrow.array(
            stamps.astype("datetime64[D]") if column.whole_days else stamps, kind, mask=holes
        )
    native = np.int64 if column.kind == "integer" else np.bool_
    return pyarrow.array(np.where(holes, 0, values).astype(native), mask=holes)


def user_values(column: Column, values: Float64Array) -> list[Any]:
    """Convert the values (n,) of a column to the user's values; None = hole."""
    if column.kind in LABELLED:
        return [None if value != value else column.categories[int(value)] for value in values]
    if column.kind == "boolean":
        return [None if value != value else bool(value) for value in values]
    return [column.format(value) for value in values.tolist()]


def guard_table(table: Table) -> Table:
    """Return the table with guarded names, row ids and texts: for spreadsheets, not for reading back."""
    target = table.target
    if target is not None:
        classes = target.classes
        if classes is not None:
            classes = tuple(guard(each) if isinstance(each, str) else each for each in classes)
        column = _guard_column(target.column)
        target = replace(target, name=column.name, classes=classes, column=column)
    columns = map(_guard_column, table.columns)
    row_id = None if table.row_id is None else guard(table.row_id)
    return type(table)(tuple(columns), table.values, tuple(map(guard, table.row_ids)), target, row_id)


def write_for_spreadsheet(
    table: Table, path: Path, *, delimiter: str | None = None, decimal: str = "."
) -> None:
    """Write the table for Excel and the like; not for reading back.

    Text files are guarded, and get a byte order mark if they have other characters than ASCII. A workbook
    needs neither.
    """
    if format_of(path, "") != "csv":
        table.write(path)
    else:
        text = guard_table(table).to_csv(separator_of(path, delimiter), decimal)
        write_text(path, with_mark(text))


def _guard_column(column: Column) -> Column:
    return replace(column, name=guard(column.name), categories=tuple(map(guard, column.categories)))


MOST_ROWS = 10
"""Show this many rows; the rest is counted."""
MOST_COLUMNS = 20
"""Show this many columns; the rest is counted."""


def table_html(summary: str, row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]) -> str:
    """Return a table with holes as HTML: the summary, then the first rows and columns; holes are dashes."""
    first = columns[:MOST_COLUMNS]
    more = [] if len(columns) == len(first) else [f"... {len(columns) - len(first)} more"]
    header = [row_id or "", *(out.column.name for out in first), *more]
    texts = [out.column.texts(out.values[:MOST_ROWS]) for out in first]
    rows = [
        [name, *(text or "\N{EM DASH}" for text in cells), *("" for _ in more)]
        for name, cells in zip(row_ids[:MOST_ROWS], zip(*texts, strict=True), strict=True)
    ]
    left = len(row_ids) - len(rows)
    return html_table(summary, header, rows, f"... and {left} more rows" if left else "")


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], ending: str = "") -> str:
    """Return lines of text as an HTML table below a title, with a line below it; all text is escaped.

    >>> html_table("Two", ["a"], [["<1>"]])
    '<pre>Two</pre><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;1&gt;</td></tr></tbody></table>'
    """
    from html import escape  # its table of entities is not needed to read a campaign

    head = "".join(f"<th>{_text(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_text(text)}</td>" for text in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<pre>{escape(title)}</pre>{table}" + (f"<p>{escape(ending)}</p>" if ending else "")


def _text(text: str) -> str:
    from html import escape

    return escape(text if len(text) <= 3 * LONGEST_SHOWN else text[: 3 * LONGEST_SHOWN] + "...")


def summary_of(
    columns: Sequence[Column], n_rows: int, n_holes: int, target: Target | None, n_unlabelled: int
) -> str:
    """Summarise a table: rows, columns of each kind, holes and target."""
    counts = Counter(column.kind for column in columns)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    n_cells = n_rows * len(columns)
    lines = [
        f"Table of {_count(n_rows, 'row')} and {_count(len(columns), 'column')} ({kinds})",
        f"  holes: {n_holes} of {n_cells} cells ({shown(100 * n_holes / (n_cells or 1), '.1f')} %)",
        "  target: none" if target is None else f"  target: {_describe(target, n_unlabelled)}",
    ]
    return "\n".join(lines)


def _describe(target: Target, missing: int) -> str:
    words = f"{shorten(target.name)}, {target.kind}"
    if target.classes is not None:
        words += f": {listing(target.classes, most=5)}"
    return words if not missing else f"{words}; {_count(missing, 'label')} missing"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
