r"""Accelerated proximal gradient for Eq. (1), on the table and the model jointly.

.. math:: \min_{\hat X, W, b}\ F = \tfrac12\|R_\Omega(\hat X - X)\|_F^2 + \lambda_1\|\hat X\|_{tr}
          + w\sum_{i\ \mathrm{labelled}} \ell(y_i, W^\top\hat x_i + b) + \frac{\rho}{2}\|W\|_F^2

An outer iteration is one proximal step on the table with the model fixed, then a fit of the model with the
table fixed. Neither half increases F: the smooth part has the known Lipschitz constant
:math:`L = 1 + c\,w\,\|W\|_2^2`, and the losses are bounded above by their parabolas. Momentum applies to the
table and the model together, by the paper's rule with its formula corrected,
:math:`\theta_{k+1} = (\sqrt{\theta_k^4 + 4\theta_k^2} - \theta_k^2)/2`. It restarts from 0 as soon as it
points uphill, :math:`\langle Z_k - X_{k+1}, X_{k+1} - X_k\rangle > 0` (O'Donoghue and Candes, 2015), or has
increased F.

The paper completes the table to convergence between two fits of the model. With a large label weight, table
and model are strongly coupled, and hundreds of such rounds crawl along a valley that joint momentum crosses.

A step moves no singular value by more than :math:`\lambda_1/L`, so from the column means a weak penalty would
need very many. It is reached by continuation: a strong penalty forgets the start in a few steps, and each
solution is close to that of a penalty a few times weaker (Toh and Yun, 2010).

The loop sees only small matrices. It accesses the rows through `Passes`, which may keep them in memory or on
other machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cellworth.arrays import AnyArray, FloatArray
from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver import losses
from cellworth.complete.solver.linear_part import LinearPart, fit_linear_part
from cellworth.complete.solver.monitor import Callback, Monitor, Solution
from cellworth.complete.solver.passes_in_memory import InPlacePasses, Passes
from cellworth.complete.solver.singular_value_thresholding import Shrinkage, shrinkage
from cellworth.complete.solver.step import Rows, StepSums

SINGLE_LIMIT = 1e-4  # stationarity that single precision, with some 1e-6 of noise, resolves well
FAR = 10.0  # times the goal: the last iterations are in the precision of the data
WEAK = 1e-3  # penalties below this times the norm of the data are approached from stronger ones
STRONG = 0.1  # the first of these, in the same unit
FALL = 3.0  # the ratio of one to the next
STAGE_TOL = 0.01  # relative to the penalty
STAGE_ITERATIONS = 50


_OF_MONITOR = ("tol", "max_iter", "scale", "slack", "aim", "stationarity", "stationarity_before", "n_iter")
_OF_DESCENT = ("lipschitz", "objective", "beta", "sampled", "landing")


class Momentum:
    """The sequence beta_k = theta_k (1 / theta_{k-1} - 1), which starts at 0."""

    def __init__(self, theta: float = 1.0) -> None:
        self.theta = theta

    def restart(self) -> None:
        """Restart: the next value is 0."""
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


@dataclass
class Descent:
    """The state of the iterations: everything the next one needs except the rows.

    Attributes
    ----------
    model, ahead : LinearPart
        The models of the iterate and of the point.
    lipschitz : float
        L of ``ahead``.
    sums : StepSums
        Sums of the pass that formed the point.
    shrunk : Shrinkage
        The map that produced the iterate.
    objective : float
        F of the iterate.
    beta : float
        The momentum in the point.
    sampled : float
        Squared norm of the last move in the sampled rows.
    landing : bool
        Whether the next pass is probably the last.
    """

    monitor: Monitor
    model: LinearPart
    ahead: LinearPart
    lipschitz: float
    sums: StepSums
    shrunk: Shrinkage
    objective: float
    beta: float = 0.0
    sampled: float = 0.0
    landing: bool = False
    momentum: Momentum = field(default_factory=Momentum)

    @classmethod
    def begin(
        cls,
        passes: Passes,
        model: LinearPart,
        *,
        trace_penalty: float,
        trace_norm: float,
        tol: float,
        max_iter: int,
        callback: Callback | None = None,
        first: StepSums | None = None,
    ) -> Descent:
        """Form the first point, unless its sums are given.

        ``trace_norm`` is that of the iterate, or an upper bound on it.
        """
        lipschitz = model.lipschitz()
        sums = passes.first(lipschitz, model) if first is None else first
        objective = sums.misfit + sums.loss + trace_penalty * trace_norm + model.penalty()
        monitor = Monitor.of(passes.scale, passes.eps, objective, tol, max_iter, callback)
        nothing = Shrinkage.to_zero(len(sums.gram))
        return cls(monitor, model, model, lipschitz, sums, nothing, objective)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return everything `from_arrays` needs for a checkpoint; no pickles, so reading runs no code."""
        arrays: dict[str, Any] = {f"sums.{k}": v for k, v in self.sums._asdict().items()}
        arrays |= {f"shrunk.{k}": v for k, v in self.shrunk._asdict().items()}
        for name, model in (("model", self.model), ("ahead", self.ahead)):
            arrays |= {f"{name}.coef": model.coef, f"{name}.intercept": model.intercept}
        arrays |= {
            "loss": type(self.model.loss).__name__,
            "weights": [self.model.weight, self.model.ridge, float(self.model.fit_intercept)],
            "monitor": [float(getattr(self.monitor, name)) for name in _OF_MONITOR],
            "record": self.monitor.objective,
            "descent": [float(getattr(self, name)) for name in _OF_DESCENT],
            "theta": self.momentum.theta,
        }
        return {name: np.asarray(value) for name, value in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, AnyArray], callback: Callback | None) -> Descent:
        """Return the descent from the arrays of `to_arrays`."""
        sums = StepSums(*(_number(arrays[f"sums.{name}"]) for name in StepSums._fields))
        shrunk = Shrinkage(*(arrays[f"shrunk.{name}"] for name in Shrinkage._fields))
        loss = getattr(losses, str(arrays["loss"]))()
        weight, ridge, *fits = arrays["weights"].tolist()  # earlier versions always fitted an intercept
        model, ahead = (
            LinearPart(loss, weight, ridge, arrays[f"{name}.coef"], arrays[f"{name}.intercept"], all(fits))
            for name in ("model", "ahead")
        )
        of_monitor: dict[str, Any] = dict(zip(_OF_MONITOR, arrays["monitor"].tolist(), strict=True))
        counts = {name: int(of_monitor[name]) for name in ("max_iter", "n_iter")}
        lipschitz, objective, beta, sampled, landing = arrays["descent"].tolist()
        of_monitor |= {"objective": arrays["record"].tolist(), "latest": objective, **counts}
        monitor = Monitor(callback=callback, **of_monitor)
        momentum = Momentum(float(arrays["theta"]))
        return cls(
            monitor, model, ahead, lipschitz, sums, shrunk, objective, beta, sampled, bool(landing), momentum
        )

    def wants_more(self) -> bool:
        """Return whether to continue."""
        return self.monitor.wants_more()

    def iterate(self, passes: Passes, trace_penalty: float, *, hold_model: bool = False) -> None:
        """Do one iteration: shrink the point, fit the model, form the next point."""
        self.shrunk = shrinkage(self.sums.gram, trace_penalty / self.lipschitz)
        earlier, model_move = self.model, 0.0
        if not hold_model:
            self.model, model_move = fit_linear_part(self.ahead, passes.labelled_sums(self.sums, self.shrunk))
        beta_before, lipschitz_before = self.beta, self.lipschitz
        self.beta = self.momentum.next()
        self._look_ahead(self.model.ahead_of(earlier, self.beta))
        if self.landing:
            self.sums = passes.last(self.shrunk.operator, self.model)
        else:
            self.sums = passes.next(self.shrunk.operator, self.beta, self.lipschitz, self.model, self.ahead)
        previous, sampled_before = self.objective, self.sampled
        self.objective = (
            self.sums.misfit + self.sums.loss + trace_penalty * self.shrunk.trace_norm + self.model.penalty()
        )
        self.sampled = self.sums.sampled
        table_move = _distance_to_extrapolation(self.sums, beta_before, sampled_before)
        gradient = float(np.hypot(lipschitz_before * table_move, model_move))
        pull = trace_penalty * self.shrunk.subgradient_norm
        self.monitor.record(self.objective, gradient, pull, exact=beta_before == 0)
        self._go_on(passes, previous, beta_before)

    def _go_on(self, passes: Passes, previous: float, beta_before: float) -> None:
        """Decide whether to restart momentum, and whether the next pass may be the last."""
        monitor = self.monitor
        uphill = beta_before * self.sums.overlap > self.sums.sampled
        rose = self.objective > previous + monitor.slack * abs(previous)
        done = beta_before > 0 and monitor.seems_done()
        if uphill or rose or done or monitor.at_last():
            self.momentum.restart()
        if self.landing or uphill or rose or done or monitor.at_last():
            self.beta = 0.0
            self._look_ahead(self.model)
            if self.wants_more():
                self.sums = passes.first(self.lipschitz, self.model)
        self.landing = self.beta == 0 and (done or monitor.in_sight())

    def _look_ahead(self, model: LinearPart) -> None:
        self.ahead, self.lipschitz = model, model.lipschitz()


