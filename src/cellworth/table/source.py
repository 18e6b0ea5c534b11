"""Where cells come from, in the user's terms: the file or frame, the row id and line, the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellworth.errors import DataError
from cellworth.wording import shorten

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Source:
    """The file, frame or arrays that a table is read from, with a name for each of its rows.

    `name` opens every message; `row_ids` are the user's (n,), `lines` the lines of the file on which the
    rows begin, counted from 1, or None where there is no file of lines.
    """

    name: str
    row_ids: Sequence[str] = ()
    lines: Sequence[int] | None = None

    def row(self, index: int) -> str:
        """Name one row, as in "row 'p17' (line 18)"."""
        line = "" if self.lines is None else f" (line {self.lines[index]})"
        return f"row {shorten(self.row_ids[index])}{line}"

    def column(self, name: str) -> str:
        """Name one column, as in "patients.csv, column 'age'"."""
        return f"{self.name}, column {shorten(name)}"

    def cell_error(
        self, column: str, problem: str, rows: Rows, values: Sequence[object], remedy: str
    ) -> DataError:
        """Build the error for cells of one column: the first three offenders, the count, the remedy."""
        shown = [
            f"{shorten(value)} in {self.row(row)}" for row, value in zip(rows[:3], values[:3], strict=True)
        ]
        rest = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
        return DataError(f"{self.column(column)}: {problem}, got {', '.join(shown)}{rest}. {remedy}")
