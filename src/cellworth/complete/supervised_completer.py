"""The paper's completer: a trace norm and labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.checkpoints import Checkpoint
from cellworth.blocks.engine_protocol import Blocks
from cellworth.blocks.row_source import Part, Source
from cellworth.blocks.thread_engine import RowBlocks, ThreadEngine
from cellworth.complete.completer import BlockCompleter, fit_source
from cellworth.complete.earlier_fit import EarlierFit
from cellworth.complete.fitted_state import restore, state_of
from cellworth.complete.inputs import check_choice, check_dtype, check_number, check_table
from cellworth.complete.kept_between_fits import KeptBetweenFits
from cellworth.complete.labels import LabelCode, TargetKind, label_code, labelled_first
from cellworth.complete.proximal_without_iterate import FoldIn, minimise_without_iterate, needs_no_iterate
from cellworth.complete.scaling import Scaling, put_back, scaled_cells
from cellworth.complete.solver import passes_over_blocks, sampled_start
from cellworth.complete.solver.as_published import published_solver
from cellworth.complete.solver.cell_sums import sums_and_sample
from cellworth.complete.solver.factors import fold_in, right_factor
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.monitor import Callback, Solution
from cellworth.complete.solver.passes_over_blocks import Outline, minimise_blocks
from cellworth.complete.solver.proximal_gradient import minimise
from cellworth.complete.solver.singular_value_thresholding import Shrinkage, shrinkage, spectrum
from cellworth.complete.solver.step import Rows
from cellworth.complete.solver.unread_blocks import fits_in_memory, scaled_blocks
from cellworth.complete.solver.warm_start import WarmStart, column_means, minimise_near
from cellworth.complete.table_summary import TableSummary
from cellworth.errors import DataError, ParameterError

FITTED = ("trace_penalty_", "rank_", "coef_", "intercept_", "classes_", "objective_", "n_iter_", "converged_")


class SupervisedCompleter(BlockCompleter):
    r"""Fill the holes of a table with low-rank values that also fit the labels.

    Solves Eq. (1) of Huang et al. (KDD 2018), plus a ridge on the linear model f; without it, the problem
    has no solution:

    .. math:: \min_{\hat X, f}\ \tfrac12\|R_\Omega(\hat X - X)\|_F^2 + \lambda_1\|\hat X\|_{tr}
              + \frac{\lambda_2}{m}\sum_{i} \ell(y_i, f(\hat x_i)) + \frac{\rho}{2}\|W\|_F^2,
              \qquad f(x) = W^\top x + b

    Parameters
    ----------
    trace_penalty : float, default=1.0
        :math:`\lambda_1`, nonnegative: larger gives a lower rank and smaller values.
    penalty_unit : {"absolute", "relative"}, default="absolute"
        "absolute" is the paper's; its effect fades as rows are added. "relative" is a fraction of the
        largest singular value of the scaled table with zeros in its holes, so it means the same for any
        number of rows: 1 removes (nearly) everything, 0.01 to 0.1 is typical.
    label_weight : float, default=1.0
        :math:`\lambda_2`, nonnegative, on the MEAN loss of the m labelled rows. 0 ignores the labels. A
        weight of m stands for the SUM of the losses: table and model are then strongly coupled, and a fit
        takes thousands of iterations.
    loss : {"squared", "logistic", "squared_hinge"}, default="squared"
        The loss of the linear model. Three or more classes have one score each, and "logistic" is then
        multinomial. A numeric target needs "squared".
    ridge : float, default=1e-3
        :math:`\rho`, positive.
    scale : {"minmax", "standard", None}, default="minmax"
        How to scale columns first; "minmax" is the paper's choice. If nothing is known about a cell, it gets
        the value that scales to 0: the column's smallest with "minmax", its mean with "standard".
    target : {"auto", "classes", "number"}, default="auto"
        What `y` holds. "auto": floats with fractions or more than 20 values are numbers, all else classes.
    tol : float, default=1e-5
        Stop when the next move of table and model, in units of the objective's gradient, is below this
        fraction of the norm of the observed (scaled) values, and below 1,000 times it of the pull of
        :math:`\lambda_1`, whose weak values are reached by way of stronger ones.
    max_iter : int, default=10000
        The maximum number of iterations.
    warm_start : bool, default=False
        Start from the last fit if the table has the same shape, after updating rows with new answers; this
        takes a few iterations. Keeps memory for the next fit. On row blocks every fit starts from scratch.
    fit_intercept : bool, default=True
        Whether f has an intercept b. Without one, f is 0 at the origin of the scaled columns.
    line_search : bool or float, default=False
        Search for the step size as the paper does, on one thread and with more memory: the same result. A
        number above 1 is the factor by which the search raises 1/step; True: 1.5. Not on row blocks.
    updates : {"joint", "alternating"}, default="joint"
        "alternating" completes the table with f fixed and fits f by turns, as the paper does: the same result
        in several times the iterations. Not on row blocks.
    single_start : bool, default=False
        Iterate in single precision until the solution is near, then in the precision of the table, which
        takes two thirds of the time, to as close a solution. Not used with row blocks or a line search.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Of computation and result. None: float32 for a float32 table, else float64.
    missing_values : float or None, default=None
        A number that marks holes, besides NaN.
    add_indicator : bool, default=False
        `transform` appends a column of 0 and 1 for each column that had holes in `fit`: 1 in its holes.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it.
    callback : callable or None, default=None
        Called with a `Progress` after each iteration; returning true stops the fit.

    Attributes
    ----------
    completed_ : (n, d) array, or CompletedBlocks
        The table passed to `fit` with its holes filled, in its own units; observed cells are unchanged.
    low_rank_ : tuple of (n, rank_) and (rank_, d) arrays
        Balanced factors of :math:`\hat X` in scaled units: ``left @ right``; after a fit to row blocks,
        ``left`` has no rows.
    rank_ : int
    coef_ : (n_outputs, d) array
        Coefficients of f, in the table's units; one output for two classes or a number. 0 without labels.
    intercept_ : (n_outputs,) array
    classes_ : array or None
        The labels, sorted; with two, a positive score of f means the second. None for a number.
    objective_ : (at most n_iter_,) array
        Objective after each iteration that lowered it; the last value is that of the result. An iteration
        is one proximal step on the table and one fit of the model.
    trace_penalty_ : float
        The :math:`\lambda_1` used, always in absolute units.
    n_iter_, converged_
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.

    Notes
    -----
    Per iteration, on n rows and d <= n columns: 3 n d^2 flops, one pass over 3 n d numbers, and an
    eigendecomposition of a d x d matrix (n x n for n < d). Memory: three arrays of the table's size
    besides the table. Typically 30 to 200 iterations; a table of 200,000 cells starts from a fit to an eighth
    of its rows, which halves their number and is not counted, one of 20,000 from pairs of columns.

    `fit_transform` uses the labels; `transform` completes rows whose labels are unknown, so on the
    training table the two differ in the holes. A Pipeline calls each in the right place.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import SupervisedCompleter
    >>> X = np.outer(np.arange(1.0, 101.0), [1.0, 10.0, 100.0])  # three columns in proportion
    >>> y = X[:, 0] > 50
    >>> X[29, 2] = np.nan
    >>> completer = SupervisedCompleter(trace_penalty=0.01, label_weight=0.01)
    >>> completer.fit_transform(X, y)[29].round(-2)
    array([   0.,  300., 3000.])
    >>> completer.transform([[60.0, np.nan, np.nan]]).round(-2)
    array([[ 100.,  600., 6000.]])
    """

    def __init__(
        self,
        *,
        trace_penalty: float = 1.0,
        penalty_unit: Literal["absolute", "relative"] = "absolute",
        label_weight: float = 1.0,
        loss: Literal["squared", "logistic", "squared_hinge"] = "squared",
        ridge: float = 1e-3,
        scale: Literal["minmax", "standard"] | None = "minmax",
        target: TargetKind = "auto",
        tol: float = 1e-5,
        max_iter: int = 10_000,
        warm_start: bool = False,
        fit_intercept: bool = True,
        line_search: bool | float = False,
        updates: Literal["joint", "alternating"] = "joint",
        single_start: bool = False,
        dtype: DTypeLike | None = None,
        missing_values: float | None = None,
        add_indicator: bool = False,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.trace_penalty = trace_penalty
        self.penalty_unit = penalty_unit
        self.label_weight = label_weight
        self.loss = loss
        self.ridge = ridge
        self.scale = scale
        self.target = target
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.line_search = line_search
        self.updates = updates
        self.single_start = single_start
        self.dtype = dtype
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, checkpoint: str | PathLike[str] | None = None
    ) -> Self:
        """Complete the table X (n, d), NaN in its holes, with the labels y (n,).

        Labels may be missing (NaN or None): such rows are completed but left out of the loss.
        ``y=None`` completes without labels. X may be a `Source` of row blocks, which brings its own labels;
        see `BlockCompleter.fit`, also for ``checkpoint``.
        """
        self._check_parameters()
        if isinstance(X, Source):
            return fit_source(self, X, checkpoint)
        X = check_table(self, X, dtype=self.dtype, reset=True)
        kept: KeptBetweenFits = getattr(self, "_kept", None) or KeptBetweenFits()
        labels = kept.labels(y, len(X), self.loss, self.target)
        earlier = self._earlier_fit(X.shape, labels.code)
        scaling = Scaling.of(X, self.scale)
        order = labelled_first(labels.labelled)
        if earlier is None:
            cells, changed = scaled_cells(X, scaling, order), None
        else:
            cells, changed = earlier.cells_of(X, order, scaling, kept)
        n_targets = int(labels.labelled.sum()) if self.label_weight > 0 else 0
        targets = labels.targets[order][:n_targets].astype(X.dtype)
        rows = Rows(*cells, targets, wide=X.shape[0] < X.shape[1])
        with ThreadEngine(self.n_jobs) as engine:
            self.trace_penalty_ = self._penalty(spectrum, rows.values)
            model = self._first_model(n_targets, labels.code, scaling, earlier is not None)
            if earlier is None or changed is None:
                solution = self._solve(rows, model, engine, None)
            else:
                start = earlier.start(X, rows, changed, model, self.trace_penalty_, order, scaling)
                solution = self._solve(rows, model, engine, (start, kept.take(X.shape, X.dtype)))
                del start  # it refers to the earlier iterate
        right = right_factor(solution.iterate, solution.singular_values, solution.basis)
        last = [] if earlier is None else [earlier.iterate, earlier.completed]
        self.completed_ = put_back(X, solution.iterate, scaling, order, kept.take(X.shape, X.dtype))
        solved = solution.iterate, right, self.completed_
        self._last = EarlierFit(*solved, scaling, self.trace_penalty_, order)
        del earlier, rows, solved
        kept.give_unshared(last)
        if self.warm_start:
            self._kept = kept
            self._last.keep_cells(cells)
        self._keep(solution, labels.code, scaling)
        return self

    def _solve(
        self, rows: Rows, model: LinearPart, engine: ThreadEngine, warm: tuple[WarmStart, FloatArray] | None
    ) -> Solution:
        """Minimise F, from a warm start if there is one, with memory (n, d) for its iterate."""
        settings: Any = {name: getattr(self, name) for name in ("tol", "max_iter", "callback")}
        settings["trace_penalty"] = self.trace_penalty_
        published = published_solver(self.line_search, self.updates)
        if warm is None and published is None:
            return sampled_start.first_fit(rows, model, engine=engine, single=self.single_start, **settings)
        settings["blocks"] = RowBlocks(rows.values.shape, rows.values.dtype.itemsize, engine)
        if warm is None:
            iterate, trace_norm = column_means(rows)
        elif published is None and not self.single_start and not rows.wide:
            return minimise_near(*warm, model, rows, **settings)
        else:
            iterate, trace_norm = warm[0].table(rows.values.dtype), warm[0].trace_norm
        settings |= {"trace_norm": trace_norm, "single": self.single_start}
        return (published or minimise)(iterate, model, rows, **settings)

    def fit_blocks(
        self, source: Source, summary: TableSummary, checkpoint: Checkpoint | None
    ) -> Blocks | None:
        """Fit to a table of row blocks by the same iterations; return the iterate of each block.

        The result is that of `fit` on the whole table, up to rounding in the sums. If iterates would not fit
        in memory, `cellworth.complete.proximal_without_iterate` does without, up to 256 columns with those of
        the labels, or 64 with other losses than the squared one. Beyond, two iterates of the size of the
        table are kept: Dask's workers write what does not fit in their memory to disk, and an iteration takes
        as long as writing and reading them; threads of one process have no such disk.
        """
        self._check_blocks(source)
        code = label_code(summary.labels, self.loss, self.target, f"the target {source.target!r}")
        scaling = summary.scaling(self.scale, source.dtype)
        n_targets = code.n_labelled if self.label_weight > 0 else 0
        outline = Outline((source.n_rows, len(source.columns)), n_targets > 0, scaling, code)
        data = scaled_blocks(source, summary.rows_before, outline)
        model = self._first_model(n_targets, code, scaling, warm=False)
        new = checkpoint is None or not checkpoint.is_there()
        pays = new and sampled_start.sampling_pays(outline.shape, n_targets, model, self.trace_penalty)
        every = sampled_start.stride(outline.shape) if pays else None
        sums, rows = sums_and_sample(source.engine, data, n_targets, every)
        self.trace_penalty_ = self._penalty(shrinkage, sums.gram, 0.0)
        settings: Any = {name: getattr(self, name) for name in ("tol", "max_iter", "callback")}
        settings |= {"n_targets": n_targets, "trace_penalty": self.trace_penalty_, "checkpoint": checkpoint}
        problem = model, self.trace_penalty_
        if every is not None and rows is not None and self.trace_penalty_ > 0:
            with ThreadEngine(self.n_jobs) as engine:
                settings["sample"] = sampled_start.fit_to_sample(rows, every, *problem, engine)
        elif new:
            settings["sample"] = sampled_start.fit_to_sums(sums, outline.shape, n_targets, *problem)
        again = needs_no_iterate(code, outline.shape[1], self.trace_penalty_) and not fits_in_memory(source)
        if again:
            solution = minimise_without_iterate(source, model, sums, scaling, code, **settings)
        else:
            given = source.engine, data, model, sums
            solution = minimise_blocks(*given, dtype=source.dtype, **settings)
        right = np.ascontiguousarray((solution.basis * np.sqrt(solution.singular_values)).T)
        self._last = EarlierFit.without_rows(right.astype(source.dtype), scaling, self.trace_penalty_)
        self._keep(solution, code, scaling)
        if not again:
            return source.engine.map(passes_over_blocks.settled, solution.iterate, data)
        self._fold_in = FoldIn(code, solution.model, right, n_targets, self.trace_penalty_)
        return None

    def complete_rows(self, part: Part, state: FloatArray | None = None) -> tuple[FloatArray, None]:
        """Return the completed rows of a block, from its final iterate (m, d), or from its own cells."""
        rows = self._fold_in.rows(part, self.scaling_) if state is None else state.copy()
        return put_back(part.X, self.scaling_.undo_in_place(rows)), None

    @property
    def low_rank_(self) -> tuple[FloatArray, FloatArray]:
        """The factors; the left one is formed when first asked for."""
        check_is_fitted(self)
        return self._last.factors()

    def fitted_state(self) -> dict[str, Any]:
        """Return the state of a fit to an array, as plain data."""
        return state_of(self, FITTED) | self._last.state()

    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` returned; the next warm start continues as the original would."""
        restore(self, state, FITTED)
        self._last = EarlierFit.restored(state, self.completed_, self.scaling_, self.trace_penalty_)

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        return fold_in(values, observed, self._last.right, self.trace_penalty_)

    def _check_parameters(self) -> None:
        for name in ("trace_penalty", "label_weight", "tol"):
            check_number(name, getattr(self, name), minimum=0)
        check_number("ridge", self.ridge, above=0)
        check_number("max_iter", self.max_iter, minimum=1)
        if not isinstance(self.line_search, bool):
            check_number("line_search", self.line_search, above=1)
        check_choice("updates", self.updates, ("joint", "alternating"))
        check_choice("penalty_unit", self.penalty_unit, ("absolute", "relative"))
        check_dtype(self.dtype)

    def _check_blocks(self, source: Source) -> None:
        """Raise ParameterError for settings and tables that row blocks do not support."""
        if self.line_search or self.updates != "joint":
            raise ParameterError("line_search and updates='alternating' are for arrays, not for row blocks")
        if source.n_rows < len(source.columns):
            raise DataError(
                f"the table has {source.n_rows} rows and {len(source.columns)} columns; row blocks need at "
                "least as many rows as columns. Fit to an array instead."
            )

    def _penalty(self, spectrum_of: Callable[..., Shrinkage], *table: Any) -> float:
        """Return lambda_1; without labels, one of at least the largest singular value gives 0 everywhere."""
        if self.penalty_unit == "absolute":
            return float(self.trace_penalty)
        return float(self.trace_penalty * spectrum_of(*table).singular_values[:1].sum())

    def _earlier_fit(self, shape: tuple[int, int], code: LabelCode) -> EarlierFit | None:
        """Return the state to start from, if there is one that matches the table and its labels."""
        last: EarlierFit | None = getattr(self, "_last", None) if self.warm_start else None
        fits = last is not None and last.iterate.shape == shape
        return last if fits and np.array_equal(self.classes_, code.classes) else None  # type: ignore[arg-type]

    def _first_model(self, n_targets: int, code: LabelCode, scaling: Scaling, warm: bool) -> LinearPart:
        """Return the model of the last fit in the units of this one, or zeros if there is none."""
        coef, intercept = np.zeros((len(scaling.offset), code.n_outputs)), np.zeros(code.n_outputs)
        if warm:
            coef = self.coef_.T * scaling.width[:, None] / code.width
            shift = scaling.offset @ self.coef_.T - code.centre
            intercept = (self.intercept_ + shift) / code.width
        weight = self.label_weight / max(1, n_targets)
        intercept = intercept * self.fit_intercept
        return LinearPart(code.loss, weight, self.ridge, coef, intercept, self.fit_intercept)

    def _keep(self, solution: Solution, code: LabelCode, scaling: Scaling) -> None:
        """Set the fitted attributes, the model in the user's units; warn if the fit has not converged."""
        self.scaling_ = scaling
        self.rank_ = len(solution.singular_values)
        self.coef_ = (solution.model.coef / scaling.width[:, None]).T * code.width
        intercept = solution.model.intercept * code.width + code.centre
        self.intercept_ = intercept - self.coef_ @ scaling.offset
        self.classes_ = code.classes
        self.objective_ = np.array(solution.objective)
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        if not solution.converged and not solution.stopped:
            warnings.warn(
                f"SupervisedCompleter did not converge in {self.max_iter} iterations; raise max_iter, raise "
                f"tol (now {self.tol:g}), raise trace_penalty (now {self.trace_penalty:g}), or lower "
                f"label_weight (now {self.label_weight:g}), which makes the problem easier.",
                ConvergenceWarning,
                stacklevel=3,
            )
