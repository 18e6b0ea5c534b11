r"""Balanced factors of a completed table, and new rows completed with them.

The trace norm is the smallest :math:`\frac12(\|A\|_F^2 + \|B\|_F^2)` over all :math:`AB = \hat X`, reached
at :math:`A = U\Sigma^{1/2}, B = \Sigma^{1/2}V^\top`. With B fixed, the rows part: each is a ridge
regression of its observed cells on the columns of B. So a new row is completed exactly as it would have
been in the fit, had it not changed B and had it had no label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.blocks import RowBlocks
from cellworth.complete.solver.svt import shrinkage

Array = NDArray[np.floating]

SYSTEM_BYTES = 1 << 24  # of the stacked linear systems that are solved in one call


def balanced_factors(X: Array, rank: int, blocks: RowBlocks) -> tuple[Array, Array]:
    """Return (left, right), shapes (n, rank) and (rank, d), with X = left @ right.

    ``rank`` is the known rank of X, at most min(n, d). Both factors have the same singular values,
    the square roots of those of X. O(n d min(n, d)).
    """
    n, d = X.shape
    if n < d:
        transposed = RowBlocks((d, n), X.itemsize, None)
        right, left = balanced_factors(np.ascontiguousarray(X.T), rank, transposed)
        return np.ascontiguousarray(left.T), np.ascontiguousarray(right.T)
    (gram,) = blocks.sum(lambda b: ((X[b].T @ X[b]).astype(np.float64),))
    spectrum = shrinkage(gram, 0.0)
    V, root = spectrum.basis[:, :rank], np.sqrt(spectrum.singular_values[:rank])
    to_left = (V / root).astype(X.dtype)
    left = X @ to_left
    return left, (V * root).T.astype(X.dtype)


def fold_in(values: Array, observed: NDArray[np.bool_], right: Array, penalty: float) -> Array:
    """Complete rows with the right factor B of a fitted table.

    Parameters
    ----------
    values : (n, d) array
        Scaled; what stands in the holes does not matter, if finite.
    right : (rank, d) array
    penalty : float
        The trace penalty of the fit.

    Returns
    -------
    (n, d) array
        a_i B with a_i = argmin 1/2 ||R(a B - x_i)||^2 + penalty/2 ||a||^2.

    Notes
    -----
    O(n rank^2 (d + rank)), in batches of bounded memory; no loop over rows.
    """
    rank, d = right.shape
    B = right.astype(np.float64)
    outer = np.einsum("aj,bj->jab", B, B).reshape(d, rank * rank)
    ridge = max(penalty, np.finfo(np.float64).eps * float(np.vdot(B, B))) * np.eye(rank)
    out = np.zeros_like(values)
    size = max(1, SYSTEM_BYTES // max(8 * rank * rank, 8 * d))
    for i in range(0, len(values) if rank else 0, size):
        rows = slice(i, i + size)
        mask = observed[rows].astype(np.float64)
        systems = (mask @ outer).reshape(-1, rank, rank) + ridge
        sides = (mask * values[rows]) @ B.T
        out[rows] = np.linalg.solve(systems, sides[:, :, None])[:, :, 0] @ B
    return out
