"""Build a checked table from raw columns: names, row ids, kinds, values, target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from cellworth.arrays import Float64Array
from cellworth.errors import DataError, ParameterError
from cellworth.messages import listing, shorten
from cellworth.setting_names import by_door, named, setting
from cellworth.table.column import LABELLED, NUMERIC, Column, Kind
from cellworth.table.dates import iso_format, restores, strptime_format
from cellworth.table.infer_kind import find_kind, refuse_infinities, to_codes, to_values, warn_of_spellings
from cellworth.table.keywords import ColumnKeywords, TableKeywords
from cellworth.table.missing_marks import (
    BLANKS,
    open_holes,
    warn_of_blank_end,
    warn_of_far_marks,
    warn_of_lookalikes,
)
from cellworth.table.parse_values import (
    LARGEST_INTEGER,
    boolean_words,
    cannot_be_stored,
    common_decimals,
    parse_value,
)
from cellworth.table.raw_cells import (
    Cells,
    CodedCells,
    NumberCells,
    Numbers,
    Origin,
    RawColumn,
    TextCells,
    as_texts,
)
from cellworth.table.target import Target, make_target
from cellworth.table.text_file import with_dates
from cellworth.table.unmeasured_column import check_prior

_NAN_BITS = np.array(np.nan).view(np.int64)

TableParts = tuple[tuple[Column, ...], Float64Array, Sequence[str], Target | None, str | None]
"""The arguments of `Table`: columns, values (n, p), row ids, target, name of the row id column."""


def assemble(raw: Sequence[RawColumn], keywords: TableKeywords, origin: Origin) -> TableParts:
    """Check names, separate row ids and target, and infer every column's kind and values; O(n p)."""
    names = [column.name for column in raw]
    check_names(names, origin)
    keywords.check(names, origin)
    if keywords.date_format is not None:
        raw = with_dates(raw, keywords.date_format, (keywords.row_id,))
        origin = replace(origin, date_format=strptime_format(keywords.date_format))
    keywords = keywords.completed_by(raw)
    by_name = {column.name: column for column in raw}
    row_ids = origin.row_ids
    if keywords.row_id is not None:
        row_ids = tuple(as_texts(by_name.pop(keywords.row_id).cells).texts)
        origin = replace(origin, row_ids=row_ids)
    if keywords.row_id is not None or origin.lines is None or not row_ids:  # others are numbered here
        check_row_ids(row_ids, keywords.row_id, origin)
    target = None
    if keywords.target is not None:
        raw_target = by_name.pop(keywords.target)
        wanted = keywords.for_column(raw_target.name)
        column, cells = build_column(raw_target, wanted, origin)
        # A column that the user calls a number is one to predict, even with two different values.
        stated = keywords.target_kind or ("number" if wanted.kind == "number" else None)
        target = make_target(column, cells, stated, origin)
    if not by_name:
        raise DataError(
            f"{origin.name}: expected at least one column besides the target and the row ids, got "
            f"{listing(names)}. Add a column with features."
        )
    built = [build_column(column, keywords.for_column(name), origin) for name, column in by_name.items()]
    values = _stacked([cells for _, cells in built])
    if keywords.row_id is None:
        warn_of_blank_end(values, None if target is None else target.cells, origin)
    return tuple(column for column, _ in built), values, row_ids, target, keywords.row_id


def _stacked(columns: Sequence[Float64Array]) -> Float64Array:
    """Return columns (n,) as one array (n, p), a few thousand rows at a time, which stay in the cache."""
    values = np.empty((len(columns[0]), len(columns)))
    for start in range(0, len(values), 4096):
        for place, cells in enumerate(columns):
            values[start : start + 4096, place] = cells[start : start + 4096]
    values.setflags(write=False)
    return values


def own_copy(values: npt.ArrayLike) -> Float64Array:
    """Return numbers that nobody else can change: a copy, unless they are read-only and not a view."""
    is_safe = isinstance(values, np.ndarray) and values.base is None and not values.flags.writeable
    return np.asarray(values, dtype=np.float64) if is_safe else np.array(values, dtype=np.float64)


