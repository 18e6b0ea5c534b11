"""The three forms in which the cells of a column arrive, whatever they were read from."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cellworth.table.source import Bools, Floats
from cellworth.table.values.dates import format_day
from cellworth.table.values.text import label


@dataclass(frozen=True)
class TextCells:
    """Texts without surrounding white space, "" = hole; what kind they are has to be found."""

    texts: Sequence[str]

    @property
    def holes(self) -> Bools:
        """(n,) bool, True where there is no value."""
        return ~np.fromiter(map(bool, self.texts), dtype=np.bool_, count=len(self.texts))


@dataclass(frozen=True)
class NumberCells:
    """Numbers, NaN = hole, of a kind that the frame or array states."""

    values: Floats
    kind: Literal["number", "integer", "boolean", "date"]

    @property
    def holes(self) -> Bools:
        """(n,) bool, True where there is no value."""
        return np.isnan(self.values)


@dataclass(frozen=True)
class CodedCells:
    """Places in a list of categories, NaN = hole, with the list that the frame states."""

    codes: Floats
    categories: tuple[str, ...]
    ordered: bool

    @property
    def kind(self) -> Literal["ordered", "category"]:
        """The kind that the frame states."""
        return "ordered" if self.ordered else "category"

    @property
    def holes(self) -> Bools:
        """(n,) bool, True where there is no value."""
        return np.isnan(self.codes)


Cells = TextCells | NumberCells | CodedCells


@dataclass(frozen=True)
class RawColumn:
    """A column as it was read: its name, its cells, and what the file itself says about it, if anything."""

    name: str
    cells: Cells
    declared: Mapping[str, Any] = field(default_factory=dict)


def id_column(row_ids: Sequence[str], name: str, taken: Container[str]) -> RawColumn:
    """Build a column of row ids, under another name if this one is taken."""
    while name in taken:
        name += "_"
    return RawColumn(name, TextCells(row_ids))


def coded_cells(codes: Floats, categories: Sequence[object], ordered: bool) -> CodedCells:
    """Build coded cells with the categories as text; those that read the same become one."""
    texts = [label(category) for category in categories]
    distinct = tuple(dict.fromkeys(texts))
    if len(distinct) < len(texts):
        place = np.array([distinct.index(text) for text in texts], dtype=np.float64)
        codes = np.where(np.isnan(codes), np.nan, place[np.nan_to_num(codes).astype(np.intp)])
    return CodedCells(codes, distinct, ordered)


def as_texts(cells: Cells) -> TextCells:
    """Write cells of any form as text, "" = hole."""
    if isinstance(cells, TextCells):
        return cells
    if isinstance(cells, CodedCells):
        holes = cells.holes
        places = np.where(holes, 0, cells.codes).astype(np.intp)
        return TextCells(
            ["" if hole else cells.categories[place] for hole, place in zip(holes, places, strict=True)]
        )
    return TextCells(["" if value != value else _number_label(value, cells.kind) for value in cells.values])


def _number_label(value: float, kind: str) -> str:
    if kind == "boolean":
        return label(bool(value))
    if kind == "date":
        return format_day(value, float(value).is_integer()).isoformat()
    return label(value)
