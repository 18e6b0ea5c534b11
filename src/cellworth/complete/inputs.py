"""The input arrays of completers: checks in the user's terms, marks of holes, and indicator columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils.validation import validate_data

from cellworth.arrays import FloatArray, IntArray
from cellworth.blocks.row_source import Source
from cellworth.errors import DataError, ParameterError

LARGEST = 1e150
"""Squares of larger numbers overflow."""
ROWS_AT_ONCE = 1024
PREFIX = "missingindicator_"
"""Of the names of indicator columns, as in ``sklearn.impute.SimpleImputer``."""


def check_table(estimator: BaseEstimator, X: Any, *, dtype: Any = None, reset: bool) -> FloatArray:
    """Return X as a C-ordered float array with NaN for holes; learn or check its columns.

    The estimator's ``missing_values``, if it has any, become NaN; with ``add_indicator``, the columns with
    holes are learned too.

    Parameters
    ----------
    dtype : data-type or None
        None keeps float32 and float64 and converts anything else to float64.
    reset : bool
        True in ``fit``: learn the number and names of columns; each column must have an observed value.
        False in ``transform``: the columns must match those of ``fit``.
    """
    if isinstance(X, Source):
        raise ParameterError(
            f"{type(estimator).__name__} does not run on row blocks; give it an array, or use "
            "GaussianCompleter, SupervisedCompleter or SparseCompleter."
        )
    if issparse(X):
        raise DataError(
            f"X is sparse, which {type(estimator).__name__} does not take. Use SparseCompleter, whose holes "
            "are the cells that are not stored; or pass a dense array with NaN in the holes."
        )
    _refuse_text(estimator, X)
    X = validate_data(
        estimator,
        X,
        dtype=[np.float64, np.float32] if dtype is None else dtype,
        order="C",
        ensure_all_finite=False,
        reset=reset,
    )
    if not _all_within(X, LARGEST):
        _refuse_infinity(estimator, X)
        _refuse_huge(estimator, X)
    X = open_marked(X, getattr(estimator, "missing_values", None))
    if reset and getattr(estimator, "add_indicator", False):
        estimator.indicator_columns_ = columns_with_holes(X)
    if reset:
        empty = _columns_without_values(X)
        if empty.size:
            raise DataError(
                f"{_columns(estimator, empty)} no observed value, so nothing can be learned about it; "
                "expected at least one in each column. Drop the column, or get a value for it."
            )
    return X


def _all_within(X: FloatArray, limit: float) -> bool:
    """Return whether no observed cell is beyond the limit; found in a third of the time of comparing all."""
    extremes = (float(np.fmax.reduce(X, axis=None)), -float(np.fmin.reduce(X, axis=None))) if X.size else ()
    return all(np.isnan(each) or each <= limit for each in extremes)


def _columns_without_values(X: FloatArray) -> IntArray:
    """Return the columns (k,) with nothing but holes; reads on until every other column has shown a value."""
    empty = np.arange(X.shape[1])
    for first in range(0, len(X), ROWS_AT_ONCE):
        if not empty.size:
            break
        empty = empty[np.isnan(X[first : first + ROWS_AT_ONCE, empty]).all(axis=0)]
    return empty


def _refuse_infinity(estimator: BaseEstimator, X: FloatArray) -> None:
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise DataError(
            f"X contains infinity: {_name(estimator, column)}, row {row} (counted from 0), "
            f"{int(infinite.sum())} cell(s) in all; expected finite numbers, or NaN for a hole."
        )


def _refuse_huge(estimator: BaseEstimator, X: FloatArray) -> None:
    """Raise DataError, naming the cell, if the square of a number would overflow."""
    huge = np.abs(X) > LARGEST
    if huge.any():
        row, column = np.argwhere(huge)[0]
        raise DataError(
            f"X is too large: {_name(estimator, column)}, row {row} (counted from 0) is "
            f"{X[row, column]:.3g}, and squares of numbers above {LARGEST:g} overflow. Use another unit, or "
            "NaN if it marks a hole."
        )


def _refuse_text(estimator: BaseEstimator, X: Any) -> None:
    """Raise DataError if a column of a frame holds text or dates, which only a `Table` can encode."""
    if not hasattr(X, "columns"):
        return
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    for name, dtype in frame.schema.items():
        holds = next((each for each, types in _not_numbers(nw) if isinstance(dtype, types)), None)
        if isinstance(dtype, nw.Object) and any(isinstance(each, str) for each in frame[name]):
            holds = "text"
        if holds is not None:
            fill = (
                ""
                if is_classifier(estimator) or is_regressor(estimator)
                else "use cellworth.fill(frame), or "
            )
            way = f"{fill}make a Table.from_frame(frame) and fit to its encode().X"
            raise DataError(
                f"column {name!r} holds {holds}, but {type(estimator).__name__} takes numbers. "
                f"{way[0].upper()}{way[1:]}: it encodes categories, yes/no and dates."
            )


def _not_numbers(nw: Any) -> tuple[tuple[str, Any], ...]:
    return (
        ("text", nw.String | nw.Categorical | nw.Enum),
        ("dates", nw.Date | nw.Datetime),
        ("times", nw.Time | nw.Duration),
    )


def _columns(estimator: BaseEstimator, indices: IntArray) -> str:
    names = ", ".join(_name(estimator, j) for j in indices[:5])
    more = f" and {len(indices) - 5} more" if len(indices) > 5 else ""
    return f"{names}{more} {'has' if len(indices) == 1 else 'have'}"


def _name(estimator: BaseEstimator, j: int) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {j} (counted from 0)" if names is None else f"column {names[j]!r}"


def check_number(name: str, value: Any, *, minimum: float = -np.inf, above: float = -np.inf) -> None:
    """Raise unless a setting is a finite number of at least ``minimum`` and greater than ``above``."""
    is_number = isinstance(value, int | float | np.number) and np.isfinite(value)
    if is_number and value >= minimum and value > above:
        return
    limit = f"at least {minimum:g}" if minimum > -np.inf else f"greater than {above:g}"
    raise ParameterError(f"{name} must be a finite number, {limit}; got {value!r}")


def open_marked(X: FloatArray, missing_values: Any) -> FloatArray:
    """Return X with NaN where it holds the number that marks a hole; X itself if there is none. O(n d)."""
    if missing_values is None:
        return X
    if isinstance(missing_values, str) or not np.isscalar(missing_values):
        raise ParameterError(f"missing_values must be a number, NaN or None; got {missing_values!r}")
    return np.where(missing_values == X, X.dtype.type(np.nan), X)


def columns_with_holes(X: FloatArray) -> IntArray:
    """Return the columns (k,) that have a hole."""
    return np.flatnonzero(np.isnan(X).any(axis=0))


def with_indicators(completed: FloatArray, X: FloatArray, columns: IntArray) -> FloatArray:
    """Return completed rows with k more columns: for each listed one, 1 where X has a hole, 0 elsewhere."""
    return np.hstack([completed, np.isnan(X[:, columns]).astype(completed.dtype)])


def names_with_indicators(names: Any, columns: IntArray) -> Any:
    """Return the names (d,) of columns, and those of their indicators."""
    return np.concatenate([names, [f"{PREFIX}{name}" for name in names[columns]]]).astype(object)
