"""The input arrays of completers: checks in the user's terms, marks of holes, and indicator columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils.validation import validate_data

from cellworth.arrays import FloatArray, IntArray
from cellworth.blocks.row_source import Source
from cellworth.complete.scaling import column_ranges
from cellworth.errors import DataError, ParameterError

LARGEST = 1e150
"""Squares of larger numbers overflow."""
ROWS_AT_ONCE = 1024
PREFIX = "missingindicator_"
"""Of the names of indicator columns, as in ``sklearn.impute.SimpleImputer``."""


def check_table(
    estimator: BaseEstimator, X: Any, *, dtype: Any = None, reset: bool, keep_unmeasured: bool = False
) -> FloatArray:
    """Return X as a C-ordered float array with NaN for holes; learn or check its columns.

    The estimator's ``missing_values``, if it has any, become NaN. Columns without a value in ``fit`` are left
    out, with a warning, in ``fit`` and later: see `measured_only`. With ``add_indicator``, the columns with
    holes are learned too, counted among those that are left.

    Parameters
    ----------
    dtype : data-type or None
        None keeps float32 and float64 and converts anything else to float64.
    reset : bool
        True in ``fit``: learn the number and names of columns, and which have a value: at least one must.
        False in ``transform``: the columns must match those of ``fit``.
    keep_unmeasured : bool
        In ``fit``, return all columns; the estimator calls `measured_only` once it has chosen its rows.

    Returns
    -------
    (n, d) array
        Without columns that have no value; d may be less than ``n_features_in_``.
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
    X = _validated(estimator, X, [np.float64, np.float32] if dtype is None else [dtype], reset)
    low, high = column_ranges(X)
    if X.size and not (float(np.fmax.reduce(high)) <= LARGEST and float(np.fmin.reduce(low)) >= -LARGEST):
        _refuse_infinity(estimator, X)
        _refuse_huge(estimator, X)
    opened = open_marked(X, getattr(estimator, "missing_values", None))
    empty, X = (np.flatnonzero(np.isnan(low)) if opened is X else None), opened
    if not reset:
        return _some_columns(X, getattr(estimator, "measured_columns_", None))
    if not keep_unmeasured:
        X = measured_only(estimator, X, stacklevel=4, empty=empty)
    if getattr(estimator, "add_indicator", False):
        estimator.indicator_columns_ = columns_with_holes(X)
    return X


def _validated(estimator: BaseEstimator, X: Any, dtypes: list[Any], reset: bool) -> FloatArray:
    """Return X as scikit-learn checks and converts it; learn or check its columns.

    In ``fit``, most tables are arrays that would be returned as they are. The checks of these are left out:
    they take as long as some passes over a table of thousands of rows.
    """
    as_is = (
        type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous and X.dtype in dtypes
    )
    if not (reset and as_is):
        return validate_data(
            estimator,
            X,
            dtype=dtypes if len(dtypes) > 1 else dtypes[0],
            order="C",
            ensure_all_finite=False,
            reset=reset,
        )
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.n_features_in_ = X.shape[1]
    return X


def measured_only(
    estimator: BaseEstimator, X: FloatArray, stacklevel: int = 3, empty: IntArray | None = None
) -> FloatArray:
    """Return the columns of X (n, d) with an observed value, and learn which they are; warn of the others.

    Nothing can be learned of a column of nothing but holes. It is left out, as by scikit-learn's imputers:
    a rare column may have no value in a fold of a cross-validation, which should have a score all the same.
    Sets ``measured_columns_``. Raises DataError if there is no such column. X itself is returned if all are.
    ``empty`` are the columns without a value, if they are known.
    """
    empty = _unmeasured_columns(X) if empty is None else empty
    if empty.size == X.shape[1]:
        raise DataError(
            f"{_listed([_name(estimator, j) for j in empty])} no observed value, so nothing can be learned; "
            "expected at least one in the table."
        )
    estimator.measured_columns_ = np.delete(np.arange(X.shape[1]), empty)
    if empty.size:
        warn_left_out([_name(estimator, j) for j in empty], stacklevel + 1)
    return _some_columns(X, estimator.measured_columns_)


def warn_left_out(columns: Sequence[str], stacklevel: int = 2) -> None:
    """Warn that columns, in the user's words, have no value and will not be used."""
    are = "is" if len(columns) == 1 else "are"
    told = f"{_listed(columns)} no observed value and {are} left out."
    warnings.warn(told, UserWarning, stacklevel=stacklevel + 1)


def _some_columns(X: FloatArray, columns: IntArray | None) -> FloatArray:
    """Return these columns (k,), in the same order; X itself if they are all of them."""
    return X if columns is None or len(columns) == X.shape[1] else np.ascontiguousarray(X[:, columns])


def _unmeasured_columns(X: FloatArray) -> IntArray:
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


def _listed(columns: Sequence[str]) -> str:
    """Return columns with "has" or "have" for what follows; at most five are named."""
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return f"{', '.join(columns[:5])}{more} {'has' if len(columns) == 1 else 'have'}"


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


def check_choice(name: str, value: object, options: Sequence[object]) -> None:
    """Raise unless a setting is one of these."""
    if value not in options:
        *most, last = map(repr, options)
        raise ParameterError(f"{name} must be {', '.join(most)} or {last}; got {value!r}")


def check_dtype(dtype: Any) -> None:
    """Raise unless a completer can compute in this precision; None leaves it to the table."""
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise ParameterError(f"dtype must be None, float32 or float64; got {dtype!r}")


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
