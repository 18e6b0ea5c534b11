"""How wide the columns of a table are: what makes worths of different columns comparable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.scaling import Scaling

Array = NDArray[np.float64]


def squared_ranges(X: Array) -> Array:
    """Return (max - min)^2 of the observed cells of each column of X (n, d), (d,); 1 for a constant column.

    Dividing a squared distance by it is the same as scaling each column to [0, 1] first, as the paper does.
    """
    return np.square(Scaling.of(X, "minmax").width)


def observed_variances(X: Array) -> Array:
    """Return the variance of the observed cells of each column of X (n, d), (d,); 1 for a constant column."""
    return np.square(Scaling.of(X, "standard").width)
