"""EM made faster without giving up that the likelihood never falls.

An EM step maps parameters to parameters, and the answer is its fixed point. Anderson's method combines
the last few steps so that their residuals nearly cancel (as DAAREM does: Henderson and Varadhan, 2019),
in unconstrained parameters. Each E step yields the likelihood of the point where it is taken, so a bad
combination is noticed at no extra cost: it is dropped, and the plain EM step from the last good point is
taken instead, which cannot decrease the likelihood.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.apg import Callback, Progress

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


def climb(
    problem: Problem[M],
    start: M,
    *,
    n_cells: int,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> Climb[M]:
    """Raise the penalised likelihood from ``start`` until it gains no more.

    Ends when an E step finds a gain of at most ``tol`` per observed cell (``n_cells``) and its EM step
    moves no parameter by more than the square root of ``tol``.
    """
    began = time.perf_counter()
    best, best_plain, model, vector = -np.inf, -np.inf, start, start.to_vector()
    history: deque[tuple[Array, Array]] = deque(maxlen=MEMORY + 1)
    trace: list[float] = []
    safe = vector
    for iteration in range(1, max_iter + 1):
        candidate = start.from_vector(vector)
        penalised, plain, following = _try_step(problem, candidate)
        if following is None or penalised < best:
            trace.append(best)
            if vector is safe:  # a plain EM step can only seem to lose, by rounding: there is no more to gain
                return Climb(model, np.array(trace), best_plain, True, False)
            history.clear()
            vector = safe
            continue
        gain = (penalised - best) / n_cells
        best, best_plain, model = penalised, plain, candidate
        trace.append(best)
        safe = following.to_vector()
        move = float(np.abs(safe - vector).max())
        progress = Progress(iteration, max_iter, -best, gain, tol, time.perf_counter() - began)
        stopped = callback is not None and bool(callback(progress))
        if (gain <= tol and move <= np.sqrt(tol)) or stopped:
            return Climb(model, np.array(trace), best_plain, not stopped, stopped)
        history.append((vector, safe))
        vector = _combine(history)
    return Climb(model, np.array(trace), best_plain, False, False)


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
