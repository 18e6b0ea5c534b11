"""Files of cells: written for people to fill in, then read back line by line as answers.

A file of asks, as `Batch.write` writes it, has an empty ``value`` column. Once that column is filled in, by
hand or in a spreadsheet, it is a file of answers; only ``row``, ``column`` and ``value`` are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cellworth.campaign.answers import as_answers, look_at, told
from cellworth.campaign.cell_index import Cell, CellIndex
from cellworth.campaign.log import Log
from cellworth.campaign.questioned_answers import questioned
from cellworth.campaign.state import State
from cellworth.errors import (
    MOST_WRONG_LINES,
    ConflictError,
    ConflictingAnswersError,
    DataError,
    QuestionedAnswersError,
    QuestionedError,
    WrongAnswersError,
    WrongLine,
)
from cellworth.messages import shorten
from cellworth.shown_numbers import people_write
from cellworth.strategy import Batch, Purchase
from cellworth.table import Table
from cellworth.table.files import AnyFile, file_of
from cellworth.table.read_csv import read_lines
from cellworth.table.read_options import PLAIN, ReadOptions
from cellworth.table.write_csv import check_place, csv_text, with_decimal, with_mark


class FileAnswer(NamedTuple):
    """One line of a file of answers; ``value`` is the text as written, None if there is no answer yet."""

    line: int
    row: str
    column: str
    value: str | None


@dataclass(frozen=True)
class FileResult:
    """What happened to a file of answers.

    Attributes
    ----------
    new : int
        Answers that were recorded.
    known : int
        Answers that were already known, with the same value.
    blank : int
        Lines without a value: not answered yet.
    """

    new: int
    known: int
    blank: int


@dataclass(frozen=True)
class FileCheck:
    """What would happen to a file of answers.

    Attributes
    ----------
    new : list of FileAnswer
        Lines that would be recorded; the first line for each cell.
    known, blank : int
        As in `FileResult`.
    questioned : list of WrongLine
        New answers that are far outside what was seen in their columns: to be recorded only by insisting.
    """

    new: list[FileAnswer]
    known: int
    blank: int
    questioned: list[WrongLine]


def write_asks(
    path: str | os.PathLike[str],
    purchases: Iterable[Purchase],
    *,
    delimiter: str | None = None,
    decimal: str = ".",
) -> None:
    """Write the cells asked for to a .csv, .tsv or .xlsx file, with an empty value column; O(purchases).

    The file is replaced atomically. Once filled in, pass it to `Campaign.tell_file`.
    """
    Batch(purchases).write(path, delimiter=delimiter, decimal=decimal)


def asks_csv(
    purchases: Iterable[Purchase], *, delimiter: str | None = None, decimal: str | None = None
) -> str:
    """Return what `write_asks` writes to a .csv file, as text."""
    with people_write(decimal or "."):
        header, *lines = Batch(purchases).records()
    lines = [with_decimal(header, line, decimal or ".") for line in lines]
    return with_mark(csv_text([header, *lines], delimiter or ","))


def check_asks_path(path: str | os.PathLike[str]) -> None:
    """Raise DataError if a list of cells cannot be written there; call it before reserving money."""
    check_place(Path(path))


def read_answers(
    path: AnyFile,
    table: Table,
    *,
    encoding: str | None = None,
    state: State | None = None,
    unsolicited: bool = False,
    how: ReadOptions = PLAIN,
) -> list[FileAnswer]:
    r"""Read a file of answers and check its rows, columns and values against a table; O(n + p + lines).

    Parameters
    ----------
    path : str or path
        A .csv, .tsv or .txt file, optionally with .gz. Fields may come in any order, extra fields are
        ignored, and the separator may be a comma, a semicolon or a tab.
    table : Table
        The table whose cells are answered.
    encoding : str, optional
        By default UTF-8, or UTF-16 if the file starts with its byte order mark.
    state : State, optional
        If any line is wrong, the error also names the lines that this state of a campaign would reject.
    unsolicited : bool
        Whether the campaign takes answers that nobody asked for.
    how : ReadOptions
        How the campaign's table was read: its marks of missing values are no values here either.

    Returns
    -------
    list of FileAnswer
        Lines without a value are included, with ``value=None``; blank lines are not.

    Raises
    ------
    DataError
        If the file cannot be read at all; `WrongAnswersError`, with the wrong lines, if names or values do
        not fit the table or a cell has two values.

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
    index = CellIndex(table) if state is None else state.index
    first: dict[Cell, tuple[int, float]] = {}
    problems: list[WrongLine] = []
    answers: list[FileAnswer] = []
    lines = list(read_lines(file_of(path), ("row", "column", "value"), encoding))
    index.meet(row for _, (row, _, _) in lines)
    for line, (row, column, value) in lines:
        answer = FileAnswer(line, row, column, None if how.marks_hole(column, value) else value or None)
        problem = _check(index, answer, first)
        if problem is None:
            answers.append(answer)
        else:
            _collect(path, problems, problem)
    if problems:
        if state is not None:
            rejected, _ = _rejected(state, answers, unsolicited=unsolicited)
            odd = _odd_lines(state, answers, {each.line for each in rejected})
            problems = sorted([*problems, *rejected, *odd], key=lambda each: each.line)[:MOST_WRONG_LINES]
        raise WrongAnswersError(path, problems)
    return answers


