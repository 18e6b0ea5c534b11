r"""Accelerated proximal gradient with continuation in the penalty (Toh and Yun, 2010).

.. math:: \min_X\ F_\mu(X) = \tfrac12\|R_\Omega(X - M)\|_\mathrm{F}^2 + \mu\|X\|_\mathrm{tr}
          \quad[\text{subject to } \mathrm{rank}\,X \le r]

A step from the extrapolated point Y is
:math:`X_+ = \mathrm{SVT}_{\mu/\tau}(Y - R_\Omega(Y - M)/\tau)`. It is sound where
:math:`\|R_\Omega(X_+ - Y)\|^2 \le \tau\|X_+ - Y\|^2`, always for :math:`\tau = 1`; smaller
:math:`\tau`, longer steps, are tried while that holds. The penalty falls from step to step to the one
that is asked for, so that the early steps work on few components.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.factors import Factors, Watch, balance, never_stop, norm_or_one, sum_of_squares
from cellworth.complete.solver.svt import shrinkage

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]

PENALTY_FALL = 0.7  # per step, until the wanted penalty is reached
CURVATURE_FALL = 0.8  # of tau, when a longer step is tried
SOUND_STEPS = 5  # after a step that was too long, this many pass before a longer one is tried again


class Iterate(NamedTuple):
    """A table, its spectrum and how it was reached.

    ``table`` is (n, d); ``basis`` (min(n, d), rank) spans its rows, or its columns where n < d;
    ``objective`` is F at the penalty of the step; ``slope`` is tau times the length of the step.
    """

    table: Array
    singular_values: Array
    basis: Array
    objective: float
    slope: float
    curvature: float

    def factors(self) -> tuple[Array, Array]:
        """Return balanced factors of the table."""
        X, basis = self.table, self.basis.astype(self.table.dtype)
        n, d = X.shape
        return balance(basis, basis.T @ X) if n < d else balance(X @ basis, basis.T)


def minimise(
    values: Array,
    observed: Mask,
    penalty: float,
    rank: int,
    start: Factors | None = None,
    *,
    tol: float,
    max_iter: int,
    first_penalty: float = 0.0,
    watch: Watch = never_stop,
) -> Factors:
    """Return balanced factors, of rank at most ``rank``, of the minimiser of F.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    penalty, first_penalty : float
        mu, and the larger one from which to come down to it.
    rank : int
        min(n, d) leaves the rank free: the problem is then convex.
    start : Factors or None
        Where to begin; from 0 if None.
    tol : float
        Ends when the step, times tau, is below this fraction of the norm of ``values``.

    Notes
    -----
    Per iteration 3 n d min(n, d) flops, one eigendecomposition of a min(n, d)-square matrix and some
    ten passes over the table. The objective is recorded once the penalty is reached. From then on
    momentum that raises it is dropped, and the step is taken again without.
    """
    norm = norm_or_one(values)
    X = np.zeros_like(values) if start is None else start.left @ start.right
    fit = Factors(values[:, :0], values[:0])
    present, before, theta, momentum, rest = max(penalty, first_penalty), X, 1.0, 0.0, 0
    here = Iterate(X, np.zeros(0), np.zeros((min(X.shape), 0)), np.inf, np.inf, 1.0)
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        rest -= 1
        curvature = here.curvature * (CURVATURE_FALL if rest < 0 else 1.0)
        Y = here.table + momentum * (here.table - before)
        new = _step(values, observed, Y, present, rank, curvature)
        if new.curvature > curvature:
            rest = SOUND_STEPS
        if fit.objective and new.objective > here.objective:
            theta = 1.0
            new = _step(values, observed, here.table, present, rank, new.curvature)
        if fit.objective and new.objective > here.objective:
            fit.converged = True  # a step without momentum can only fail by rounding
            break
        before, here = here.table, new
        theta, last = (1 + math.sqrt(1 + 4 * theta**2)) / 2, theta
        momentum = (last - 1) / theta
        slope = here.slope / norm
        if present == penalty:
            fit.objective.append(here.objective)
            fit.converged = slope <= tol
        present = max(penalty, PENALTY_FALL * present)
        fit.stopped = watch(fit.n_iter, here.objective, slope)
    fit.left, fit.right = here.factors()
    fit.objective = fit.objective or [here.objective]
    return fit


def _step(values: Array, observed: Mask, Y: Array, penalty: float, rank: int, curvature: float) -> Iterate:
    """Take one proximal step from Y, with tau the first sound one from ``curvature`` up to 1."""
    gradient = Y - values
    gradient *= observed
    while True:
        A = gradient * (-1 / curvature)
        A += Y
        X, singular_values, basis = _shrink(A, penalty / curvature, rank)
        np.subtract(X, Y, out=A)
        length = sum_of_squares(A)
        A *= observed
        if curvature >= 1 or sum_of_squares(A) <= curvature * length:
            break
        curvature = min(1.0, curvature / CURVATURE_FALL)
    A += gradient  # now the residual at X
    objective = sum_of_squares(A) / 2 + penalty * float(singular_values.sum())
    return Iterate(X, singular_values, basis, objective, curvature * float(np.sqrt(length)), curvature)


def _shrink(A: Array, threshold: float, rank: int) -> tuple[Array, Array, Array]:
    """Return the table of rank at most ``rank`` nearest to A under the penalty, its spectrum and basis."""
    wide = A.shape[0] < A.shape[1]
    spectrum = shrinkage(A @ A.T if wide else A.T @ A, threshold)
    operator, kept, basis = spectrum.operator, spectrum.singular_values, spectrum.basis
    if len(kept) > rank:
        kept, basis = kept[:rank], basis[:, :rank]
        operator = (basis * (kept / (kept + threshold))) @ basis.T
    operator = operator.astype(A.dtype, copy=False)
    return operator @ A if wide else A @ operator, kept, basis
