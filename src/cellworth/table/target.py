"""The target of a table: the labels to predict, and their kind."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Literal, cast, get_args

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, Float64Array
from cellworth.errors import DataError, ParameterError, ReadWarning
from cellworth.messages import listing, shorten
from cellworth.setting_names import setting
from cellworth.shown_numbers import shown
from cellworth.table.column import NUMERIC, Column, UserValue
from cellworth.table.raw_cells import Origin

TargetKind = Literal["two classes", "several classes", "number"]
LabelKind = Literal["classes", "number"]
"""What labels hold; all that completers and scorers need to know about the kind of a target."""

Metric = Literal["AUC", "R2"]
"""How well a model predicts a target."""

TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
MOST_CLASSES = 20
"""An integer target with more distinct values than this is treated as a number."""
MOST_SURE_CLASSES = 10
"""With more of them, it may hold amounts all the same, and a warning says so."""


@dataclass(frozen=True, eq=False)
class Target:
    """The labels of the rows, NaN where a label is missing.

    Attributes
    ----------
    name : str
        The name of the target column.
    kind : {"two classes", "several classes", "number"}
        What to predict.
    classes : tuple or None
        The user's labels in ascending order (an ordered column keeps its order); None for a number.
    values : ndarray of shape (n,), read-only
        Indices into `classes`, or the numbers themselves; NaN = missing label.
    column : Column
        How the labels are written in the user's table.

    Examples
    --------
    >>> from cellworth.table import Table
    >>> target = Table.from_arrays([[1.0], [2.0], [3.0]], ["ill", "well", None]).target
    >>> target.kind, target.classes, target.values
    ('two classes', ('ill', 'well'), array([ 0.,  1., nan]))
    """

    name: str
    kind: TargetKind
    classes: tuple[UserValue, ...] | None
    values: Float64Array
    column: Column = field(repr=False)

    @property
    def is_number(self) -> bool:
        """Whether the labels are numbers; otherwise they are classes."""
        return self.kind == "number"

    @property
    def label_kind(self) -> LabelKind:
        """What the labels are."""
        return "number" if self.is_number else "classes"

    @property
    def labels(self) -> AnyArray:
        """(n,) array, the labels as the user has them: classes, None where missing, or `values`."""
        if self.classes is None:
            return self.values
        labels = np.full(len(self.values), None, dtype=object)
        known = ~np.isnan(self.values)
        labels[known] = np.array(self.classes, dtype=object)[self.values[known].astype(np.intp)]
        return labels

    @property
    def cells(self) -> Float64Array:
        """(n,) float64, the labels as values of `column`, as written back to the user's table."""
        return self.cells_of(self.values)

    def cells_of(self, labels: Float64Array) -> Float64Array:
        """Return labels (m,), as `values` holds them, as values of `column`."""
        if self.classes is None:
            return labels
        places, holes = np.array(self._places()), np.isnan(labels)
        return np.where(holes, np.nan, places[np.where(holes, 0, labels).astype(np.intp)])

    @property
    def answer_column(self) -> Column:
        """The column of the labels that may be told: `column`, if it says which classes there are.

        Categories, and whole numbers within bounds, may be told even if no row had them so far. Other numbers
        are classes only if they were seen.
        """
        if self.classes is None or self.column.kind not in NUMERIC:
            return self.column
        if self.column.kind == "integer" and all(map(math.isfinite, self.column.bounds)):
            return self.column
        return ClassColumn(**vars(self.column), classes=self._places())

    def with_cells(self, cells: Float64Array) -> Target:
        """Return the target of other labels (n,), as values of `column`; classes never seen before are added.

        Classes without a row stay. O(n log n).
        """
        if self.classes is None:
            return replace(self, values=_read_only(cells))
        seen = set(self._places()).union(cells[~np.isnan(cells)].tolist())  # np.unique would load numpy.ma
        places = np.array(sorted(seen))
        codes = np.where(np.isnan(cells), np.nan, np.searchsorted(places, cells))
        classes = tuple(cast(UserValue, self.column.format(float(value))) for value in places)
        kind: TargetKind = "several classes" if len(classes) > 2 else self.kind
        return replace(self, kind=kind, classes=classes, values=_read_only(codes))

    def with_classes_of(self, cells: Float64Array) -> Target:
        """Return the target without labels, with the classes of these (m,), values of `column`, added."""
        return replace(self.with_cells(cells), values=_read_only(np.zeros(0)))

    def codes_of(self, cells: Float64Array) -> Float64Array:
        """Return labels (n,), as values of `column`, as `values` holds them; NaN for unknown classes."""
        if self.classes is None:
            return cells
        places = np.array(self._places())
        codes = np.minimum(np.searchsorted(places, cells), len(places) - 1)
        return np.where(places[codes] == cells, codes, np.nan)

    def _places(self) -> tuple[float, ...]:
        return tuple(self.column.parse(label) for label in self.classes or ())

    def equals(self, other: Target | None) -> bool:
        """Return whether the other target has the same name, kind, classes and labels."""
        return (
            other is not None
            and (self.name, self.kind, self.classes) == (other.name, other.kind, other.classes)
            and self.column == other.column
            and np.array_equal(self.values, other.values, equal_nan=True)
        )


