"""Labels that are seen block by block: what kind they are, and their coding for a loss.

The rules are those of `cellworth.complete.labels`, which sees all labels at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.column_sums import ColumnSums
from cellworth.complete.labels import MAX_INTEGER_CLASSES, TargetKind, is_missing
from cellworth.complete.solver.losses import Loss, loss_for
from cellworth.errors import DataError

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]

MOST_CLASSES = 1000


@dataclass(frozen=True)
class LabelSummary:
    """What is known about the labels of some rows; summaries of neighbouring rows can be merged.

    Attributes
    ----------
    counts : Counter or None
        How often each label occurs; None once there are more than `MOST_CLASSES`.
    floats, fractional, infinite : bool
        Whether any label is a float; has a fractional part; is infinite.
    numbers : ColumnSums or None
        Of the labels as numbers; None if some are not.
    """

    counts: Counter[Any] | None
    floats: bool
    fractional: bool
    infinite: bool
    numbers: ColumnSums | None

    @classmethod
    def of(cls, y: NDArray[Any]) -> LabelSummary:
        """Summarise labels (m,)."""
        known = y[~is_missing(y)]
        distinct, often = _distinct(known)
        counts = None if len(distinct) > MOST_CLASSES else Counter(dict(zip(distinct, often, strict=True)))
        floats = known.dtype.kind == "f" or any(isinstance(v, float) for v in known[:1])
        numbers = as_floats(known)
        if numbers is None:
            return cls(counts, floats, False, False, None)
        finite = np.isfinite(numbers)
        fractional = bool((numbers[finite] != np.floor(numbers[finite])).any())
        return cls(counts, floats, fractional, not finite.all(), ColumnSums.of(numbers[finite, None]))

    def merged(self, other: LabelSummary) -> LabelSummary:
        """Return the summary of both."""
        counts = None if self.counts is None or other.counts is None else self.counts + other.counts
        if counts is not None and len(counts) > MOST_CLASSES:
            counts = None
        both = self.numbers is not None and other.numbers is not None
        return LabelSummary(
            counts,
            self.floats or other.floats,
            self.fractional or other.fractional,
            self.infinite or other.infinite,
            self.numbers.merged(other.numbers) if both else None,  # type: ignore[union-attr, arg-type]
        )

    def is_number(self, kind: TargetKind) -> bool:
        """Tell whether the labels are numbers to be predicted; else they are classes."""
        if kind != "auto":
            return kind == "number"
        many = self.counts is None or len(self.counts) > MAX_INTEGER_CLASSES
        return self.floats and (self.infinite or self.fractional or many)


@dataclass(frozen=True)
class LabelCode:
    """How labels become targets of a loss; see `cellworth.complete.labels.Labels`.

    Attributes
    ----------
    classes : array or None
        Sorted; None for a number, and without labels.
    n_labelled : int
    mean, spread : (n_outputs,) arrays
        Of the targets over the labelled rows; a spread of 0 is given as 1.
    """

    loss: Loss
    classes: NDArray[Any] | None
    n_labelled: int
    mean: Array
    spread: Array
    centre: float = 0.0
    width: float = 1.0

    @property
    def n_outputs(self) -> int:
        """Columns of the targets."""
        return len(self.mean)

    def targets(self, y: NDArray[Any] | None, n_rows: int) -> tuple[Array, Mask]:
        """Return targets (m, n_outputs), 0 where the label is missing, and which rows have one (m,)."""
        targets = np.zeros((n_rows, self.n_outputs))
        if y is None or self.n_labelled == 0:
            return targets, np.zeros(n_rows, dtype=bool)
        labelled = ~is_missing(y)
        known = y[labelled]
        if self.classes is None:
            targets[labelled, 0] = (known.astype(np.float64) - self.centre) / self.width
        else:
            targets[labelled] = self._coded(np.searchsorted(self.classes, known.astype(self.classes.dtype)))
        return targets, labelled

    def _coded(self, codes: NDArray[np.intp]) -> Array:
        assert self.classes is not None
        positive = codes[:, None] == (np.arange(len(self.classes)) if len(self.classes) > 2 else [1])
        return np.where(positive, 1.0, 0.0 if self.loss.coding == "one-hot" else -1.0)


def label_code(summary: LabelSummary | None, loss: str, kind: TargetKind, target: str | None) -> LabelCode:
    """Return the coding for the loss of the given name; ``target`` names the labels in messages."""
    if summary is None:
        return LabelCode(loss_for(loss, n_classes=2), None, 0, np.zeros(1), np.ones(1))
    if summary.is_number(kind):
        return _number_code(summary, loss, target)
    if summary.counts is None:
        raise DataError(
            f"the target {target!r} has more than {MOST_CLASSES} classes; if it is a number to be predicted, "
            "say so by the completer's target='number'"
        )
    if len(summary.counts) < 2:
        found = "no label at all" if not summary.counts else f"1 class, {next(iter(summary.counts))!r}"
        raise DataError(
            f"the target {target!r} has {found}; expected two or more classes. Leave the target out to "
            "complete without labels."
        )
    try:
        classes = np.array(sorted(summary.counts))
    except TypeError:
        kinds = sorted({type(v).__name__ for v in summary.counts})
        raise DataError(
            f"the target {target!r} mixes labels of the types {', '.join(kinds)}; expected one type. Turn "
            "all of them into text or into numbers."
        ) from None
    chosen = loss_for(loss, n_classes=len(classes))
    often = np.array([summary.counts[c] for c in classes.tolist()], dtype=np.float64)
    code = LabelCode(
        chosen, classes, int(often.sum()), np.zeros(1 if len(classes) == 2 else len(classes)), np.ones(1)
    )
    of_class = code._coded(np.arange(len(classes)))
    mean = often @ of_class / often.sum()
    spread = np.sqrt(often @ (of_class - mean) ** 2 / often.sum())
    return LabelCode(chosen, classes, code.n_labelled, mean, np.where(spread > 0, spread, 1))


def _number_code(summary: LabelSummary, loss: str, target: str | None) -> LabelCode:
    if summary.numbers is None or summary.infinite:
        found = "infinity" if summary.infinite else "labels that are no numbers"
        raise DataError(f"the target {target!r} was to be a number, but has {found}.")
    numbers = summary.numbers
    if not numbers.count[0]:
        raise DataError(
            f"the target {target!r} has no label at all; leave it out to complete without labels."
        )
    centre, width = float(numbers.mean[0]), float(numbers.deviation()[0])
    chosen, n = loss_for(loss, n_classes=None), int(numbers.count[0])
    return LabelCode(chosen, None, n, np.zeros(1), np.ones(1), centre, width if width > 0 else 1.0)


def as_floats(known: NDArray[Any]) -> Array | None:
    """Return labels as numbers, None if some are not."""
    try:
        return known.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _distinct(known: NDArray[Any]) -> tuple[list[Any], list[int]]:
    """Return the distinct labels and how often each occurs."""
    try:
        values, often = np.unique(known, return_counts=True)
        return values.tolist(), often.tolist()
    except TypeError:  # labels of types that cannot be compared
        counts = Counter(known.tolist())
        return list(counts), list(counts.values())
