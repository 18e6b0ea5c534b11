"""What all completers share: they keep observed cells, work in scaled units, and complete new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cellworth.complete.inputs import check_table
from cellworth.complete.scaling import Scaling

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]

BLOCK_CELLS = 1 << 16


class Completer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the completers, scikit-learn transformers from tables with NaN to tables without.

    A subclass's ``fit(X, y=None)`` sets ``completed_`` (n, d), the completed training table in the user's
    units with observed cells untouched, and ``scaling_``. It also says how new rows are completed, in
    scaled units, by `_complete_new`.
    """

    dtype: DTypeLike | None = None  # a subclass with a parameter of this name overrides it
    completed_: Array
    scaling_: Scaling

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn from the table X (n, d), NaN in its holes, and complete it."""

    @abstractmethod
    def _complete_new(self, values: Array, observed: Mask) -> Array:
        """Return estimates (m, d) of all cells of new rows; scaled in, scaled out; 0 in the holes."""

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> Array:
        """Complete the table X (n, d), with the labels y if they are used, and return it completed."""
        return self.fit(X, y, **fit_params).completed_

    def transform(self, X: ArrayLike) -> Array:
        """Complete new rows X (m, d), without labels, by what was learned in `fit`.

        Each row is completed on its own: a row's result does not depend on the others.
        """
        check_is_fitted(self)
        X = check_table(self, X, dtype=self.dtype, reset=False)
        holes = np.isnan(X)
        incomplete = holes.any(axis=1)
        completed = X.copy()
        if incomplete.any():
            part = X[incomplete]
            values, observed = scaled_cells(part, self.scaling_)
            filled = self._complete_new(values, observed).astype(X.dtype, copy=False)
            completed[incomplete] = put_back(part, self.scaling_.undo_in_place(filled))
        return completed


def scaled_cells(X: Array, scaling: Scaling) -> tuple[Array, Mask]:
    """Return the scaled values of X, 0 in the holes, and which cells are observed; both (n, d)."""
    observed = ~np.isnan(X)
    values = np.ascontiguousarray(scaling.apply(X))
    for rows in _row_blocks(X.shape):
        # By their numbers: a masked copy takes four times as long.
        values[rows].ravel()[np.flatnonzero(~observed[rows])] = 0
    return values, observed


def put_back(X: Array, filled: Array) -> Array:
    """Put the observed cells of X into ``filled``, in its memory if it is C-contiguous, and return it."""
    filled = np.ascontiguousarray(filled)
    for rows in _row_blocks(X.shape):
        cells = np.flatnonzero(~np.isnan(X[rows]))
        filled[rows].ravel()[cells] = X[rows].ravel()[cells]
    return filled


def _row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Return slices of rows whose cells stay in cache, and whose numbers take no memory to speak of."""
    size = max(1, BLOCK_CELLS // max(1, shape[1]))
    return [slice(first, first + size) for first in range(0, shape[0], size)]