@dataclass(frozen=True)
class ClassColumn(Column):
    """A column of numbers that are classes: it holds those that were seen, and no others."""

    classes: tuple[float, ...] = ()

    def invalid(self, values: Float64Array) -> BoolArray:
        """Mark the values that are not among the classes; NaN (a hole) is allowed."""
        return ~np.isin(values, self.classes) & ~np.isnan(values)

    @property
    def expected(self) -> str:
        """What a cell may hold, in words, as in "one of the classes 0, 1"."""
        shown = [self.format(each) for each in self.classes]
        return f"one of the classes {listing(shown, most=10)}"


def label_kind_of(target: Target | None) -> LabelKind | None:
    """Return what the labels of a table are; None if it has no target."""
    return None if target is None else target.label_kind


def metric_of(*, is_number: bool) -> Metric:
    """Return the metric of models that predict a number, or classes."""
    return "R2" if is_number else "AUC"


def make_target(column: Column, cells: Float64Array, kind: str | None, origin: Origin) -> Target:
    """Convert the cells (n,) of the target column to labels; infer the kind unless it is given."""
    place = origin.column(column.name)
    if column.kind == "date":
        raise DataError(
            f"{place}: a target must be classes or numbers, got dates. Give a number of days, or "
            f"set {setting('kinds', 'category', column=column.name)} to treat each date as a class."
        )
    distinct = np.unique(cells[~np.isnan(cells)])
    if len(distinct) < 2:
        raise DataError(
            f"{place}: a target needs at least two different labels, got only "
            f"{shorten(column.format(float(distinct[0])))}. Add other labels, or choose another target."
        )
    found = check_target_kind(kind) or _find_kind(column, distinct)
    if kind is None and found == "several classes" and column.kind == "integer":
        _warn_of_amounts(column, distinct, place)
    _check_fit(found, column, distinct, place)
    if found == "number":
        return Target(column.name, found, None, _read_only(cells), column)
    classes = tuple(cast(UserValue, column.format(float(value))) for value in distinct)
    codes = np.where(np.isnan(cells), np.nan, np.searchsorted(distinct, cells))
    return Target(column.name, found, classes, _read_only(codes), column)


def check_target_kind(kind: str | None) -> TargetKind | None:
    """Return the kind if it is valid or None; otherwise raise ParameterError with the list of kinds."""
    if kind is None or kind in TARGET_KINDS:
        return kind
    raise ParameterError(f"target_kind must be one of {listing(TARGET_KINDS)}, got {shorten(kind)}.")


def _find_kind(column: Column, distinct: Float64Array) -> TargetKind:
    if len(distinct) == 2:
        return "two classes"
    if column.kind in NUMERIC:
        has_fractions = bool(np.any(distinct != np.rint(distinct)))
        if has_fractions or len(distinct) > MOST_CLASSES:
            return "number"
    return "several classes"


def _warn_of_amounts(column: Column, distinct: Float64Array, place: str) -> None:
    """Warn if so many whole numbers are read as classes that they may be amounts, such as days or points."""
    if len(distinct) <= MOST_SURE_CLASSES:
        return
    number, category = (setting("kinds", kind, column=column.name) for kind in ("number", "category"))
    warnings.warn(
        f"{place}: {len(distinct)} different whole numbers, from {shown(distinct[0], ',.0f')} to "
        f"{shown(distinct[-1], ',.0f')}, are read as classes without order. Set {number} if they are "
        f"amounts, or {category} if they are classes.",
        ReadWarning,
        stacklevel=2,
    )


def _check_fit(kind: TargetKind, column: Column, distinct: Float64Array, place: str) -> None:
    if kind == "number" and column.kind not in NUMERIC:
        raise DataError(
            f"{place}: target_kind='number' needs numbers, got the kind {column.kind!r}. Leave it out."
        )
    if kind == "two classes" and len(distinct) > 2:
        labels = [column.format(float(value)) for value in distinct]
        raise DataError(
            f"{place}: target_kind='two classes' needs two different labels, got {len(distinct)}: "
            f"{listing(labels)}. "
            "Use target_kind='several classes', or merge labels."
        )


def _read_only(values: Float64Array) -> Float64Array:
    values = np.array(values, dtype=np.float64)
    values.setflags(write=False)
    return values
