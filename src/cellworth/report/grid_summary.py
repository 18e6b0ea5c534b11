"""What we guess for missing cells, as short texts beside fields and in the grid of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cellworth.campaign import Campaign
from cellworth.report.cell_summaries import guess_of
from cellworth.report.summaries import SummaryInputs, inputs_of


class Guess(NamedTuple):
    """The estimate of a missing cell and the ends of its interval, as texts; "" if it has none."""

    estimate: str
    low: str = ""
    high: str = ""


def guesses_summary(campaign: Campaign, cells: Sequence[tuple[str, str]]) -> list[Guess | None]:
    """Return a guess for each of these cells; None for one that has a value.

    Costs one completion, cached until the table changes, then O(n p + cells).
    """
    inputs = inputs_of(campaign)
    rows = {row: place for place, row in enumerate(inputs.table.row_ids)} if cells else {}
    columns = {name: place for place, name in enumerate(inputs.table.column_names)}
    return [_guess(inputs, rows[row], columns[column]) for row, column in cells]


def row_guesses(campaign: Campaign, places: Sequence[int]) -> list[list[Guess | None]]:
    """Return the guesses of whole rows, by their places: one for each column, as in `guesses_summary`."""
    inputs = inputs_of(campaign)
    p = len(inputs.table.columns)
    return [[_guess(inputs, place, j) for j in range(p)] for place in places]


def _guess(inputs: SummaryInputs, i: int, j: int) -> Guess | None:
    if not inputs.table.holes[i, j]:
        return None
    found = guess_of(inputs, i, j)
    if "low" in found and "high" in found and found["low"] != found["high"]:
        return Guess(found["estimate"], found["low"], found["high"])
    return Guess(found["estimate"])
