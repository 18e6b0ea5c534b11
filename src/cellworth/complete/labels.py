"""From the user's labels to the targets of a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from cellworth.complete.solver.losses import Loss, loss_for
from cellworth.errors import DataError, ParameterError

Array = NDArray[np.floating]
TargetKind = Literal["auto", "classes", "number"]

MAX_INTEGER_CLASSES = 20  # a float target with more distinct whole values than this is a number


@dataclass(frozen=True)
class Labels:
    """Labels coded for a loss.

    Attributes
    ----------
    loss : Loss
    classes : array or None
        The distinct labels, sorted; None for a number.
    targets : (n, n_outputs) float64 array
        0 where the label is missing. A number is brought to mean 0 and standard deviation 1.
    labelled : (n,) bool array
    centre, width : float
        number = target * width + centre; 0 and 1 for classes.
    """

    loss: Loss
    classes: NDArray[Any] | None
    targets: Array
    labelled: NDArray[np.bool_]
    centre: float = 0.0
    width: float = 1.0


def code_labels(y: Any, n_rows: int, loss: str, kind: TargetKind) -> Labels:
    """Code labels for the loss of the given name.

    Parameters
    ----------
    y : array-like of shape (n,) or None
        Class labels of any kind, or numbers. NaN and None are missing labels; None as a whole means
        that no row is labelled.
    kind : {"auto", "classes", "number"}
        "auto": floats with fractional parts, or with more than 20 distinct values, are numbers; all
        else is classes.
    """
    if kind not in ("auto", "classes", "number"):
        raise ParameterError(f"target must be 'auto', 'classes' or 'number'; got {kind!r}")
    if y is None:
        unlabelled = np.zeros(n_rows, dtype=bool)
        return Labels(loss_for(loss, n_classes=2), None, np.zeros((n_rows, 1)), unlabelled)
    y = column_or_1d(_without_extension_types(y), warn=True)
    check_consistent_length(np.empty(n_rows), y)
    labelled = ~is_missing(y)
    known = y[labelled]
    if not known.size:
        raise DataError(
            "y has no label at all; expected at least some. Pass y=None to complete without labels."
        )
    if _is_number(known, kind):
        return _code_number(_as_floats(known), labelled, loss)
    return _code_classes(known, labelled, loss)


def _without_extension_types(y: Any) -> Any:
    """Return y as a plain array: nullable columns of data frames become objects with None."""
    array = np.asarray(y)
    if array.dtype.kind == "c":
        raise DataError(
            "Complex data not supported: y has complex numbers; expected class labels or real numbers."
        )
    return array


def is_missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which labels (n,) are missing: NaN or None."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind in "Mm":
        return np.isnat(y)
    if y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    # None, NaN, pandas.NA and NaT: each is either None or not equal to itself (NA says neither).
    return np.array([v is None or not isinstance(v == v, (bool, np.bool_)) or v != v for v in y], dtype=bool)


def _is_number(known: NDArray[Any], kind: TargetKind) -> bool:
    if kind != "auto":
        return kind == "number"
    if known.dtype.kind != "f" and not all(isinstance(v, float) for v in known[:1]):
        return False
    values = _as_floats(known)
    if not np.isfinite(values).all():
        return True
    return bool((values != np.floor(values)).any()) or len(np.unique(values)) > MAX_INTEGER_CLASSES


def _as_floats(known: NDArray[Any]) -> Array:
    try:
        return known.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"y was to be a number, but some labels are not: {error}") from None


def _code_number(values: Array, labelled: NDArray[np.bool_], loss: str) -> Labels:
    if not np.isfinite(values).all():
        raise DataError("y contains infinity; expected finite numbers, or NaN for a missing label.")
    centre, width = float(values.mean()), float(values.std())
    width = width if width > 0 else 1.0
    targets = np.zeros((len(labelled), 1))
    targets[labelled, 0] = (values - centre) / width
    return Labels(loss_for(loss, n_classes=None), None, targets, labelled, centre, width)


def _code_classes(known: NDArray[Any], labelled: NDArray[np.bool_], loss: str) -> Labels:
    try:
        classes, codes = np.unique(known, return_inverse=True)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in known})
        raise DataError(
            f"Unknown label type: y mixes labels of the types {', '.join(kinds)}; expected one type. "
            "Turn all of them into text or into numbers."
        ) from None
    if len(classes) < 2:
        raise DataError(
            f"y has 1 class, {classes[0]!r}; expected two or more. Add rows of another class, or pass "
            "y=None to complete without labels."
        )
    chosen = loss_for(loss, n_classes=len(classes))
    positive = codes[:, None] == (np.arange(len(classes)) if len(classes) > 2 else [1])
    targets = np.zeros((len(labelled), positive.shape[1]))
    targets[labelled] = positive if chosen.coding == "one-hot" else np.where(positive, 1.0, -1.0)
    return Labels(chosen, classes, targets, labelled)
