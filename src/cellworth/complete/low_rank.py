r"""Balanced factors of a completed table, and new rows completed with them.

The trace norm is the smallest :math:`\frac12(\|A\|_F^2 + \|B\|_F^2)` over all :math:`AB = \hat X`, reached
at :math:`A = U\Sigma^{1/2}, B = \Sigma^{1/2}V^\top`. With B fixed, the rows part: each is a ridge
regression of its observed cells on the columns of B. So a new row is completed exactly as it would have
been in the fit, had it not changed B and had it had no label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.row_systems import solve_rows
from cellworth.complete.solver.svt import spectrum

Array = NDArray[np.floating]


def balanced_factors(X: Array, singular_values: Array, basis: Array) -> tuple[Array, Array]:
    """Return (left, right), shapes (n, rank) and (rank, d), with X = left @ right.

    Both factors have the same singular values, the square roots of those of X. One product, O(n d rank).

    Parameters
    ----------
    X : (n, d) array
    singular_values : (rank,) array
        Of X, descending, all positive.
    basis : (min(n, d), rank) array
        Their singular vectors on the shorter side: the right ones, or if n < d the left ones.
    """
    root = np.sqrt(singular_values)
    onto, across = (basis * root).astype(X.dtype), (basis / root).astype(X.dtype)
    if X.shape[0] < X.shape[1]:
        return onto, across.T @ X
    return X @ across, np.ascontiguousarray(onto.T)


def factorise(X: Array, most: int) -> tuple[Array, Array]:
    """Return balanced factors of any X (n, d), of rank at most ``most``. O(n d min(n, d))."""
    of_X = spectrum(X)
    return balanced_factors(X, of_X.singular_values[:most], of_X.basis[:, :most])


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
    B = right.astype(np.float64)
    ridge = max(penalty, np.finfo(np.float64).eps * float(np.vdot(B, B)))
    left = solve_rows(observed, B, ridge * np.eye(len(B)), (values * observed) @ B.T)
    return (left @ B).astype(values.dtype, copy=False)
