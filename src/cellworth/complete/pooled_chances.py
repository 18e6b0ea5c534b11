r"""Chances of categories from several sources, pooled.

The logarithmic pool of the chances :math:`P_l(c)` is proportional to :math:`\prod_l P_l(c)^{a_l}`. Unlike an
average it adds up evidence: sources that see different things make each other more certain, and one that says
what all say need not count twice. The exponents are those under which known cells are likeliest, given
chances by sources that did not see them: a logistic regression with a handful of coefficients. So the pool is
also as certain as it should be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from cellworth.arrays import FloatArray, IntArray

LEAST = 1e-2  # chance that any source gives any category
RIDGE = 5.0  # pulls the exponents to those of the first source alone


def logs_of(sources: Sequence[FloatArray]) -> FloatArray:
    """Return the logarithms (m, k, L) of chances (m, k) of L sources, none less than `LEAST`."""
    logs: FloatArray = np.log(np.maximum(np.stack(list(sources), axis=2), LEAST))
    return logs


def pool(logs: FloatArray, exponents: FloatArray) -> FloatArray:
    """Return the pooled chances (m, k) of sources with these logarithms (m, k, L)."""
    summed = logs @ exponents
    chances = np.exp(summed - summed.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def fit_exponents(columns: Sequence[tuple[FloatArray, IntArray]], n_sources: int) -> FloatArray:
    """Return the exponents (L,), given the logarithms (m, k, L) and the codes (m,) of the cells of columns.

    O(L) for each cell, category and step; a dozen steps.
    """
    prior = np.zeros(n_sources)
    prior[0] = 1.0

    def surprise(exponents: FloatArray) -> tuple[float, FloatArray]:
        off = exponents - prior
        loss, slope = RIDGE * float(off @ off), 2 * RIDGE * off
        for logs, codes in columns:
            chances, own = pool(logs, exponents), np.arange(len(codes))
            loss -= float(np.log(np.maximum(chances[own, codes], 1e-300)).sum())
            slope = slope + (np.einsum("mk,mkl->ml", chances, logs) - logs[own, codes]).sum(axis=0)
        return loss, slope

    return np.asarray(minimize(surprise, prior, jac=True, method="L-BFGS-B").x)
