"""Keywords that describe a table beyond its cells, given by the user or declared in a Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, TypedDict

from cellworth.errors import DataError, ParameterError
from cellworth.messages import did_you_mean, listing, shorten
from cellworth.setting_names import named
from cellworth.table.arrow_csv import Wishes
from cellworth.table.column import KINDS, LABELLED, MEASURED, MOST_DECIMALS, Column, Kind, check_kind_name
from cellworth.table.dates import is_date_format, is_iso
from cellworth.table.missing_marks import MissingMarks, missing_marks
from cellworth.table.parse_values import cannot_be_stored, label
from cellworth.table.raw_cells import Origin, RawColumn, labels
from cellworth.table.target import TARGET_KINDS, Target, check_target_kind

Missing = Iterable[object] | Mapping[str, Iterable[object]]
Bounds = Mapping[str, Sequence[object]]
_TEXTS = "units", "descriptions"


class Keywords(TypedDict, total=False):
    """The keywords shared by all constructors of `Table`; see `Table.read`."""

    missing: Missing
    kinds: Mapping[str, str] | None
    bounds: Bounds | None
    categories: Mapping[str, Sequence[object]] | None
    units: Mapping[str, str] | None
    descriptions: Mapping[str, str] | None
    target_kind: str | None
    date_format: str | None


@dataclass(frozen=True)
class ColumnKeywords:
    """What the keywords say about one column; None where they say nothing."""

    kind: Kind | None = None
    bounds: Sequence[object] | None = None
    categories: tuple[str, ...] | None = None
    unit: str | None = None
    description: str | None = None
    is_target: bool = False
    marks: MissingMarks = field(default_factory=MissingMarks)


@dataclass(frozen=True)
class TableKeywords:
    """The keywords of `Table.read`, `Table.from_frame` and `Table.from_arrays`."""

    target: str | None = None
    row_id: str | None = None
    missing: Missing = ()
    kinds: Mapping[str, str] | None = None
    bounds: Bounds | None = None
    categories: Mapping[str, Sequence[object]] | None = None
    units: Mapping[str, str] | None = None
    descriptions: Mapping[str, str] | None = None
    target_kind: str | None = None
    date_format: str | None = None

    def of_frame(self) -> TableKeywords:
        """Return these keywords with numbers that name columns as text, as a frame's columns are read."""
        by_name = ("missing", "kinds", "bounds", "categories", *_TEXTS)
        said = {keyword: getattr(self, keyword) for keyword in by_name}
        renamed: dict[str, Any] = {
            keyword: {_as_name(name): value for name, value in mapping.items()}
            for keyword, mapping in said.items()
            if isinstance(mapping, Mapping)
        }
        return replace(self, target=_as_name(self.target), row_id=_as_name(self.row_id), **renamed)

    def check(self, names: Sequence[str], origin: Origin) -> None:
        """Raise if a keyword names a column that does not exist, or has an invalid value."""
        for keyword in ("target", "row_id"):
            name = getattr(self, keyword)
            if name is not None:
                _check_name(name, keyword, names, origin)
        if self.target is not None and self.target == self.row_id:
            raise DataError(
                f"{origin.name}: {shorten(self.target)} cannot be both the target and the row ids."
            )
        for keyword in ("missing", "kinds", "bounds", "categories", *_TEXTS):
            for name in _as_mapping(getattr(self, keyword), keyword):
                _check_name(name, keyword, names, origin)
        for keyword in _TEXTS:
            for name, text in (getattr(self, keyword) or {}).items():
                if not isinstance(text, str) or cannot_be_stored(text):
                    raise ParameterError(
                        f"{named(keyword)}, column {shorten(name)}: expected text, got {shorten(text)}."
                    )
        for name, kind in (self.kinds or {}).items():
            check_kind_name(kind, f"{named('kinds')}, column {shorten(name)}")
        check_target_kind(self.target_kind)

    def for_column(self, name: str) -> ColumnKeywords:
        """Return what the keywords say about one column."""
        kind = (self.kinds or {}).get(name)
        categories = (self.categories or {}).get(name)
        return ColumnKeywords(
            kind=None if kind is None else check_kind_name(kind, name),
            bounds=_check_pair(name, (self.bounds or {}).get(name)),
            categories=None if categories is None else _check_categories(name, categories, kind),
            unit=(self.units or {}).get(name),
            description=(self.descriptions or {}).get(name, "").strip() or None,
            is_target=name == self.target,
            marks=missing_marks(self._marks(name), () if categories is None else set(map(label, categories))),
        )

    def completed_by(self, columns: Sequence[RawColumn]) -> TableKeywords:
        """Return these keywords, plus what the file declares where the user says nothing."""
        said: dict[str, Any] = {"kinds": {}, "categories": {}, "bounds": {}, "units": {}, "descriptions": {}}
        roles: dict[str, Any] = {}
        for column in columns:
            declared = dict(column.declared)
            roles.setdefault(str(declared.get("role")), (column.name, declared.get("target_kind")))
            if column.name in (self.kinds or {}) or column.name in (self.categories or {}):
                declared = {keyword: declared.get(keyword) for keyword in _TEXTS}
            for keyword, values in said.items():
                if declared.get(keyword) is not None:
                    values[column.name] = declared[keyword]
        target, target_kind, row_id = self.target, self.target_kind, self.row_id
        if target is None and "target" in roles and roles["target"][0] != row_id:
            target, target_kind = roles["target"][0], target_kind or roles["target"][1]
        if row_id is None and "row_id" in roles and roles["row_id"][0] != target:
            row_id = roles["row_id"][0]
        merged = {keyword: values | dict(getattr(self, keyword) or {}) for keyword, values in said.items()}
        return replace(self, target=target, target_kind=target_kind, row_id=row_id, **merged)

    def wishes(self) -> Wishes:
        """Return which columns are needed as text, and the marks of holes that hold in all columns."""
        said: dict[Any, Any] = {self.row_id: "row_id"}
        for by_column in (self.kinds, self.categories):
            said |= by_column if isinstance(by_column, Mapping) else {}
        as_text = {name for name, kind in said.items() if kind not in MEASURED}
        marks = () if isinstance(self.missing, Mapping) else labels(_as_marks(self.missing))
        return Wishes(frozenset(filter(None, as_text)), frozenset(marks))

    def _marks(self, name: str) -> Iterable[object]:
        if isinstance(self.missing, Mapping):
            return _as_marks(self.missing.get(name, ()))
        return _as_marks(self.missing)


