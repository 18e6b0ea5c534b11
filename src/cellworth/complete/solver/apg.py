r"""Accelerated proximal gradient for Eq. (1), table and model together.

.. math:: \min_{\hat X, W, b}\ F = \tfrac12\|R_\Omega(\hat X - X)\|_F^2 + \lambda_1\|\hat X\|_{tr}
          + w\sum_{i\ \mathrm{labelled}} \ell(y_i, W^\top\hat x_i + b) + \frac{\rho}{2}\|W\|_F^2

An outer iteration is one proximal step on the table with the model held, then the fit of the model with
the table held. Neither half raises F: the smooth part has the known Lipschitz constant
:math:`L = 1 + c\,w\,\|W\|_2^2`, and the losses lie below their parabolas. Momentum carries table and model
along together, by the paper's rule with its formula put right,
:math:`\theta_{k+1} = (\sqrt{\theta_k^4 + 4\theta_k^2} - \theta_k^2)/2`. It starts anew, from 0, as soon as it
points uphill, :math:`\langle Z_k - X_{k+1}, X_{k+1} - X_k\rangle > 0` (O'Donoghue and Candes, 2015), or has
raised F.

Why not complete to convergence between two fits, as the paper has it? The two are strongly coupled where
labels weigh much, and then hundreds of rounds of it crawl along a valley that momentum on both crosses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.blocks import RowBlocks
from cellworth.complete.solver.model import Model, Moments, fit_model
from cellworth.complete.solver.step import Rows, StepSums, land, sample_size, start, step
from cellworth.complete.solver.svt import Shrinkage, shrinkage

Array = NDArray[np.floating]

IN_SIGHT = 3.0  # times the goal; and a fast fall is by this factor from one step to the next:
FAST_FALL = 0.8


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told after each iteration.

    Attributes
    ----------
    iteration, max_iter : int
        Iterations done, and the most that will be done.
    objective : float
    stationarity, tol : float
        How far from a stationary point, relative to the data, and the level at which the work ends.
    seconds : float
        Since the start of the fit.
    """

    iteration: int
    max_iter: int
    objective: float
    stationarity: float
    tol: float
    seconds: float


Callback = Callable[[Progress], Any]  # a true return value ends the work early


@dataclass
class Solution:
    """A table, its model, and how they were reached.

    Attributes
    ----------
    iterate : (n, d) array
        The completed table, scaled.
    model : Model
    singular_values : (rank,) array
        Of ``iterate``, descending, all positive.
    basis : (min(n, d), rank) array
        Their singular vectors on the shorter side: the right ones, or if n < d the left ones.
    objective : list of float
        F after the iterations that lowered it; the last value is that of the result.
    n_iter : int
    converged : bool
    stopped : bool
        The callback ended the work.
    """

    iterate: Array
    model: Model
    singular_values: Array
    basis: Array
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False


@dataclass
class Monitor:
    """Decides when the work is done, keeps the record, and tells the callback."""

    tol: float
    max_iter: int
    callback: Callback | None
    objective: list[float]
    scale: float  # Frobenius norm of the observed values
    slack: float  # relative rounding error of F
    aim: float  # estimated stationarity at which to look closer
    stationarity: float = np.inf
    stationarity_before: float = np.inf
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False
    begun: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(cls, rows: Rows, first: float, tol: float, max_iter: int, callback: Callback | None) -> Monitor:
        """Return a monitor that starts at the objective ``first``."""
        eps = float(np.finfo(rows.values.dtype).eps)
        scale = max(float(np.linalg.norm(rows.values)), float(np.finfo(float).tiny))
        tol = max(tol, 64 * eps)
        return cls(tol, max_iter, callback, [first], scale, 64 * eps, aim=tol)

    def lowest(self) -> float:
        """Return the least objective so far, plus rounding."""
        return self.objective[-1] + self.slack * abs(self.objective[-1])

    def wants_more(self, objective: float) -> bool:
        """Tell whether to go on: never end on an iterate that momentum has just made worse."""
        if self.converged or self.stopped:
            return False
        worse = objective > self.lowest() and self.n_iter < 2 * self.max_iter
        return self.n_iter < self.max_iter or worse

    def record(self, objective: float, gradient: float, *, exact: bool) -> None:
        """Note the objective of an iterate and the norm of the gradient mapping that led to it.

        An estimate of the norm never ends the work; see `seems_done`.
        """
        self.n_iter += 1
        self.stationarity, self.stationarity_before = gradient / self.scale, self.stationarity
        self.converged = exact and self.stationarity <= self.tol and objective <= self.lowest()
        if objective < self.objective[-1]:
            self.objective.append(objective)
        if self.callback is not None:
            seconds = time.perf_counter() - self.begun
            report = Progress(self.n_iter, self.max_iter, objective, self.stationarity, self.tol, seconds)
            self.stopped = bool(self.callback(report))

    def seems_done(self) -> bool:
        """Tell whether an estimate calls for a step without momentum, whose gradient mapping is exact.

        Each such call halves the level of the next, so that wrong estimates cost little.
        """
        if self.stationarity > self.aim:
            return False
        self.aim /= 2
        return True

    def in_sight(self) -> bool:
        """Tell whether a step without momentum may well be the last: near the goal, and falling fast."""
        falls = self.stationarity <= FAST_FALL * self.stationarity_before
        return falls and self.stationarity <= IN_SIGHT * self.tol

    def solution(self, iterate: Array, model: Model, shrunk: Shrinkage) -> Solution:
        """Return the outcome, with what the last proximal step has left and the record."""
        kept = self.objective[1:] or self.objective
        found = iterate, model, shrunk.singular_values, shrunk.basis
        return Solution(*found, kept, self.n_iter, self.converged, self.stopped)


