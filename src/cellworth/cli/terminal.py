"""What commands print: tables and sentences for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, is_dataclass
from datetime import date
from typing import Any

WIDE = 200  # characters; a table that goes to a file or a program is not folded to a screen


def print_json(document: object) -> None:
    """Print a document as JSON, in ASCII, so that any encoding of the output holds it."""
    print(json.dumps(document, default=_plain, allow_nan=False, indent=2))


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; the columns in ``right`` hold numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in header:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        # As Text, for a name may hold brackets, which mean colours to rich.
        table.add_row(*(Text(str(field)) for field in row))
    Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=False).print(table)


def working(words: str) -> AbstractContextManager[Any]:
    """Show on a terminal that something takes a while; nothing where the standard error is none."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(words)


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "cell"), count(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def money(campaign: Any) -> str:
    """Say what was spent, what is reserved, and what is left."""
    left = "" if campaign.left is None else f", {campaign.left:.2f} left of {campaign.budget:.2f}"
    return f"{campaign.spent:.2f} spent, {campaign.reserved:.2f} reserved{left}"


def money_plain(campaign: Any) -> dict[str, float | None]:
    """Return the same as plain data."""
    return {
        "spent": campaign.spent,
        "reserved": campaign.reserved,
        "left": campaign.left,
        "budget": campaign.budget,
    }


def _plain(value: Any) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"cannot print {type(value).__name__} as JSON")
