r"""Accelerated proximal gradient for the completion step of Eq. (1), the model f held fixed.

Minimises over the table :math:`\hat X`

.. math:: F(\hat X) = \tfrac12\|R_\Omega(\hat X - X)\|_\mathrm{F}^2 + \sum_i w_i\,\ell(y_i, f(\hat x_i))
          + \lambda_1\|\hat X\|_\mathrm{tr}.

The smooth part g has the Lipschitz constant :math:`L = 1 + c\,\max_i w_i\,\|W\|_2^2`, known before the
first step, so no line search is needed. Momentum follows the paper with its formula put right,
:math:`\theta_{k+1} = (\sqrt{\theta_k^4 + 4\theta_k^2} - \theta_k^2)/2`, and starts anew whenever the
objective rises (O'Donoghue and Candes, 2015).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svdvals

from cellworth.complete.solver.blocks import Model, RowBlocks, Rows, StepSums, start, step
from cellworth.complete.solver.svt import shrinkage

Array = NDArray[np.floating]


@dataclass
class Completed:
    """The outcome of a completion step.

    Attributes
    ----------
    iterate : (n, d) array
        The completed table; one of the two buffers that were passed in.
    spare : (n, d) array
        The other buffer; its content means nothing.
    unsupervised : float
        F(iterate) without the labels' term: half the squared misfit plus the weighted trace norm.
    singular_values : (rank,) array
        Of ``iterate``, descending, all positive.
    n_iter : int
    converged : bool
    """

    iterate: Array
    spare: Array
    unsupervised: float
    singular_values: Array
    n_iter: int
    converged: bool


Watch = Callable[[int, float, float], bool]  # iteration, objective, relative change -> stop now?


def lipschitz_constant(model: Model, rows: Rows) -> float:
    """Return L of the smooth part's gradient: 1 for the observed cells, the rest for the labels."""
    heaviest = float(rows.weights.max(initial=0.0))
    return 1.0 + model.loss.curvature * heaviest * float(svdvals(model.coef)[0]) ** 2


def next_theta(theta: float) -> float:
    """Return theta_{k+1}: the positive root of t^2 = theta^2 (1 - t)."""
    return float((np.sqrt(theta**4 + 4 * theta**2) - theta**2) / 2)


def complete_rows(
    iterate: Array,
    spare: Array,
    rows: Rows,
    model: Model,
    trace_penalty: float,
    trace_norm: float,
    *,
    tol: float,
    max_iter: int,
    blocks: RowBlocks,
    watch: Watch,
) -> Completed:
    r"""Minimise F from ``iterate``, using ``spare`` as the second buffer; both are overwritten.

    Stops when the step is a near-stationary point: with :math:`\delta_k = \|X_k - X_{k-1}\|_F`, the
    gradient mapping is at most :math:`L(\delta_{k+1} + \beta_k\delta_k)`, and that must fall below
    ``tol`` times the norm of the observed values. The objective of the result is not above that of the
    start (up to rounding): momentum may raise it on the way, never at the end.

    Parameters
    ----------
    trace_norm : float
        Trace norm of ``iterate`` on entry.
    watch : callable
        Called after each iteration; returning True ends the work.

    Notes
    -----
    One pass over the rows per iteration; 2 n d^2 + n d^2 flops and O(n d) memory traffic; a restart
    costs one pass more.
    """
    L = lipschitz_constant(model, rows)
    scale = max(_norm(rows.values, blocks), np.finfo(float).tiny)

    def first_pass() -> StepSums:
        return StepSums(*blocks.sum(lambda b: start(iterate[b], spare[b], L, rows[b], model)))

    def next_pass(P: Array, beta: float) -> StepSums:
        return StepSums(*blocks.sum(lambda b: step(iterate[b], spare[b], P, beta, L, rows[b], model)))

    sums = first_pass()
    begin = objective = sums.misfit + sums.loss + trace_penalty * trace_norm
    theta, beta, delta = 1.0, 0.0, 0.0
    converged, k = False, 0
    while k < max_iter or objective > begin + rounding(iterate, begin):
        k += 1
        shrunk = shrinkage(sums.gram, trace_penalty / L)
        operator = shrunk.operator.astype(iterate.dtype, copy=False)
        theta_next = next_theta(theta)
        beta_next = theta_next * (1 / theta - 1)
        sums = next_pass(operator, beta_next)
        iterate, spare = spare, iterate
        unsupervised = float(sums.misfit + trace_penalty * shrunk.singular_values.sum())
        previous, objective = objective, unsupervised + sums.loss
        stationarity = float(L * (np.sqrt(sums.change) + beta * delta) / scale)
        rose = objective > previous + rounding(iterate, previous)
        converged = stationarity <= tol and objective <= begin + rounding(iterate, begin)
        if watch(k, objective, stationarity) or converged:
            break
        if rose:
            theta, beta, delta = 1.0, 0.0, 0.0
            sums = first_pass()
        else:
            theta, beta, delta = theta_next, beta_next, float(np.sqrt(sums.change))
    return Completed(iterate, spare, unsupervised, shrunk.singular_values, k, converged)


def rounding(A: Array, objective: float) -> float:
    """Return how far two sums over A may differ by rounding alone."""
    return 8 * float(np.finfo(A.dtype).eps) * abs(objective)


def _norm(A: Array, blocks: RowBlocks) -> float:
    (square,) = blocks.sum(lambda b: (np.vdot(A[b], A[b]),))
    return float(np.sqrt(square))
