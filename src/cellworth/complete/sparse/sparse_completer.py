"""Low-rank completion of tables too wide and sparse to store densely."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cellworth.arrays import Float64Array
from cellworth.blocks.checkpoints import Checkpoint
from cellworth.blocks.engine_protocol import Blocks
from cellworth.blocks.row_source import Part, Source
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.completer import fit_source
from cellworth.complete.factored_completer import check_rank, generator_of, warn_unless_converged, watcher
from cellworth.complete.fitted_state import restore, state_of
from cellworth.complete.hold_out import Choice
from cellworth.complete.inputs import check_number
from cellworth.complete.penalty_path import PenaltyUnit, check_penalty
from cellworth.complete.solver.monitor import Callback
from cellworth.complete.sparse.cell_variances import cell_variances, noise_variance
from cellworth.complete.sparse.held_out_cells import choose_penalty, choose_penalty_on_sample, table_of
from cellworth.complete.sparse.observed_cells import (
    Compact,
    cells_of_part,
    check_cells,
    check_numbers,
    compact,
    matrix_of,
    put_observed,
)
from cellworth.complete.sparse.offsets import Offsets, fit_block_offsets, fit_offsets, take_off
from cellworth.complete.sparse.trace_norm import (
    Certificate,
    SparseFit,
    SparseTable,
    certify,
    fit_trace_norm,
)
from cellworth.complete.sparse.variable_projection import (
    CellBlocks,
    cell_products,
    cut_rows,
    largest_singular_value,
    row_factors,
)
from cellworth.complete.table_summary import TableSummary
from cellworth.errors import DataError

FACTORS = ("row_factors_", "column_factors_", "row_offsets_", "column_offsets_", "singular_values_")
FITTED = (*FACTORS, "rank_", "trace_penalty_", "objective_", "duality_gap_", "n_iter_", "converged_")
MOST_COMPONENTS = 20  # if no rank is given


class SparseCompleter(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Estimate any cell of a wide, sparse table from few observed cells, without forming the dense table.

    After subtracting offsets from the observed cells :math:`\Omega`, solves

    .. math:: \min_{A, B}\ \tfrac12\|R_\Omega(X - AB^\top)\|_F^2
              + \tfrac\lambda2\left(\|A\|_F^2 + \|B\|_F^2\right)

    over A (n, r) and B (d, r). If r does not bind, :math:`AB^\top` is the least-squares fit penalised by
    :math:`\lambda` times the trace norm. This is the problem of `SoftImputeCompleter` and `NNLSCompleter`,
    for tables whose n x d numbers would not fit in memory.

    Parameters
    ----------
    rank : int or None, default=None
        r, the maximum number of components. None: at most 20; if the penalty is also chosen, fewer if cutting
        at the largest drop in the spectrum fills hidden cells better.
    trace_penalty : float or None, default=None
        :math:`\lambda`, greater than 0: larger gives a lower rank and smaller values. None: the one of 16,
        from 0.6 down to 0.0003 times the largest singular value of the table with zeros in its holes, that
        fills a hidden tenth of the observed cells best.
    penalty_unit : {"absolute", "relative"}, default="absolute"
        "absolute" uses `trace_penalty` as is; "relative" as a fraction of that singular value.
    centre : {"none", "columns", "both"}, default="both"
        Which offsets to subtract first: none, one per column, or one per column and one per row. They are
        means, shrunk towards the overall mean, more so for rows and columns with few cells. Columns are not
        scaled: all cells are assumed to be in the same unit, such as ratings.
    tol : float, default=1e-5
        Stop when the predicted decrease of the next step is below this fraction of the objective.
    max_iter : int, default=200
        The maximum number of steps at the final penalty.
    warm_start : bool, default=False
        Start from the column factors of the last fit if the number of columns is the same, and keep the rank
        and the relative penalty chosen there. Rows may come and go.
    random_state : int, numpy.random.Generator or None, default=0
        Draws the hidden cells, and where searches for singular vectors start. None: anew in each fit.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it.
    callback : callable or None, default=None
        Called with a `Progress` after each step at the final penalty; returning true stops the fit.
    variance : bool, default=False
        On row blocks, also give the variance of each cell, which takes O(r^2) a cell where a value takes
        O(r); see `cellworth.complete.sparse.cell_variances` for the model.

    Attributes
    ----------
    row_factors_ : (n, rank_) array
        A; each row is the ridge regression of its cells on B. 0 for a row without cells.
    column_factors_ : (d, rank_) array
        B; its columns are orthogonal, of decreasing length. 0 for a table column without cells.
    row_offsets_, column_offsets_ : (n,) and (d,) arrays
        The estimate of a cell is ``row_offsets_[i] + column_offsets_[j] + row_factors_[i] @
        column_factors_[j]``, in the units of the input.
    singular_values_ : (rank_,) array
        Of :math:`AB^\top`, descending; ``rank_`` may be 0: then only the offsets could be learned.
    trace_penalty_ : float
        The :math:`\lambda` used, always in absolute units.
    noise_variance_ : float
        The variance of an observed cell about what the model says of it; with ``variance=True`` only.
    objective_ : (n_iter_ + 1,) array
        Objective after each step at the final penalty, and of the result; never increases.
    duality_gap_ : float
        Upper bound on how far the last objective is above the minimum over tables of any rank. Small at
        convergence, unless `rank` binds. The residual norm it uses is itself estimated, to about 1e-4.
    n_iter_, converged_ : int, bool
        Steps at the final penalty, and whether they were enough.

    Notes
    -----
    A step is one pass over row blocks: O(r^2) per observed cell, and a sum of d x r and r x r numbers. For
    given B, the pass solves the rows of A exactly, and a quasi-Newton method moves B. Filling the holes in
    each iteration, as soft-impute does, takes O(r) per cell, but many times as many passes if few cells are
    observed. Memory: a few arrays with one entry per observed cell, and (n + 20 d) r numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import coo_array
    >>> from cellworth.complete.sparse import SparseCompleter
    >>> rng = np.random.default_rng(0)
    >>> people, films = rng.normal(size=2000), rng.normal(size=300)
    >>> seen = np.unique(rng.integers(2000 * 300, size=30_000))  # 5 % of the cells
    >>> i, j = seen // 300, seen % 300
    >>> ratings = coo_array((3 + people[i] * films[j], (i, j)), shape=(2000, 300))
    >>> completer = SparseCompleter(centre="columns").fit(ratings)
    >>> rows, columns = np.array([0, 1]), np.array([5, 7])
    >>> truth = 3 + people[rows] * films[columns]
    >>> bool(np.abs(completer.estimate(rows, columns) - truth).max() < 0.1)
    True
    """

    takes_sparse: ClassVar[bool] = True
    row_factors_: Float64Array
    column_factors_: Float64Array
    row_offsets_: Float64Array
    column_offsets_: Float64Array
    trace_penalty_: float

    def __init__(
        self,
        *,
        rank: int | None = None,
        trace_penalty: float | None = None,
        penalty_unit: PenaltyUnit = "absolute",
        centre: Literal["none", "columns", "both"] = "both",
        tol: float = 1e-5,
        max_iter: int = 200,
        warm_start: bool = False,
        random_state: int | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        variance: bool = False,
    ) -> None:
        self.rank = rank
        self.trace_penalty = trace_penalty
        self.penalty_unit = penalty_unit
        self.centre = centre
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.variance = variance

    @property
    def has_variance(self) -> bool:
        """Whether `complete_rows` returns variances."""
        return self.variance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.column_factors_.shape[1])

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, checkpoint: str | PathLike[str] | None = None
    ) -> Self:
        """Fit to the observed cells of X (n, d). ``y`` is accepted and ignored.

        X is a sparse matrix (CSR, CSC or COO) whose stored cells, including zeros, are the observed ones; an
        array with NaN in its holes; or a `Source` of row blocks. An interrupted fit to row blocks starts
        over, with or without a ``checkpoint``.
        """
        self._check_parameters()
        if isinstance(X, Source):
            return fit_source(self, X, checkpoint)
        cells = check_cells(self, X, reset=True)
        last = self._last_factors(cells.shape[1])
        small, rng = compact(cells), generator_of(self.random_state)
        n_columns = len(small.columns)
        offsets = fit_offsets(small.cells, n_columns, self.centre)
        with ThreadEngine(self.n_jobs) as engine:
            table = table_of(take_off(small.cells, offsets), n_columns, engine)
            start = None if last is None else last[small.columns]
            choose = partial(choose_penalty, small.cells, n_columns, self.centre, rng, engine)
            rank, B = self._begin(len(small.rows), table, start, rng, choose)
            fit = self._descend(table, rank, B, rng)
            rows = table.blocks.map(row_factors, fit.B, self.trace_penalty_).gather()
            certificate = certify(table, fit.B, self.trace_penalty_, rng)
        self._cells = cells
        self._keep_factors(small, offsets, np.concatenate(rows), fit.B)
        self._keep_trace(fit, certificate)
        return self

    def fit_blocks(self, source: Source, summary: TableSummary, checkpoint: Checkpoint | None = None) -> None:
        """Fit to a table of row blocks; rows may have no observed cells, columns may not.

        If the penalty is chosen, that uses every k-th row, 20,000 to 40,000 of them, or every row of a
        shorter table. A step is then one pass, O(cells r^2), and one sum of (d, r) and (r, r) arrays.
        """
        rng, d = generator_of(self.random_state), len(source.columns)
        cells = CellBlocks(source.map(cells_of_part), source.engine)
        left, offsets = fit_block_offsets(cells, d, self.centre)
        table = SparseTable(left, summary.sums.count)
        choose = partial(choose_penalty_on_sample, source, self.centre, rng, self.n_jobs)
        rank, B = self._begin(source.n_rows, table, self._last_factors(d), rng, choose)
        fit = self._descend(table, rank, B, rng)
        certificate = certify(table, fit.B, self.trace_penalty_, rng)
        for name in ("row_factors_", "row_offsets_", "_cells"):
            self.__dict__.pop(name, None)  # left from an earlier fit in memory
        self.column_factors_, self.column_offsets_, self._offsets = fit.B, offsets.columns, offsets
        self._keep_trace(fit, certificate)
        if self.variance:
            self.noise_variance_ = noise_variance(left, fit.B, self.trace_penalty_, offsets)

    def complete_rows(self, part: Part, state: None = None) -> tuple[Float64Array, Float64Array | None]:
        """Return the completed rows of a block, (m, d), each from its own cells, and their variances."""
        cells = matrix_of(part.X)
        filled = put_observed(self._filled(*self._estimate(cells, ThreadEngine(n_jobs=1))), cells)
        if not self.variance:
            return filled, None
        of_model = self.column_factors_, self.trace_penalty_, self._offsets, self.noise_variance_
        return filled, put_observed(cell_variances(cells_of_part(part), *of_model), cells, 0.0)

    def estimate(self, rows: ArrayLike, columns: ArrayLike) -> Float64Array:
        """Return the estimates (k,) of the cells at (rows[0], columns[0]), (rows[1], columns[1]) and so on.

        Rows and columns are those of the table passed to `fit`, counted from 0. Observed cells are estimated
        too.
        """
        check_is_fitted(self)
        i = check_numbers("rows", rows, len(self.row_offsets_))
        j = check_numbers("columns", columns, len(self.column_offsets_))
        if i.shape != j.shape:
            raise DataError(f"rows and columns must have one length; got {len(i)} rows, {len(j)} columns.")
        products = cell_products(self.row_factors_, self.column_factors_, i, j)
        return np.asarray(products + self.row_offsets_[i] + self.column_offsets_[j])

    def completed_rows(self, rows: slice) -> Float64Array:
        """Return a slice of completed rows (m, d) of the table passed to `fit`; ask for few at a time."""
        check_is_fitted(self)
        filled = self._filled(self.row_factors_[rows], self.row_offsets_[rows])
        return put_observed(filled, self._cells[rows])

    def transform(self, X: Any) -> Float64Array:
        """Return the row factors (m, rank_) of new rows X (m, d), each from its own cells.

        For the table passed to `fit`, they are `row_factors_`.
        """
        return self._new_rows(X)[1]

    def complete(self, X: Any) -> Float64Array:
        """Complete new rows X (m, d); return a dense (m, d) array in which observed cells are kept."""
        cells, *of_rows = self._new_rows(X)
        return put_observed(self._filled(*of_rows), cells)

    def fitted_state(self) -> dict[str, Any]:
        """Return the fitted state, including observed cells; see `cellworth.complete.fitted_state`."""
        X, offsets = self._cells, self._offsets
        return state_of(self, FITTED) | {
            "cells": {"values": X.data, "columns": X.indices, "starts": X.indptr, "shape": list(X.shape)},
            "offsets": {"overall": offsets.overall, "row_shrinkage": offsets.row_shrinkage},
            "choice": None if self._choice is None else list(self._choice),
        }

    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` of a completer with the same settings returned."""
        restore(self, state, FITTED)
        cells = state["cells"]
        self._cells = csr_array(
            (cells["values"], cells["columns"], cells["starts"]), shape=tuple(cells["shape"])
        )
        self._offsets = Offsets(self.row_offsets_, self.column_offsets_, **state["offsets"])
        self._choice = None if state["choice"] is None else Choice(*state["choice"])

    def _new_rows(self, X: Any) -> tuple[csr_array, Float64Array, Float64Array]:
        """Return the cells, the row factors (m, r) and the row offsets (m,) of new rows; 0 without cells.

        A row offset is the shrunk mean of the cells minus column offsets; the factors are the ridge
        regression of the rest on the column factors.
        """
        check_is_fitted(self)
        cells = check_cells(self, X, reset=False)
        with ThreadEngine(self.n_jobs) as engine:
            return cells, *self._estimate(cells, engine)

    def _estimate(self, cells: csr_array, engine: ThreadEngine) -> tuple[Float64Array, Float64Array]:
        """Return the row factors (m, r) and the row offsets (m,) of rows from their own cells."""
        factors, offsets = np.zeros((cells.shape[0], self._n_features_out)), np.zeros(cells.shape[0])
        small = compact(cells)
        known = self._offsets._replace(columns=self.column_offsets_[small.columns])
        known = known._replace(rows=known.of_new_rows(small.cells))
        left, B = take_off(small.cells, known), self.column_factors_[small.columns]
        blocks = CellBlocks(Blocks(cut_rows(left, len(B), left)), engine)
        parts = blocks.map(row_factors, B, self.trace_penalty_).gather()
        offsets[small.rows], factors[small.rows] = known.rows, np.concatenate(parts)
        return factors, offsets

    def _filled(self, factors: Float64Array, offsets: Float64Array) -> Float64Array:
        filled = factors @ self.column_factors_.T
        filled += offsets[:, None]
        filled += self.column_offsets_
        return filled

    def _check_parameters(self) -> None:
        check_number("tol", self.tol, minimum=0)
        check_number("max_iter", self.max_iter, minimum=1)
        check_rank(self.rank)
        check_penalty(self.trace_penalty, self.penalty_unit)
        if self.trace_penalty is not None:
            check_number("trace_penalty", self.trace_penalty, above=0)

    def _last_factors(self, n_columns: int) -> Float64Array | None:
        """Return the column factors of the last fit if this one may start from them, else None."""
        factors: Float64Array | None = getattr(self, "column_factors_", None) if self.warm_start else None
        return factors if factors is not None and len(factors) == n_columns else None

    def _begin(
        self,
        n_rows: int,
        table: SparseTable,
        last: Float64Array | None,
        rng: np.random.Generator,
        choose: Callable[..., tuple[Choice, Float64Array]],
    ) -> tuple[int, Float64Array]:
        """Set the penalty; return the rank limit and the column factors to start from."""
        largest = largest_singular_value(table.blocks, table.n_columns, rng) or 1.0
        rank = min(self.rank or MOST_COMPONENTS, n_rows, table.n_columns)
        if self.trace_penalty is not None:
            self._choice = None
            self.trace_penalty_ = self.trace_penalty * (largest if self.penalty_unit == "relative" else 1.0)
            return rank, np.zeros((table.n_columns, 0)) if last is None else last
        kept: Choice | None = getattr(self, "_choice", None)
        if last is None or kept is None:
            kept, last = choose(rank, cut=self.rank is None)
        self._choice = kept
        self.trace_penalty_ = kept.relative * largest
        return min(kept.rank, rank), last

    def _descend(self, table: SparseTable, rank: int, B: Float64Array, rng: np.random.Generator) -> SparseFit:
        watch = watcher(self.callback, self.max_iter, self.tol)
        return fit_trace_norm(
            table, self.trace_penalty_, rank, B, rng, tol=self.tol, max_iter=self.max_iter, watch=watch
        )

    def _keep_factors(self, small: Compact, offsets: Offsets, A: Float64Array, B: Float64Array) -> None:
        """Set the fitted attributes of all rows and columns, including those without cells."""
        n, d = self._cells.shape
        self.row_factors_, self.column_factors_ = np.zeros((n, B.shape[1])), np.zeros((d, B.shape[1]))
        self.row_factors_[small.rows], self.column_factors_[small.columns] = A, B
        self.row_offsets_, self.column_offsets_ = np.zeros(n), np.full(d, offsets.overall)
        self.row_offsets_[small.rows] = offsets.rows
        self.column_offsets_[small.columns] = offsets.columns
        self._offsets = offsets._replace(rows=self.row_offsets_, columns=self.column_offsets_)

    def _keep_trace(self, fit: SparseFit, certificate: Certificate) -> None:
        """Set the fitted attributes that describe the fit; warn if it has not converged."""
        self.singular_values_, self.rank_ = certificate.singular_values, fit.B.shape[1]
        self.objective_ = np.minimum.accumulate([*fit.objective, certificate.objective])
        self.duality_gap_ = certificate.gap
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        warn_unless_converged(self, fit)
