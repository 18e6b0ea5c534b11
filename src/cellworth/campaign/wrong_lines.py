"""What is wrong with a file of cells or answers, line by line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cellworth.errors import CellworthError, ConflictError, DataError
from cellworth.table.files import AnyFile

MOST_PROBLEMS = 20
"""After so many wrong lines no further ones are looked for."""


class Problem(NamedTuple):
    """What is wrong with one line of a file: the line, counted from 1, the field of the file, and why."""

    line: int
    field: str
    message: str


class WrongLinesError(CellworthError):
    """Lines of a file cannot be used, and so nothing of it was; the message has the first of them.

    Attributes
    ----------
    problems : tuple of str
        One sentence or two for each wrong line, with file, line and column, in the order of the file; of
        `MOST_PROBLEMS` lines at most.
    places : tuple of Problem
        The same as line, field and message.
    """

    def __init__(self, path: AnyFile, problems: Iterable[Problem]) -> None:
        self.places = tuple(problems)
        self.problems = tuple(f"{path}, line {p.line}, column {p.field!r}: {p.message}" for p in self.places)
        more = len(self.problems) - 1
        many = f"{more} or more" if more + 1 == MOST_PROBLEMS else f"{more}"
        super().__init__(self.problems[0] + (f" Further wrong lines: {many}." if more else ""))


class WrongAnswersError(WrongLinesError, DataError):
    """A file of cells or answers has lines that make no sense; nothing of it was recorded."""


class ConflictingAnswersError(WrongLinesError, ConflictError):
    """A file of answers contradicts values that are known, and is right otherwise; nothing was recorded."""
