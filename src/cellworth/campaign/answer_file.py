"""Lists of cells as files: written for people to fill in, read back line by line, and told.

A file of asks has the fields `FIELDS`; its column ``value`` is empty. With that column filled in, by hand or
in a spreadsheet, it is a file of answers, of which only ``row``, ``column`` and ``value`` are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from cellworth.campaign.places import Cell, Places
from cellworth.errors import (
    MOST_WRONG_LINES,
    ConflictingAnswersError,
    DataError,
    WrongAnswersError,
    WrongLine,
    WrongLinesError,
)
from cellworth.strategy import Purchase
from cellworth.table import Table
from cellworth.table.files import AnyFile, file_of
from cellworth.table.read_csv import read_lines
from cellworth.table.write_csv import check_place, csv_text, guard, write_lines
from cellworth.wording import shorten

__all__ = [
    "FIELDS",
    "MOST_WRONG_LINES",
    "ConflictingAnswersError",
    "FileAnswer",
    "WrongAnswersError",
    "WrongLine",
    "WrongLinesError",
    "asks_csv",
    "check_asks_path",
    "parse_cells",
    "read_answers",
    "read_cells",
    "write_asks",
]

FIELDS = ("row", "column", "group", "price", "worth", "why", "until", "value")


class FileAnswer(NamedTuple):
    """One line of a file of answers; ``value`` is the text as written, None if there is no answer yet."""

    line: int
    row: str
    column: str
    value: str | None


def write_asks(path: str | os.PathLike[str], purchases: Iterable[Purchase]) -> None:
    """Write what was asked for to a .csv or .tsv file, with an empty column for the values; O(purchases).

    The file is replaced whole or not at all. `tell_file` takes it once it is filled in.
    """
    write_lines(Path(path), [FIELDS, *map(_record, purchases)])


def asks_csv(purchases: Iterable[Purchase]) -> str:
    """Return what `write_asks` writes to a .csv file, as text."""
    return csv_text([FIELDS, *map(_record, purchases)])


def check_asks_path(path: str | os.PathLike[str]) -> None:
    """Raise DataError if no list of cells can be written there; call it before money is reserved."""
    check_place(Path(path))


def read_answers(path: AnyFile, table: Table, *, encoding: str | None = None) -> list[FileAnswer]:
    r"""Read a file of answers and check its rows, columns and values against a table; O(n + p + lines).

    Parameters
    ----------
    path : str or path
        A .csv, .tsv or .txt file, each also with .gz. Fields may come in any order, further ones are passed
        over, and semicolons and tabs may stand for commas, as some spreadsheets have it.
    table : Table
        Whose cells are answered.
    encoding : str, optional
        By default UTF-8, or UTF-16 where the file begins with its mark.

    Returns
    -------
    list of FileAnswer
        Lines without a value are in it, with ``value=None``; wholly blank lines are not.

    Raises
    ------
    DataError
        If the file cannot be read at all; `WrongAnswersError`, with the wrong lines, if names or values in
        it do not fit the table, or a cell has two values.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> table = Table.from_arrays([[61, None], [None, 1.5]], columns=["age", "dose"], row_ids=["a", "b"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("row,column,value\na,dose,2.5\nb,age,\n")
    >>> for answer in read_answers(path, table):
    ...     print(answer)
    FileAnswer(line=2, row='a', column='dose', value='2.5')
    FileAnswer(line=3, row='b', column='age', value=None)
    """
    places = _places(table)
    first: dict[Cell, tuple[int, float]] = {}
    problems: list[WrongLine] = []
    answers: list[FileAnswer] = []
    for line, (row, column, value) in read_lines(file_of(path), ("row", "column", "value"), encoding):
        answer = FileAnswer(line, row, column, value or None)
        problem = _check(places, answer, first)
        if problem is None:
            answers.append(answer)
        else:
            _collect(path, problems, problem)
    if problems:
        raise WrongAnswersError(path, problems)
    return answers


def read_cells(path: AnyFile, table: Table, *, encoding: str | None = None) -> list[tuple[str, str]]:
    """Read a list of cells, (row, column) each, from a file with these two fields; as `read_answers`."""
    places = _places(table)
    problems: list[WrongLine] = []
    cells: list[tuple[str, str]] = []
    for line, (row, column) in read_lines(file_of(path), ("row", "column"), encoding):
        cell = _cell(places, line, row, column)
        if isinstance(cell, WrongLine):
            _collect(path, problems, cell)
        else:
            cells.append(places.names(cell))
    if problems:
        raise WrongAnswersError(path, problems)
    return cells


def parse_cells(texts: Iterable[str], table: Table) -> list[tuple[str, str]]:
    """Return the row and column of cells written as ROW:COLUMN; either may have colons in its name.

    >>> table = Table.from_arrays([[61.0, 1.5]], columns=["age", "dose"], row_ids=["site:1"])
    >>> parse_cells(["site:1:dose"], table)
    [('site:1', 'dose')]
    """
    places = _places(table)
    return [_parse_cell(text, places) for text in texts]


def _record(purchase: Purchase) -> list[str]:
    until = "" if purchase.until is None else purchase.until.isoformat(timespec="seconds")
    texts = map(guard, (purchase.row, purchase.column, purchase.group or ""))
    return [*texts, repr(float(purchase.price)), f"{purchase.worth:.6g}", guard(purchase.why), until, ""]


def _places(table: Table) -> Places:
    return Places(table.row_ids, table.columns, None if table.target is None else table.target.name)


def _check(places: Places, answer: FileAnswer, first: dict[Cell, tuple[int, float]]) -> WrongLine | None:
    """Say what is wrong with a line, if anything; ``first`` has the line and number of each cell so far."""
    line, row, column, value = answer
    if value is None:
        return None
    cell = _cell(places, line, row, column)
    if isinstance(cell, WrongLine):
        return cell
    try:
        number = places.columns[cell[1]].parse(value)
    except DataError as error:
        return WrongLine(line, "value", f"row {shorten(row)}, {error}")
    before, known = first.setdefault(cell, (line, number))
    if known == number:
        return None
    words = f"{places.words(cell)} has another value on line {before}. Keep the right one."
    return WrongLine(line, "value", words)


def _collect(path: AnyFile, problems: list[WrongLine], problem: WrongLine) -> None:
    """Note a problem; end here when there are enough of them, for each search for a close name takes time."""
    problems.append(problem)
    if len(problems) == MOST_WRONG_LINES:
        raise WrongAnswersError(path, problems)


def _cell(places: Places, line: int, row: str, column: str) -> Cell | WrongLine:
    for field, text in (("row", row), ("column", column)):
        if not text:
            return WrongLine(line, field, f"expected the name of a {field}, got a blank. Fill it in.")
    try:
        return places.cell(row, column)
    except DataError as error:
        return WrongLine(line, "column" if row in places else "row", str(error))


def _parse_cell(text: str, places: Places) -> tuple[str, str]:
    parts = text.split(":")
    splits = [(":".join(parts[:k]), ":".join(parts[k:])) for k in range(1, len(parts))]
    if not splits:
        raise DataError(f"expected a cell as ROW:COLUMN, such as P017:age; got {shorten(text)}.")
    names = {column.name for column in places.columns}
    found = [(row, column) for row, column in splits if row in places and column in names]
    if len(found) > 1:
        raise DataError(f"{shorten(text)} can be read as several cells. List the right one in a file.")
    return found[0] if found else places.names(places.cell(*splits[-1]))
