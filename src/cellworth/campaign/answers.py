"""Check what people report against the newest state, and turn it into the content of an event.

Each function returns that content, or None if there is nothing to record. None of them changes the campaign.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from cellworth.campaign.assessment.status import Totals
from cellworth.campaign.cell_events import (
    Cancelled,
    CellName,
    Contradicted,
    ContradictingCell,
    Corrected,
    Refused,
    Told,
    ToldCell,
)
from cellworth.campaign.cell_index import Cell
from cellworth.campaign.cell_values import HAS_VALUE, CellStatus
from cellworth.campaign.event_codec import Event, check_optional_text, check_text, value_to_json
from cellworth.campaign.questioned_answers import question
from cellworth.campaign.spending import Terms
from cellworth.campaign.state import State
from cellworth.errors import (
    MOST_WRONG_LINES,
    ConflictError,
    ContradictionError,
    DataError,
    OverspentWarning,
    ParameterError,
)
from cellworth.messages import listing, shorten
from cellworth.prices.cell_prices import check_visit
from cellworth.setting_names import setting
from cellworth.shown_numbers import reworded
from cellworth.strategy import Purchase
from cellworth.table.encoded import LARGEST, refuse_huge
from cellworth.table.frames import library_of
from cellworth.table.raw_cells import is_null

Answers = Mapping[tuple[object, str], object] | Iterable[tuple[object, str, object]]
Cells = Iterable[tuple[object, str] | Purchase]
FREE = Terms(0.0)
"""The terms of a cell that was never asked for."""


class Answer(NamedTuple):
    """A value for a cell, as stored in the table."""

    cell: Cell
    number: float


def as_answers(state: State, answers: object) -> list[Answer]:
    """Parse a mapping of (row, column) to value, or triples or a frame of row, column, value; O(answers).

    Raises DataError if a cell does not exist, its column cannot hold the value, or it has two values.
    """
    if library_of(answers) is not None:
        answers = answers_in_frame(answers)
    if isinstance(answers, Mapping):
        answers = [(*_pair(cell), value) for cell, value in answers.items()]
    if isinstance(answers, str) or not isinstance(answers, Iterable):
        raise ParameterError(
            f"answers must be a mapping {{(row, column): value}} or a list of (row, column, value); got "
            f"{shorten(answers)}."
        )
    answers = list(answers)
    state.index.meet(triple[0] for triple in answers if isinstance(triple, tuple | list) and len(triple) == 3)
    numbers: dict[Cell, float] = {}
    for triple in answers:
        if not isinstance(triple, tuple | list) or len(triple) != 3:
            raise ParameterError(f"an answer must be (row, column, value); got {shorten(triple)}.")
        cell = state.index.cell(triple[0], triple[1])
        number = _parse(state, cell, triple[2])
        if numbers.setdefault(cell, number) != number:
            raise DataError(
                f"{state.index.words(cell)}: got two answers at once, "
                f"{_shown(state, cell, numbers[cell])} and {_shown(state, cell, number)}. "
                "Keep only the right one."
            )
    return list(itertools.starmap(Answer, numbers.items()))


def answers_in_frame(frame: Any) -> list[tuple[object, Any, object]]:
    """Return the lines of a frame with the columns row, column and value that have a value."""
    import narwhals as nw

    given = nw.from_native(frame, eager_only=True)
    lacking = [name for name in ("row", "column", "value") if name not in given.columns]
    if lacking:
        raise DataError(
            "a frame of answers must have the columns 'row', 'column' and 'value', a line for each answer; "
            f"got none for {listing(lacking)}."
        )
    lines = zip(*(given[name].to_list() for name in ("row", "column", "value")), strict=True)
    return [(row, column, value) for row, column, value in lines if not is_null(value)]


class Telling:
    """Answers to record; parsed against the newest state, so that rows added by others are known."""

    def __init__(
        self,
        answers: object,
        *,
        unsolicited: bool,
        price: float | None,
        insist: bool = True,
        reason: str | None = None,
    ) -> None:
        self._answers = answers
        self._reason = check_optional_text("the comment", reason)
        self._insist = insist
        self._unsolicited = unsolicited
        self._price = price
        self._read: list[Answer] | None = None

    def __call__(self, state: State, time: datetime) -> Told | None:
        """Return the answers that are new; QuestionedError if any of them is far outside what was seen."""
        found = told(state, self._given(state), unsolicited=self._unsolicited, price=self._price)
        if found is not None and not self._insist:
            new = (answer for answer in self._given(state) if state.status_of(answer.cell) not in HAS_VALUE)
            question(state, new)
        return found if found is None or self._reason is None else replace(found, reason=self._reason)

    def contradictions(self, state: State, time: datetime) -> Contradicted | None:
        """Return the answers that differ from known values and are not in the log yet."""
        found = []
        for cell, number in self._given(state):
            known = state.value_of(cell)
            if state.status_of(cell) in HAS_VALUE and known != number:
                column = state.index.columns[cell[1]]
                values = value_to_json(column, number), value_to_json(column, known)
                found.append(ContradictingCell(*state.index.names(cell), *values))
        new = [each for each in found if (each.row, each.column, each.value) not in state.contradictions]
        return Contradicted(tuple(new)) if new else None

    def request(self, state: State) -> object:
        """Return what distinguishes these answers from others."""
        return [sorted(self._given(state)), self._price]

    def _given(self, state: State) -> list[Answer]:
        if self._read is None:
            self._read = as_answers(state, self._answers)
        return self._read


class Change(NamedTuple):
    """A new value to replace a wrong one."""

    row: object
    column: object
    value: object
    reason: str | None
    insist: bool = True


def as_cells(cells: object) -> list[tuple[object, object]]:
    """Parse pairs of row and column, or purchases."""
    if isinstance(cells, str) or not isinstance(cells, Iterable):
        raise ParameterError(f"cells must be a list of (row, column); got {shorten(cells)}.")
    return [(cell.row, cell.column) if hasattr(cell, "row") else _pair(cell) for cell in cells]


def found_cells(state: State, names: list[tuple[object, object]]) -> list[Cell]:
    """Return the positions of cells, whose rows and values are looked up at once."""
    state.index.meet(row for row, _ in names)
    cells = [state.index.cell(row, column) for row, column in names]
    read_cells(state, cells)
    return cells


def read_cells(state: State, cells: list[Cell]) -> None:
    """Look at once at the cells that were never asked for; of the others, the state knows all."""
    unasked = [cell for cell in cells if cell not in state.last_terms]
    if unasked:
        rows, columns = np.array(unasked, dtype=np.int64).T
        state.cells.at(rows, columns)


def look_at(state: State, names: Iterable[tuple[object, object]]) -> None:
    """Look at once at the cells of these names, as far as there are such cells."""
    pairs = list(names)
    state.index.meet(row for row, _ in pairs)
    cells = []
    for row, column in pairs:
        with suppress(DataError):
            cells.append(state.index.cell(row, column))
    read_cells(state, cells)


def told(state: State, answers: list[Answer], *, unsolicited: bool, price: float | None) -> Told | None:
    """Return the answers that are new; O(answers).

    An answer costs ``price`` if given. Otherwise it costs what it adds to what is owed by the terms of its
    last ask; nothing if it was never asked for.
    """
    each = None if price is None else check_visit(price, what="the price of an answer")
    read_cells(state, [cell for cell, _ in answers])
    new = [answer for answer in answers if _is_new(state, *answer, unsolicited)]
    if not new:
        return None
    terms = [state.terms_of(cell) or FREE for cell, _ in new]
    cells = [cell for cell, _ in new]
    prices = state.money.charges(terms, cells) if each is None else itertools.repeat(each)
    told = (_told(state, answer, price) for answer, price in zip(new, prices, strict=False))
    return Told(tuple(told), stated=each is not None)


def faults(
    state: State, answers: Iterable[tuple[object, str, object]], *, unsolicited: bool
) -> list[tuple[int, str]]:
    """Return the position and fault of each answer that `told` would reject, at most `MOST_WRONG_LINES`."""
    found = []
    answers = list(answers)
    look_at(state, (triple[:2] for triple in answers))
    for place, triple in enumerate(answers):
        try:
            told(state, as_answers(state, [triple]), unsolicited=unsolicited, price=None)
        except (DataError, ConflictError) as error:
            found.append((place, str(error)))
        if len(found) == MOST_WRONG_LINES:
            break
    return found


def warn_if_overspent(event: Event | None, totals: Totals) -> None:
    """Warn if an event's answers cost money and less than nothing is left of the budget."""
    told = event.content.cells if event is not None and isinstance(event.content, Told) else ()
    if totals.budget is None or totals.left is None or totals.left >= 0:
        return
    if any(cell.price > 0 for cell in told):
        over = f"{totals.text(-totals.left)} over the budget of {totals.text(totals.budget)}"
        said = f"the answers were recorded, and the campaign is now {over}."
        warnings.warn(said, OverspentWarning, stacklevel=3)


