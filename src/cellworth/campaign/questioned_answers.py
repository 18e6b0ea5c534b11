"""Question answers that are far outside what was seen in their column: most of them are slips of a pen.

The rule, for numbers, whole numbers and dates of which at least `LEAST` values are known: sort the n known
values and leave out the n // `TRIM` smallest and largest. Question a value that is beyond this range by more
than m times its width, m = max(2, 400 / n, 40000 / n^3): few values say little about a range. A range of no
width counts as wide as its value, and at least 1; the range of a date, at least a year. A side that the user
has bounded is not questioned. In a column of whole numbers, at least `LEAST_COUNTS` of them known and none
negative, a negative number is questioned, too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.campaign.cell_index import Cell
from cellworth.campaign.state import State
from cellworth.errors import QuestionedError
from cellworth.setting_names import setting
from cellworth.table import Column

LEAST = 3
LEAST_COUNTS = 20
TRIM = 200
_YEAR = 366.0  # days


class Seen(NamedTuple):
    """What was seen in a column, and the limits beyond which a value is questioned."""

    n: int
    lowest: float
    highest: float
    least: float
    most: float


def seen_in(column: Column, known: Float64Array) -> Seen | None:
    """Return what the known values (n,) of a column say; None if too little. O(n)."""
    n = len(known)
    if column.kind not in ("number", "integer", "date") or n < LEAST:
        return None
    cut = n // TRIM
    ordered = np.partition(known, (cut, n - 1 - cut))
    lowest, highest = float(ordered[cut]), float(ordered[n - 1 - cut])
    width = highest - lowest
    if column.kind == "date":
        width = max(width, _YEAR)
    elif width == 0:
        width = max(abs(highest), 1.0)
    reach = max(2.0, 400 / n, 40_000 / n**3) * width
    least, most = lowest - reach, highest + reach
    if column.kind == "integer" and n >= LEAST_COUNTS and known.min() >= 0:
        least = max(least, 0.0)
    low, high = column.bounds
    return Seen(
        n,
        lowest,
        highest,
        -math.inf if math.isfinite(low) else least,
        math.inf if math.isfinite(high) else most,
    )


def questioned(state: State, answers: Iterable[tuple[Cell, float]]) -> dict[Cell, str]:
    """Return why each of these answers is questioned, if it is; O(answers + n for each of their columns)."""
    by_column: dict[int, list[tuple[Cell, float]]] = defaultdict(list)
    for cell, number in answers:
        by_column[cell[1]].append((cell, number))
    found = {}
    for j, some in by_column.items():
        seen = seen_in(state.index.columns[j], state.cells.known_in(j))
        if seen is None:
            continue
        for cell, number in some:
            if not seen.least <= number <= seen.most:
                found[cell] = _words(state, cell, number, seen)
    return found


def question(state: State, answers: Iterable[tuple[Cell, float]]) -> None:
    """Raise QuestionedError, which names every answer that is questioned; return if none is."""
    found = questioned(state, answers)
    if found:
        raise QuestionedError({state.index.names(cell): words for cell, words in found.items()}, insist())


def insist() -> str:
    """Say how to insist."""
    return f"If it is right, insist: {setting('insist', True)}."


def _words(state: State, cell: Cell, number: float, seen: Seen) -> str:
    column = state.index.columns[cell[1]]
    value, low, high = column.texts(np.array([number, seen.lowest, seen.highest]))
    is_count = number < 0 == seen.least and column.kind == "integer"
    also = ", and none was negative" if is_count else ""
    rest = f" but for the {seen.n // TRIM} lowest and highest" if seen.n >= TRIM else ""
    return (
        f"{state.index.words(cell)}: got {value}, but the {seen.n} values known there are from {low} to "
        f"{high}{rest}{also}."
    )
