"""How people read numbers: one rule for the decimal mark, in every sentence, table and message.

Numbers are shown as in English, 1,234.5, unless a door says otherwise with `people_write`: the command line
shows those of a file or campaign with decimal commas as its people write them, 1.234,5. What is stored or
meant for programs stays in English; `in_english` says where.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_MARK: ContextVar[str] = ContextVar("mark", default=".")
_IN_ENGLISH: ContextVar[bool] = ContextVar("in_english", default=False)
_SWAPPED = str.maketrans(",.", ".,")


@contextmanager
def people_write(mark: str) -> Iterator[None]:
    """Show numbers with this decimal mark, a point or a comma, in this thread and context.

    >>> with people_write(","):
    ...     shown(1234.5, ",.2f")
    '1.234,50'
    """
    token = _MARK.set(mark)
    try:
        yield
    finally:
        _MARK.reset(token)


def write_from_here(mark: str) -> None:
    """Show numbers with this decimal mark up to the end of the `people_write` around it.

    >>> with people_write("."):
    ...     write_from_here(",")
    ...     shown(0.5, "g")
    '0,5'
    """
    _MARK.set(mark)


@contextmanager
def in_english() -> Iterator[None]:
    """Show numbers as in English, whatever `people_write` says inside: for what is stored, and for programs.

    >>> with in_english(), people_write(","):
    ...     shown(0.5, ".3f")
    '0.500'
    """
    token = _IN_ENGLISH.set(True)
    try:
        yield
    finally:
        _IN_ENGLISH.reset(token)


def shown(number: float, form: str) -> str:
    """Return a number in the form of a format specification, as people here write it.

    >>> shown(1590, ","), shown(0.25, ".0%")
    ('1,590', '25%')
    """
    return reworded(format(number, form))


def reworded(text: str) -> str:
    """Return a number that is written in English as people here write it.

    >>> with people_write(","):
    ...     reworded("-1,234.5"), reworded("1e-07")
    ('-1.234,5', '1e-07')
    """
    return text.translate(_SWAPPED) if _MARK.get() == "," and not _IN_ENGLISH.get() else text
