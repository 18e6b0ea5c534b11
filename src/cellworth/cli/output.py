"""Output of commands: tables and sentences for people, JSON for programs, and files, none overwritten."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli.build_command import Option
from cellworth.errors import CellworthError, DataError, OverspentWarning
from cellworth.messages import count as count
from cellworth.messages import short_number

if TYPE_CHECKING:
    from cellworth.strategy import Batch, Purchase

WIDE = 200  # characters; a table written to a file or a program is not wrapped to the screen


def print_json(document: object) -> None:
    """Print a document as ASCII JSON, which any output encoding can represent."""
    print(json.dumps(document, default=_to_json, allow_nan=False, indent=2))


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; the columns in ``right`` are right-aligned.

    A line that is too long for the screen is folded, by rich. Most tables do without, and without its import.
    """
    on_screen = sys.stdout.isatty()
    texts = [[str(field) for field in row] for row in rows]
    lines = plain_lines([list(header), *texts], {header.index(name) for name in right})
    if not on_screen and lines is not None and len(max(lines, key=len)) <= WIDE:
        print("\n".join(lines))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in header:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in texts:
        # As Text, since a name may contain brackets, which rich reads as markup.
        table.add_row(*map(Text, row))
    Console(width=None if on_screen else WIDE, highlight=False, soft_wrap=False).print(table)


def plain_lines(rows: Sequence[Sequence[str]], right: Set[int] = frozenset()) -> list[str] | None:
    """Return rows of fields as aligned lines; None if a character may be wider than one place.

    >>> plain_lines([["row", "price"], ["P1", "2.50"]], {1})
    ['row  price', 'P1    2.50']
    """
    if not all(field.isascii() and field.isprintable() for row in rows for field in row):
        return None
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            field.rjust(width) if place in right else field.ljust(width)
            for place, (field, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def nothing_to_buy(batch: Batch) -> str:
    """Say that a batch is empty, and why, if that is known."""
    return f"There is nothing to buy{' for this money.' if batch.note is None else f'. {batch.note}'}"


def print_batch(batch: Sequence[Purchase]) -> None:
    """Print cells to buy as a table; without leases, or who has taken them, if that is so of none."""
    from cellworth.prices.currency import money_text
    from cellworth.strategy.batch import shown_reason

    leased = any(each.until is not None for each in batch)
    taken = any(each.holder is not None for each in batch)
    header = [
        *("row", "column", "group", "price", "worth", "why"),
        *(["until"] if leased else []),
        *(["taken by"] if taken else []),
    ]
    rows = [
        (
            each.row,
            each.column,
            each.group or "",
            money_text(each.price),
            short_number(each.worth, 3),
            shown_reason(each.why or ""),
            *([f"{each.until:%Y-%m-%d %H:%M} UTC" if each.until else ""] if leased else []),
            *([each.holder or ""] if taken else []),
        )
        for each in batch
    ]
    print_table(header, rows, right=("price", "worth"))


@contextmanager
def working(words: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress while work runs, if standard error is a terminal.

    Yields a function to call with the number of steps done and the total. Until it is called, only the
    elapsed time is shown; then a bar and the time left.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = SpinnerColumn(), "{task.description}", BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(words, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def told_warnings() -> Iterator[list[str]]:
    """Print warnings about money as lines on standard error; the list then has them, too."""
    from cellworth.forecasting import StopWarning

    with warnings.catch_warnings(record=True) as caught:
        for kind in (StopWarning, OverspentWarning):
            warnings.simplefilter("always", kind)
        told: list[str] = []
        yield told
    for each in caught:
        if issubclass(each.category, StopWarning | OverspentWarning):
            told.append(str(each.message))
            print(each.message, file=sys.stderr)
        else:
            warnings.showwarning(each.message, each.category, each.filename, each.lineno)


def money(campaign: Any) -> str:
    """Describe the money spent, reserved and left."""
    totals = campaign.totals()
    left = "" if totals.left is None else f", {totals.text(totals.left)} left of {totals.text(totals.budget)}"
    return f"{totals.text(totals.spent)} spent, {totals.text(totals.reserved)} reserved{left}"


def money_json(campaign: Any) -> dict[str, float | None]:
    """Return the money spent, reserved and left, and the budget, as plain data."""
    return {
        "spent": campaign.spent,
        "reserved": campaign.reserved,
        "left": campaign.left,
        "budget": campaign.budget,
    }


def _to_json(value: Any) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"cannot print {type(value).__name__} as JSON")


Force = Annotated[bool, Option("--force", help="Replace the file to write if it exists.")]


def make_way(path: Path | None, *, force: bool, option: str = "--out") -> None:
    """Check that a command may write to a path, before it records or reserves anything.

    Raises DataError if there is a file and ``force`` is False. With ``force``, a list of cells in which
    somebody has filled in values is first copied to a file of the same name plus ``.bak``. A folder is left
    to the writer's own check.
    """
    if path is None or not os.path.lexists(path) or path.is_dir():
        return
    typed = _typed(path)
    if not force:
        held = f" and has {count(typed, 'value')} filled in" if typed else ""
        remedy = f"Record them first with: cellworth tell {path}. Or give" if typed else "Give"
        raise DataError(
            f"{path} already exists{held}. {remedy} another {option}, or replace it with --force."
        )
    if typed:
        shutil.copy2(path, _free_name(path))


def _typed(path: Path) -> int:
    """Return how many values are filled in, if the file is a list of cells; 0 otherwise."""
    from cellworth.table.read_csv import read_lines

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how it is encoded matters only to those who read it
            return sum(bool(value) for _, (_, _, value) in read_lines(path, ("row", "column", "value")))
    except CellworthError:
        return 0


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.bak{number or ''}") for number in range(1000))
    return next((name for name in names if not name.exists()), path.with_name(f"{path.name}.bak"))
