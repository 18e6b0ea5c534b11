"""Lists of cells as files: written for people to fill in, read back line by line, and told.

A file of asks has the fields `FIELDS`; its column ``value`` is empty. With that column filled in, by hand or
in a spreadsheet, it is a file of answers, of which only ``row``, ``column`` and ``value`` are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cellworth.campaign.answers import as_answers, told
from cellworth.campaign.campaign import Campaign
from cellworth.campaign.places import Cell, Places
from cellworth.campaign.purchase import Purchase
from cellworth.campaign.spreadsheet import check_place, csv_text, guard, read_lines, write_lines
from cellworth.campaign.view import CampaignView
from cellworth.campaign.wrong_lines import (
    MOST_PROBLEMS,
    ConflictingAnswersError,
    Problem,
    WrongAnswersError,
    WrongLinesError,
)
from cellworth.errors import ConflictError, DataError
from cellworth.table import Table
from cellworth.table.files import AnyFile, file_of
from cellworth.table.wording import shorten

__all__ = [
    "FIELDS",
    "MOST_PROBLEMS",
    "ConflictingAnswersError",
    "FileAnswer",
    "Problem",
    "Told",
    "WrongAnswersError",
    "WrongLinesError",
    "asks_csv",
    "check_asks_path",
    "parse_cells",
    "read_answers",
    "read_cells",
    "tell_file",
    "write_asks",
]

FIELDS = ("row", "column", "group", "price", "worth", "why", "until", "value")


class FileAnswer(NamedTuple):
    """One line of a file of answers; ``value`` is the text as written, None if there is no answer yet."""

    line: int
    row: str
    column: str
    value: str | None


@dataclass(frozen=True)
class Told:
    """What became of a file of answers.

    Attributes
    ----------
    new : int
        Answers that were recorded.
    known : int
        Answers that were known before, with the same value.
    blank : int
        Lines without a value: not answered yet.
    """

    new: int
    known: int
    blank: int


@dataclass(frozen=True)
class Checked:
    """What would become of a file of answers.

    Attributes
    ----------
    new : list of FileAnswer
        Lines that would be recorded, the first of each cell.
    known, blank : int
        As in `Told`.
    """

    new: list[FileAnswer]
    known: int
    blank: int


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
    problems: list[Problem] = []
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
    problems: list[Problem] = []
    cells: list[tuple[str, str]] = []
    for line, (row, column) in read_lines(file_of(path), ("row", "column"), encoding):
        cell = _cell(places, line, row, column)
        if isinstance(cell, Problem):
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


def tell_file(
    campaign: Campaign,
    path: AnyFile,
    *,
    who: str | None = None,
    key: str | None = None,
    unsolicited: bool = False,
    encoding: str | None = None,
) -> Told:
    """Record the answers of a file: all of them or, if one line is wrong, none; O(n + p + lines).

    The keywords are those of `Campaign.tell` and `read_answers`. The same file once more is no error.
    `check_file` says beforehand what would become of it.

    Raises
    ------
    WrongAnswersError
        As in `read_answers`, and if cells were never asked for.
    ConflictingAnswersError
        If the only thing wrong is that other values are known.
    """
    lines = read_answers(path, campaign.table, encoding=encoding)
    given = [answer for answer in lines if answer.value is not None]
    triples = [(answer.row, answer.column, answer.value) for answer in given]
    cells = {answer[:2] for answer in triples}
    try:
        new = campaign.tell(triples, who=who, key=key, unsolicited=unsolicited)
    except (DataError, ConflictError):
        _raise_by_line(campaign, path, given, unsolicited)
        raise  # it is no line that is wrong, but the key or the store
    return Told(new, len(cells) - new, len(lines) - len(given))


def check_file(campaign: CampaignView, path: AnyFile, *, encoding: str | None = None) -> Checked:
    """Say what `tell_file` would do with a file, or raise what it would raise; nothing is recorded."""
    lines = read_answers(path, campaign.table, encoding=encoding)
    given = [answer for answer in lines if answer.value is not None]
    _raise_by_line(campaign, path, given, unsolicited=False)
    state = campaign._log.state
    triples = [(answer.row, answer.column, answer.value) for answer in given]
    found = told(state, as_answers(state, triples), unsolicited=False, price=None)
    recorded = set() if found is None else {(row, column) for row, column, *_ in found["cells"]}
    first = {answer[1:3]: answer for answer in reversed(given)}
    new = [answer for answer in given if answer[1:3] in recorded and first[answer[1:3]] is answer]
    return Checked(new, len(first) - len(new), len(lines) - len(given))


def _record(purchase: Purchase) -> list[str]:
    until = "" if purchase.until is None else purchase.until.isoformat(timespec="seconds")
    texts = map(guard, (purchase.row, purchase.column, purchase.group or ""))
    return [*texts, repr(float(purchase.price)), f"{purchase.worth:.6g}", guard(purchase.why), until, ""]


def _places(table: Table) -> Places:
    return Places(table.row_ids, table.columns, None if table.target is None else table.target.name)


def _check(places: Places, answer: FileAnswer, first: dict[Cell, tuple[int, float]]) -> Problem | None:
    """Say what is wrong with a line, if anything; ``first`` has the line and number of each cell so far."""
    line, row, column, value = answer
    if value is None:
        return None
    cell = _cell(places, line, row, column)
    if isinstance(cell, Problem):
        return cell
    try:
        number = places.columns[cell[1]].parse(value)
    except DataError as error:
        return Problem(line, "value", f"row {shorten(row)}, {error}")
    before, known = first.setdefault(cell, (line, number))
    if known == number:
        return None
    words = f"{places.words(cell)} has another value on line {before}. Keep the right one."
    return Problem(line, "value", words)


def _collect(path: AnyFile, problems: list[Problem], problem: Problem) -> None:
    """Note a problem; end here when there are enough of them, for each search for a close name takes time."""
    problems.append(problem)
    if len(problems) == MOST_PROBLEMS:
        raise WrongAnswersError(path, problems)


def _cell(places: Places, line: int, row: str, column: str) -> Cell | Problem:
    for field, text in (("row", row), ("column", column)):
        if not text:
            return Problem(line, field, f"expected the name of a {field}, got a blank. Fill it in.")
    try:
        return places.cell(row, column)
    except DataError as error:
        return Problem(line, "column" if row in places else "row", str(error))


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


def _raise_by_line(
    campaign: CampaignView, path: AnyFile, answers: Sequence[FileAnswer], unsolicited: bool
) -> None:
    """Raise with all lines that the campaign does not take, if it is a line that is at fault."""
    state = campaign._log.state
    problems: list[Problem] = []
    all_conflicts = True
    for line, *triple in answers:
        try:
            told(state, as_answers(state, [triple]), unsolicited=unsolicited, price=None)
        except ConflictError as error:
            problems.append(Problem(line, "value", str(error)))
        except DataError as error:
            problems.append(Problem(line, "row", str(error)))
            all_conflicts = False
        if len(problems) == MOST_PROBLEMS:
            break
    if problems:
        raise (ConflictingAnswersError if all_conflicts else WrongAnswersError)(path, problems) from None