def build_column(raw: RawColumn, wanted: ColumnKeywords, origin: Origin) -> tuple[Column, Float64Array]:
    """Infer the kind of one column and return it with its values (n,), NaN = hole."""
    cells = open_holes(raw.cells, wanted.marks)
    unmeasured = bool(np.all(cells.holes))
    said = wanted.kind is not None or wanted.categories is not None or isinstance(cells, CodedCells)
    if unmeasured and (wanted.is_target or not said):
        remedy = (
            "Leave the column out, fill in a few of its cells first, or, if it is still to be measured, say "
            f"what it holds with {setting('kinds', 'number', column=raw.name)} and "
            f"{setting('bounds', column=raw.name)}."
        )
        if wanted.is_target:
            remedy = (
                "It is the target: fill in some labels, or name another column with "
                + setting("target")
                + "."
            )
        raise DataError(
            f"{origin.column(raw.name)}: expected at least one observed value, got only holes. {remedy}"
        )
    kind, values, categories = _kind_and_values(cells, wanted, raw.name, origin)
    if unmeasured and kind in LABELLED and not categories:
        raise DataError(
            f"{origin.column(raw.name)}: nobody has measured it yet, so its texts are not known. Give them "
            f"with {setting('categories', column=raw.name)}, or leave the column out."
        )
    values = _with_one_nan(values, own=isinstance(cells, TextCells))
    if kind not in LABELLED:
        refuse_infinities(values, raw.name, origin)
    if kind != "number":
        np.add(values, 0.0, out=values)  # -0.0 becomes 0.0
    whole_days = kind == "date" and bool(np.all(np.isnan(values) | (values == np.floor(values))))
    bounds = _read_bounds(wanted, raw.name, kind)
    spelling = _spelling(raw, cells, kind, values, whole_days=whole_days)
    column = Column(
        raw.name,
        kind,
        categories,
        bounds,
        wanted.unit,
        whole_days,
        description=wanted.description,
        **spelling,
    )
    if unmeasured:
        check_prior(column, origin.column(raw.name))
    _check_values(column, values, origin)
    if kind in NUMERIC and wanted.bounds is None and not unmeasured:
        warn_of_far_marks(values, raw.name, origin)
    return column, values


def _with_one_nan(values: Float64Array, *, own: bool) -> Float64Array:
    """Return values that may be changed, in which all NaN have the same bits; those of a text -nan differ.

    Values that were made here, ``own``, are changed in place. To compare bits takes a tenth of the time of
    `numpy.where`.
    """
    if not (own and values.flags.writeable):
        values = values.copy()
    holes = np.isnan(values)
    if np.any(holes & (values.view(np.int64) != _NAN_BITS)):
        values[holes] = np.nan
    return values


def _spelling(
    raw: RawColumn, cells: Cells, kind: Kind, values: Float64Array, *, whole_days: bool
) -> dict[str, Any]:
    """Return how the user writes booleans, dates or numbers, as keywords of `Column`."""
    if kind == "number":
        decimals = raw.declared.get("decimals", 0)
        if isinstance(cells, TextCells):
            known = cells.numbers
            decimals = known.decimals if known else common_decimals(cells.text_counts.distinct)
        return {"decimals": decimals}
    if kind not in ("boolean", "date"):
        return {}
    if kind == "boolean":
        words = raw.declared.get("words")
        if isinstance(cells, TextCells):
            words = boolean_words(cells.text_counts.counts)
        return {} if words is None else {"words": tuple(words)}
    stated = raw.declared.get("date_format")
    if stated is not None and restores(stated, values, whole=whole_days):
        return {"date_format": stated}
    if whole_days or not isinstance(cells, TextCells):
        return {}
    return {"date_format": iso_format(cells.text_counts.distinct)}


