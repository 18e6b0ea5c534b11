r"""Many small linear systems, one per row of a table, each with the row's own observed cells.

With a right factor B (rank, d) and the diagonal mask :math:`M_i` of the observed cells of row i, the
ridge regression of the row on B has the matrix :math:`B M_i B^\top + A`, with an A that rows share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

SYSTEM_BYTES = 1 << 24  # of the stacked linear systems that are solved in one call


def solve_rows(observed: NDArray[np.bool_], right: Array, common: Array, sides: Array) -> Array:
    r"""Return the z_i (n, rank) with :math:`(B M_i B^\top + A)\,z_i = s_i` for every row i.

    Parameters
    ----------
    observed : (n, d) bool array
        The masks :math:`M_i`.
    right : (rank, d) float64 array
        B.
    common : (rank, rank) array
        A, symmetric, such that every system is positive definite.
    sides : (n, rank) array
        The :math:`s_i`.

    Notes
    -----
    O(n rank^2 (d + rank)), in batches of bounded memory; no loop over rows.
    """
    rank, d = right.shape
    outer = np.einsum("aj,bj->jab", right, right).reshape(d, rank * rank)
    solved = np.zeros((len(sides), rank))
    size = max(1, SYSTEM_BYTES // max(8 * rank * rank, 8 * d))
    for i in range(0, len(sides) if rank else 0, size):
        rows = slice(i, i + size)
        systems = (observed[rows].astype(np.float64) @ outer).reshape(-1, rank, rank)
        systems += common
        solved[rows] = np.linalg.solve(systems, sides[rows, :, None])[:, :, 0]
    return solved