def refused(state: State, cells: list[tuple[object, object]], reason: str) -> Refused | None:
    """Return the cells to mark as refused, without those already refused."""
    check_text("the reason", reason)
    found = found_cells(state, cells)
    for cell in found:
        _must_be_open(state, cell, "cannot be refused. If the value is wrong, use correct")
    new = [cell for cell in dict.fromkeys(found) if state.status_of(cell) != CellStatus.REFUSED]
    return Refused(_names(state, new), reason) if new else None


def cancelled(state: State, cells: list[tuple[object, object]]) -> Cancelled | None:
    """Return the asked cells to return to the pool, without those already returned."""
    found = found_cells(state, cells)
    for cell in found:
        _must_be_open(state, cell, "cannot be cancelled")
        if state.status_of(cell) == CellStatus.REFUSED:
            raise ConflictError(f"{state.index.words(cell)} was refused, so there is nothing to cancel.")
        if cell not in state.last_terms:
            raise DataError(f"{state.index.words(cell)} was never asked for, so there is nothing to cancel.")
    new = [cell for cell in dict.fromkeys(found) if state.status_of(cell) == CellStatus.ASKED]
    return Cancelled(_names(state, new)) if new else None


def corrected(state: State, change: Change) -> Corrected | None:
    """Return the new value of a known cell with the old one; None if they are the same."""
    row, column, value, reason, insist = change
    check_optional_text("the reason", reason)
    cell = state.index.cell(row, column)
    if state.status_of(cell) not in HAS_VALUE:
        raise DataError(f"{state.index.words(cell)} has no value yet. Use tell to record one.")
    number, old = _parse(state, cell, value), state.value_of(cell)
    if number == old:
        return None
    if not insist:
        question(state, [(cell, number)])
    kind = state.index.columns[cell[1]]
    names = state.index.names(cell)
    return Corrected(*names, value_to_json(kind, old), value_to_json(kind, number), reason)