def _as_name(name: Any) -> Any:
    return label(name) if isinstance(name, Integral) else name


def _as_marks(marks: Any) -> Iterable[object]:
    # A single mark, such as missing="n/a", is one mark, not one per letter.
    return marks if isinstance(marks, Iterable) and not isinstance(marks, (str, bytes)) else (marks,)


def _as_mapping(value: Any, keyword: str) -> Mapping[str, Any]:
    if value is None or (keyword == "missing" and not isinstance(value, Mapping)):
        return {}
    if not isinstance(value, Mapping):
        raise ParameterError(
            f"{keyword} must map column names, as in {keyword}={{'age': ...}}, got {shorten(value)}."
        )
    return value


def _check_name(name: object, keyword: str, names: Sequence[str], origin: Origin) -> None:
    if name not in names:
        if origin.ids_from == "index":
            names = names[1:]  # the index comes first, and is no column
        hint = did_you_mean(str(name), names)
        raise DataError(
            f"{origin.name}: {named(keyword)} names the column {shorten(name)}, which is not there.{hint} "
            f"The columns are {listing(names, most=10)}."
        )


def _check_pair(name: str, bounds: Any) -> Sequence[object] | None:
    if bounds is None or (isinstance(bounds, (tuple, list)) and len(bounds) == 2):
        return bounds
    raise ParameterError(
        f"{named('bounds')}, column {shorten(name)}: expected (lowest, highest) with None for an open side, "
        f"got {shorten(bounds)}."
    )