def _number(value: AnyArray) -> Any:
    return float(value) if value.ndim == 0 else value


def descend(
    passes: Passes,
    descent: Descent,
    trace_penalty: float,
    *,
    hold_model: bool = False,
    after: Callable[[Descent], Any] | None = None,
) -> Solution:
    """Iterate until convergence; ``after`` is called after each iteration.

    Stops at a near-stationary point; see `minimise`.
    """
    while descent.wants_more():
        descent.iterate(passes, trace_penalty, hold_model=hold_model)
        if after is not None:
            after(descent)
    return descent.monitor.solution(passes.iterate, descent.model, descent.shrunk)


def minimise(
    iterate: FloatArray,
    model: LinearPart,
    rows: Rows,
    *,
    trace_penalty: float,
    trace_norm: float,
    tol: float,
    max_iter: int,
    blocks: RowBlocks,
    callback: Callback | None = None,
    hold_model: bool = False,
    single: bool = False,
) -> Solution:
    r"""Minimise F from a table and a model, in memory.

    Stops at a near-stationary point: the gradient mapping :math:`L\|Z_k - X_{k+1}\|_F` of the table and the
    model's move, in the metric of F, must together be below ``tol`` times the norm of the observed values
    (or below what the precision can resolve). With momentum, the former is estimated from sampled rows; a
    step without momentum confirms it. A step that may be the last does not prepare another: it lands.

    Parameters
    ----------
    iterate : (n, d) array
        Overwritten.
    trace_norm : float
        Trace norm of ``iterate``, or an upper bound on it.
    hold_model : bool
        Solve for the table only.
    single : bool
        Iterate in single precision until the gradient mapping is within a factor of `FAR` of the goal, or
        below `SINGLE_LIMIT`; then go on in the precision of the data, from the same point.

    Notes
    -----
    Time per iteration: one pass over the rows, 3 n d^2 flops, and O(min(n, d)^3). Memory: one and an eighth
    arrays the size of ``iterate``.
    """
    passes = InPlacePasses(iterate, rows, blocks, single=single and rows.values.dtype != np.float32)
    descent = Descent.begin(
        passes,
        model,
        trace_penalty=trace_penalty,
        trace_norm=trace_norm,
        tol=tol,
        max_iter=max_iter,
        callback=callback,
    )

    def refine(so_far: Descent) -> None:
        if so_far.monitor.stationarity <= max(SINGLE_LIMIT, FAR * so_far.monitor.tol):
            passes.refine()

    return descend(passes, descent, trace_penalty, hold_model=hold_model, after=refine)


