r"""The variance of each cell of a sparse table, given the column factors.

The ridge regression of a row on the column factors B is the posterior mean of its factors a if the cells are
:math:`x_j = o + b_j^\top a + e_j` with noise :math:`e_j` of variance :math:`\sigma^2` and a prior variance
:math:`\sigma^2/\lambda` of each factor; the shrunk row offset o is likewise one of a prior variance
:math:`\sigma^2/k`. With :math:`\tilde b_j = (b_j, \sqrt{\lambda/k})` and G the rows of :math:`\tilde B` at
the observed cells of a row, the variance of another of its cells is

.. math:: \sigma^2 \left(1 + \tilde b_j^\top (G^\top G + \lambda I)^{-1} \tilde b_j\right).

The column factors and offsets are taken as known: a column has many more cells than it has factors.
"""

from __future__ import annotations

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.complete.sparse.offsets import Offsets
from cellworth.complete.sparse.variable_projection import CellBlock, CellBlocks, padded_rows, solve


def noise_variance(left: CellBlocks, B: Float64Array, penalty: float, offsets: Offsets) -> float:
    r"""Return :math:`\sigma^2`, given the cells minus their offsets; one pass."""
    squares, n_cells = left.sum(left_out_squares, B, penalty, with_offset(B, penalty, offsets))
    return float(squares / n_cells)


def with_offset(B: Float64Array, penalty: float, offsets: Offsets) -> Float64Array:
    """Return the column factors (d, r), and one more that stands for the row offset, if there is one."""
    if not np.isfinite(offsets.row_shrinkage):
        return B
    weight = np.sqrt(penalty / max(offsets.row_shrinkage, np.finfo(np.float64).tiny))
    return np.column_stack([B, np.full(len(B), weight)])


def left_out_squares(
    block: CellBlock, B: Float64Array, penalty: float, widened: Float64Array
) -> tuple[float, int]:
    r"""Return the sum of squared noise as cells that were left out show it, and the number of cells.

    With h the leverage of an observed cell and e its residual, the regression without the cell misses it by
    :math:`e/(1 - h)`, which has the variance :math:`\sigma^2/(1 - h)`: so :math:`e^2/(1 - h)` has the mean
    :math:`\sigma^2`. ``block`` has the cells minus their offsets; ``widened`` is from `with_offset`.
    """
    left, total = solve(block, B, penalty)[1].values, 0.0
    if not widened.shape[1]:
        return float(left @ left), len(left)
    for _, cells, real, G in padded_rows(block, widened):
        inverse = np.linalg.inv(G.transpose(0, 2, 1) @ G + penalty * np.eye(G.shape[2]))
        leverage = ((G @ inverse) * G).sum(axis=2)[real]
        total += float((left[cells[real]] ** 2 / np.maximum(1 - leverage, 1e-9)).sum())
    return total, len(left)


def cell_variances(
    block: CellBlock, B: Float64Array, penalty: float, offsets: Offsets, noise: float
) -> Float64Array:
    """Return the variance (m, d) of each cell as if it were missing; ``noise`` is that of one cell.

    O(m d r^2 / 2): the quadratic forms of all columns are one product of matrices.
    """
    widened = with_offset(B, penalty, offsets)
    rank, m = widened.shape[1], len(block.starts) - 1
    inverses = np.tile(np.eye(rank) / penalty, (m, 1, 1))
    for rows, _, _, G in padded_rows(block, widened):
        inverses[rows] = np.linalg.inv(G.transpose(0, 2, 1) @ G + penalty * np.eye(rank))
    i, j = np.triu_indices(rank)
    weights = inverses[:, i, j] * np.where(i == j, 1.0, 2.0)
    found: Float64Array = weights @ (widened[:, i] * widened[:, j]).T
    np.maximum(found, 0.0, out=found)
    found += 1.0
    found *= noise
    return found
