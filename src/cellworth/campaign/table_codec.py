"""Serialize a table to bytes, exactly and completely; reading them needs no optional package.

The bytes are a zlib stream of a NumPy .npz archive without pickles: the values, the labels, and everything
else as JSON.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cellworth.errors import DataError
from cellworth.table import Column, Table, Target
from cellworth.table.column import UserValue

FORMAT = 1
"""Incremented when the layout changes, so that older programs reject what they would misread."""


def pack(table: Table) -> bytes:
    """Serialize a table to bytes; O(n p)."""
    about: dict[str, Any] = {
        "format": FORMAT,
        "columns": [column_to_plain(column) for column in table.columns],
        "row_ids": list(table.row_ids),
        "row_id": table.row_id,
        "target": None if table.target is None else target_to_plain(table.target),
    }
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about).encode("ascii"), dtype=np.uint8),
        "values": table.values,
    }
    if table.y is not None:
        arrays["labels"] = table.y
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return zlib.compress(buffer.getvalue(), level=1)


def unpack(packed: bytes) -> Table:
    """Return the table that `pack` packed; O(n p)."""
    try:
        with np.load(io.BytesIO(zlib.decompress(packed)), allow_pickle=False) as archive:
            arrays = dict(archive)
        about = json.loads(arrays["about"].tobytes())
    except (zlib.error, ValueError, KeyError, OSError, EOFError) as error:
        raise DataError(f"expected a packed table; got damaged or other bytes ({error}).") from None
    if about.get("format") != FORMAT:
        raise DataError(
            f"expected a table packed in format {FORMAT}; got format {about.get('format')!r}. "
            "Another version of cellworth wrote it: use that version, or a newer one."
        )
    columns = tuple(column_from_plain(column) for column in about["columns"])
    target = None if about["target"] is None else target_from_plain(about["target"], arrays["labels"])
    return Table(columns, arrays["values"], tuple(about["row_ids"]), target, about["row_id"])


def digest(packed: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(packed).hexdigest()


def column_to_plain(column: Column) -> dict[str, Any]:
    """Return a column as plain data."""
    plain: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "categories": list(column.categories),
        "bounds": [bound if math.isfinite(bound) else None for bound in column.bounds],
        "unit": column.unit,
        "whole_days": column.whole_days,
    }
    # Only where they say something, so that tables without them are packed as ever.
    if column.words != Column.words:
        plain["words"] = list(column.words)
    if column.date_format is not None:
        plain["date_format"] = column.date_format
    if column.description is not None:
        plain["description"] = column.description
    if column.decimals:
        plain["decimals"] = column.decimals
    return plain


def column_from_plain(plain: Mapping[str, Any]) -> Column:
    """Return what `column_to_plain` wrote."""
    low, high = plain["bounds"]
    bounds = -math.inf if low is None else low, math.inf if high is None else high
    words = tuple(plain.get("words", Column.words))
    return Column(**{**plain, "categories": tuple(plain["categories"]), "bounds": bounds, "words": words})


def target_to_plain(target: Target) -> dict[str, Any]:
    """Return a target as plain data, without its labels."""
    classes = None
    if target.classes is not None:  # as numbers of their column: strings would not tell 1, 1.0 and True apart
        classes = [target.column.parse(label) for label in target.classes]
    return {"kind": target.kind, "classes": classes, "column": column_to_plain(target.column)}


def target_from_plain(plain: Mapping[str, Any], labels: NDArray[np.float64]) -> Target:
    """Return what `target_to_plain` wrote, with labels (n,)."""
    column = column_from_plain(plain["column"])
    classes = plain["classes"]
    if classes is not None:
        classes = tuple(cast(UserValue, column.format(number)) for number in classes)
    labels.setflags(write=False)
    return Target(column.name, plain["kind"], classes, labels, column)
