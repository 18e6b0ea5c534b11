"""Who works on what: cells that are out, taken by one person for a while and given back.

Each function looks at the newest state and returns the data of an event, or None where there is nothing to
record. It changes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from cellworth.campaign.places import Cell
from cellworth.campaign.state import State, Status
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.wording import shorten

Data = dict[str, Any]


def taken(
    state: State, time: datetime, wanted: Sequence[tuple[object, object]] | int, who: str, lease: timedelta
) -> Data | None:
    """Return the cells that now go to somebody: those named, or so many that nobody has.

    A cell that they have already is taken once more, for as long from now on. ConflictError if another has
    one of those named, or it is not out any more; DataError if it was never asked for.
    """
    if isinstance(wanted, int):
        cells = list(itertools.islice(_free(state, time), wanted))
    else:
        places = (state.places.cell(row, column) for row, column in wanted)
        cells = list(dict.fromkeys(places))
        for cell in cells:
            _must_be_out(state, cell, time)
            _must_not_be_with_another(state, cell, time, who, "Take another one")
    if not cells:
        return None
    until = (time + lease).isoformat()
    return {"cells": [list(state.places.names(cell)) for cell in cells], "until": until}


def given_back(state: State, time: datetime, cells: Sequence[tuple[object, object]], who: str) -> Data | None:
    """Return the cells that somebody lets others have; those that they have no longer are left out."""
    places = [state.places.cell(row, column) for row, column in cells]
    for cell in places:
        _must_not_be_with_another(state, cell, time, who, "Only they can give it back")
    mine = [cell for cell in dict.fromkeys(places) if state.holder(cell, time) is not None]
    return {"cells": [list(state.places.names(cell)) for cell in mine]} if mine else None


def check_wanted(wanted: object) -> int | None:
    """Return a number of cells to take; None if cells are named."""
    if isinstance(wanted, bool) or (isinstance(wanted, int) and wanted < 0):
        raise ParameterError(f"take cells, or a number of them, 0 or more; got {shorten(wanted)}.")
    return wanted if isinstance(wanted, int) else None


def _free(state: State, time: datetime) -> Iterator[Cell]:
    return (cell for cell in state.out(time) if state.holder(cell, time) is None)


def _must_be_out(state: State, cell: Cell, time: datetime) -> None:
    words, status = state.places.words(cell), state.status[cell]
    if status in (Status.KNOWN, Status.TOLD):
        raise ConflictError(f"{words} has a value already: there is nothing to take.")
    if status == Status.REFUSED:
        raise ConflictError(f"{words} was refused: there is nothing to take.")
    if cell not in state.last_price:
        raise DataError(f"{words} was never asked for: there is nothing to take.")
    if cell not in state.asked or state.is_expired(cell, time):
        raise ConflictError(f"{words} is not out any more. It may be asked for again.")


def _must_not_be_with_another(state: State, cell: Cell, time: datetime, who: str, so: str) -> None:
    held = state.holder(cell, time)
    if held is not None and held.who != who:
        until = f"{held.until:%Y-%m-%d %H:%M} UTC"
        raise ConflictError(f"{state.places.words(cell)} is with {shorten(held.who)} until {until}. {so}.")