def read_cells(
    path: AnyFile, table: Table | CellIndex, *, encoding: str | None = None
) -> list[tuple[str, str]]:
    """Read (row, column) pairs from a file with these two fields; like `read_answers`."""
    index = table if isinstance(table, CellIndex) else CellIndex(table)
    problems: list[WrongLine] = []
    cells: list[tuple[str, str]] = []
    lines = list(read_lines(file_of(path), ("row", "column"), encoding))
    index.meet(row for _, (row, _) in lines)
    for line, (row, column) in lines:
        cell = _cell(index, line, row, column)
        if isinstance(cell, WrongLine):
            _collect(path, problems, cell)
        else:
            cells.append(index.names(cell))
    if problems:
        raise WrongAnswersError(path, problems)
    return cells


def triples(lines: Iterable[FileAnswer]) -> list[tuple[str, str, str]]:
    """Return the row, column and value of each line that has a value."""
    return [(row, column, value) for _, row, column, value in lines if value is not None]


def result(lines: Sequence[FileAnswer], new: int) -> FileResult:
    """Summarize what happened to the lines, given how many answers were new."""
    given = triples(lines)
    cells = {(row, column) for row, column, _ in given}
    return FileResult(new, len(cells) - new, len(lines) - len(given))


def check_answers(state: State, path: AnyFile, lines: Sequence[FileAnswer]) -> FileCheck:
    """Return what would happen to the lines of a file, or raise, naming the wrong lines; records nothing."""
    given = [answer for answer in lines if answer.value is not None]
    try:
        answers = as_answers(state, triples(given))
        found = told(state, answers, unsolicited=False, price=None)
    except (DataError, ConflictError):
        _raise_by_line(state, path, given, unsolicited=False)
        raise
    recorded = set() if found is None else {(cell.row, cell.column) for cell in found.cells}
    first = {answer[1:3]: answer for answer in reversed(given)}
    new = [answer for answer in given if answer[1:3] in recorded and first[answer[1:3]] is answer]
    odd = questioned(state, (each for each in answers if state.index.names(each.cell) in recorded))
    doubts = {state.index.names(cell): words for cell, words in odd.items()}
    return FileCheck(new, len(first) - len(new), len(lines) - len(given), _doubted(new, doubts))


@contextmanager
def blame_lines(path: AnyFile, lines: Iterable[FileAnswer], log: Log, *, unsolicited: bool) -> Iterator[None]:
    """Turn the error for a rejected answer into one that names every rejected line."""
    try:
        yield
    except QuestionedError as error:
        doubts = {cell: f"{words} {error.remedy}" for cell, words in error.cells.items()}
        raise QuestionedAnswersError(path, _doubted(lines, doubts)[:MOST_WRONG_LINES]) from None
    except (DataError, ConflictError):
        _raise_by_line(log.state, path, lines, unsolicited=unsolicited)
        raise  # the fault is in the key or the store, not in a line


def _doubted(lines: Iterable[FileAnswer], doubts: Mapping[tuple[str, str], str]) -> list[WrongLine]:
    """Return the lines of the cells that are questioned."""
    return [
        WrongLine(each.line, "value", doubts[each.row, each.column])
        for each in lines
        if each.value is not None and (each.row, each.column) in doubts
    ]


