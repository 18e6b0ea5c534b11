"""Every error that cellworth raises on purpose.

A message says what was expected, what came, and what to do, in the user's own terms: the file, the row
id and the column name, never an array index where a name is known.
"""


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
