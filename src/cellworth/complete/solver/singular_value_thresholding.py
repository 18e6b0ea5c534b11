r"""Singular value thresholding from a Gram matrix, without an SVD of the table.

The proximal map of :math:`\tau\|\cdot\|_\mathrm{tr}` shrinks every singular value by :math:`\tau` and
cuts at zero. With :math:`A = U\Sigma V^\top` and the small matrix :math:`A^\top A = V\Sigma^2V^\top`,

.. math:: \mathrm{SVT}_\tau(A) = A\,P, \qquad P = V\,\mathrm{diag}(\max(0, 1 - \tau/\sigma))\,V^\top,

so a step costs one Gram matrix and one product with a d x d matrix. If the table has more columns than
rows, the same holds on the other side: :math:`\mathrm{SVT}_\tau(A) = P A` from :math:`AA^\top`.

Squaring halves the digits of singular values far below the largest: those below about 1e-8 of it (float64)
are noise. A threshold above that level sets them to zero anyway.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cellworth.arrays import FloatArray


class Shrinkage(NamedTuple):
    """The shrinkage map of one proximal step, and its result.

    Attributes
    ----------
    operator : (m, m) array
        Multiply A by it, on the right if the Gram matrix was ``A.T @ A``, else on the left.
    singular_values : (rank,) array
        Singular values after shrinking, descending, all positive.
    basis : (m, rank) array
        The singular vectors on the side of the Gram matrix, in the same order.
    """

    operator: FloatArray
    singular_values: FloatArray
    basis: FloatArray

    @classmethod
    def to_zero(cls, m: int) -> Shrinkage:
        """Return the map that leaves nothing of m singular values."""
        return cls(np.zeros((m, m)), np.zeros(0), np.zeros((m, 0)))

    @property
    def trace_norm(self) -> float:
        """Trace norm of the result: the sum of the singular values."""
        return float(self.singular_values.sum())

    @property
    def subgradient_norm(self) -> float:
        """Frobenius norm of the smallest subgradient of the trace norm at the result: sqrt(rank)."""
        return float(np.sqrt(len(self.singular_values)))


def shrinkage(gram: FloatArray, threshold: float) -> Shrinkage:
    """Return the map that shrinks the singular values of A by ``threshold``, given A's Gram matrix.

    Parameters
    ----------
    gram : (m, m) array
        ``A.T @ A`` or ``A @ A.T``; only its lower triangle is read.
    threshold : float
        Amount subtracted from each singular value, in the units of A; nonnegative.

    Notes
    -----
    O(m^3), in float64 whatever the precision of A.
    """
    squares, vectors = np.linalg.eigh(gram.astype(np.float64, copy=False))
    sigma = np.sqrt(np.maximum(squares[::-1], 0))
    rank = int(np.count_nonzero(sigma > threshold))
    kept, basis = sigma[:rank], vectors[:, ::-1][:, :rank]
    operator = (basis * (1 - threshold / kept)) @ basis.T
    return Shrinkage(operator, kept - threshold, basis)


def spectrum(X: FloatArray) -> Shrinkage:
    """Return the positive singular values of X (n, d), unshrunk, and their vectors on its shorter side."""
    return shrinkage(X @ X.T if X.shape[0] < X.shape[1] else X.T @ X, 0.0)
