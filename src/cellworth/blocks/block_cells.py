"""The cells of a row block before they are interpreted, as `cellworth.table` reads those of a whole file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.optional_packages import require
from cellworth.table.column import NUMERIC
from cellworth.table.frames import read_frame
from cellworth.table.parse_values import label
from cellworth.table.raw_cells import (
    Cells,
    CodedCells,
    NumberCells,
    TextCells,
    TextCounts,
    as_texts,
    labels,
)


def cells_of_arrow(table: Any, names: Sequence[str]) -> list[Cells]:
    """Return the cells (m,) of some columns of a pyarrow table; O(m), vectorised for all but odd types.

    The cells are those of `cellworth.table.frames.read_frame`, without a Python object for each.
    """
    types = require("pyarrow").types
    found: list[Cells] = []
    for name in names:
        column = table[name]
        kind = column.type
        if types.is_floating(kind):
            found.append(NumberCells(np.array(column.to_numpy(), dtype=np.float64), "number"))
        elif types.is_integer(kind) and column.null_count == 0:
            found.append(NumberCells(column.to_numpy().astype(np.float64), "integer"))
        elif types.is_boolean(kind):
            found.append(NumberCells(_as_numbers(column), "boolean"))
        elif types.is_string(kind) or types.is_large_string(kind):
            found.append(_texts(column))
        elif types.is_null(kind):
            found.append(TextCells.counted(TextCounts((), np.full(len(column), -1))))
        else:
            (raw,), _ = read_frame(table.select([name]))
            found.append(raw.cells)
    return found


def _as_numbers(column: Any) -> AnyArray:
    """Return booleans (m,) as 0.0 and 1.0, NaN where they are null."""
    pyarrow = require("pyarrow")
    return np.array(column.cast(pyarrow.uint8()).cast(pyarrow.float64()).to_numpy(), dtype=np.float64)


def _texts(column: Any) -> TextCells:
    coded = column.dictionary_encode().combine_chunks()
    chunks = coded.chunks if hasattr(coded, "chunks") else [coded]
    if not chunks:
        return TextCells.counted(TextCounts((), np.zeros(0, dtype=np.intp)))
    only = chunks[0]
    codes = only.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    texts = only.dictionary.to_pylist()
    return TextCells.counted(TextCounts(tuple(texts), codes).renamed([label(text) for text in texts]))


def cells_of_array(values: AnyArray) -> Cells:
    """Return the cells (m,) of an array of numbers, booleans or objects."""
    if values.dtype.kind in "fiub":
        kinds: Any = {"f": "number", "b": "boolean"}
        return NumberCells(np.asarray(values, dtype=np.float64), kinds.get(values.dtype.kind, "integer"))
    return TextCells(labels(values.tolist()))


def texts_at(cells: Cells, rows: AnyArray) -> list[str]:
    """Return the texts of some cells (k,), as row ids or in messages; "" for a hole. O(k)."""
    if isinstance(cells, NumberCells):
        return list(as_texts(NumberCells(cells.values[rows], cells.kind)).texts)
    if isinstance(cells, CodedCells):
        return list(as_texts(CodedCells(cells.codes[rows], cells.categories, cells.ordered)).texts)
    counted = cells.text_counts
    return TextCounts(counted.distinct, counted.codes[rows]).texts()


def places_of(cells: Cells, wanted: Sequence[str]) -> tuple[AnyArray, AnyArray]:
    """Return the rows whose cells hold one of the wanted texts, and which one, (k,) each, in row order.

    O(m log k) for m numbers, O(m) for texts.
    """
    if isinstance(cells, NumberCells) and cells.kind in NUMERIC:
        numbers = np.array([_number(text) for text in wanted])
        order = np.argsort(numbers)
        at = np.searchsorted(numbers[order], cells.values).clip(max=len(wanted) - 1)
        found = order[at]
        rows = np.flatnonzero(numbers[found] == cells.values)
        found = found[rows]
    else:
        counted = as_texts(cells).text_counts
        places = {text: place for place, text in enumerate(wanted)}
        found = np.array([*(places.get(text, -1) for text in counted.distinct), -1])[counted.codes]
        rows = np.flatnonzero(found >= 0)
        found = found[rows]
    return rows, found


def _number(text: str) -> float:
    """Return the number that a row id stands for, NaN unless it is written as `label` writes it."""
    try:
        number = float(text)
    except ValueError:
        return np.nan
    return number if label(number) == text else np.nan
