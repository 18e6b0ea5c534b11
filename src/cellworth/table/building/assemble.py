"""From columns as they were read to the parts of a table: names, row ids, columns, target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cellworth.errors import DataError, ParameterError
from cellworth.table.building.convert import refuse_infinities, scatter, to_codes, to_values
from cellworth.table.building.holes import open_holes
from cellworth.table.building.infer import find_kind
from cellworth.table.building.names import check_names, check_row_ids
from cellworth.table.building.settings import Settings, Wish
from cellworth.table.column import LABELLED, Column, Kind
from cellworth.table.reading.cells import Cells, CodedCells, NumberCells, RawColumn, TextCells, as_texts
from cellworth.table.source import Floats, Source
from cellworth.table.target import Target, make_target
from cellworth.table.values.single import parse_value
from cellworth.table.values.text import LARGEST_INTEGER, cannot_be_stored
from cellworth.wording import listing, shorten


class Parts(NamedTuple):
    """What a table is made of."""

    columns: tuple[Column, ...]
    values: Floats
    row_ids: tuple[str, ...]
    target: Target | None
    row_id: str | None


def assemble(raw: Sequence[RawColumn], settings: Settings, source: Source) -> Parts:
    """Check names, take out row ids and target, find every column's kind and values; O(n p)."""
    names = [column.name for column in raw]
    check_names(names, source)
    settings.check(names, source)
    settings = settings.completed_by(raw)
    by_name = {column.name: column for column in raw}
    row_ids = tuple(source.row_ids)
    if settings.row_id is not None:
        row_ids = tuple(as_texts(by_name.pop(settings.row_id).cells).texts)
        source = replace(source, row_ids=row_ids)
    check_row_ids(row_ids, settings.row_id, source)
    target = None
    if settings.target is not None:
        raw_target = by_name.pop(settings.target)
        column, cells = build_column(raw_target, settings.wish(raw_target.name), source)
        target = make_target(column, cells, settings.target_kind, source)
    if not by_name:
        raise DataError(
            f"{source.name}: expected at least one column besides the target and the row ids, got "
            f"{listing(names)}. Add a column with features."
        )
    built = [build_column(column, settings.wish(name), source) for name, column in by_name.items()]
    values = np.column_stack([cells for _, cells in built])
    return Parts(tuple(column for column, _ in built), values, row_ids, target, settings.row_id)


def build_column(raw: RawColumn, wish: Wish, source: Source) -> tuple[Column, Floats]:
    """Find the kind of one column and its values (n,), NaN = hole."""
    cells = open_holes(raw.cells, wish.marks)
    if bool(np.all(cells.holes)):
        remedy = "Leave the column out, or fill in a few of its cells first."
        if wish.is_target:
            remedy = "It is the target: fill in some labels, or name another column with target=."
        raise DataError(
            f"{source.column(raw.name)}: expected at least one observed value, got only holes. {remedy}"
        )
    kind, values, categories = _kind_and_values(cells, wish, raw.name, source)
    values = np.where(np.isnan(values), np.nan, values)  # one NaN for all
    if kind not in LABELLED:
        refuse_infinities(values, raw.name, source)
    if kind != "number":
        values = values + 0.0  # -0.0 becomes 0.0
    whole_days = kind == "date" and bool(np.all(np.isnan(values) | (values == np.floor(values))))
    bounds = _read_bounds(wish, raw.name, kind)
    column = Column(raw.name, kind, categories, bounds, wish.unit, whole_days)
    _check_values(column, values, source)
    return column, values