def _pair(cell: object) -> tuple[object, object]:
    if not isinstance(cell, tuple | list) or len(cell) != 2:
        raise ParameterError(f"a cell must be (row, column), such as ('p1', 'age'); got {shorten(cell)}.")
    return cell[0], cell[1]


def _parse(state: State, cell: Cell, value: object) -> float:
    number = state.index.parse(cell, value)
    if abs(number) > LARGEST:
        row, _ = state.index.names(cell)
        refuse_huge(np.array([[number]]), [row], [state.index.columns[cell[1]]], may_be_hole=False)
    return number


def _is_new(state: State, cell: Cell, number: float, unsolicited: bool) -> bool:
    """Return whether to record an answer; raise if it contradicts a known value or was never asked for."""
    if state.status_of(cell) in HAS_VALUE:
        if state.value_of(cell) == number:
            return False
        came = "from the start" if state.status_of(cell) == CellStatus.KNOWN else "as an answer"
        raise ContradictionError(
            f"{state.index.words(cell)}: got {_shown(state, cell, number)}, but "
            f"{_shown(state, cell, state.value_of(cell))} is known, {came}. Use correct to change it."
        )
    if cell not in state.last_terms and not unsolicited:
        raise DataError(
            f"{state.index.words(cell)} was never asked for. Check the names; to record the value anyway, "
            f"pass {setting('unsolicited', True)}."
        )
    return True


def _told(state: State, answer: Answer, price: float) -> ToldCell:
    value = value_to_json(state.index.columns[answer.cell[1]], answer.number)
    return ToldCell(*state.index.names(answer.cell), value, price)


def _names(state: State, cells: Iterable[Cell]) -> tuple[CellName, ...]:
    return tuple(CellName(*state.index.names(cell)) for cell in cells)


def _must_be_open(state: State, cell: Cell, so: str) -> None:
    if state.status_of(cell) in HAS_VALUE:
        raise ConflictError(
            f"{state.index.words(cell)} has the value {_shown(state, cell, state.value_of(cell))} and {so}."
        )


def _shown(state: State, cell: Cell, number: float) -> str:
    column = state.index.columns[cell[1]]
    if column.kind == "date":  # as the user writes dates
        return shorten(column.shown(number)[0])
    plain = value_to_json(column, number)
    return shorten(plain) if column.kind != "number" else reworded(str(plain))
