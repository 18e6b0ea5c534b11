"""Fits of a Gaussian that are accurate enough to choose by, and the rows for them, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.categories import as_one_cell
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian, DenseLayout, pairwise_start
from cellworth.complete.gaussian.em import EM, run_em
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian, FactorLayout, factor_start
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.hold_out import hide_cells
from cellworth.complete.labels import LabelCode

CELLS = 20_000  # approximate number of cells in the rows used for a choice
MIN_ROWS = 300  # to use, if there are that many
MOST_SHUFFLED = 1_000_000  # rows: of more, some are drawn without shuffling all
HELD_OUT = 0.2  # fraction of the observed cells
TOL = 1e-3
SMALLEST_SHRINKAGE = 1e-9  # per row: keeps a covariance positive definite if shrinkage=0
DENSE_COLUMNS = 200  # factors="auto": a full covariance up to this many columns
AUTO_FACTORS = 20  # and at most this many factors above that
SPARSE = 0.3  # share of observed cells below which EM starts twice

Gaussian = DenseGaussian | FactorGaussian


class ScaledRows(NamedTuple):
    """Some rows: scaled values (m, d), 0 in the holes, which cells are observed, and the categories in them.

    The categories are slices of columns; see `cellworth.complete.categories`.
    """

    values: FloatArray
    observed: BoolArray
    categories: tuple[slice, ...] = ()


@dataclass(frozen=True)
class LabelledSample:
    """Some labelled rows.

    Attributes
    ----------
    rows : ScaledRows
    columns : (m, q) array
        The labels as extra columns of the Gaussian.
    targets : (m, q) array
        The same labels, coded for the loss of a linear model.
    code : LabelCode
        How they were coded for it.
    """

    rows: ScaledRows
    columns: FloatArray
    targets: FloatArray
    code: LabelCode


class RowsToChooseOn(Protocol):
    """The rows of a table, of which some can be had in one place.

    Attributes
    ----------
    n_rows : int
    counts : (d,) int array
        Number of observed cells in each column.
    code : LabelCode
    """

    n_rows: int
    counts: IntArray
    code: LabelCode

    def rows_at(self, numbers: IntArray) -> ScaledRows:
        """Return some rows by their numbers, in this order."""

    def labelled_at(self, numbers: IntArray) -> LabelledSample:
        """Return some labelled rows by their numbers among these, in this order."""


def some_rows(n_rows: int, n_columns: int, rng: np.random.Generator) -> IntArray:
    """Return the numbers of the rows to use for a choice, drawn at random; memory is bounded."""
    many = max(MIN_ROWS, CELLS // n_columns)
    if n_rows > MOST_SHUFFLED:
        return rng.choice(n_rows, many, replace=False)
    return rng.permutation(n_rows)[:many].copy()  # a view would keep the numbers of all rows


class StepInMemory:
    """The E step on the cells of a table in memory, which leaves them completed by its model.

    Parameters
    ----------
    layout : DenseLayout or FactorLayout
        Of the observed cells.
    values : (n, d) array
        Scaled.
    engine : ThreadEngine, optional
    """

    def __init__(
        self, layout: DenseLayout | FactorLayout, values: FloatArray, engine: ThreadEngine | None = None
    ) -> None:
        self.layout: Any = layout
        self._values = self.layout.prepared(values)
        self._residuals = self.layout.work(self._values)
        self._engine = engine
        self._last: Any = None

    def __call__(self, model: Any) -> Any:
        """Return the expected sums of a model over all rows, in memory that is used again."""
        self._last = None
        expected = self.layout.expect(model, self._values, self._engine, self._residuals)
        self._last = model  # the residuals are now completed by this model
        return expected

    def completed(self, model: Any) -> FloatArray:
        """Return the posterior means (n, d); at hand if the last step was from this model."""
        at_hand = self._residuals if self._last is model else None
        completed: FloatArray = self.layout.completed(model, self._values, self._engine, at_hand)
        return completed


@dataclass(frozen=True)
class GaussianEstimator:
    """How to fit a Gaussian: full covariance (``n_factors`` None) or factors, and its shrinkage."""

    n_factors: int | None
    shrinkage: float

    def start(self, values: FloatArray, observed: BoolArray) -> Gaussian:
        """Return an initial estimate for scaled values (n, d), 0 in the holes."""
        if self.n_factors is None:
            return pairwise_start(values, observed, self.shrinkage)
        return factor_start(values, observed, self.n_factors)

    def layout(self, observed: BoolArray) -> DenseLayout | FactorLayout:
        """Return the layout of the E step for a table with these observed cells (n, d)."""
        return DenseLayout(observed) if self.n_factors is None else FactorLayout(observed, self.n_factors)

    def fit(self, values: FloatArray, observed: BoolArray, start: Any = None) -> Gaussian:
        """Return a Gaussian that is accurate enough to choose by; EM starts from ``start`` if there is one.

        With few cells in a row the likelihood has several maxima: then EM also starts from uncorrelated
        columns, and the likelier result is returned.
        """
        return self.fit_by(StepInMemory(self.layout(observed), values), values, observed, start)

    def fit_by(
        self, step: StepInMemory, values: FloatArray, observed: BoolArray, start: Any = None
    ) -> Gaussian:
        """Do the same by the E step on these cells, which may then have them completed."""
        begins: list[Any] = [self.start(values, observed) if start is None else start]
        if start is None and self.n_factors is None and observed.mean() < SPARSE:
            begins.append(DenseGaussian(np.zeros(values.shape[1]), np.eye(values.shape[1])))
        em, n_cells = EM[Any](step, self.shrinkage), max(1, int(observed.sum()))
        runs = [run_em(em, begin, n_cells=n_cells, tol=TOL, max_iter=100) for begin in begins]
        return max(runs, key=lambda run: float(run.penalised[-1])).model

    def em_on(
        self, kind: Any, values: FloatArray, observed: BoolArray, engine: ThreadEngine | None = None
    ) -> EM[Any]:
        """Return EM for a model of this kind on scaled values (n, d) in memory."""
        return EM(StepInMemory(kind.layout(observed), values, engine), self.shrinkage)


def complete_scaled(model: Gaussian, margins: Margins, scores: FloatArray, observed: BoolArray) -> FloatArray:
    """Return posterior means in scaled units, (n, d)."""
    layout: Any = model.layout(observed)
    completed = layout.complete(model, scores)
    if margins.ranked.any():
        variance = model.hole_variances(observed)
        d = len(margins.columns)
        completed[:, :d], _ = margins.mean_and_variance(completed[:, :d], variance[:, :d], ~observed[:, :d])
    return completed


def hide(rows: ScaledRows, rng: np.random.Generator) -> BoolArray:
    """Return which observed cells to hold out, (n, d): of a category, all columns or none."""
    hidden = hide_cells(rows.observed, rng, share=HELD_OUT, spare=None)
    return as_one_cell(hidden, rows.categories)


def factor_count(factors: int | Literal["auto"] | None, shape: tuple[int, int]) -> int | None:
    """Return the number of factors for a table of this shape (n, d); None for a full covariance."""
    if factors is None or (factors == "auto" and shape[1] <= DENSE_COLUMNS):
        return None
    most = max(1, min(shape) - 1)
    return min(AUTO_FACTORS if factors == "auto" else int(factors), most)
