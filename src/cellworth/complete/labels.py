"""Turn the user's labels into targets of a loss, all at once or block by block.

A `LabelSummary` holds what must be known about all labels; summaries of adjacent rows can be merged. It
gives a `LabelCode`, which turns the labels of any rows into targets. Labels in memory are one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from cellworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from cellworth.blocks.column_sums import ColumnSums
from cellworth.blocks.row_source import Part
from cellworth.complete.inputs import check_choice
from cellworth.complete.scaling import Order
from cellworth.complete.solver.losses import Loss, loss_for
from cellworth.errors import DataError
from cellworth.table.target import MOST_CLASSES, LabelKind

TargetKind = Literal["auto", "classes", "number"]

MOST_COUNTED = 1000
"""Maximum number of distinct labels that blocks count, to keep their summaries small; no limit in memory."""

FIRST_LABELS, FEW_CLASSES = 1000, 8
"""If the first labels are of so few classes, others are compared with these, which is faster than sorting."""


@dataclass(frozen=True)
class LabelSummary:
    """What is known about the labels of some rows.

    Attributes
    ----------
    classes, counts : arrays, or None
        The distinct labels, sorted, and how often each occurs; None if there are too many, or ``mixed``.
    mixed : tuple of str
        Names of the labels' types if they cannot be compared; otherwise empty.
    floats, fractional, infinite : bool
        Whether any label is a float; has a fractional part; is infinite.
    numbers : ColumnSums or None
        Sums of the labels as numbers; None if some are not numbers.
    """

    classes: AnyArray | None
    counts: IntArray | None
    mixed: tuple[str, ...]
    floats: bool
    fractional: bool
    infinite: bool
    numbers: ColumnSums | None

    @classmethod
    def of(cls, y: AnyArray, *, most: int | None = MOST_COUNTED) -> LabelSummary:
        """Summarise labels (m,); they are not counted if more than ``most`` are distinct."""
        known = y[~is_missing(y)]
        floats = known.dtype.kind == "f" or any(isinstance(v, float) for v in known[:1])
        distinct = _distinct(known, None, most)
        numbers = as_floats(known)
        if numbers is None:
            return cls(*distinct, floats, False, False, None)
        finite = np.isfinite(numbers)
        fractional = bool((numbers[finite] != np.floor(numbers[finite])).any())
        return cls(*distinct, floats, fractional, not finite.all(), ColumnSums.of(numbers[finite, None]))

    def merged(self, other: LabelSummary) -> LabelSummary:
        """Return the summary of both sets of rows."""
        distinct: tuple[AnyArray | None, IntArray | None, tuple[str, ...]]
        distinct = None, None, tuple(sorted({*self.mixed, *other.mixed}))
        if not (self.classes is None or self.counts is None or other.classes is None or other.counts is None):
            classes = np.concatenate([self.classes, other.classes])
            distinct = _distinct(classes, np.concatenate([self.counts, other.counts]), MOST_COUNTED)
        both = self.numbers is not None and other.numbers is not None
        return LabelSummary(
            *distinct,
            self.floats or other.floats,
            self.fractional or other.fractional,
            self.infinite or other.infinite,
            self.numbers.merged(other.numbers) if both else None,  # type: ignore[union-attr, arg-type]
        )

    def is_number(self, kind: TargetKind) -> bool:
        """Return whether the labels are numbers to predict, rather than classes.

        "auto": floats with fractional parts, or with more than 20 distinct values, are numbers.
        """
        check_choice("target", kind, get_args(TargetKind))
        if kind != "auto":
            return kind == "number"
        many = not self.mixed and (self.classes is None or len(self.classes) > MOST_CLASSES)
        return self.floats and (self.infinite or self.fractional or many)


@dataclass(frozen=True)
class LabelCode:
    """How labels become targets of a loss.

    Attributes
    ----------
    loss : Loss
    classes : array or None
        The distinct labels, sorted; None for a number, and without labels.
    n_labelled : int
        Number of labelled rows.
    mean, spread : (n_outputs,) arrays
        Mean and standard deviation of the targets over these rows; 1 in place of a spread of 0.
    centre, width : float
        number = target * width + centre; 0 and 1 for classes.
    """

    loss: Loss
    classes: AnyArray | None
    n_labelled: int
    mean: FloatArray
    spread: FloatArray
    centre: float = 0.0
    width: float = 1.0

    @property
    def n_outputs(self) -> int:
        """Number of target columns."""
        return len(self.mean)

    def targets(self, y: AnyArray | None, n_rows: int) -> tuple[FloatArray, BoolArray]:
        """Return targets (m, n_outputs), 0 where the label is missing, and which rows have one (m,)."""
        targets = np.zeros((n_rows, self.n_outputs))
        if y is None or self.n_labelled == 0:
            return targets, np.zeros(n_rows, dtype=bool)
        labelled = ~is_missing(y)
        known = y[labelled]
        if self.classes is None:
            targets[labelled, 0] = (known.astype(np.float64) - self.centre) / self.width
        else:
            targets[labelled] = _coded(_places(known, self.classes), len(self.classes), self.loss)
        return targets, labelled

    def numbers(self, y: AnyArray | None, n_rows: int) -> FloatArray:
        """Return class numbers from 0, or the numbers themselves, (m,); NaN where the label is missing."""
        found = np.full(n_rows, np.nan)
        if y is not None and self.n_labelled:
            labelled = ~is_missing(y)
            known = y[labelled]
            if self.classes is None:
                found[labelled] = known.astype(np.float64)
            else:
                found[labelled] = _places(known, self.classes)
        return found

    def columns(self, targets: FloatArray, labelled: BoolArray) -> FloatArray:
        """Return targets with mean 0 and variance 1 over the labelled rows, 0 in the others."""
        return np.where(labelled[:, None], (targets - self.mean) / self.spread, 0)


@dataclass(frozen=True)
class Labels:
    """The labels of the rows of a table in memory, coded for a loss.

    Attributes
    ----------
    code : LabelCode
    targets : (n, n_outputs) float64 array
        0 where the label is missing. Numbers are scaled to mean 0 and standard deviation 1.
    labelled : (n,) bool array
    """

    code: LabelCode
    targets: FloatArray
    labelled: BoolArray

    @property
    def loss(self) -> Loss:
        """The loss the targets are coded for."""
        return self.code.loss

    @property
    def classes(self) -> AnyArray | None:
        """The distinct labels, sorted; None for a number."""
        return self.code.classes

    @property
    def columns(self) -> FloatArray:
        """The targets with mean 0 and variance 1 over the labelled rows, 0 in the others."""
        return self.code.columns(self.targets, self.labelled)


def code_labels(y: Any, n_rows: int, loss: str, kind: TargetKind) -> Labels:
    """Code labels for the loss of the given name.

    Parameters
    ----------
    y : array-like of shape (n,) or None
        Class labels of any kind, or numbers. NaN and None mark missing labels; ``y=None`` means that no
        row is labelled.
    kind : {"auto", "classes", "number"}
        See `LabelSummary.is_number`.
    """
    if y is None:
        code = label_code(None, loss, kind)
        return Labels(code, *code.targets(None, n_rows))
    y = column_or_1d(_without_extension_types(y), warn=True)
    check_consistent_length(np.empty(n_rows), y)
    code = label_code(LabelSummary.of(y, most=None), loss, kind)
    return Labels(code, *code.targets(y, n_rows))


def tell_target(completer: Any, kind: LabelKind | None) -> None:
    """Set what the labels hold in a completer that has the parameter ``target`` and was not told."""
    if kind is not None and completer.get_params(deep=False).get("target") == "auto":
        completer.set_params(target=kind)


def label_code(summary: LabelSummary | None, loss: str, kind: TargetKind, name: str = "y") -> LabelCode:
    """Return the coding for the loss of the given name; messages call the labels ``name``."""
    check_choice("target", kind, get_args(TargetKind))
    if summary is None:
        return LabelCode(loss_for(loss, n_classes=2), None, 0, np.zeros(1), np.ones(1))
    is_number = summary.is_number(kind)
    if summary.classes is not None and not len(summary.classes):
        raise DataError(
            f"{name} has no labels; expected at least some. Leave the labels out to complete without them."
        )
    return _number_code(summary, loss, name) if is_number else _class_code(summary, loss, name)


def _number_code(summary: LabelSummary, loss: str, name: str) -> LabelCode:
    if summary.infinite:
        raise DataError(f"{name} contains infinity; expected finite numbers, or NaN for a missing label.")
    if summary.numbers is None:
        raise DataError(f"{name} should be a number, but some labels are not numbers.")
    sums, chosen = summary.numbers, loss_for(loss, n_classes=None)
    width = float(sums.deviation()[0])
    scale = float(sums.mean[0]), width if width > 0 else 1.0
    return LabelCode(chosen, None, int(sums.count[0]), np.zeros(1), np.ones(1), *scale)


def _class_code(summary: LabelSummary, loss: str, name: str) -> LabelCode:
    if summary.mixed:
        raise DataError(
            f"Unknown label type: {name} mixes labels of the types {', '.join(summary.mixed)}; expected one "
            "type. Turn all of them into text or into numbers."
        )
    classes, counts = summary.classes, summary.counts
    if classes is None or counts is None:
        raise DataError(
            f"{name} has more than {MOST_COUNTED} classes; if it is a number to predict, set the completer's "
            "target='number'"
        )
    if len(classes) < 2:
        raise DataError(
            f"{name} has 1 class, {classes.tolist()[0]!r}; expected two or more. Add rows of another class, "
            "or leave the labels out to complete without them."
        )
    chosen = loss_for(loss, n_classes=len(classes))
    of_class = _coded(np.arange(len(classes)), len(classes), chosen)
    mean = counts @ of_class / counts.sum()
    spread = np.sqrt(counts @ (of_class - mean) ** 2 / counts.sum())
    return LabelCode(chosen, classes, int(counts.sum()), mean, np.where(spread > 0, spread, 1))


def _coded(places: IntArray, n_classes: int, loss: Loss) -> FloatArray:
    """Return the targets of labels given as class indices; one column for two classes."""
    positive = places[:, None] == (np.arange(n_classes) if n_classes > 2 else [1])
    return np.where(positive, 1.0, 0.0 if loss.coding == "one-hot" else -1.0)


def _places(known: AnyArray, classes: AnyArray) -> IntArray:
    """Return where labels (m,), all of which are classes, stand among the sorted classes."""
    known = known.astype(classes.dtype, copy=False)
    if len(classes) == 2:
        return (known == classes[1]).astype(np.intp)  # in a tenth of the time
    return np.searchsorted(classes, known)


def _distinct(
    labels: AnyArray, counts: IntArray | None, most: int | None
) -> tuple[AnyArray | None, IntArray | None, tuple[str, ...]]:
    """Return the distinct labels and their counts, None if there are too many, and their types if mixed.

    ``counts`` says how often each of ``labels`` occurred; None means once.
    """
    try:
        if counts is None:
            classes, found = _counted(labels)
            return (classes, found, ()) if most is None or len(classes) <= most else (None, None, ())
        classes, place = np.unique(labels, return_inverse=True)
    except TypeError:
        return None, None, tuple(sorted({type(v).__name__ for v in labels}))
    if most is not None and len(classes) > most:
        return None, None, ()
    return classes, np.bincount(place, weights=counts, minlength=len(classes)).astype(np.intp), ()


def _counted(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """Return the distinct labels, sorted, and their counts; without sorting all if there are few classes."""
    classes = np.unique(labels[:FIRST_LABELS])
    if len(classes) <= FEW_CLASSES:
        counts = np.array([np.count_nonzero(labels == each) for each in classes], dtype=np.intp)
        if counts.sum() == len(labels):
            return classes, counts
    return np.unique(labels, return_counts=True)


def is_missing(y: AnyArray) -> BoolArray:
    """Return which labels (n,) are missing: NaN or None."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind in "Mm":
        return np.isnat(y)
    if y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    # None, NaN, pandas.NA and NaT: each is either None or not equal to itself (for NA, ``==`` gives NA).
    return np.array([v is None or not isinstance(v == v, (bool, np.bool_)) or v != v for v in y], dtype=bool)


def unlabelled_rows(part: Part) -> BoolArray:
    """Return which rows (m,) of a part have no label; all of them if the table has no target."""
    return np.ones(part.X.shape[0], dtype=bool) if part.y is None else np.asarray(is_missing(part.y))


def as_floats(known: AnyArray) -> FloatArray | None:
    """Return labels as numbers, or None if some are not numbers."""
    try:
        return known.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _without_extension_types(y: Any) -> Any:
    """Return y as a plain array: nullable columns of data frames become objects with None."""
    array = np.asarray(y)
    if array.dtype.kind == "c":
        raise DataError(
            "Complex data not supported: y has complex numbers; expected class labels or real numbers."
        )
    return array


def labelled_first(labelled: BoolArray) -> Order:
    """Return the row order that the solver expects: labelled rows first."""
    if labelled.all() or not labelled.any():
        return slice(None)
    return np.argsort(~labelled, kind="stable")
