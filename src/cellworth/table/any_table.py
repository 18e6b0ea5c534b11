"""Tables from whatever the user has: a Table, a frame, a file or an array; and results as frames again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import spoken
from cellworth.table.files import FileBytes
from cellworth.table.frames import library_of
from cellworth.table.table import Table

_KEYWORD = re.compile(r"\b(?:row_id|missing|kinds|categories|bounds|delimiter|decimal|date_format|encoding)=")

AnyTable = Any
"""A `Table`, a pandas or polars DataFrame, a pyarrow Table, the path of a file, or an array (n, p)."""


def as_table(given: AnyTable, *, target: str | None = None) -> Table:
    """Convert what the user gave to a table; O(n p) unless it already is a `Table`.

    Parameters
    ----------
    given : Table, DataFrame, pyarrow Table, path or array-like of shape (n, p)
        A frame is read as by `Table.from_frame`, a path as by `Table.read`.
    target : str, optional
        The column to predict. A `Table` has one, or none, already.

    Raises
    ------
    ParameterError
        If there is no table in it, or a `Table` has another target.
    """
    if isinstance(given, Table):
        own = None if given.target is None else given.target.name
        if target is not None and target != own:
            has = "no target" if own is None else f"the target {shorten(own)}"
            raise ParameterError(
                f"target={target!r}: this Table has {has}. Name the target when you make the Table, as in "
                f"Table.read(path, target={target!r})."
            )
        return given
    if hasattr(given, "cell_blocks"):
        raise ParameterError(
            "this runs on tables in memory, and a BlockTable may be larger; give it some rows, as in "
            "table.every(100), or read the whole table with Table.read."
        )
    if library_of(given) is not None:
        return _made(Table.from_frame, given, target, "Table.from_frame(frame, ...)")
    if isinstance(given, str | os.PathLike | FileBytes):
        return _made(Table.read, given, target, "Table.read(path, ...)")
    if isinstance(given, np.ndarray) and given.ndim == 2:
        if target is not None:
            raise ParameterError(
                "an array has no column names, so target= cannot name one. Use Table.from_arrays(X, y)."
            )
        return Table.from_arrays(given)
    hint = " Call its collect() first." if hasattr(given, "collect") else ""
    raise ParameterError(
        "expected a Table, a pandas or polars DataFrame, a pyarrow Table, the path of a file or a 2-D array; "
        f"got {type(given).__name__}.{hint} See Table.read, Table.from_frame and Table.from_arrays."
    )


def _made(make: Callable[..., Table], given: Any, target: str | None, call: str) -> Table:
    """Make a table; an error that advises keywords says what takes them, since the caller does not."""
    try:
        return make(given, target=target)
    except DataError as error:
        if spoken() != "python" or not _KEYWORD.search(str(error)):
            raise
        raise DataError(f"{error} Make a Table with that, and give it instead: {call}.") from None
