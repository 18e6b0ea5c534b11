"""How each candidate of an `AutoCompleter` did, for its user."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

CandidateStatus = Literal["chosen", "tried", "not reached", "failed"]


@dataclass(frozen=True)
class CandidateResult:
    """How one candidate did.

    Attributes
    ----------
    name : str
    status : {"chosen", "tried", "not reached", "failed"}
    error : float
        Mean over the holds of the squared error on hidden cells, in units of the columns' variances: 0
        is perfect, 1 is about what column means give. NaN if unknown.
    spread : float
        Standard deviation of the error over the holds; NaN with fewer than two.
    n_holds : int
        Number of holds behind `error`. Candidates that were only screened have one, on fewer rows if the
        table is large.
    seconds : float
        Time spent on fits, including the one to the whole table.
    reason : str
        Why it failed; empty if it did not.
    """

    name: str
    status: CandidateStatus
    error: float
    spread: float
    n_holds: int
    seconds: float
    reason: str = ""


def text_table(results: Sequence[CandidateResult]) -> str:
    """Return a text table of the results: the chosen one first, then those with more holds, by error."""
    order = sorted(results, key=lambda r: (r.status != "chosen", -r.n_holds, r.error))
    header = ("candidate", "error", "spread", "holds", "seconds", "status")
    rows = [header, *(_cells(result) for result in order)]
    widths = [max(len(row[j]) for row in rows) for j in range(len(header))]
    lines = ["  ".join(_align(row, widths)).rstrip() for row in rows]
    note = (
        "error: mean squared, in units of the columns' variances; 1 is about what column means give.\n"
        "Compare candidates with the same number of holds: they were judged on the same cells."
    )
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:], note])


def _cells(result: CandidateResult) -> tuple[str, ...]:
    status = f"{result.status}: {result.reason}" if result.reason else result.status
    numbers = ("-" if math.isnan(x) else f"{x:.4f}" for x in (result.error, result.spread))
    return (result.name, *numbers, str(result.n_holds), f"{result.seconds:.2f}", status)


def _align(row: tuple[str, ...], widths: list[int]) -> list[str]:
    """Return the cells padded, with words left-aligned and numbers right-aligned."""
    last = len(row) - 1
    return [
        c.ljust(w) if j in (0, last) else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))
    ]
