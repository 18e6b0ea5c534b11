"""Names of columns and ids of rows: each there, each once, each fit for a file."""

from __future__ import annotations

from collections.abc import Sequence

from cellworth.errors import DataError
from cellworth.table.building.holes import BLANKS
from cellworth.table.source import Source
from cellworth.table.values.text import cannot_be_stored
from cellworth.wording import listing, shorten


def check_names(names: Sequence[str], source: Source) -> None:
    """Raise DataError if a column has no name, or two have the same, or one cannot be written to a file."""
    for place, name in enumerate(names, start=1):
        if not name:
            raise DataError(
                f"{source.name}: column {place} of {len(names)} has no name. Name it in the header."
            )
        if cannot_be_stored(name):
            raise DataError(
                f"{source.name}: the column name {shorten(name)} holds a NUL or a broken character."
            )
    twice = (
        [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if len(set(names)) < len(names)
        else []
    )
    if twice:
        places = [str(place) for place, name in enumerate(names, start=1) if name == twice[0]]
        raise DataError(
            f"{source.name}: column names must differ, got {listing(twice)} more than once "
            f"(columns {', '.join(places)}). Rename one of them."
        )


def check_row_ids(row_ids: Sequence[str], name: str | None, source: Source) -> None:
    """Raise DataError if a row has no id or two have the same; `name` is that of the column of ids."""
    where = source.name if name is None else source.column(name)
    if not row_ids:
        raise DataError(
            f"{source.name}: expected at least one row, got none. Add rows below the column names."
        )
    for row, row_id in enumerate(row_ids):
        if row_id in BLANKS or cannot_be_stored(row_id):
            line = "" if source.lines is None else f" (line {source.lines[row]})"
            raise DataError(
                f"{where}: every row needs an id, got {shorten(row_id)} in row number {row + 1}{line}. "
                "Fill it in, or leave row_id= out to number the rows from 0."
            )
    if len(set(row_ids)) < len(row_ids):
        _refuse_repeated_ids(row_ids, where, source)


def _refuse_repeated_ids(row_ids: Sequence[str], where: str, source: Source) -> None:
    first: dict[str, int] = {}
    for row, row_id in enumerate(row_ids):
        if row_id in first:
            rows = (first[row_id], row)
            places = (
                [row + 1 for row in rows] if source.lines is None else [source.lines[row] for row in rows]
            )
            noun = "rows number" if source.lines is None else "lines"
            raise DataError(
                f"{where}: row ids must differ, got {shorten(row_id)} in {noun} {places[0]} and {places[1]} "
                f"({len(row_ids) - len(set(row_ids))} repeated in all). "
                "Make them differ, or number the rows: leave row_id= out, or reset_index() of a DataFrame."
            )
        first.setdefault(row_id, row)
