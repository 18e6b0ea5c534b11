"""What a column is, kept next to it in Parquet files and pyarrow tables, so that they read back exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cellworth.table.column import KINDS, Column
from cellworth.table.target import TARGET_KINDS, Target

KEY = b"cellworth"
"""The name of the entry in the metadata of an Arrow field."""


def column_keywords(column: Column) -> dict[str, Any]:
    """Say what the keywords of `Table.read` have to say to get this column again, each under its name."""
    keywords: dict[str, Any] = {"kinds": column.kind}
    if column.categories:
        keywords["categories"] = list(column.categories)
    bounds = [column.bound_as_written(bound) for bound in column.bounds]
    if bounds != [None, None]:
        keywords["bounds"] = bounds
    if column.unit is not None:
        keywords["units"] = column.unit
    return keywords


def table_keywords(columns: Sequence[Column], target: Target | None, row_id: str | None) -> dict[str, Any]:
    """Say with which keywords `Table.read` gives the table again."""
    said: dict[str, Any] = {"kinds": {}, "categories": {}, "bounds": {}, "units": {}, "row_id": row_id}
    if target is not None:
        columns = [*columns, target.column]
        said |= {"target": target.name, "target_kind": target.kind}
    for column in columns:
        for keyword, value in column_keywords(column).items():
            said[keyword][column.name] = value
    return said


def field_metadata(column: Column | None, role: str, target_kind: str | None = None) -> dict[bytes, bytes]:
    """Write the metadata of the field that holds a column; `role` is "feature", "target" or "row_id"."""
    declared: dict[str, Any] = {"role": role}
    if column is not None:
        declared |= column_keywords(column)
    if target_kind is not None:
        declared["target_kind"] = target_kind
    return {KEY: json.dumps(declared).encode()}


def declared_by(field: Any) -> Mapping[str, Any]:
    """Read what the metadata of an Arrow field declares; entries that make no sense are passed over."""
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
}