def _kind_and_values(
    cells: Cells, wanted: ColumnKeywords, name: str, origin: Origin
) -> tuple[Kind, Float64Array, tuple[str, ...]]:
    if isinstance(cells, TextCells) and cells.numbers is not None and wanted.categories is None:
        known = _known_numbers(cells.numbers, wanted.kind)
        if known is not None:
            return known, cells.numbers.values, ()
    if isinstance(cells, TextCells) and wanted.kind is None and wanted.categories is None:
        kind, observed = find_kind(cells.text_counts, name, origin)
        if observed is not None:
            return kind, cells.text_counts.spread(observed), ()
    else:
        kind = wanted.kind or _stated_kind(cells, wanted)
    if kind not in LABELLED:
        return kind, to_values(cells, kind, name, origin), ()
    knows_order = wanted.categories is not None or (isinstance(cells, CodedCells) and cells.ordered)
    if kind == "ordered" and not knows_order:
        found = sorted(set(as_texts(cells).texts) - {""})
        raise DataError(
            f"{origin.column(name)}: an ordered column needs its categories from low to high. Give them with "
            f"{setting('order', column=name)}; found {listing(found, most=10)}."
        )
    values, categories = to_codes(cells, wanted.categories, name, origin, ordered=kind == "ordered")
    if wanted.categories is None and isinstance(cells, TextCells):
        warn_of_lookalikes(categories, name, origin.column(name))
        warn_of_spellings(categories, name, origin)
    broken = [text for text in categories if cannot_be_stored(text)]
    if broken:
        raise DataError(
            f"{origin.column(name)}: {listing(broken)} contains a NUL or a broken character. Remove it."
        )
    return kind, values, categories


def _known_numbers(numbers: Numbers, stated: Kind | None) -> Kind | None:
    """Return the kind of a column whose numbers the reader has found; None if its texts must be read."""
    if stated is None or stated == numbers.kind:
        return numbers.kind
    if numbers.kind == "date" or stated not in NUMERIC:
        return None
    if numbers.kind == "integer" and bool(np.any(numbers.values == 0)):
        return None  # the text may be -0
    return stated


def _stated_kind(cells: Cells, wanted: ColumnKeywords) -> Kind:
    if isinstance(cells, CodedCells) or (isinstance(cells, NumberCells) and wanted.categories is None):
        return cells.kind
    return "category"


def _read_bounds(wanted: ColumnKeywords, name: str, kind: Kind) -> tuple[float, float]:
    bounds = [-math.inf, math.inf]
    for side, bound in enumerate(wanted.bounds or ()):
        if bound is None or (isinstance(bound, float) and math.isinf(bound)):
            continue
        number = parse_value(bound, "date" if kind == "date" else "number")
        if number is None:
            expected = "a date such as 2020-12-31" if kind == "date" else "a number such as 0.5"
            ends = by_door(
                python="or None for an open side",
                command_line=f"a comma, and another, as in {setting('bounds', '0,120', column=name)}; a side "
                "left blank is open",
            )
            raise ParameterError(
                f"{named('bounds')}, column {shorten(name)}: expected {expected}, {ends}; got "
                f"{shorten(bound)}."
            )
        bounds[side] = number
    return bounds[0], bounds[1]


def checked_cells(values: npt.ArrayLike, columns: Sequence[Column], row_ids: Sequence[str]) -> Float64Array:
    """Return a checked copy of the cells (n, p); DataError names the values that a column does not allow."""
    shape = len(row_ids), len(columns)
    try:
        cells = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"values must be numbers of the shape {shape}: {error}.") from None
    if cells.shape != shape:
        raise DataError(f"values must have the shape {shape} of the table, got {cells.shape}.")
    origin = Origin("the new values", row_ids)
    for place, column in enumerate(columns):
        rows = np.flatnonzero(column.invalid(cells[:, place]))
        if rows.size:
            remedy = "Use NaN for a hole; Column.parse and Encoded.decode give values that a column allows."
            shown = cells[rows[:3], place].tolist()
            raise origin.cell_error(column.name, f"expected {column.expected}", rows, shown, remedy)
        if column.kind != "number":  # rounds times to whole microseconds, and -0.0 becomes 0.0
            observed = ~np.isnan(cells[:, place])
            cells[observed, place] = column.nearest(cells[observed, place])
    return cells


def _check_values(column: Column, values: Float64Array, origin: Origin) -> None:
    if column.kind == "number" and column.bounds == (-math.inf, math.inf):
        return  # infinities are refused already
    rows = np.flatnonzero(column.invalid(values))
    if not rows.size:
        return
    shown = [_as_shown(column, float(value)) for value in values[rows[:3]]]
    remedy = (
        f"Correct the cell, change {setting('bounds', column=column.name)}, or add it to "
        f"{setting('missing')} if it marks a hole."
    )
    if column.kind == "integer" and bool(np.any(np.abs(values[rows]) > LARGEST_INTEGER)):
        remedy = (
            f"Numbers this large cannot be stored exactly: use {setting('row_id', column.name)} if they name "
            "the rows, "
            f"or set {setting('kinds', 'category', column=column.name)} for codes or 'number' for quantities."
        )
    elif column.kind == "integer" and bool(np.any(values[rows] != np.rint(values[rows]))):
        remedy += f" Set {setting('kinds', 'number', column=column.name)} if fractions are meant."
    raise origin.cell_error(column.name, f"expected {column.expected}", rows, shown, remedy)


