"""Records as a tidy frame of the user's library, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import narwhals as nw

from cellworth.errors import ParameterError
from cellworth.optional import require
from cellworth.simulation.play import Record

Library = Literal["pandas", "polars", "pyarrow"]


def check_library(library: str) -> None:
    """Raise if there is no such library, or if it is not installed."""
    if library not in get_args(Library):
        raise ParameterError(f"frame must be one of {', '.join(get_args(Library))}; got {library!r}")
    require(library)


def frame_of(records: Sequence[Record], library: Library) -> Any:
    """Return a frame with a row per record; a value that a record lacks is missing there."""
    names = list(dict.fromkeys(name for record in records for name in record))
    data = {name: [record.get(name) for record in records] for name in names}
    return nw.from_dict(data, backend=library).to_native()


def columns_of(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return columns of a frame of any of the libraries as NumPy arrays, by name."""
    table = nw.from_native(frame, eager_only=True)
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise ParameterError(
            f"the frame has no column {missing[0]!r}; it has {', '.join(table.columns)}. Pass a frame that "
            "simulate returned"
        )
    return {name: table[name].to_numpy() for name in names}
