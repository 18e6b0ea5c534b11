"""Completion with a joint Gaussian, including the uncertainty of each cell."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.checkpoints import Checkpoint
from cellworth.blocks.row_source import Part, Source
from cellworth.blocks.thread_engine import ThreadEngine, worker_threads
from cellworth.complete.completer import BlockCompleter, fit_source
from cellworth.complete.factored_completer import copy_of
from cellworth.complete.fitted_state import restore, state_of
from cellworth.complete.gaussian.em import EMResult
from cellworth.complete.gaussian.fit_gaussian import FitSettings, MarginKind, Start, fit_gaussian
from cellworth.complete.gaussian.label_trust import check_label_trust
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.gaussian.posterior_completer import PosteriorCompleter
from cellworth.complete.gaussian.quick_fit import factor_count, some_rows
from cellworth.complete.gaussian.rows_to_fit import ArrayRows, BlockRows, CellForm, row_slices
from cellworth.complete.inputs import check_choice, check_dtype, check_number, check_table
from cellworth.complete.labels import TargetKind, label_code
from cellworth.complete.solver.monitor import Callback
from cellworth.complete.table_summary import TableSummary
from cellworth.errors import ParameterError

FITTED = (
    *("variance_", "mean_", "log_likelihood_", "objective_", "observed_log_likelihood_", "n_iter_"),
    *("converged_", "margins_", "shrinkage_", "label_trust_", "n_factors_"),
)


class GaussianCompleter(PosteriorCompleter, BlockCompleter):
    r"""Fill the holes of a table with the conditional means of a joint Gaussian, and give their variances.

    Mean and covariance maximise the likelihood of the observed cells, with a penalty that shrinks
    correlations estimated from few rows:

    .. math:: \max_{\mu, \Sigma}\ \sum_i \log N(x_{i,o_i};\ \mu_{o_i}, \Sigma_{o_i o_i})
              - \frac{\kappa}{2}\bigl(\log|\Sigma| + \operatorname{tr}(D\,\Sigma^{-1})\bigr)

    by accelerated EM whose objective never decreases. D holds the columns' observed variances. With factors,
    the penalty has the noise of each column in place of :math:`\Sigma`, and :math:`D_j + \|W_j\|^2` in place
    of D. Each hole gets its conditional mean and variance given the observed cells of its row.

    Parameters
    ----------
    factors : int, None or "auto", default="auto"
        None: a full covariance. An integer: that many common factors plus noise,
        :math:`\Sigma = W W^\top + \operatorname{diag}\psi`. "auto": a full covariance up to 200 columns,
        at most 20 factors above that.
    shrinkage : float or "auto", default="auto"
        :math:`\kappa`, nonnegative: the penalty weighs as much as this many rows with uncorrelated columns.
        It matters for columns observed in few rows, and vanishes for those observed in many. "auto" picks
        the one from 3 to 500 that completes held-out observed cells best, or 3 for a long table.
    margins : {"auto", "normal", "rank"}, default="auto"
        "normal" uses columns as they are. "rank" first maps each by its ranks to normal scores (a
        Gaussian copula), which is better for skewed columns with monotone relations; completions then
        stay in the observed range. Columns where many cells share a value are used as they are. "auto" picks
        the one that completes held-out observed cells better.
    label_trust : float or "auto", default="auto"
        How much the labels contribute to completing the rows of `fit`, from 0 (nothing) to 1 (as exact as
        a cell). In between, a label counts as measured with noise of (1 - t)/t times its variance. "auto"
        chooses on held-out cells and rows; see Notes.
    calibrate : bool, default=True
        Learn the actual spread of each column by predicting observed cells from the others in their row,
        for `variance_`, `predict_interval` and `sample`. In columns where many cells share a value, intervals
        end at values that occur, and draws are such values. False trusts the Gaussian.
    target : {"auto", "classes", "number"}, default="auto"
        What `y` holds. "auto": floats with fractions or more than 20 values are numbers, all else classes.
    tol : float, default=1e-4
        Stop when a step gains at most this much penalised log-likelihood per observed cell and moves no
        parameter, in scaled units, by more than the square root of `tol`.
    max_iter : int, default=500
        Most E steps of the fit to the whole table.
    warm_start : bool, default=False
        Start from the last fit and keep what "auto" chose there: a few steps after a few new answers.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Of the result, by default that of the table; computations use float64.
    missing_values : float or None, default=None
        A number that marks holes, besides NaN.
    add_indicator : bool, default=False
        `transform` appends a column of 0 and 1 for each column that had holes in `fit`: 1 in its holes.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it.
    random_state : int, Generator or None, default=0
        Draws the cells and rows that "auto" holds out.
    callback : callable or None, default=None
        Called with a `Progress` after each step; returning true stops the fit.

    Attributes
    ----------
    completed_ : (n, d) array, or CompletedBlocks
        The table passed to `fit` with its holes filled, in its own units; observed cells are unchanged.
    variance_ : (n, d) array
        Variance of each cell given what is observed, in squared units of its column; 0 if observed. With
        ``calibrate``, multiplied by the mean square of standardised residuals of cells of its column with
        similar predictions. After a fit to row blocks, ``completed_`` provides it.
    mean_ : (d,) array
    covariance_ : (d, d) array
        In the units of the table; of normal scores in columns that are mapped by rank.
    log_likelihood_ : (n_iter_,) array
        Penalised log-likelihood of the observed cells, or of their normal scores, and of trusted labels: the
        highest up to each E step. The last one is that of the model.
    objective_ : (n_iter_,) array
        ``-log_likelihood_``; never increases.
    observed_log_likelihood_ : float
        The final log-likelihood without the penalty.
    n_iter_ : int
        E steps on the whole table. Not those of the short fits, on some of the rows, that EM starts from and
        that "auto" chooses by.
    converged_ : bool
        Whether the last step met `tol`.
    margins_ : {"normal", "rank"}
    shrinkage_ : float
    label_trust_ : float
        The trust used; 0 without labels.
    n_factors_ : int or None
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Rows with the same pattern of holes share all matrix work. With n rows, d columns and P distinct patterns
    with at most k holes, or observed cells if these are fewer, an E step costs O(n d^2 + P k^3). With r
    factors it costs O(n r^2 (d + r)).

    Labels help complete the rows of `fit`, but may make them easier to tell apart than new rows, which have
    no labels. See `cellworth.complete.gaussian.held_out_choices` for how "auto" weighs the two. `transform`
    never uses labels.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.gaussian import GaussianCompleter
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, size=200)
    >>> X = np.column_stack([height, height - 100 + rng.normal(0, 5, size=200)])
    >>> X[0] = [180, np.nan]
    >>> completer = GaussianCompleter(margins="normal").fit(X)
    >>> completer.completed_[0].round(-1)
    array([180.,  80.])
    >>> np.sqrt(completer.variance_[0]).round()
    array([0., 5.])
    """

    def __init__(
        self,
        *,
        factors: int | Literal["auto"] | None = "auto",
        shrinkage: float | Literal["auto"] = "auto",
        margins: MarginKind = "auto",
        label_trust: float | Literal["auto"] = "auto",
        calibrate: bool = True,
        target: TargetKind = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        warm_start: bool = False,
        dtype: DTypeLike | None = None,
        missing_values: float | None = None,
        add_indicator: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        callback: Callback | None = None,
    ) -> None:
        self.factors = factors
        self.shrinkage = shrinkage
        self.margins = margins
        self.label_trust = label_trust
        self.calibrate = calibrate
        self.target = target
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.dtype = dtype
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    has_variance: ClassVar[bool] = True
    _form: CellForm

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, checkpoint: str | PathLike[str] | None = None
    ) -> Self:
        """Complete the table X (n, d), NaN in its holes, using the labels y (n,) as far as they are trusted.

        Some labels may be missing (NaN or None), or all (``y=None``). X may be a `Source` of row blocks,
        which brings its own labels; see `BlockCompleter.fit`, also for ``checkpoint``.
        """
        self._check_parameters()
        if isinstance(X, Source):
            return fit_source(self, X, checkpoint)
        X = check_table(self, X, dtype=self.dtype, reset=True)
        earlier = self._earlier_fit(X.shape[1])
        self.n_factors_ = factor_count(self.factors, X.shape)
        with ThreadEngine(self.n_jobs) as engine:
            rows = ArrayRows(X, y, self.target, engine)
            settings = FitSettings.of(self, len(X))
            fitted, _, result = fit_gaussian(settings, rows, earlier, engine=engine)
            posterior = fitted.posterior(rows.cells, rows.completed(fitted))
        self.scaling_ = rows.scaling
        self._fitted, self._cells, self._posterior = fitted, rows.cells, posterior
        self._generator = copy_of(settings.rng)
        self._keep(result, rows.counts)
        self.completed_, self.variance_ = self._in_units(posterior, X)
        return self

    def fit_blocks(self, source: Source, summary: TableSummary, checkpoint: Checkpoint | None) -> None:
        """Fit to a table of row blocks, by the same steps.

        "auto" chooses on held-out cells of the rows that `fit` draws of a table in memory: they are collected
        with those that EM starts on, and a pass more is for the trust in labels. The result is that of `fit`,
        up to rounding in the sums.
        """
        earlier = self._earlier_fit(len(source.columns))
        self.n_factors_ = factor_count(self.factors, (source.n_rows, len(source.columns)))
        settings = FitSettings.of(self, source.n_rows)
        first_asked = None  # by the choices, which an earlier fit has made
        if earlier is None:
            first_asked = some_rows(source.n_rows, len(source.columns), copy_of(settings.rng))
        with worker_threads(1):
            rows = BlockRows(source, summary, self.target, first_asked)
            self._fitted, self._form, result = fit_gaussian(settings, rows, earlier, checkpoint=checkpoint)
        self.scaling_ = rows.scaling
        self._keep(result, rows.counts)
        for name in ("_cells", "_posterior", "_generator", "variance_"):
            self.__dict__.pop(name, None)  # left from an earlier fit in memory

    def complete_rows(self, part: Part, state: None = None) -> tuple[FloatArray, FloatArray]:
        """Return the completed rows of a block and the variance of each cell, (m, d) each."""
        completed, variance = np.empty_like(part.X), np.empty_like(part.X)
        for rows in row_slices(len(part.X)):  # some at a time: they stay in cache
            some = part.some(rows)
            found = self._in_units(self._fitted.posterior(self._form.cells(some)), some.X)
            completed[rows], variance[rows] = found
        return completed, variance

    def intervals_of(self, part: Part, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals of a block's cells, (m, d) each; see `predict_interval`."""
        return self._interval(part.X, self._fitted.posterior(self._form.cells(part)), level)

    def sample_part(self, part: Part, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draw rows of a table of row blocks; (n_draws, m, d), as `sample_rows` draws rows in memory."""
        cells = self._form.cells(part)
        return self._sampled(part.X, cells, self._fitted.posterior(cells), n_draws, rng)

    def fitted_state(self) -> dict[str, Any]:
        """Return the state of a fit to an array, as plain data."""
        state = state_of(self, FITTED) | {"fitted": self._fitted.to_state()}
        known = self._cells.observed[:, : self._posterior.mean.shape[1]]
        of_holes = np.where(known, 0.0, self._posterior.mean)  # that of a known cell is its score
        posterior = {"mean": of_holes, "variance": self._posterior.variance}
        return state | {"cells": dict(vars(self._cells)), "posterior": posterior}

    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` returned; the next warm start continues as the original would."""
        restore(self, state, FITTED)
        self._fitted = FittedGaussian.from_state(state["fitted"])
        self._cells, of_holes = Cells(**state["cells"]), state["posterior"]["mean"]
        scores, known = (array[:, : of_holes.shape[1]] for array in vars(self._cells).values())
        self._posterior = Posterior(np.where(known, scores, of_holes), state["posterior"]["variance"])

    def fitted_parameters(self) -> dict[str, Any]:
        """Return the state of a fit to row blocks, as plain data; O(d^2)."""
        state = state_of(self, FITTED)
        state.pop("completed_", None)
        return state | {"fitted": self._fitted.to_state()}

    def resume_blocks(self, source: Source, summary: TableSummary, parameters: dict[str, Any]) -> None:
        """Restore what `fitted_parameters` returned after a fit to the same row blocks."""
        restore(self, parameters, FITTED)
        self._fitted = FittedGaussian.from_state(parameters["fitted"])
        code = label_code(summary.labels, "squared", self.target, f"the target {source.target!r}")
        self._form = CellForm(self.scaling_, self._fitted.margins, code, self._fitted.trust)

    def _posterior_of(self, values: FloatArray, observed: BoolArray) -> tuple[Cells, Posterior]:
        cells = self._fitted.unlabelled_cells(values, observed)
        return cells, self._fitted.posterior(cells)

    def _redrawn(self, rng: np.random.Generator) -> FittedGaussian:
        if not hasattr(self, "_cells"):
            raise ParameterError("a fit to row blocks keeps no cells to draw parameters by; fit to an array")
        return self._fitted.redrawn(self._cells, rng)

    @property
    def fitted_gaussian(self) -> FittedGaussian:
        """The fitted model with its margins, label trust and calibration, in scaled units."""
        check_is_fitted(self)
        return self._fitted

    @property
    def generator_left(self) -> np.random.Generator:
        """A copy of the random generator as the choices of the last `fit` to an array left it."""
        check_is_fitted(self)
        if not hasattr(self, "_generator"):
            raise ParameterError(
                "a fit to row blocks, or one that was stored, keeps no generator; fit to an array"
            )
        return copy_of(self._generator)

    @property
    def covariance_(self) -> FloatArray:
        """The covariance of the columns, (d, d)."""
        check_is_fitted(self)
        covariance = self._fitted.model.on_columns(slice(len(self.scaling_.width))).covariance
        return covariance * np.outer(self._widths(), self._widths())

    def _widths(self) -> FloatArray:
        """Return the scale of the model's columns in the table's units."""
        return np.where(self._fitted.margins.ranked, 1.0, self.scaling_.width)

    def _earlier_fit(self, d: int) -> Start | None:
        """Return the fit to start from, if there is one with the same number of columns."""
        if not (self.warm_start and hasattr(self, "_fitted")) or self._fitted.n_columns != d:
            return None
        return Start(self._fitted, self.scaling_)

    def _keep(self, result: EMResult[Any], counts: IntArray) -> None:
        """Set the fitted attributes, for ``counts`` (d,) cells per column; warn if EM has not converged."""
        self.margins_ = "rank" if self._fitted.margins.ranked.any() else "normal"
        self.label_trust_ = self._fitted.trust
        mean = self._fitted.model.mean[: len(self.scaling_.width)]
        in_units = mean * self.scaling_.width + self.scaling_.offset
        self.mean_ = np.where(self._fitted.margins.ranked, mean, in_units)
        self.shrinkage_ = self._fitted.shrinkage
        units = np.log(self._widths())
        unit = float(counts @ units)
        self.log_likelihood_ = result.penalised - unit - self.shrinkage_ * float(units.sum())
        self.objective_ = -self.log_likelihood_
        self.observed_log_likelihood_ = result.plain - unit
        self.n_iter_ = len(result.penalised)
        self.converged_ = result.converged
        self.warn_unless_converged(stacklevel=4)

    def warn_unless_converged(self, stacklevel: int = 2) -> None:
        """Warn if EM took all its steps and has not converged."""
        if not self.converged_ and self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"GaussianCompleter did not converge in {self.max_iter} steps; raise max_iter, raise tol "
                f"(now {self.tol:g}), or raise shrinkage (now {self.shrinkage_:g}).",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _check_parameters(self) -> None:
        if self.shrinkage != "auto":
            check_number("shrinkage", self.shrinkage, minimum=0)
        check_number("tol", self.tol, minimum=0)
        check_number("max_iter", self.max_iter, minimum=1)
        if self.factors not in (None, "auto"):
            check_number("factors", self.factors, minimum=1)
        check_choice("margins", self.margins, ("auto", "normal", "rank"))
        check_label_trust(self.label_trust)
        check_dtype(self.dtype)