def _as_shown(column: Column, value: float) -> object:
    return column.bound_as_written(value) if column.kind != "number" else value


def check_names(names: Sequence[str], origin: Origin) -> None:
    """Raise DataError if a column has no name, two share a name, or a name cannot be written to a file."""
    for place, name in enumerate(names, start=1):
        if not name:
            raise DataError(
                f"{origin.name}: column {place} of {len(names)} has no name. Name it in the header. If cells "
                "of the header are merged, split them: its first line has a name for each column."
            )
        if cannot_be_stored(name):
            raise DataError(
                f"{origin.name}: the column name {shorten(name)} contains a NUL or a broken character."
            )
    twice = (
        [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if len(set(names)) < len(names)
        else []
    )
    if twice:
        places = [str(place) for place, name in enumerate(names, start=1) if name == twice[0]]
        # Of a frame, the index may have been put before them.
        where = "" if origin.lines is None else f" (columns {', '.join(places)})"
        raise DataError(
            f"{origin.name}: column names must differ, got {listing(twice)} more than once{where}. Rename "
            "one of them."
        )


def check_row_ids(row_ids: Sequence[str], name: str | None, origin: Origin) -> None:
    """Raise DataError if a row has no id or two rows share one; `name` is the name of the id column."""
    if not row_ids:
        raise DataError(
            f"{origin.name}: expected at least one row, got none. Add rows below the column names."
        )
    suspect = not BLANKS.isdisjoint(row_ids) or cannot_be_stored("\n".join(row_ids))
    for row, row_id in enumerate(row_ids if suspect else ()):
        if row_id in BLANKS or cannot_be_stored(row_id):
            _refuse_id(row_id, row, name, origin)
    if len(set(row_ids)) < len(row_ids):
        _refuse_repeated_ids(row_ids, name, origin)


def _refuse_id(row_id: str, row: int, name: str | None, origin: Origin) -> NoReturn:
    if origin.ids_from == "index":
        raise DataError(
            f"{origin.name}: the index names the rows, so each needs a label; got {shorten(row_id)} in row "
            f"number {row + 1}. Fill it in, or number the rows: reset_index(drop=True)."
        )
    where, keyword = _where_ids_are(name, origin)
    line = "" if origin.lines is None else f" (line {origin.lines[row]})"
    raise DataError(
        f"{where}: every row needs an id, got {shorten(row_id)} in row number {row + 1}{line}. "
        f"Fill it in, or leave {setting(keyword)} out to number the rows from 0."
    )


def _refuse_repeated_ids(row_ids: Sequence[str], name: str | None, origin: Origin) -> NoReturn:
    first: dict[str, int] = {}
    row = next(row for row, row_id in enumerate(row_ids) if first.setdefault(row_id, row) < row)
    rows, got = (first[row_ids[row]], row), shorten(row_ids[row])
    places = [row + 1 for row in rows] if origin.lines is None else [origin.lines[row] for row in rows]
    n = len(row_ids) - len(set(row_ids))
    if origin.ids_from == "index":
        raise DataError(
            f"{origin.name}: the index names the rows, so its labels must differ; got {got} in rows number "
            f"{places[0]} and {places[1]} ({n} repeated in all). Number the rows, as with "
            "reset_index(drop=True), or give each a label of its own."
        )
    where, keyword = _where_ids_are(name, origin)
    noun = "rows number" if origin.lines is None else "lines"
    raise DataError(
        f"{where}: row ids must differ, got {got} in {noun} {places[0]} and {places[1]} ({n} repeated in "
        f"all). Make them differ, or leave {setting(keyword)} out to number the rows from 0."
    )


def _where_ids_are(name: str | None, origin: Origin) -> tuple[str, str]:
    """Return the place of the row ids, as messages begin, and the setting that names or gives them."""
    if origin.ids_from == "row_ids":
        return origin.name, "row_ids"
    return (origin.name if name is None else origin.column(name)), "row_id"
