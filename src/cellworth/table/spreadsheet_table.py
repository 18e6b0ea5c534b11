"""Tables for spreadsheets: no text is taken for a formula, and no character is misread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cellworth.table.column import Column
from cellworth.table.csv_format import guard, separator_of, with_mark, write_text
from cellworth.table.files import format_of
from cellworth.table.table import Table


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
    return Table(tuple(columns), table.values, tuple(map(guard, table.row_ids)), target, row_id)


def write_for_spreadsheet(table: Table, path: Path) -> None:
    """Write the table for Excel and the like; not for reading back.

    Text files are guarded, and get a byte order mark if they have other characters than ASCII. A workbook
    needs neither.
    """
    if format_of(path, "") != "csv":
        table.write(path)
    else:
        write_text(path, with_mark(guard_table(table).to_csv(separator_of(path))))


def _guard_column(column: Column) -> Column:
    return replace(column, name=guard(column.name), categories=tuple(map(guard, column.categories)))