def _distance_to_extrapolation(sums: StepSums, beta: float, sampled_before: float) -> float:
    r"""Return :math:`\|X_{k+1} - Z_k\|_F`: exact without momentum, else estimated from the sampled rows.

    With the moves :math:`D_k`, it is :math:`\|D_{k+1} - \beta_k D_k\|`.
    """
    if beta == 0 or sums.sampled == 0:
        return float(np.sqrt(sums.change))
    square = sums.sampled - 2 * beta * sums.overlap + beta**2 * sampled_before
    return float(np.sqrt(max(0.0, square) / sums.sampled * sums.change))


class Approach(NamedTuple):
    """Where `approach` got to."""

    model: LinearPart
    trace_norm: float
    n_iter: int


def approach(
    passes: Passes,
    model: LinearPart,
    trace_penalty: float,
    trace_norm: float,
    *,
    max_iter: int,
) -> Approach:
    r"""Descend with falling penalties until near a weak one; the iterate is then that of ``passes``.

    Does nothing if :math:`\lambda_1` is 0, or at least `WEAK` times the norm of the observed values.
    """
    n_iter, penalty = 0, STRONG * passes.scale
    while 0 < trace_penalty < WEAK * passes.scale and penalty > FALL * trace_penalty and n_iter < max_iter:
        descent = Descent.begin(
            passes,
            model,
            trace_penalty=penalty,
            trace_norm=trace_norm,
            tol=STAGE_TOL * penalty / passes.scale,
            max_iter=min(STAGE_ITERATIONS, max_iter - n_iter),
        )
        solution = descend(passes, descent, penalty)
        model, trace_norm = solution.model, float(solution.singular_values.sum())
        n_iter += solution.n_iter
        penalty /= FALL
    return Approach(model, trace_norm, n_iter)


def minimise_from_means(
    iterate: FloatArray,
    model: LinearPart,
    rows: Rows,
    *,
    trace_penalty: float,
    trace_norm: float,
    max_iter: int,
    blocks: RowBlocks,
    **settings: Any,
) -> Solution:
    """Minimise F from column means; arguments and result are those of `minimise`, ``n_iter`` counts all."""
    passes = InPlacePasses(iterate, rows, blocks)
    found = approach(passes, model, trace_penalty, trace_norm, max_iter=max_iter - 1)
    iterate = passes.iterate
    del passes  # it has a point, as large as the table
    solution = minimise(
        iterate,
        found.model,
        rows,
        trace_penalty=trace_penalty,
        trace_norm=found.trace_norm,
        max_iter=max_iter - found.n_iter,
        blocks=blocks,
        **settings,
    )
    solution.n_iter += found.n_iter
    return solution
