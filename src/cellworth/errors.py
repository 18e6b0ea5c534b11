"""Every error that cellworth raises on purpose.

A message says what was expected, what came, and what to do, in the user's own terms: the file, the row
id and the column name, never an array index where a name is known.
"""

from collections.abc import Iterable
from typing import NamedTuple

MOST_WRONG_LINES = 20
"""Reading a file stops after this many wrong lines."""

__all__ = ["CellworthError", "ConflictError", "DataError", "MissingDependencyError", "ParameterError"]
# The others are told apart inside the package; users catch them by these.


class CellworthError(Exception):
    """Base class of all errors that cellworth raises on purpose."""


class DataError(CellworthError, ValueError):
    """The user's data cannot be used as it is; the message names the place and the remedy."""


class ParameterError(CellworthError, ValueError):
    """A setting has a value that makes no sense; the message lists those that do."""


class MissingDependencyError(CellworthError, ImportError):
    """An optional package is not installed; the message gives the command that installs it."""


class ConflictError(CellworthError, RuntimeError):
    """Somebody else came first, or an answer contradicts one that is kept; the message says what to do."""


class UnusableCacheError(CellworthError):
    """A campaign's cache cannot be written or read. It is done without: the log has everything."""


class UnknownCampaignError(DataError):
    """The store has no campaign of this name."""


class WrongLine(NamedTuple):
    """What is wrong with one line of a file: its number, counted from 1, the field, and why."""

    line: int
    field: str
    message: str


class WrongLinesError(CellworthError):
    """Some lines of a file cannot be used, so nothing of it was; the message quotes the first of them.

    Attributes
    ----------
    problems : tuple of str
        One message for each wrong line, with file, line and field, in the order of the file; at most
        `MOST_WRONG_LINES`.
    places : tuple of WrongLine
        The same as line, field and message.
    """

    def __init__(self, path: object, problems: Iterable[WrongLine]) -> None:
        self.places = tuple(problems)
        self.problems = tuple(f"{path}, line {p.line}, column {p.field!r}: {p.message}" for p in self.places)
        more = len(self.problems) - 1
        many = f"{more} or more" if more + 1 == MOST_WRONG_LINES else f"{more}"
        super().__init__(self.problems[0] + (f" Further wrong lines: {many}." if more else ""))


class WrongAnswersError(WrongLinesError, DataError):
    """A file of cells or answers has lines that make no sense; nothing of it was recorded."""


class ConflictingAnswersError(WrongLinesError, ConflictError):
    """A file of answers contradicts known values but is right otherwise; nothing was recorded."""


class DownloadError(DataError):
    """A file could not be downloaded; ``reachable`` tells whether its server answered at all."""

    def __init__(self, message: str, *, reachable: bool = True) -> None:
        super().__init__(message)
        self.reachable = reachable


class AccessError(CellworthError):
    """The server does not know the token, or its role does not allow this."""


class ServerError(CellworthError):
    """The server cannot be reached or could not do it; the message says whether to try again."""


class ComputationError(CellworthError, RuntimeError):
    """A computation ended before its result was there; it may be tried again."""
