r"""How far observed cells really lie from what the others say: intervals that cover.

Each observed cell has a closed-form prediction from the OTHER observed cells of its row. With
:math:`u = \Sigma_{oo}^{-1}(x_o - \mu_o)` it misses by :math:`u_j s_j^2`, where
:math:`s_j^2 = 1/(\Sigma_{oo}^{-1})_{jj}` is the variance that the model expects. If the model were right, the
standardised residuals :math:`u_j s_j` would be standard normal. Their quantiles, column by column, take
the place of the normal ones in intervals, and their mean square corrects the variance. So skewed and
heavy-tailed columns get intervals that cover, as in split conformal prediction, at no extra fit.

The residuals are of cells that the model has seen. As in a regression on k columns fitted to n rows,
squared residuals are too small by :math:`(1-h)/(1+h)`, with the leverage :math:`h = k/n`; they are divided
by that factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cellworth.arrays import BoolArray

Array = NDArray[np.floating]

PRIOR_CELLS = 10.0  # normal quantiles count as much as those of this many cells
LEVELS = np.concatenate([[0.001, 0.0025, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.9975, 0.999]])
MAX_LEVERAGE = 0.5


@dataclass(frozen=True)
class Calibration:
    """The distribution of standardised residuals, column by column.

    Attributes
    ----------
    variance_factor : (d,) array
        Mean square.
    quantiles : (d, len(LEVELS)) array
    """

    variance_factor: Array
    quantiles: Array

    @classmethod
    def of(cls, standardised: Array, observed: BoolArray, rows_per_column: NDArray[np.intp]) -> Calibration:
        """Learn from the residuals (n, d) of the observed cells; few cells lean on the normal.

        ``rows_per_column`` (d,) counts the observed cells that the model was fitted to.
        """
        d = standardised.shape[1]
        counts = observed.sum(axis=0)
        leverage = np.minimum(MAX_LEVERAGE, observed.sum(axis=1).mean() / np.maximum(rows_per_column, 1))
        inflation = (1 + leverage) / (1 - leverage)
        squares = inflation * (np.where(observed, standardised, 0) ** 2).sum(axis=0)
        factor = (squares + PRIOR_CELLS) / (counts + PRIOR_CELLS)
        quantiles = np.tile(ndtri(LEVELS), (d, 1))
        for j in range(d):
            if counts[j]:
                seen = np.sqrt(inflation[j]) * np.quantile(standardised[observed[:, j], j], LEVELS)
                trust = counts[j] / (counts[j] + PRIOR_CELLS)
                quantiles[j] += trust * (seen - quantiles[j])
        return cls(factor, quantiles)

    @classmethod
    def normal(cls, d: int) -> Calibration:
        """Return the calibration of a model that is right."""
        return cls(np.ones(d), np.tile(ndtri(LEVELS), (d, 1)))

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return the lower and upper ends, in standard deviations, of the central interval, (d,) each."""
        tail = (1 - level) / 2
        ends = [np.array([np.interp(p, LEVELS, row) for row in self.quantiles]) for p in (tail, 1 - tail)]
        return ends[0], ends[1]
