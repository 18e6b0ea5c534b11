"""Accelerated EM whose likelihood still never decreases.

An EM step maps parameters to parameters, and the solution is its fixed point. Anderson's method combines
the last few steps so that their residuals nearly cancel (as in DAAREM: Henderson and Varadhan, 2019), in
unconstrained parameters. Each E step yields the likelihood at its starting point, so a bad combination is
detected at no extra cost: it is dropped in favour of the plain EM step from the last good point, which
cannot decrease the likelihood.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from cellworth.arrays import AnyArray, FloatArray
from cellworth.complete.solver.monitor import Callback, Progress
from cellworth.progress import report

MEMORY = 5  # steps to combine


class EMModel(Protocol):
    """A model with unconstrained parameters."""

    def to_vector(self) -> FloatArray:
        """Return the parameters."""

    def from_vector(self, vector: FloatArray) -> Self:
        """Return the model with these parameters."""

    def improved(self, expected: Any, shrinkage: float) -> tuple[float, float, Self]:
        """Do the M step: return the penalised and the plain log-likelihood, and the next model."""


M = TypeVar("M", bound=EMModel)


@dataclass(frozen=True)
class EM(Generic[M]):
    """EM on the rows of a table, wherever they are stored.

    Attributes
    ----------
    expect : callable
        The E step: returns the expected sums of a model over all rows.
    shrinkage : float
    """

    expect: Callable[[M], Any]
    shrinkage: float

    def step(self, model: M) -> tuple[float, float, M]:
        """Return the penalised and the plain log-likelihood of the model, and the next model."""
        return model.improved(self.expect(model), self.shrinkage)


@dataclass(frozen=True)
class EMResult(Generic[M]):
    """The final model of EM, and how it got there.

    Attributes
    ----------
    model : EMModel
        The best model found.
    penalised : (n_iter,) array
        Best penalised log-likelihood after each E step; never decreases.
    plain : float
        Observed-data log-likelihood of the model.
    converged, stopped : bool
        ``stopped``: by the callback.
    """

    model: M
    penalised: FloatArray
    plain: float
    converged: bool
    stopped: bool


@dataclass
class EMState(Generic[M]):
    """The state of EM: everything the next step needs except the table.

    Attributes
    ----------
    kind : EMModel
        Any model of the fitted kind and size.
    vector : array
        Parameters for the next E step.
    safe : array
        Result of the plain EM step from the best point.
    at_safe : bool
        Whether ``vector`` is ``safe``.
    found : array
        Parameters of the best model so far.
    model : EMModel
        The best model so far.
    best, best_plain : float
        Its penalised and plain log-likelihood.
    history : list of (from, to)
        The last EM steps, at most `MEMORY` + 1.
    trace : list of float
        ``best`` after each E step.
    """

    kind: M
    vector: FloatArray
    safe: FloatArray
    found: FloatArray
    model: M
    at_safe: bool = True
    best: float = -np.inf
    best_plain: float = -np.inf
    history: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    trace: list[float] = field(default_factory=list)
    converged: bool = False
    stopped: bool = False

    @classmethod
    def of(cls, start: M) -> EMState[M]:
        """Return the state before the first step, starting from a model."""
        vector = start.to_vector()
        return cls(start, vector, vector, vector, start)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return everything `from_arrays` needs, for a checkpoint."""
        steps = list(zip(*self.history, strict=True)) or [(), ()]
        origins, ends = (np.array(points).reshape(-1, len(self.vector)) for points in steps)
        return {
            "vector": self.vector,
            "safe": self.safe,
            "found": self.found,
            "from": origins,
            "to": ends,
            "trace": np.array(self.trace),
            "best": np.array([self.best, self.best_plain]),
            "flags": np.array([self.at_safe, self.converged, self.stopped]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, AnyArray], kind: M) -> EMState[M]:
        """Return the state from the arrays of `to_arrays`; ``kind`` is a model of its kind and size."""
        best, best_plain = arrays["best"].tolist()
        at_safe, converged, _ = arrays["flags"].tolist()
        found = arrays["found"]
        return cls(
            kind,
            arrays["vector"],
            arrays["safe"],
            found,
            kind.from_vector(found),
            at_safe,
            best,
            best_plain,
            list(zip(arrays["from"], arrays["to"], strict=True)),
            arrays["trace"].tolist(),
            converged,
        )

    def step(
        self,
        em: EM[M],
        n_cells: int,
        tol: float,
        max_iter: int,
        callback: Callback | None,
        began: float,
    ) -> None:
        """Take one E step; see `run_em`."""
        candidate = self.kind.from_vector(self.vector)
        penalised, plain, following = _try_step(em, candidate)
        if following is None or penalised < self.best:
            if self.best == -np.inf:
                raise np.linalg.LinAlgError("EM starts from a model without a finite likelihood")
            self.trace.append(self.best)
            # Only rounding makes a plain EM step lose, so there is nothing left to gain.
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


def run_em(
    em: EM[M],
    start: M,
    *,
    n_cells: int,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    state: EMState[M] | None = None,
    after: Callable[[EMState[M]], Any] | None = None,
) -> EMResult[M]:
    """Maximise the penalised likelihood from ``start`` until it stops improving.

    Stops when an E step finds a gain of at most ``tol`` per observed cell (``n_cells``) and its EM step
    moves no parameter by more than the square root of ``tol``. The ``state`` of an interrupted run resumes
    it; ``after`` is called with the state after each step. Raises LinAlgError if ``start`` has no
    finite likelihood.
    """
    began = time.perf_counter()
    state = EMState.of(start) if state is None else state
    while len(state.trace) < max_iter and not (state.converged or state.stopped):
        state.step(em, n_cells, tol, max_iter, callback, began)
        report(_share_done(state.trace, n_cells * tol))
        if after is not None:
            after(state)
    return EMResult(state.model, np.array(state.trace), state.best_plain, state.converged, state.stopped)


def _share_done(trace: Sequence[float], enough: float) -> float:
    """Return about how much of the way is done: gains shrink by about the same factor from step to step."""
    if len(trace) < 3:
        return 0.0
    first, last = trace[1] - trace[0], trace[-1] - trace[-2]
    if not 0 < last < first or first <= enough:
        return 0.0
    return float(np.log(first / last) / np.log(first / enough)) if enough > 0 else 0.0


def _try_step(em: EM[M], model: M) -> tuple[float, float, M | None]:
    """Take an EM step; a model that is not positive definite has likelihood minus infinity."""
    try:
        with np.errstate(all="ignore"):
            penalised, plain, following = em.step(model)
    except np.linalg.LinAlgError:
        return -np.inf, -np.inf, None
    return (penalised, plain, following) if np.isfinite(penalised) else (-np.inf, -np.inf, None)


def _combine(history: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Return Anderson's combination of the last EM steps (from, to), newest last."""
    origins, ends = (np.array(points) for points in zip(*history, strict=True))
    if len(ends) == 1:
        return ends[-1]
    residuals = ends - origins
    changes = np.diff(residuals, axis=0)
    gram = changes @ changes.T
    gram[np.diag_indices_from(gram)] *= 1 + 1e-8
    weights = np.linalg.lstsq(gram, changes @ residuals[-1], rcond=1e-10)[0]
    return ends[-1] - weights @ np.diff(ends, axis=0)
