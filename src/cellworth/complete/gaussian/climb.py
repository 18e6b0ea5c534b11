"""EM made faster without giving up that the likelihood never falls.

An EM step maps parameters to parameters, and the answer is its fixed point. Anderson's method combines
the last few steps so that their residuals nearly cancel (as DAAREM does: Henderson and Varadhan, 2019),
in unconstrained parameters. Each E step yields the likelihood of the point where it is taken, so a bad
combination is noticed at no extra cost: it is dropped, and the plain EM step from the last good point is
taken instead, which cannot decrease the likelihood.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.monitor import Callback, Progress

Array = NDArray[np.floating]

MEMORY = 5  # steps that are combined


class Model(Protocol):
    """A model with unconstrained parameters."""

    def to_vector(self) -> Array:
        """Return the parameters."""
        ...

    def from_vector(self, vector: Array) -> Self:
        """Return the model with these parameters."""
        ...


M = TypeVar("M", bound=Model)


class Problem(Protocol[M]):
    """EM on a given table."""

    def step(self, model: M) -> tuple[float, float, M]:
        """Return the penalised and the plain log-likelihood of the model, and the next model."""
        ...


@dataclass(frozen=True)
class Climb(Generic[M]):
    """Where EM ended, and how it went.

    Attributes
    ----------
    model : Model
        The best that was found.
    penalised : (n_iter,) array
        Best penalised log-likelihood after each E step; never falls.
    plain : float
        Observed-data log-likelihood of the model.
    converged, stopped : bool
        ``stopped``: by the callback.
    """

    model: M
    penalised: Array
    plain: float
    converged: bool
    stopped: bool


@dataclass
class Ascent(Generic[M]):
    """Where EM stands: all that the next step needs, but for the table.

    Attributes
    ----------
    kind : Model
        Any model of the kind and size that is fitted.
    vector : array
        Parameters at which the next E step is taken.
    safe : array
        Where the plain EM step from the best point leads.
    at_safe : bool
        ``vector`` is ``safe``.
    found : array
        Parameters of the best model so far,
    model : Model
        and the model.
    best, best_plain : float
        Its penalised and its plain log-likelihood.
    history : list of (from, to)
        The last EM steps, at most `MEMORY` + 1.
    trace : list of float
        ``best`` after each E step.
    """

    kind: M
    vector: Array
    safe: Array
    found: Array
    model: M
    at_safe: bool = True
    best: float = -np.inf
    best_plain: float = -np.inf
    history: list[tuple[Array, Array]] = field(default_factory=list)
    trace: list[float] = field(default_factory=list)
    converged: bool = False
    stopped: bool = False

    @classmethod
    def of(cls, start: M) -> Ascent[M]:
        """Return an ascent that begins at a model."""
        vector = start.to_vector()
        return cls(start, vector, vector, vector, start)

    def step(
        self,
        problem: Problem[M],
        n_cells: int,
        tol: float,
        max_iter: int,
        callback: Callback | None,
        began: float,
    ) -> None:
        """Take one E step; see `climb`."""
        candidate = self.kind.from_vector(self.vector)
        penalised, plain, following = _try_step(problem, candidate)
        if following is None or penalised < self.best:
            self.trace.append(self.best)
            # A plain EM step can only seem to lose, by rounding: there is no more to gain.
            self.converged = self.at_safe
            self.history, self.vector, self.at_safe = [], self.safe, True
            return
        gain = (penalised - self.best) / n_cells
        self.best, self.best_plain, self.found, self.model = penalised, plain, self.vector, candidate
        self.trace.append(self.best)
        self.safe = following.to_vector()
        move = float(np.abs(self.safe - self.vector).max())
        if callback is not None:
            seconds = time.perf_counter() - began
            self.stopped = bool(callback(Progress(len(self.trace), max_iter, -self.best, gain, tol, seconds)))
        self.converged = gain <= tol and move <= np.sqrt(tol) and not self.stopped
        self.history = [*self.history[-MEMORY:], (self.vector, self.safe)]
        self.vector, self.at_safe = _combine(self.history), False


def climb(
    problem: Problem[M],
    start: M,
    *,
    n_cells: int,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    ascent: Ascent[M] | None = None,
    after: Callable[[Ascent[M]], Any] | None = None,
) -> Climb[M]:
    """Raise the penalised likelihood from ``start`` until it gains no more.

    Ends when an E step finds a gain of at most ``tol`` per observed cell (``n_cells``) and its EM step
    moves no parameter by more than the square root of ``tol``. An ``ascent`` that was interrupted goes on
    where it stood; ``after`` is called with it after each step.
    """
    began = time.perf_counter()
    ascent = Ascent.of(start) if ascent is None else ascent
    while len(ascent.trace) < max_iter and not (ascent.converged or ascent.stopped):
        ascent.step(problem, n_cells, tol, max_iter, callback, began)
        if after is not None:
            after(ascent)
    trace = np.array(ascent.trace)
    return Climb(ascent.model, trace, ascent.best_plain, ascent.converged, ascent.stopped)


def _try_step(problem: Problem[M], model: M) -> tuple[float, float, M | None]:
    """Take an EM step; a model that is not positive definite has likelihood minus infinity."""
    try:
        with np.errstate(all="ignore"):
            penalised, plain, following = problem.step(model)
    except np.linalg.LinAlgError:
        return -np.inf, -np.inf, None
    return (penalised, plain, following) if np.isfinite(penalised) else (-np.inf, -np.inf, None)


def _combine(history: Sequence[tuple[Array, Array]]) -> Array:
    """Return Anderson's combination of the last EM steps (from, to), the newest last."""
    origins, ends = (np.array(points) for points in zip(*history, strict=True))
    if len(ends) == 1:
        return ends[-1]
    residuals = ends - origins
    changes = np.diff(residuals, axis=0)
    gram = changes @ changes.T
    gram[np.diag_indices_from(gram)] *= 1 + 1e-8
    weights = np.linalg.lstsq(gram, changes @ residuals[-1], rcond=1e-10)[0]
    return ends[-1] - weights @ np.diff(ends, axis=0)