def _check_categories(name: str, categories: Any, kind: str | None) -> tuple[str, ...]:
    place = f"{named('categories')}, column {shorten(name)}"
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise ParameterError(f"{place}: expected a list such as ['low', 'high'], got {shorten(categories)}.")
    texts = tuple(label(category) for category in categories)
    if kind is not None and kind not in LABELLED:
        raise ParameterError(f"{place}: only 'ordered' and 'category' columns have categories, got {kind!r}.")
    if not texts:
        raise ParameterError(f"{place}: expected at least one category, got none.")
    return texts


KEY = b"cellworth"
"""Key of our entry in the metadata of an Arrow field."""


def column_keywords(column: Column) -> dict[str, Any]:
    """Return the keywords of `Table.read` that reproduce this column, by name."""
    keywords: dict[str, Any] = {"kinds": column.kind}
    if column.categories:
        keywords["categories"] = list(column.categories)
    bounds = [column.bound_as_written(bound) for bound in column.bounds]
    if bounds != [None, None]:
        keywords["bounds"] = bounds
    if column.unit is not None:
        keywords["units"] = column.unit
    if column.description is not None:
        keywords["descriptions"] = column.description
    return keywords


def table_keywords(columns: Sequence[Column], target: Target | None, row_id: str | None) -> dict[str, Any]:
    """Return the keywords that make `Table.read` reproduce the table."""
    said: dict[str, Any] = {"kinds": {}, "categories": {}, "bounds": {}, "units": {}, "descriptions": {}}
    said["row_id"] = row_id
    if target is not None:
        columns = [*columns, target.column]
        said |= {"target": target.name, "target_kind": target.kind}
    for column in columns:
        for keyword, value in column_keywords(column).items():
            said[keyword][column.name] = value
        if column.date_format is not None and not is_iso(column.date_format):
            said["date_format"] = column.date_format
    return said


def field_metadata(column: Column | None, role: str, target_kind: str | None = None) -> dict[bytes, bytes]:
    """Return the metadata of a column's Arrow field; `role` is "feature", "target" or "row_id"."""
    declared: dict[str, Any] = {"role": role}
    if column is not None:
        declared |= column_keywords(column) | {"words": list(column.words), "date_format": column.date_format}
        declared["decimals"] = column.decimals
    if target_kind is not None:
        declared["target_kind"] = target_kind
    return {KEY: json.dumps(declared).encode()}


def declared_by(field: Any) -> Mapping[str, Any]:
    """Return what the metadata of an Arrow field declares, ignoring invalid entries."""
    try:
        declared = json.loads((field.metadata or {}).get(KEY, b"{}"))
    except ValueError:
        return {}
    if not isinstance(declared, dict):
        return {}
    return {key: value for key, value in declared.items() if key in _CHECKS and _CHECKS[key](value)}


def _is_list_of(value: Any, types: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, types) for part in value)


_CHECKS = {
    "role": lambda value: value in ("feature", "target", "row_id"),
    "target_kind": lambda value: value in TARGET_KINDS,
    "kinds": lambda value: value in KINDS,
    "categories": lambda value: _is_list_of(value, str) and len(value) > 0,
    "bounds": lambda value: _is_list_of(value, (int, float, str, type(None))) and len(value) == 2,
    "units": lambda value: isinstance(value, str),
    "descriptions": lambda value: isinstance(value, str),
    "words": lambda value: _is_list_of(value, str) and len(value) == 2,
    "date_format": lambda value: isinstance(value, str) and is_date_format(value),
    "decimals": lambda value: isinstance(value, int) and -1 <= value <= MOST_DECIMALS,
}
