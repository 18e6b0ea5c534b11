"""Bring columns to a common scale before completion, and back after it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellworth.errors import ParameterError

Array = NDArray[np.floating]

SCALES = ("minmax", "standard", None)


@dataclass(frozen=True)
class Scaling:
    """scaled = (value - offset) / width, column by column.

    Attributes
    ----------
    offset, width : (d,) float64 arrays
        ``width`` is positive; 1 for a constant column.
    """

    offset: Array
    width: Array

    @classmethod
    def of(cls, X: Array, how: str | None) -> Scaling:
        """Learn the scaling from the observed cells of X (n, d).

        "minmax" maps the observed range to [0, 1], as the paper does; "standard" the mean to 0 and the
        standard deviation to 1; None leaves the values alone.
        """
        if how not in SCALES:
            raise ParameterError(f"scale must be 'minmax', 'standard' or None; got {how!r}")
        d = X.shape[1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # overflow is caught below
            if how is None:
                offset, width = np.zeros(d), np.ones(d)
            elif how == "minmax":
                columns = np.ascontiguousarray(X.T)  # whose extremes are found in half the time
                offset = np.fmin.reduce(columns, axis=1).astype(np.float64)
                width = np.fmax.reduce(columns, axis=1) - offset
            else:
                offset = np.nanmean(X, axis=0, dtype=np.float64)
                width = np.nanstd(X, axis=0, dtype=np.float64)
        smallest = np.finfo(X.dtype).eps * np.maximum(np.abs(offset), np.finfo(np.float64).tiny)
        return cls(offset, np.where(np.isfinite(width) & (width > smallest), width, 1.0))

    def apply(self, X: Array) -> Array:
        """Return X scaled: a new array of X's dtype."""
        scaled = X - self.offset.astype(X.dtype)
        scaled /= self.width.astype(X.dtype)
        return scaled

    def undo_in_place(self, X: Array) -> Array:
        """Bring a scaled X back to the user's units, in X's memory."""
        X *= self.width.astype(X.dtype)
        X += self.offset.astype(X.dtype)
        return X
