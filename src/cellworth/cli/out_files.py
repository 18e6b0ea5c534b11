"""Files that commands write: none is overwritten unless the user says so, and typed answers are kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli.output import count
from cellworth.errors import CellworthError, DataError

Force = Annotated[bool, typer.Option("--force", help="Replace the file to write if it exists.")]


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
        return sum(bool(value) for _, (_, _, value) in read_lines(path, ("row", "column", "value")))
    except CellworthError:
        return 0


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.bak{number or ''}") for number in range(1000))
    return next((name for name in names if not name.exists()), path.with_name(f"{path.name}.bak"))
