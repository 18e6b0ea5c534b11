"""Answers from a file, read and recorded column by column: a million of them in seconds.

What fits is handled here, with arrays. As soon as anything does not, the same file is read line by line (see
`cellworth.campaign.answer_file`), which finds the same answers and can name each wrong line.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.campaign.answer_file import FileResult
from cellworth.campaign.answers import FREE
from cellworth.campaign.cell_events import Told, ToldCell
from cellworth.campaign.cell_index import CellIndex
from cellworth.campaign.cell_values import HAS_VALUE, CellStatus
from cellworth.campaign.event_codec import Value, value_to_json
from cellworth.campaign.log import Log
from cellworth.campaign.state import State
from cellworth.errors import DataError
from cellworth.table import Column
from cellworth.table.column import NUMERIC
from cellworth.table.encoded import LARGEST
from cellworth.table.files import AnyFile, File, check_csv_name, check_readable, file_of
from cellworth.table.parse_values import parse_numbers
from cellworth.table.raw_cells import as_texts
from cellworth.table.read_csv import read_csv
from cellworth.table.read_options import PLAIN, ReadOptions
from cellworth.table.seen_values import seen_in
from cellworth.table.write_csv import unguard

_FIELDS = ["row", "column", "value"]


@dataclass(frozen=True, eq=False)
class BulkAnswers:
    """Answers as arrays, in the order of their lines; each cell once.

    Attributes
    ----------
    rows, columns : (k,) arrays of int
        The positions of the cells.
    numbers : (k,) array
        The values, as stored in the table.
    blank : int
        Lines without a value.
    """

    rows: IntArray
    columns: IntArray
    numbers: Float64Array
    blank: int


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep Python from looking for garbage while a block makes millions of objects that are in use.

    It would look through all of them again and again, and take a quarter of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class BulkTelling:
    """Answers of a file, to be recorded all at once; O(answers), about 12 us each.

    Attributes
    ----------
    fits : bool
        False if the file has to be looked at line by line, since a line contradicts a known value, is
        questioned, or is about a cell never asked for. Nothing is recorded then.
    """

    def __init__(self, answers: BulkAnswers, *, unsolicited: bool, insist: bool) -> None:
        self._answers = answers
        self._unsolicited = unsolicited
        self._insist = insist
        self.fits = True

    def __call__(self, state: State, time: datetime) -> Told | None:
        """Return the answers that are new; None if there are none, or the answers do not fit."""
        new = _new(state, self._answers, self._unsolicited)
        self.fits = new is not None and (self._insist or _is_plausible(state, self._answers, new))
        if new is None or not self.fits or not new.any():
            return None
        return _told(state, self._answers, new)

    def request(self, state: State) -> object:
        """Return what distinguishes these answers from others; the same as for the same answers in a list."""
        cells = zip(self._answers.rows.tolist(), self._answers.columns.tolist(), strict=True)
        return [sorted(zip(cells, self._answers.numbers.tolist(), strict=True)), None]

    def result(self, new: int) -> FileResult:
        """Summarize what happened, given how many answers were new."""
        return FileResult(new, len(self._answers.rows) - new, self._answers.blank)


def bulk_telling(
    path: AnyFile, log: Log, encoding: str | None, how: ReadOptions, *, unsolicited: bool, insist: bool
) -> BulkTelling | None:
    """Return the answers of a file, ready to be recorded; None if they have to be read line by line."""
    answers = read_bulk(file_of(path), log.newest().index, encoding, how)
    return None if answers is None else BulkTelling(answers, unsolicited=unsolicited, insist=insist)


def read_bulk(
    file: File, index: CellIndex, encoding: str | None, how: ReadOptions = PLAIN
) -> BulkAnswers | None:
    """Read a file of answers; None if anything in it does not fit, or only fits once it is looked at closely.

    So do marks of missing values, as the campaign's table has them.

    O(n + lines); the file is held in memory, with about 300 bytes a line.
    """
    try:
        check_csv_name(file, "")
        check_readable(file)
        found, _ = read_csv(file, encoding, None, as_is=("row", "column"), any_separator=True)
    except DataError:
        return None
    named = [column.name.casefold() for column in found]
    if any(named.count(field) != 1 for field in _FIELDS):
        return None
    row_ids, names, values = (as_texts(found[named.index(field)].cells).texts for field in _FIELDS)
    del found
    if how.missing and any(map(how.marks_hole, names, values)):
        return None
    there = np.fromiter(map(bool, values), dtype=np.bool_, count=len(values))
    blank = sum(1 for k in np.flatnonzero(~there).tolist() if row_ids[k] or names[k])
    rows = index.places(map(unguard, row_ids))
    columns = index.column_places(map(unguard, names))
    del row_ids, names
    if min(rows[there].min(initial=0), columns[there].min(initial=0)) < 0:
        return None
    rows, columns = rows[there], columns[there]
    texts = [unguard(text) for text in values if text]
    del values
    numbers = np.empty(len(texts))
    for j in _distinct(columns):
        places = np.flatnonzero(columns == j)
        parsed = _parsed(index.columns[j], [texts[k] for k in places.tolist()])
        if parsed is None:
            return None
        numbers[places] = parsed
    return _once(BulkAnswers(rows, columns, numbers, blank), len(index.columns))


def _parsed(column: Column, texts: list[str]) -> Float64Array | None:
    """Return what `Column.parse` makes of texts; None if it does not take all of them."""
    if column.kind in NUMERIC:
        numbers = parse_numbers(texts)
        if numbers is None or not np.isfinite(numbers).all() or np.abs(numbers).max() > LARGEST:
            return None
        if column.invalid(numbers).any():
            return None
        return numbers + 0.0 if column.kind == "integer" else numbers
    try:
        known = {text: column.parse(text) for text in set(texts)}
    except DataError:
        return None
    return np.array([known[text] for text in texts])


def _once(answers: BulkAnswers, p: int) -> BulkAnswers | None:
    """Keep the first line of each cell; None if another line has another value."""
    cells = answers.rows * p + answers.columns
    ordered = np.sort(cells)
    if (ordered[1:] != ordered[:-1]).all():
        return answers
    _, first, of = np.unique(cells, return_index=True, return_inverse=True)
    if (answers.numbers != answers.numbers[first][of]).any():
        return None
    first.sort()
    return BulkAnswers(answers.rows[first], answers.columns[first], answers.numbers[first], answers.blank)


def _new(state: State, answers: BulkAnswers, unsolicited: bool) -> BoolArray | None:
    """Mark the answers to record; None if one contradicts a known value or was never asked for."""
    cells = answers.rows, answers.columns
    status, values = state.cells.at(*cells)
    known = np.isin(status, HAS_VALUE)
    if (values[known] != answers.numbers[known]).any():
        return None
    if not unsolicited:
        unsure = np.flatnonzero(~known & (status != CellStatus.ASKED))
        pairs = zip(answers.rows[unsure].tolist(), answers.columns[unsure].tolist(), strict=True)
        if not all(cell in state.last_terms for cell in pairs):
            return None
    return ~known


def _is_plausible(state: State, answers: BulkAnswers, new: BoolArray) -> bool:
    """Return whether no new answer is questioned; O(answers + n for each of their columns)."""
    columns, numbers = answers.columns[new], answers.numbers[new]
    for j in _distinct(columns):
        seen = seen_in(state.index.columns[j], state.cells.known_in(j))
        here = numbers[columns == j]
        if seen is not None and ((here < seen.least) | (here > seen.most)).any():
            return False
    return True


def _told(state: State, answers: BulkAnswers, new: BoolArray) -> Told:
    rows, columns = answers.rows[new].tolist(), answers.columns[new].tolist()
    cells = list(zip(rows, columns, strict=True))
    asks = zip(map(state.open.asked.get, cells), cells, strict=True)
    owed = [(state.last_terms.get(cell) or FREE) if ask is None else ask.terms for ask, cell in asks]
    names = [column.name for column in state.index.columns]
    named = zip(
        map(state.index.rows.name, rows),
        map(names.__getitem__, columns),
        _written(state, answers, new),
        state.money.charges(owed, cells),
        strict=True,
    )
    return Told(tuple(map(ToldCell._make, named)), stated=False)


def _written(state: State, answers: BulkAnswers, new: BoolArray) -> list[Value]:
    """Return the new values as the user writes them."""
    columns, numbers = answers.columns[new], answers.numbers[new]
    values: list[Value] = numbers.tolist()
    for j in _distinct(columns):
        column = state.index.columns[j]
        if column.kind == "number":
            continue
        places = np.flatnonzero(columns == j)
        known = {number: value_to_json(column, number) for number in np.unique(numbers[places]).tolist()}
        for k in places.tolist():
            values[k] = known[values[k]]
    return values


def _distinct(columns: IntArray) -> list[int]:
    """Return which positions of columns there are; O(answers + p)."""
    found: list[int] = np.flatnonzero(np.bincount(columns)).tolist()
    return found
