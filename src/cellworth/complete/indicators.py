"""Settings that completers share with scikit-learn's imputers: marks of holes, and indicator columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellworth.arrays import FloatArray, IntArray
from cellworth.errors import ParameterError

PREFIX = "missingindicator_"
"""Of the names of indicator columns, as in ``sklearn.impute.SimpleImputer``."""


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
