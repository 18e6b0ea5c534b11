"""Errors that cellworth raises on purpose.

A message says what was expected, what was found and how to fix it, in the user's terms: the file, the row id
and the column name, never an array index where a name is known.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

MOST_WRONG_LINES = 20
"""Stop reading a file after this many wrong lines."""

__all__ = ["CellworthError", "ConflictError", "DataError"]
# The other classes are for use inside the package: users catch them through these, ValueError or ImportError.


class CellworthError(Exception):
    """Base class of all errors that cellworth raises on purpose."""


class DataError(CellworthError, ValueError):
    """The data cannot be used as is; the message says where the problem is and how to fix it."""


class ParameterError(CellworthError, ValueError):
    """A parameter has an invalid value; the message says which values are valid."""


class MissingDependencyError(CellworthError, ImportError):
    """An optional package is not installed; the message gives the command to install it."""


class ConflictError(CellworthError, RuntimeError):
    """Someone else got there first, or an answer contradicts a recorded one; the message says what to do."""


class ContradictionError(ConflictError):
    """An answer differs from the value that is known; it is in the log, and changes nothing."""


class UnusableCacheError(CellworthError):
    """A campaign's cache cannot be written or read. Work continues without it: the log has everything."""


class UnknownCampaignError(DataError):
    """The store has no campaign with this name."""


class OverspentWarning(UserWarning):
    """An answer cost more than was left of the budget; it was recorded, since it was paid for."""


class ReadWarning(UserWarning):
    """A file could be read only by a guess; the message says which, and how to overrule it."""


class MissingMarkWarning(ReadWarning):
    """A text in a table may mark a hole but is read as a category; the message names it and what to do."""


class SampleWarning(UserWarning):
    """Something was worked out from a sample of the rows of a table; the message says from which."""


class QuestionedError(DataError):
    """Answers are far outside what was seen in their columns; nothing was recorded.

    Attributes
    ----------
    cells : dict of (row, column) to str
        Why each of them is questioned.
    remedy : str
        How to insist.
    """

    def __init__(self, cells: Mapping[tuple[str, str], str], remedy: str) -> None:
        self.cells, self.remedy = dict(cells), remedy
        super().__init__(f"{' '.join([*self.cells.values()][:MOST_WRONG_LINES])} {remedy}")


class WrongLine(NamedTuple):
    """A problem on one line of a file: the line number, counted from 1, the field and the reason."""

    line: int
    field: str
    message: str


class WrongLinesError(CellworthError):
    """Some lines of a file are invalid, so none of it was used; the message describes the first of them.

    Attributes
    ----------
    problems : tuple of str
        One message per wrong line, with file, line and field, in file order; at most `MOST_WRONG_LINES`.
    places : tuple of WrongLine
        The same problems as (line, field, message).
    """

    def __init__(self, path: object, problems: Iterable[WrongLine]) -> None:
        self.places = tuple(problems)
        self.problems = tuple(f"{path}, line {p.line}, column {p.field!r}: {p.message}" for p in self.places)
        more = len(self.problems) - 1
        many = f"{more} or more" if more + 1 == MOST_WRONG_LINES else f"{more}"
        super().__init__(self.problems[0] + (f" Further wrong lines: {many}." if more else ""))


class WrongAnswersError(WrongLinesError, DataError):
    """A file of cells or answers has invalid lines; nothing in it was recorded."""


class QuestionedAnswersError(WrongAnswersError):
    """Answers in a file are far outside what was seen in their columns; nothing was recorded."""


class ConflictingAnswersError(WrongLinesError, ConflictError):
    """A file of answers is valid but contradicts known values; nothing was recorded."""


class DownloadError(DataError):
    """A file could not be downloaded; ``reachable`` says whether its server responded at all."""

    def __init__(self, message: str, *, reachable: bool = True) -> None:
        super().__init__(message)
        self.reachable = reachable


class AccessError(CellworthError):
    """The server does not recognise the token, or the token's role does not allow this."""


class ServerError(CellworthError):
    """The server cannot be reached or the request failed; the message says whether to retry."""


class ComputationError(CellworthError, RuntimeError):
    """A computation stopped before it produced a result; it can be retried."""
