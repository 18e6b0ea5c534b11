r"""The shared base of completers without labels: two factors, and rows estimated from one of them.

Without a penalty, a row with fewer observed cells than components has many exact fits, and its unobserved
cells can take any value. So LMaFit and OptSpace, which are unpenalised, re-estimate the rows under a prior
once the components are known. In the basis :math:`b_k = s_kv_k/\sqrt n`
of a table with singular values s and right singular vectors v, the coefficients of its rows have mean square
1. With a normal prior of that variance, and noise of variance :math:`\rho` in each cell, the best estimate
is a ridge regression,

.. math:: a_i = \arg\min_a\ \tfrac12\sum_{j\in\Omega_i}(x_{ij} - a^\top b_{\cdot j})^2
          + \tfrac\rho2\|a\|^2.

New rows are completed in the same way.
"""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete.completer import Completer
from cellworth.complete.fitted_state import restore, state_of
from cellworth.complete.hold_out import PATIENCE, Choice, HeldOut
from cellworth.complete.inputs import check_dtype, check_number, check_table
from cellworth.complete.scaling import Scaling, put_back, scaled_cells
from cellworth.complete.solver.factors import Factors, Watch, fold_in, principal_factors
from cellworth.complete.solver.monitor import Callback, Progress
from cellworth.errors import ParameterError

FITTED = ("low_rank_", "rank_", "objective_", "n_iter_", "converged_", "trace_penalty_", "ridge_")

LEAST_PENALTY = 1e-7  # for new rows, relative to the first component: any less, and rounding dominates

RIDGES = 10.0 ** np.array([0, -0.5, -1, -1.5, -2, -3, -4, -6])
"""Candidates, as fractions of the mean square of the observed values."""

UNINFORMED = 2  # the candidate to use when the table is too small to hide a cell

GAIN = 0.99  # a higher rank must reduce the held-out error to this fraction of the best so far


class FactoredCompleter(Completer):
    """Base class of completers that fit a low-rank table to the observed cells alone.

    A subclass has the parameters ``scale``, ``tol``, ``max_iter``, ``random_state``, ``dtype`` and
    ``callback``. Its `_factorise` finds the factors, and its `_row_penalty` sets how strongly new rows are
    shrunk.
    """

    scale: str | None
    tol: float
    max_iter: int
    random_state: Any
    callback: Callback | None
    low_rank_: tuple[FloatArray, FloatArray]

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
        self, values: FloatArray, observed: BoolArray, rng: np.random.Generator, watch: Watch
    ) -> Factors:
        """Return the factors of the scaled table, 0 in its holes; set method-specific attributes."""

    @abstractmethod
    def _row_penalty(self) -> float:
        """Return the ridge for regressing new rows on ``low_rank_[1]``."""

    def fitted_state(self) -> dict[str, Any]:
        """Return the fitted state as plain data; see `cellworth.complete.fitted_state`."""
        return state_of(self, FITTED)

    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` of a completer with the same settings returned."""
        restore(self, state, FITTED)

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        right = self.low_rank_[1]
        least = LEAST_PENALTY * float(np.einsum("ij,ij->i", right, right).max(initial=0.0))
        return fold_in(values, observed, right, max(self._row_penalty(), least))

    def _check_parameters(self) -> None:
        check_number("tol", self.tol, minimum=0)
        check_number("max_iter", self.max_iter, minimum=1)
        check_dtype(self.dtype)

    def _keep(self, fit: Factors) -> None:
        """Set the fitted attributes; warn if the fit has not converged."""
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
        """Return the end of the warning: what else would help."""
        return ", or lower rank, which makes the problem easier."


def check_rank(rank: object, other: str = "") -> None:
    """Raise unless ``rank`` is None or an integer of at least 1; ``other`` names what else is allowed."""
    if rank is None or (isinstance(rank, int | np.integer) and not isinstance(rank, bool) and rank >= 1):
        return
    raise ParameterError(f"rank must be {other}None or a whole number of at least 1; got {rank!r}")


def generator_of(random_state: int | np.random.Generator | None, key: int = 1) -> np.random.Generator:
    """Return a generator; a seed gives a different stream from ``numpy.random.default_rng``.

    Otherwise a completer with seed 0 would try to hide exactly the cells that a user removed with
    ``default_rng(0).random(shape)``. A completer that tries others must use a different ``key`` from theirs.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(key,)))


def copy_of(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator that draws and spawns as this one will; before NumPy 2, a deep copy does not."""
    bits = rng.bit_generator
    seeds: Any = bits.seed_seq
    if isinstance(seeds, np.random.SeedSequence):
        seeds = np.random.SeedSequence(
            seeds.entropy,
            spawn_key=seeds.spawn_key,
            pool_size=seeds.pool_size,
            n_children_spawned=seeds.n_children_spawned,
        )
    copied = type(bits)(seeds)
    copied.state = bits.state
    return np.random.Generator(copied)


def watcher(callback: Callback | None, max_iter: int, tol: float) -> Watch:
    """Return a watcher that reports a solver's iterations to a progress callback."""
    begun = time.perf_counter()

    def watch(iteration: int, objective: float, stationarity: float) -> bool:
        if callback is None:
            return False
        seconds = time.perf_counter() - begun
        return bool(callback(Progress(iteration, max_iter, objective, stationarity, tol, seconds)))

    return watch


def normalise(fit: Factors, unit: float) -> tuple[FloatArray, FloatArray]:
    """Return factors (n, r) and (r, d) of the same table, the left one with columns of mean square 1.

    ``unit`` is the mean square of the observed values. A component larger than a whole row of such values
    comes from a few rows that diverged: it is cut to the size of a row, and those rows get large
    coefficients.
    """
    U, s, Vt = principal_factors(fit.left, fit.right)
    lengths = np.minimum(s / np.sqrt(len(U)), np.sqrt(unit * Vt.shape[1])).astype(s.dtype)
    return U * (s / lengths), lengths[:, None] * Vt


def shrink_rows(fit: Factors, values: FloatArray, observed: BoolArray, ridge: float) -> None:
    """Replace the factors of ``fit`` with normalised ones, and re-estimate the rows under ``ridge``.

    ``ridge`` is the noise variance in scaled units; 0 leaves the table unchanged.
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
        Fits of increasing rank. The search ends after `PATIENCE` fits in a row without a gain.
    ridge : float or None
        If given, the only candidate, in scaled units.

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


def mean_square(values: FloatArray, observed: BoolArray) -> float:
    """Return the mean square of the observed values, 1 if they are all 0; ``values`` is 0 in the holes."""
    squares = np.einsum("ij,ij->i", values, values).sum(dtype=np.float64)
    return float(squares / max(1, int(observed.sum()))) or 1.0


def warn_unless_converged(estimator: Any, fit: Any) -> None:
    """Warn if a fit has ended at its limit of steps."""
    if not fit.converged and not fit.stopped:
        warnings.warn(
            f"{type(estimator).__name__} did not converge in {estimator.max_iter} steps; raise max_iter or "
            f"tol (now {estimator.tol:g}), or raise trace_penalty (it was {estimator.trace_penalty_:g}), "
            "which makes the problem easier.",
            ConvergenceWarning,
            stacklevel=4,
        )