class Momentum:
    """The sequence beta_k = theta_k (1 / theta_{k-1} - 1), which starts at 0."""

    def __init__(self) -> None:
        self.theta = 1.0

    def restart(self) -> None:
        """Start anew: the next value is 0."""
        self.theta = 1.0

    def next(self) -> float:
        """Return the next beta."""
        theta = next_theta(self.theta)
        beta = theta * (1 / self.theta - 1)
        self.theta = theta
        return beta


def next_theta(theta: float) -> float:
    """Return theta_{k+1}: the positive root of t^2 = theta^2 (1 - t)."""
    return float((np.sqrt(theta**4 + 4 * theta**2) - theta**2) / 2)


def minimise(
    iterate: Array,
    model: Model,
    rows: Rows,
    *,
    trace_penalty: float,
    trace_norm: float,
    tol: float,
    max_iter: int,
    blocks: RowBlocks,
    callback: Callback | None = None,
    hold_model: bool = False,
) -> Solution:
    r"""Minimise F from a table and a model.

    Ends at a near-stationary point: the gradient mapping :math:`L\|Z_k - X_{k+1}\|_F` of the table and the
    model's move, in the metric of F, must together fall below ``tol`` times the norm of the observed
    values (or below what the precision can resolve). While there is momentum the former is estimated from
    sampled rows; a step without momentum confirms it. A step that may be the last, as the first one may
    after a warm start, does not prepare another: it lands.

    Parameters
    ----------
    iterate : (n, d) array
        Overwritten.
    trace_norm : float
        Of ``iterate``, or a bound from above.
    hold_model : bool
        Solve for the table only.

    Notes
    -----
    Time per iteration: one pass over the rows, 3 n d^2 flops, and O(min(n, d)^3). Memory: one array like
    ``iterate``, and an eighth.
    """
    spare = np.empty_like(iterate)
    trails = blocks.arrays(sample_size, iterate)
    momentum, ahead, L = Momentum(), model, model.lipschitz()

    def first_pass() -> StepSums:
        return StepSums(*blocks.sum(lambda b: start(iterate[b], spare[b], L, rows[b], model)))

    def next_pass() -> StepSums:
        return StepSums(
            *blocks.sum(
                lambda b: step(iterate[b], spare[b], trails[b.start], P, beta, L, rows[b], model, ahead)
            )
        )

    def last_pass() -> StepSums:
        return StepSums(*blocks.sum(lambda b: land(iterate[b], spare[b], P, rows[b], model)))

    sums = first_pass()
    objective = sums.misfit + sums.loss + trace_penalty * trace_norm + model.penalty()
    monitor = Monitor.of(rows, objective, tol, max_iter, callback)
    shrunk = shrinkage(sums.gram, np.inf)
    beta, sampled, landing = 0.0, 0.0, True  # a warm start may be as good as done
    while monitor.wants_more(objective):
        shrunk = shrinkage(sums.gram, trace_penalty / L)
        P = shrunk.operator.astype(iterate.dtype, copy=False)
        earlier, model_move = model, 0.0
        if not hold_model:
            model, model_move = fit_model(ahead, _moments(sums, shrunk, spare, rows))
        beta_before, beta, L_before = beta, momentum.next(), L
        ahead = model.ahead_of(earlier, beta)
        L = ahead.lipschitz()
        sums = last_pass() if landing else next_pass()
        iterate, spare = spare, iterate
        previous = objective
        objective = sums.misfit + sums.loss + trace_penalty * shrunk.trace_norm + model.penalty()
        table_move = _distance_to_extrapolation(sums, beta_before, sampled)
        monitor.record(objective, float(np.hypot(L_before * table_move, model_move)), exact=beta_before == 0)
        sampled = sums.sampled
        uphill = beta_before * sums.overlap > sums.sampled
        rose = objective > previous + monitor.slack * abs(previous)
        done = beta_before > 0 and monitor.seems_done()
        if uphill or rose or done:
            momentum.restart()
        if landing or uphill or rose or done:
            ahead, L, beta = model, model.lipschitz(), 0.0
            if monitor.wants_more(objective):
                sums = first_pass()
        landing = beta == 0 and (done or monitor.in_sight())
    return monitor.solution(iterate, model, shrunk)


def _distance_to_extrapolation(sums: StepSums, beta: float, sampled_before: float) -> float:
    r"""Return :math:`\|X_{k+1} - Z_k\|_F`: exact without momentum, else estimated from the sampled rows.

    With the moves :math:`D_k`, it is :math:`\|D_{k+1} - \beta_k D_k\|`.
    """
    if beta == 0 or sums.sampled == 0:
        return float(np.sqrt(sums.change))
    square = sums.sampled - 2 * beta * sums.overlap + beta**2 * sampled_before
    return float(np.sqrt(max(0.0, square) / sums.sampled * sums.change))


def _moments(sums: StepSums, shrunk: Shrinkage, point: Array, rows: Rows) -> Moments:
    """Return the moments of the next iterate, from those of the point that is shrunk to it."""
    m = len(rows.targets)
    if rows.wide:
        return Moments.of(shrunk.operator[:m] @ point, sums.working)
    return sums.moments(m).after(shrunk.operator)
