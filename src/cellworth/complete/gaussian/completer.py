"""The completer by a joint Gaussian, with what is not known about each cell."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cellworth.complete.gaussian.answers import PosteriorCompleter
from cellworth.complete.gaussian.climb import Climb
from cellworth.complete.gaussian.fitting import Job, MarginKind, Start, run
from cellworth.complete.gaussian.settings import check_settings, factor_count
from cellworth.complete.inputs import check_table
from cellworth.complete.labels import TargetKind
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.blocks import workers
from cellworth.complete.solver.monitor import Callback

Array = NDArray[np.floating]


class GaussianCompleter(PosteriorCompleter):
    r"""Fill the holes of a table with what a joint Gaussian of its columns expects there, and say how sure.

    Mean and covariance maximise the likelihood of the observed cells, with a penalty that shrinks
    correlations known from few rows:

    .. math:: \max_{\mu, \Sigma}\ \sum_i \log N(x_{i,o_i};\ \mu_{o_i}, \Sigma_{o_i o_i})
              - \frac{\kappa}{2}\bigl(\log|\Sigma| + \operatorname{tr}(D\,\Sigma^{-1})\bigr)

    by EM, sped up so that the objective still never falls. D holds the columns' observed variances. Each
    hole gets its mean given the observed cells of its row, and the variance that remains.

    Parameters
    ----------
    factors : int, None or "auto", default="auto"
        None: a full covariance. An integer: so many common factors plus noise,
        :math:`\Sigma = W W^\top + \operatorname{diag}\psi`. "auto": a full covariance up to 200 columns,
        20 factors beyond.
    shrinkage : float, default=3.0
        :math:`\kappa`, not negative: the penalty weighs as much as so many rows with uncorrelated columns.
        It matters where columns are observed in few rows, and vanishes where they are in many.
    margins : {"auto", "normal", "rank"}, default="auto"
        "normal" takes columns as they are. "rank" first maps each by its ranks to normal scores (a
        Gaussian copula): better for skewed columns with monotone relations; completions then stay in the
        observed range. "auto" takes the one that completes held-out observed cells better.
    label_trust : float or "auto", default="auto"
        How far the labels take part in completing the rows of `fit`, from 0 (not at all) to 1 (as exact
        as a cell); between, a label counts as if measured with (1 - t)/t times its variance as noise.
        "auto" chooses on held-out cells and rows, see Notes.
    calibrate : bool, default=True
        Learn the real spread of each column from observed cells, each predicted from the others of its
        row: for `variance_`, `predict_interval` and `sample`. False trusts the Gaussian.
    target : {"auto", "classes", "number"}, default="auto"
        What `y` holds. "auto": floats with fractional parts or more than 20 distinct values are
        numbers, all else is classes.
    tol : float, default=1e-4
        Ends when a step gains at most this much log-likelihood per observed cell and moves no parameter
        by more than its square root.
    max_iter : int, default=500
        Most E steps.
    warm_start : bool, default=False
        Start from the last fit, and keep what "auto" chose there: a few steps after a few new answers.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Precision of the result; the work is done in float64. None: that of the table.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it.
    random_state : int, Generator or None, default=0
        Which cells and rows "auto" holds out.
    callback : callable or None, default=None
        Called with a `Progress` after each step; a true return value ends the fit there.

    Attributes
    ----------
    completed_ : (n, d) array
        The table of `fit` without holes, in its own units; observed cells are kept as they were.
    variance_ : (n, d) array
        Of each cell given what is observed, in squared units of its column; 0 where observed. With
        ``calibrate``, times the mean square of the column's standardised residuals.
    mean_ : (d,) array
    covariance_ : (d, d) array
        In the units of the table; of normal scores if `margins_` is "rank".
    log_likelihood_ : (n_iter_,) array
        Penalised log-likelihood of the observed cells after each E step; never falls. In the units of the
        table; of normal scores if `margins_` is "rank". Labels with trust above 0 take part.
    objective_ : (n_iter_,) array
        ``-log_likelihood_``; never rises.
    observed_log_likelihood_ : float
        The last one without the penalty.
    n_iter_ : int
        E steps taken.
    converged_ : bool
    margins_ : {"normal", "rank"}
    label_trust_ : float
        As used; 0 without labels.
    n_factors_ : int or None
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where the input had column names.

    Notes
    -----
    Rows with the same pattern of holes share all of the work on matrices, and rows whose patterns agree
    on the first columns share that part. With n rows, d columns and P distinct patterns, an E step costs
    O(n d^2) plus at most O(P d^3), and for up to 28 columns far less: 20,000 x 20 with all patterns
    distinct takes about 40 ms, and some ten steps. With r factors it costs O(n r^2 (d + r)).

    Labels help to complete the rows of `fit`, but may make them easier to tell apart than new rows, which
    have no labels, will be. `cellworth.complete.gaussian.trust` says how "auto" weighs the two.
    `transform` never uses labels.

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
        shrinkage: float = 3.0,
        margins: MarginKind = "auto",
        label_trust: float | Literal["auto"] = "auto",
        calibrate: bool = True,
        target: TargetKind = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        warm_start: bool = False,
        dtype: DTypeLike | None = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Complete the table X (n, d), NaN in its holes, with the labels y (n,) as far as they are trusted.

        Labels may be missing (NaN or None), in part or (``y=None``) altogether.
        """
        check_settings(self)
        X = check_table(self, X, dtype=self.dtype, reset=True)
        earlier = self._earlier_fit(X.shape[1])
        scaling = Scaling.of(X, "standard")
        self.n_factors_ = factor_count(self.factors, X.shape)
        job = Job.of(self, X, y, scaling, n_rows=len(X))
        with workers(int(effective_n_jobs(self.n_jobs))) as pool:
            fit = run(job, earlier, pool)
        self.scaling_ = scaling
        self._fitted, self._cells, self._posterior = fit.fitted, fit.cells, fit.posterior
        self._keep(fit.went, job.observed.sum(axis=0))
        self.completed_, self.variance_ = self._in_units(self._posterior, X)
        return self

    @property
    def covariance_(self) -> Array:
        """The covariance of the columns, (d, d)."""
        check_is_fitted(self)
        covariance = self._fitted.model.on_columns(slice(self.n_features_in_)).covariance
        return covariance * np.outer(self._widths(), self._widths())

    def _widths(self) -> Array:
        """Return the units of the model's columns in the table's units."""
        return np.ones(self.n_features_in_) if self.margins_ == "rank" else self.scaling_.width

    def _earlier_fit(self, d: int) -> Start | None:
        """Return the fit to start from, if there is one of a table with as many columns."""
        if not (self.warm_start and hasattr(self, "_fitted")) or self._fitted.n_columns != d:
            return None
        return Start(self._fitted, self.scaling_)

    def _keep(self, went: Climb[Any], counts: NDArray[np.intp]) -> None:
        """Set the attributes that tell how the fit to so many cells of each column (d,) went, or warn."""
        self.margins_ = "rank" if self._fitted.margins.ranked.any() else "normal"
        self.label_trust_ = self._fitted.trust
        mean = self._fitted.model.mean[: self.n_features_in_]
        self.mean_ = mean if self.margins_ == "rank" else mean * self.scaling_.width + self.scaling_.offset
        unit = float(counts @ np.log(self._widths()))
        self.log_likelihood_ = went.penalised - unit
        self.objective_ = -self.log_likelihood_
        self.observed_log_likelihood_ = went.plain - unit
        self.n_iter_ = len(went.penalised)
        self.converged_ = went.converged
        if not went.converged and not went.stopped:
            warnings.warn(
                f"GaussianCompleter did not converge in {self.max_iter} steps; raise max_iter, raise tol "
                f"(now {self.tol:g}), or raise shrinkage (now {self.shrinkage:g}).",
                ConvergenceWarning,
                stacklevel=3,
            )