def _raise_by_line(state: State, path: AnyFile, answers: Iterable[FileAnswer], *, unsolicited: bool) -> None:
    """Raise an error that names every line the campaign rejects; return if it rejects none."""
    problems, all_conflicts = _rejected(state, answers, unsolicited=unsolicited)
    if problems:
        raise (ConflictingAnswersError if all_conflicts else WrongAnswersError)(path, problems) from None


def _odd_lines(state: State, answers: Iterable[FileAnswer], rejected: Set[int]) -> list[WrongLine]:
    """Return the other lines whose values are far outside what was seen in their columns."""
    given = [each for each in answers if each.value is not None and each.line not in rejected]
    odd = questioned(state, as_answers(state, triples(given)))
    return _doubted(given, {state.index.names(cell): words for cell, words in odd.items()})


def _rejected(
    state: State, answers: Iterable[FileAnswer], *, unsolicited: bool
) -> tuple[list[WrongLine], bool]:
    """Return the lines that the campaign rejects, and whether all of them contradict known values."""
    problems: list[WrongLine] = []
    all_conflicts = True
    answers = list(answers)
    look_at(state, ((row, column) for _, row, column, value in answers if value is not None))
    for line, *triple in answers:
        if triple[-1] is None:
            continue
        try:
            told(state, as_answers(state, [triple]), unsolicited=unsolicited, price=None)
        except ConflictError as error:
            problems.append(WrongLine(line, "value", str(error)))
        except DataError as error:
            problems.append(WrongLine(line, "row", str(error)))
            all_conflicts = False
        if len(problems) == MOST_WRONG_LINES:
            break
    return problems, all_conflicts


def parse_cells(texts: Iterable[str], table: Table | CellIndex) -> list[tuple[str, str]]:
    """Return the row and column of cells written as ROW:COLUMN; either name may contain colons.

    >>> table = Table.from_arrays([[61.0, 1.5]], columns=["age", "dose"], row_ids=["site:1"])
    >>> parse_cells(["site:1:dose"], table)
    [('site:1', 'dose')]
    """
    index = table if isinstance(table, CellIndex) else CellIndex(table)
    return [_parse_cell(text, index) for text in texts]


def _check(index: CellIndex, answer: FileAnswer, first: dict[Cell, tuple[int, float]]) -> WrongLine | None:
    """Return what is wrong with a line, or None; ``first`` maps each cell so far to its line and number."""
    line, row, column, value = answer
    if value is None:
        return None
    cell = _cell(index, line, row, column)
    if isinstance(cell, WrongLine):
        return cell
    try:
        number = index.parse(cell, value)
    except DataError as error:
        return WrongLine(line, "value", str(error))
    before, known = first.setdefault(cell, (line, number))
    if known == number:
        return None
    words = f"{index.words(cell)} has a different value on line {before}. Keep only the right one."
    return WrongLine(line, "value", words)


def _collect(path: AnyFile, problems: list[WrongLine], problem: WrongLine) -> None:
    """Add a problem, and stop once there are enough: each search for a close name takes time."""
    problems.append(problem)
    if len(problems) == MOST_WRONG_LINES:
        raise WrongAnswersError(path, problems)


def _cell(index: CellIndex, line: int, row: str, column: str) -> Cell | WrongLine:
    for field, text in (("row", row), ("column", column)):
        if not text:
            return WrongLine(line, field, f"expected the name of a {field}, got a blank. Fill it in.")
    try:
        return index.cell(row, column)
    except DataError as error:
        return WrongLine(line, "column" if row in index else "row", str(error))


def _parse_cell(text: str, index: CellIndex) -> tuple[str, str]:
    parts = text.split(":")
    splits = [(":".join(parts[:k]), ":".join(parts[k:])) for k in range(1, len(parts))]
    if not splits:
        raise DataError(f"expected a cell as ROW:COLUMN, such as P017:age; got {shorten(text)}.")
    names = {column.name for column in index.columns}
    found = [(row, column) for row, column in splits if row in index and column in names]
    if len(found) > 1:
        raise DataError(
            f"{shorten(text)} is ambiguous: it can mean several cells. Name the cell in a file instead."
        )
    return found[0] if found else index.names(index.cell(*splits[-1]))
