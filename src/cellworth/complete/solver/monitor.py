"""When to stop iterating, the record of the iterations, and their result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.singular_value_thresholding import Shrinkage

IN_SIGHT = 3.0  # times the goal
FAST_FALL = 0.8  # largest ratio of successive stationarities that counts as a fast decrease
PULLS = 1000.0  # the gradient is compared with at most this many times the penalty's subgradient


@dataclass(frozen=True)
class Progress:
    """What a progress callback receives after each iteration.

    Attributes
    ----------
    iteration, max_iter : int
        Iterations done, and the maximum number.
    objective : float
    stationarity, tol : float
        Distance from a stationary point, relative to the data, and the level at which the fit stops.
    seconds : float
        Time since the start of the fit.
    """

    iteration: int
    max_iter: int
    objective: float
    stationarity: float
    tol: float
    seconds: float


Callback = Callable[[Progress], Any]  # returning true stops the fit early


@dataclass
class Solution:
    """A table, its model, and how they were reached.

    Attributes
    ----------
    iterate : (n, d) array
        The completed table, scaled; or its row blocks, if stored elsewhere.
    model : LinearPart
    singular_values : (rank,) array
        Singular values of ``iterate``, descending, all positive.
    basis : (min(n, d), rank) array
        Their singular vectors on the shorter side: the right ones, or the left ones if n < d.
    objective : list of float
        F after the iterations that lowered it; the last value is that of the result.
    n_iter : int
    converged : bool
    stopped : bool
        Whether the callback stopped the fit.
    """

    iterate: Any
    model: LinearPart
    singular_values: FloatArray
    basis: FloatArray
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False


def attainable(tol: float, eps: float) -> float:
    """Return the tolerance that can be reached with a machine epsilon."""
    return max(tol, 64 * eps)


@dataclass
class Monitor:
    """Decide when to stop, keep the record, and call the callback."""

    tol: float
    max_iter: int
    callback: Callback | None
    objective: list[float]
    scale: float  # Frobenius norm of the observed values
    slack: float  # relative rounding error of F
    aim: float  # estimated stationarity at which to check exactly
    latest: float = np.inf
    stationarity: float = np.inf
    stationarity_before: float = np.inf
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False
    begun: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(
        cls, scale: float, eps: float, first: float, tol: float, max_iter: int, callback: Callback | None
    ) -> Monitor:
        """Return a monitor that starts at the objective ``first``.

        ``scale`` is the Frobenius norm of the observed values, ``eps`` their machine epsilon.
        """
        scale = max(scale, float(np.finfo(float).tiny))
        tol = attainable(tol, eps)
        return cls(tol, max_iter, callback, [first], scale, 64 * eps, aim=tol)

    def lowest(self) -> float:
        """Return the lowest objective so far, plus rounding."""
        return self.objective[-1] + self.slack * abs(self.objective[-1])

    def wants_more(self) -> bool:
        """Return whether to continue."""
        return not (self.converged or self.stopped) and self.n_iter < self.max_iter

    def at_last(self) -> bool:
        """Return whether the next iteration is the last one allowed; it should do without momentum."""
        return self.n_iter == self.max_iter - 1

    def record(self, objective: float, gradient: float, pull: float, *, exact: bool) -> None:
        r"""Record the objective of an iterate and the norm of the gradient mapping that led to it.

        ``pull`` is the norm of the penalty's subgradient, :math:`\lambda_1\sqrt{\mathrm{rank}}`. A weak one
        moves the table by little in each step, however far it still has to go; so the gradient must be small
        beside the pull, too, and not only beside the data. An estimate of the norm never stops the fit; see
        `seems_done`.
        """
        self.n_iter += 1
        self.latest = objective
        unit = min(self.scale, max(PULLS * pull, self.slack * self.scale)) if pull > 0 else self.scale
        self.stationarity, self.stationarity_before = gradient / unit, self.stationarity
        self.converged = exact and self.stationarity <= self.tol and objective <= self.lowest()
        if objective < self.objective[-1]:
            self.objective.append(objective)
        if self.callback is not None:
            seconds = time.perf_counter() - self.begun
            report = Progress(self.n_iter, self.max_iter, objective, self.stationarity, self.tol, seconds)
            self.stopped = bool(self.callback(report))

    def seems_done(self) -> bool:
        """Return whether an estimate calls for a step without momentum, whose gradient mapping is exact.

        Each time it does, the level for the next is halved, so that wrong estimates cost little.
        """
        if self.stationarity > self.aim:
            return False
        self.aim /= 2
        return True

    def in_sight(self) -> bool:
        """Return whether a step without momentum is likely the last: near the goal and decreasing fast."""
        falls = self.stationarity <= FAST_FALL * self.stationarity_before
        return falls and self.stationarity <= IN_SIGHT * self.tol

    def solution(self, iterate: Any, model: LinearPart, shrunk: Shrinkage) -> Solution:
        """Return the solution, with the result of the last proximal step and the record."""
        kept = self.objective[1:] or self.objective
        if self.n_iter and self.latest > self.lowest():  # out of iterations just after momentum made it worse
            kept = [*(value for value in kept if value > self.latest), self.latest]
        found = iterate, model, shrunk.singular_values, shrunk.basis
        return Solution(*found, kept, self.n_iter, self.converged, self.stopped)
