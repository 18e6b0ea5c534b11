"""A first guess of a covariance, from the pairs of cells that are observed together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray
from cellworth.complete.gaussian.dense import DenseGaussian

Array = NDArray[np.floating]

SMALLEST_EIGENVALUE = 1e-3  # of the first guess


def pairwise_start(values: Array, observed: BoolArray, shrinkage: float) -> DenseGaussian:
    """Return a first guess for values (n, d) centred and scaled, 0 in the holes; O(n d^2 + d^3)."""
    return start_from_pairs(*pair_sums(values, observed), shrinkage)


def pair_sums(values: Array, observed: BoolArray) -> tuple[Array, Array]:
    """Return, for all pairs of columns (d, d), the rows where both are observed, and the sums of products."""
    weights = observed.astype(np.float64)
    return weights.T @ weights, values.T @ values


def start_from_pairs(pairs: Array, products: Array, shrinkage: float) -> DenseGaussian:
    """Return a first guess from the `pair_sums` of values centred and scaled, 0 in the holes; O(d^3).

    A correlation known from few pairs is shrunk towards 0, and eigenvalues are kept away from 0.
    """
    covariance = products / (pairs + shrinkage)
    np.fill_diagonal(covariance, 1.0)
    eigenvalues, basis = np.linalg.eigh(covariance)
    covariance = (basis * np.maximum(eigenvalues, SMALLEST_EIGENVALUE)) @ basis.T
    return DenseGaussian(np.zeros(len(covariance)), covariance)
