"""What a column of a table in row blocks holds, found in one pass: some of its cells stand for all.

Whether a column of numbers is whole, within its bounds and finite can be told from its extremes and from the
first cell that is not; the kind of a column of texts from its different texts. So the digest of a column is a
short column of the cells that matter, each with its row, and digests of adjacent blocks can be merged. What
`cellworth.table` infers from the digest, it would infer from the whole column, and its messages name the
user's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, Float64Array, Int64Array
from cellworth.errors import DataError
from cellworth.messages import shorten
from cellworth.setting_names import setting
from cellworth.table.column import Column
from cellworth.table.missing_marks import MissingMarks, open_holes
from cellworth.table.raw_cells import (
    Cells,
    CodedCells,
    NumberCells,
    Origin,
    RawColumn,
    TextCells,
    TextCounts,
)

MOST_TEXTS = 100_000
"""Different texts, or numbers that are labels, that a column may hold."""

TEXTS = ("text", "category", "ordered")

RowNames = Callable[[AnyArray], Sequence[str]]
"""Returns the user's ids of some rows of a block, given by their numbers in it."""


@dataclass(frozen=True, eq=False)
class ColumnDigest:
    """The cells that stand for a column, sorted by row.

    Attributes
    ----------
    form : str
        "text", "category" or "ordered" for texts, or the kind of `NumberCells`.
    values : (k,) array
        The different texts or numbers; of numbers that are no labels, those described above.
    times, rows : (k,) int arrays
        How many cells have the value, and the number of the first row that has it.
    names : tuple of str, length k
        The user's ids of these rows.
    known : int
        Cells with a value.
    fineness : int or None
        See `Column.fineness`.
    categories : tuple of str
        Those that the file declares, in its order.
    complete : bool
        Whether all different values are there.
    """

    form: str
    values: AnyArray
    times: Int64Array
    rows: Int64Array
    names: tuple[str, ...]
    known: int
    fineness: int | None = -1
    categories: tuple[str, ...] = ()
    complete: bool = True

    @classmethod
    def of(
        cls, cells: Cells, marks: MissingMarks, start: int, names: RowNames, *, labels: bool
    ) -> ColumnDigest:
        """Digest the cells (m,) of a block whose first row has the number ``start``.

        ``labels`` keeps all different numbers, for columns whose numbers are labels.
        """
        if isinstance(cells, TextCells):
            counted = cells.text_counts
            return cls._of_codes("text", counted.codes, counted.distinct, start, names)
        opened = open_holes(cells, marks)
        if isinstance(opened, CodedCells):
            codes = np.where(opened.holes, -1, np.nan_to_num(opened.codes)).astype(np.intp)
            found = cls._of_codes(opened.kind, codes, opened.categories, start, names)
            return replace(found, categories=opened.categories)
        assert isinstance(opened, NumberCells)
        return cls._of_numbers(opened, start, names, labels=labels)

    @classmethod
    def _of_codes(
        cls, form: str, codes: AnyArray, texts: Sequence[str], start: int, names: RowNames
    ) -> ColumnDigest:
        known = np.flatnonzero(codes >= 0)
        places, first, times = np.unique(codes[known], return_index=True, return_counts=True)
        rows = known[first]
        values = np.array([texts[place] for place in places.tolist()], dtype=object)
        found = cls._sorted(form, values, times, rows, start, names, int(times.sum()))
        return replace(found, complete=len(values) <= MOST_TEXTS)

    @classmethod
    def _of_numbers(cls, cells: NumberCells, start: int, names: RowNames, *, labels: bool) -> ColumnDigest:
        known = np.flatnonzero(~np.isnan(cells.values))
        values = cells.values[known]
        if labels:
            distinct, first, times = np.unique(values, return_index=True, return_counts=True)
            if len(distinct) <= MOST_TEXTS:
                return cls._sorted(cells.kind, distinct, times, known[first], start, names, len(known))
        some = _telling(values, cells.kind)
        fineness: int | None = -1
        if cells.kind in ("number", "date"):
            fineness = Column("any", cells.kind).fineness(values[np.isfinite(values)])
        ones = np.ones(len(some), dtype=np.int64)
        found = cls._sorted(cells.kind, values[some], ones, known[some], start, names, len(known))
        return replace(found, fineness=fineness, complete=False)

    @classmethod
    def _sorted(
        cls,
        form: str,
        values: AnyArray,
        times: AnyArray,
        rows: AnyArray,
        start: int,
        names: RowNames,
        known: int,
    ) -> ColumnDigest:
        order = np.argsort(rows, kind="stable")
        ids = tuple(names(rows[order]))
        return cls(form, values[order], times[order], rows[order] + start, ids, known)

    def merged(self, other: ColumnDigest) -> ColumnDigest:
        """Return the digest of two adjacent parts of a column; ``other`` comes after this one."""
        if self.form != other.form:
            return self._merged_forms(other)
        values = np.concatenate([self.values, other.values])
        rows, names = np.concatenate([self.rows, other.rows]), self.names + other.names
        places: dict[object, int] = {}
        at = [places.setdefault(value, place) for place, value in enumerate(values.tolist())]
        kept = np.array(list(places.values()), dtype=np.intp)
        sums = np.bincount(at, np.concatenate([self.times, other.times]), minlength=len(values))
        is_text = self.form in TEXTS
        complete = self.complete and other.complete and len(kept) <= MOST_TEXTS
        if not complete:
            kept = kept[: MOST_TEXTS + 1] if is_text else kept[_telling(values[kept], self.form)]
        finest = None
        if self.fineness is not None and other.fineness is not None:
            finest = max(self.fineness, other.fineness)
        return ColumnDigest(
            self.form,
            values[kept],
            sums[kept].astype(np.int64),
            rows[kept],
            tuple(names[place] for place in kept.tolist()),
            self.known + other.known,
            finest,
            tuple(dict.fromkeys(self.categories + other.categories)),
            complete,
        )

    def _merged_forms(self, other: ColumnDigest) -> ColumnDigest:
        """Return the digest of parts whose forms were told from the cells of each, and differ."""
        if not len(self.values) or not len(other.values):
            return self if len(self.values) else other
        if {self.form, other.form} == {"number", "integer"}:
            return replace(self, form="number").merged(replace(other, form="number"))
        return replace(self, form="mixed")

    def raw(self, name: str, declared: Mapping[str, Any]) -> RawColumn:
        """Return the column that stands for the whole one."""
        if self.form == "text":
            counted = TextCounts(tuple(self.values.tolist()), np.arange(len(self.values)), self.times)
            return RawColumn(name, TextCells.counted(counted), declared)
        if self.form in ("category", "ordered"):
            place = {text: float(code) for code, text in enumerate(self.categories)}
            codes: Float64Array = np.array([place[text] for text in self.values.tolist()], dtype=np.float64)
            return RawColumn(name, CodedCells(codes, self.categories, self.form == "ordered"), declared)
        kind: Any = self.form
        return RawColumn(name, NumberCells(self.values.astype(np.float64), kind), declared)

    def origin(self, name: str) -> Origin:
        """Return the origin for messages about this column."""
        return Origin(name, self.names)

    def check(self, name: str, place: str) -> None:
        """Raise DataError if the column has too many different texts, or cells of several kinds."""
        if self.form == "mixed":
            raise DataError(
                f"{place}, column {shorten(name)}: some blocks hold numbers, dates or booleans and others "
                "something else. Give the column one type."
            )
        if self.form in TEXTS and not self.complete:
            raise DataError(
                f"{place}, column {shorten(name)}: more than {MOST_TEXTS} different texts, such as "
                f"{shorten(str(self.values[0]))}; expected a category with fewer. Use "
                f"{setting('row_id', name)} if they name the rows, store numbers and dates as such, or leave "
                "the column out."
            )


def _telling(values: Float64Array, kind: str) -> AnyArray:
    """Return the places (k,) of the extremes, and of the first values that are infinite or not whole."""
    if not len(values):
        return np.zeros(0, dtype=np.intp)
    finite = np.isfinite(values)
    odd = [] if finite.all() else [int(np.argmin(finite))]
    if kind in ("number", "date"):
        fraction = np.flatnonzero(finite & (values != np.rint(values)))[:1]
        odd += fraction.tolist()
    return np.unique([int(values.argmin()), int(values.argmax()), *odd])
