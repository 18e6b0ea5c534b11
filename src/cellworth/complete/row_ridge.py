r"""Rows estimated from few cells, for the methods that have no penalty of their own.

A factorisation without a penalty fits a row with fewer observed cells than components in many ways, and
its unobserved cells can come out as anything. So once the components are known, the rows are estimated
again with a prior. In the basis :math:`b_k = s_kv_k/\sqrt n` of a table with singular values s and right
singular vectors v, the coefficients of its rows have mean square 1. With that as the variance of a
normal prior, and noise of variance :math:`\rho` in each cell, the best estimate is a ridge regression,

.. math:: a_i = \arg\min_a\ \tfrac12\sum_{j\in\Omega_i}(x_{ij} - a^\top b_{\cdot j})^2
          + \tfrac\rho2\|a\|^2,

and new rows are completed in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.held_out import PATIENCE, Choice, HeldOut
from cellworth.complete.low_rank import fold_in
from cellworth.complete.solver.factors import Factors, principal_factors

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]

RIDGES = 10.0 ** np.array([0, -0.5, -1, -1.5, -2, -3, -4, -6])
"""Candidates, as fractions of the mean square of the observed values."""

UNINFORMED = 2  # the candidate that is taken where the table is too small to hide a cell

GAIN = 0.99  # a higher rank must bring the held-out error down to this share of the best so far


def normalise(fit: Factors, unit: float) -> tuple[Array, Array]:
    """Return factors (n, r) and (r, d) of the same table, the left with columns of mean square 1.

    ``unit`` is the mean square of the observed values. A component that is larger than a whole row of
    such values owes that to a few rows that ran away; it is given a row's size, and they large
    coefficients.
    """
    U, s, Vt = principal_factors(fit.left, fit.right)
    lengths = np.minimum(s / np.sqrt(len(U)), np.sqrt(unit * Vt.shape[1])).astype(s.dtype)
    return U * (s / lengths), lengths[:, None] * Vt


def shrink_rows(fit: Factors, values: Array, observed: Mask, ridge: float) -> None:
    """Replace the factors of ``fit`` by normalised ones, with the rows estimated anew under ``ridge``.

    ``ridge`` is the noise variance in scaled units; 0 leaves the table as it is.
    """
    fit.left, fit.right = normalise(fit, mean_square(values, observed))
    if ridge > 0:
        estimate = fold_in(values, observed, fit.right, ridge)
        lengths = np.sum(fit.right**2, axis=1, keepdims=True)  # the rows of the basis are orthogonal
        fit.left = estimate @ (fit.right / lengths).T


def choose_rank(held: HeldOut, path: Iterable[Factors], ridge: float | None) -> Choice:
    """Return the rank and the relative ridge (see `RIDGES`) with the least held-out error.

    Parameters
    ----------
    path : iterable of Factors
        Fits of growing rank. The search ends when `PATIENCE` of them in a row brought no gain.
    ridge : float or None
        A given one, in scaled units, is the only candidate.

    Notes
    -----
    O(n r^2 (d + r)) per rank and candidate.
    """
    best, choice, waited = np.inf, Choice(1, 0.0), 0
    unit = mean_square(held.values, held.observed)
    candidates = RIDGES if ridge is None else np.array([ridge / unit])
    for fit in path:
        left, basis = normalise(fit, unit)
        errors = [
            held.error(fold_in(held.values, held.observed, basis, c * unit) if c else left @ basis)
            for c in candidates
        ]
        waited += 1
        if min(errors) < GAIN * best:
            best, waited = min(errors), 0
            pick = int(np.argmin(errors)) if held.truth.size else min(UNINFORMED, len(errors) - 1)
            choice = Choice(len(fit.right), float(candidates[pick]))
        if waited == PATIENCE:
            break
    return choice


def mean_square(values: Array, observed: Mask) -> float:
    """Return the mean square of the observed values, 1 if they are all 0; ``values`` is 0 in the holes."""
    squares = np.einsum("ij,ij->i", values, values).sum(dtype=np.float64)
    return float(squares / max(1, int(observed.sum()))) or 1.0
