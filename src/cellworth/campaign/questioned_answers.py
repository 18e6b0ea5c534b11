"""Question answers that are far outside what was seen in their column, by the rule of `seen_values`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from cellworth.campaign.cell_index import Cell
from cellworth.campaign.state import State
from cellworth.errors import QuestionedError
from cellworth.setting_names import setting
from cellworth.table.seen_values import TRIM, Seen, seen_in


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
    value, low, high = column.shown(number, *seen.ends(column))
    is_count = number < 0 == seen.least and column.kind == "integer"
    also = ", and none was negative" if is_count else ""
    left_out = seen.n // TRIM  # at either end
    ends = "lowest and the highest" if left_out == 1 else f"{left_out} lowest and highest"
    rest = f" without the {ends}" if left_out else ""
    return (
        f"{state.index.words(cell)}: got {value}, but the {seen.n} values known there are from {low} to "
        f"{high}{rest}{also}."
    )