def _kind_and_values(
    cells: Cells, wish: Wish, name: str, source: Source
) -> tuple[Kind, Floats, tuple[str, ...]]:
    if isinstance(cells, TextCells) and wish.kind is None and wish.categories is None:
        rows = np.flatnonzero(~cells.holes)
        kind, observed = find_kind(list(filter(None, cells.texts)), rows, name, source)
        if observed is not None:
            return kind, scatter(len(cells.texts), rows, observed), ()
    else:
        kind = wish.kind or _stated_kind(cells, wish)
    if kind not in LABELLED:
        return kind, to_values(cells, kind, name, source), ()
    knows_order = wish.categories is not None or (isinstance(cells, CodedCells) and cells.ordered)
    if kind == "ordered" and not knows_order:
        found = sorted(set(as_texts(cells).texts) - {""})
        raise DataError(
            f"{source.column(name)}: an ordered column needs its categories from low to high. Give them with "
            f"categories={{{name!r}: [...]}}; found are {listing(found, most=10)}."
        )
    values, categories = to_codes(cells, wish.categories, name, source)
    broken = [text for text in categories if cannot_be_stored(text)]
    if broken:
        raise DataError(
            f"{source.column(name)}: {listing(broken)} holds a NUL or a broken character. Remove it."
        )
    return kind, values, categories


def _stated_kind(cells: Cells, wish: Wish) -> Kind:
    if isinstance(cells, CodedCells) or (isinstance(cells, NumberCells) and wish.categories is None):
        return cells.kind
    return "category"


def _read_bounds(wish: Wish, name: str, kind: Kind) -> tuple[float, float]:
    bounds = [-math.inf, math.inf]
    for side, bound in enumerate(wish.bounds or ()):
        if bound is None or (isinstance(bound, float) and math.isinf(bound)):
            continue
        number = parse_value(bound, "date" if kind == "date" else "number")
        if number is None:
            expected = "a date such as '2020-12-31'" if kind == "date" else "a number"
            raise ParameterError(
                f"bounds, column {shorten(name)}: expected {expected} or None for an open side, "
                f"got {shorten(bound)}."
            )
        bounds[side] = number
    return bounds[0], bounds[1]


def checked_cells(values: npt.ArrayLike, columns: Sequence[Column], row_ids: Sequence[str]) -> Floats:
    """Copy the cells (n, p) of a table with these columns and rows; DataError names what is not allowed."""
    shape = len(row_ids), len(columns)
    try:
        cells = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"values must be numbers of the shape {shape}: {error}.") from None
    if cells.shape != shape:
        raise DataError(f"values must have the shape {shape} of the table, got {cells.shape}.")
    source = Source("the new values", row_ids)
    for place, column in enumerate(columns):
        rows = np.flatnonzero(column.invalid(cells[:, place]))
        if rows.size:
            remedy = "Use NaN for a hole; Column.parse and Encoded.decode give values that a column allows."
            shown = cells[rows[:3], place].tolist()
            raise source.cell_error(column.name, f"expected {column.expected}", rows, shown, remedy)
        if column.kind != "number":  # a time of day has whole microseconds, and -0.0 is 0.0
            observed = ~np.isnan(cells[:, place])
            cells[observed, place] = column.nearest(cells[observed, place])
    return cells


def _check_values(column: Column, values: Floats, source: Source) -> None:
    rows = np.flatnonzero(column.invalid(values))
    if not rows.size:
        return
    shown = [_as_shown(column, float(value)) for value in values[rows[:3]]]
    remedy = (
        f"Correct the cell, change bounds={{{column.name!r}: ...}}, or add it to missing= if it marks a hole."
    )
    if column.kind == "integer" and bool(np.any(np.abs(values[rows]) > LARGEST_INTEGER)):
        remedy = (
            f"Numbers this large cannot be kept exactly: use row_id={column.name!r} if they name the rows, "
            f"or set kinds={{{column.name!r}: 'category'}} for codes or 'number' for quantities."
        )
    elif column.kind == "integer":
        remedy += f" Set kinds={{{column.name!r}: 'number'}} if fractions are meant."
    raise source.cell_error(column.name, f"expected {column.expected}", rows, shown, remedy)


def _as_shown(column: Column, value: float) -> object:
    return column.bound_as_written(value) if column.kind != "number" else value
