"""What was seen in a column, and which values are far outside it: most of those are slips of a pen.

The rule, for numbers, whole numbers and dates of which at least `LEAST` values are known: sort the n known
values and leave out the n // `TRIM` smallest and largest. Question a value that is beyond this range by more
than m times its width, m = max(2, 400 / n, 40000 / n^3): few values say little about a range. A range of no
width counts as wide as its value, and at least 1; the range of a date, at least a year. A side that the user
has bounded is not questioned. In a column of whole numbers, at least `LEAST_COUNTS` of them known and none
negative, a negative number is questioned, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.table.column import MEASURED, Column
from cellworth.table.table import Table

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

    def ends(self, column: Column) -> tuple[float, float]:
        """Return the lowest and the highest value as sentences show them: numbers with six digits."""
        if column.kind != "number":
            return self.lowest, self.highest
        return float(f"{self.lowest:.6g}"), float(f"{self.highest:.6g}")


def seen_in(column: Column, known: Float64Array) -> Seen | None:
    """Return what the known values (n,) of a column say; None if too little. O(n)."""
    n = len(known)
    if column.kind not in MEASURED or n < LEAST:
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


def seen_by_column(table: Table) -> list[Seen | None]:
    """Return what the known values of each column of a table say."""
    known = (table.values[~holes, place] for place, holes in enumerate(table.holes.T))
    return [seen_in(column, values) for column, values in zip(table.columns, known, strict=True)]
