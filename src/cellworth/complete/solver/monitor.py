"""When the iterations are done, the record of how they went, and what they end with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.svt import Shrinkage

IN_SIGHT = 3.0  # times the goal; and a fast fall is by this factor from one step to the next:
FAST_FALL = 0.8


@dataclass(frozen=True)
class Progress:
    """What a progress callback gets after each iteration.

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
        The completed table, scaled; or its row blocks, where they lie elsewhere.
    model : LinearPart
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

    iterate: Any
    model: LinearPart
    singular_values: FloatArray
    basis: FloatArray
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
    def of(
        cls, scale: float, eps: float, first: float, tol: float, max_iter: int, callback: Callback | None
    ) -> Monitor:
        """Return a monitor that starts at the objective ``first``.

        ``scale`` is the Frobenius norm of the observed values, ``eps`` the spacing of their precision at 1.
        """
        scale = max(scale, float(np.finfo(float).tiny))
        tol = max(tol, 64 * eps)
        return cls(tol, max_iter, callback, [first], scale, 64 * eps, aim=tol)

    def lowest(self) -> float:
        """Return the least objective so far, plus rounding."""
        return self.objective[-1] + self.slack * abs(self.objective[-1])

    def wants_more(self, objective: float) -> bool:
        """Return whether to go on: never end on an iterate that momentum has just made worse."""
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
        """Return whether an estimate calls for a step without momentum, whose gradient mapping is exact.

        Each such call halves the level of the next, so that wrong estimates cost little.
        """
        if self.stationarity > self.aim:
            return False
        self.aim /= 2
        return True

    def in_sight(self) -> bool:
        """Return whether a step without momentum may well be the last: near the goal, and falling fast."""
        falls = self.stationarity <= FAST_FALL * self.stationarity_before
        return falls and self.stationarity <= IN_SIGHT * self.tol

    def solution(self, iterate: Any, model: LinearPart, shrunk: Shrinkage) -> Solution:
        """Return the outcome, with what the last proximal step has left and the record."""
        kept = self.objective[1:] or self.objective
        found = iterate, model, shrunk.singular_values, shrunk.basis
        return Solution(*found, kept, self.n_iter, self.converged, self.stopped)
