"""What the completers without labels share: two factors, and rows estimated from one of them."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import BoolArray
from cellworth.blocks.threads import worker_threads
from cellworth.complete.completer import Completer, put_back, scaled_cells
from cellworth.complete.inputs import check_number, check_table
from cellworth.complete.low_rank import fold_in
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.factors import Factors, Watch
from cellworth.complete.solver.monitor import Callback, Progress
from cellworth.errors import ParameterError

Array = NDArray[np.floating]

__all__ = ["Callback", "FactoredCompleter", "check_rank"]

LEAST_PENALTY = 1e-7  # for new rows, of the first component's size: with less, rounding would decide


class FactoredCompleter(Completer):
    """Base of the completers that find a table of low rank from the observed cells alone.

    A subclass has the parameters ``scale``, ``tol``, ``max_iter``, ``random_state``, ``dtype`` and
    ``callback``, and says in `_factorise` how the factors are found and in `_row_penalty` how strongly
    new rows are shrunk.
    """

    scale: str | None
    tol: float
    max_iter: int
    random_state: Any
    callback: Callback | None
    low_rank_: tuple[Array, Array]

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Complete the table X (n, d), NaN in its holes. ``y`` is accepted and ignored."""
        self._check_parameters()
        X = check_table(self, X, dtype=self.dtype, reset=True)
        self.scaling_ = Scaling.of(X, self.scale)
        values, observed = scaled_cells(X, self.scaling_)
        rng = generator_of(self.random_state)
        with worker_threads(1):
            fit = self._factorise(values, observed, rng, watcher(self.callback, self.max_iter, self.tol))
            filled = fit.left @ fit.right
        self._keep(fit)
        self.completed_ = put_back(X, self.scaling_.undo_in_place(filled))
        return self

    @abstractmethod
    def _factorise(
        self, values: Array, observed: BoolArray, rng: np.random.Generator, watch: Watch
    ) -> Factors:
        """Return the factors of the scaled table, 0 in its holes; set what belongs to the method."""

    @abstractmethod
    def _row_penalty(self) -> float:
        """Return the ridge with which new rows are regressed on ``low_rank_[1]``."""

    def _complete_new(self, values: Array, observed: BoolArray) -> Array:
        right = self.low_rank_[1]
        least = LEAST_PENALTY * float(np.einsum("ij,ij->i", right, right).max(initial=0.0))
        return fold_in(values, observed, right, max(self._row_penalty(), least))

    def _check_parameters(self) -> None:
        check_number("tol", self.tol, minimum=0)
        check_number("max_iter", self.max_iter, minimum=1)
        if self.dtype is not None and np.dtype(self.dtype) not in (np.float32, np.float64):
            raise ParameterError(f"dtype must be None, float32 or float64; got {self.dtype!r}")

    def _keep(self, fit: Factors) -> None:
        """Set the fitted attributes; warn if the work is not done."""
        self.low_rank_ = (fit.left, fit.right)
        self.rank_ = len(fit.right)
        self.objective_ = np.array(fit.objective)
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.converged
        if not fit.converged and not fit.stopped:
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.max_iter} steps; raise max_iter or tol "
                f"(now {self.tol:g}){self._easier()}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _easier(self) -> str:
        """Return what else would help, as the end of a sentence."""
        return "."


def check_rank(rank: object, other: str = "") -> None:
    """Refuse a rank that is neither None nor a whole number from 1 on; ``other`` is what else is right."""
    if rank is None or (isinstance(rank, int | np.integer) and not isinstance(rank, bool) and rank >= 1):
        return
    raise ParameterError(f"rank must be {other}None or a whole number of at least 1; got {rank!r}")


def generator_of(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Return the source of randomness; that of a seed differs from ``numpy.random.default_rng`` of that seed.

    Else cells that were removed with ``default_rng(0).random(shape)`` would be the very ones that a
    completer with the seed 0 wants to hide.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(1,)))


def watcher(callback: Callback | None, max_iter: int, tol: float) -> Watch:
    """Return what a solver tells of each iteration, on its way to a progress callback."""
    begun = time.perf_counter()

    def watch(iteration: int, objective: float, stationarity: float) -> bool:
        if callback is None:
            return False
        seconds = time.perf_counter() - begun
        return bool(callback(Progress(iteration, max_iter, objective, stationarity, tol, seconds)))

    return watch
