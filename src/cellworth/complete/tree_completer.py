"""Completion by trees on a Gaussian's completion: for curves and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.categories import find_categories
from cellworth.complete.category_chances import CategoryChances, CategoryFit, columns_of, learn_categories
from cellworth.complete.column_forests import Round, grow_forests, predict_holes
from cellworth.complete.gaussian.fit_gaussian import FitSettings, Start, fit_gaussian
from cellworth.complete.gaussian.gaussian_completer import GaussianCompleter
from cellworth.complete.gaussian.label_trust import check_label_trust
from cellworth.complete.gaussian.left_out_cells import LeftOut
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.gaussian.posterior_completer import PosteriorCompleter
from cellworth.complete.gaussian.quick_fit import ScaledRows, factor_count
from cellworth.complete.gaussian.rows_to_fit import ArrayRows, CellForm
from cellworth.complete.inputs import check_dtype, check_number, check_table
from cellworth.complete.labels import TargetKind
from cellworth.complete.scaling import Scaling
from cellworth.errors import ParameterError

TOL, MAX_ITER = 1e-4, 500  # of the Gaussian
MIN_ROWS = 30  # of a table, to predict its categories as such


class TreeCompleter(PosteriorCompleter):
    """Fill the holes of a table by extra trees on a Gaussian's completion, with the variance of each cell.

    A `GaussianCompleter` knows straight relations between columns. Where they are curved, or the rows form
    clusters, trees see more. Each column gets a forest, grown on the rows where the column is observed. Its
    features are the row as the Gaussian completes it without that column, the Gaussian's guess of the column,
    and the guess's standard deviation. Up to two more rounds see the row as the forests before complete it,
    as long as that gains something. How far the completion moves from the guess towards the forests is chosen
    by predictions of trees that did not see the cell, so a table without curves is completed about as well as
    by the Gaussian.

    The columns of a category (0 and 1, known together, with a single 1 in each row) are predicted as one: the
    shares of its categories, the Gaussian's guess, the votes of rows that are alike, and a forest for classes
    are pooled, so that known cells that none of them saw are likeliest. The completed cells of a hole are the
    chances of its categories.

    Parameters
    ----------
    n_trees : int, default=60
        Trees for each column and round.
    label_trust : float or "auto", default="auto"
        As in `GaussianCompleter`. Labels move a completion by as much as they move the Gaussian's guess.
    target : {"auto", "classes", "number"}, default="auto"
        What `y` holds. "auto": floats with fractions or more than 20 values are numbers, all else classes.
    warm_start : bool, default=False
        Start the Gaussian from the last fit and keep what it chose there. The forests are grown anew.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Of the result, by default that of the table.
    missing_values : float or None, default=None
        A number that marks holes, besides NaN.
    add_indicator : bool, default=False
        `transform` appends a column of 0 and 1 for each column that had holes in `fit`: 1 in its holes.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it.
    random_state : int, Generator or None, default=0
        Draws the rows of each tree, the splits, and what the Gaussian holds out.

    Attributes
    ----------
    completed_ : (n, d) array
        The table passed to `fit` with its holes filled, in its own units; observed cells are unchanged.
    variance_ : (n, d) array
        Variance of each cell given what is observed, in squared units of its column; 0 if observed: the
        Gaussian's, or p (1 - p) for the chance p of a category, times the mean square of standardised
        residuals, by trees that did not see the cell, of cells of its column with similar predictions.
    forest_weights_ : (d,) array
        How far each column moved from the Gaussian's guess towards its forest: from 0 to 1. In the columns of
        categories, the weight of other sources beside the guess.
    label_trust_ : float
        The trust used; 0 without labels.
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    With n rows and d columns, a fit costs that of the Gaussian and, in each round, d completions by it and
    O(t f n log n) for each column with t trees and f = min(d, 30) features a split; forests are grown on at
    most 20,000 rows. Categories of D columns cost five short fits of the Gaussian more, a completion for each
    category instead of each of its columns, and O(n^2 D).

    Not on row blocks: a forest sees all rows of the table at once. Use `GaussianCompleter`.

    Intervals and draws are calibrated on residuals of unseen cells as those of `GaussianCompleter` are on
    left-out ones; draws of a row's holes are as correlated as the Gaussian says.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.tree_completer import TreeCompleter
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, size=400)
    >>> X = np.column_stack([x, x**2])
    >>> X[0] = [-0.9, np.nan]
    >>> completer = TreeCompleter().fit(X)
    >>> completer.completed_[0].round(1)
    array([-0.9,  0.8])
    """

    variance_: FloatArray
    _gaussian: FittedGaussian
    _rounds: list[Round]
    _chances: CategoryChances | None

    def __init__(
        self,
        *,
        n_trees: int = 60,
        label_trust: float | Literal["auto"] = "auto",
        target: TargetKind = "auto",
        warm_start: bool = False,
        dtype: DTypeLike | None = None,
        missing_values: float | None = None,
        add_indicator: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        self.n_trees = n_trees
        self.label_trust = label_trust
        self.target = target
        self.warm_start = warm_start
        self.dtype = dtype
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Complete the table X (n, d), NaN in its holes, using the labels y (n,) as far as they are trusted.

        Some labels may be missing (NaN or None), or all (``y=None``).
        """
        self._check_parameters()
        X = check_table(self, X, dtype=self.dtype, reset=True)
        rng = np.random.default_rng(self.random_state)
        with ThreadEngine(self.n_jobs) as engine:
            rows = ArrayRows(X, y, self.target, engine)
            earlier = self._earlier_fit(X.shape[1])
            fitted, _, _ = fit_gaussian(self._settings(X.shape, rng), rows, earlier, engine=engine)
            return self._grow(X, rows, fitted, rng)

    def fit_on(self, gaussian: GaussianCompleter, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit as `fit` does, but on a Gaussian that is fitted already.

        Parameters
        ----------
        gaussian : GaussianCompleter
            Fitted to the same table and labels. The result is that of a cold `fit` if it has this completer's
            settings, and the defaults of those that this one lacks.
        X : array-like (n, d)
            The table, NaN in its holes.
        y : array-like (n,), optional
        """
        self._check_parameters()
        X = check_table(self, X, dtype=self.dtype, reset=True)
        fitted = gaussian.fitted_gaussian
        if fitted.n_columns != X.shape[1]:
            raise ParameterError(
                f"the Gaussian must be fitted to the same table, of {X.shape[1]} columns; "
                f"got one of {fitted.n_columns}"
            )
        with ThreadEngine(self.n_jobs) as engine:
            rows = ArrayRows(X, y, self.target, engine)
            rows.take(CellForm(rows.scaling, fitted.margins, rows.code, fitted.trust))
            return self._grow(X, rows, fitted, gaussian.generator_left)

    def _grow(self, X: FloatArray, rows: ArrayRows, fitted: FittedGaussian, rng: np.random.Generator) -> Self:
        """Grow the forests on a fitted Gaussian, calibrate, and complete the table."""
        self.scaling_, self._gaussian, self.label_trust_ = rows.scaling, fitted, fitted.trust
        some = rows.all_rows
        cells, left_out, guesses = _left_out(fitted, X, some)
        categories = _categories(fitted, X)
        trees = int(self.n_trees)
        numbers = _other_columns(categories, X.shape[1])
        grown = grow_forests(fitted, cells, some.values, guesses, trees, rng, self.n_jobs, columns=numbers)
        self._rounds, self.forest_weights_, self._chances = grown.rounds, grown.weights, None
        predictions = grown.predictions + self._label_shift(rows, left_out, guesses.mean)[grown.rows]
        if categories:
            learned = self._learn_categories(
                categories, fitted, rows.scaling, cells, some.values, grown.rows, rng
            )
            chances, columns = learned.model, learned.model.columns
            at = np.ix_(grown.rows, columns)
            predictions[:, columns], guesses.variance[at] = chances.scaled(learned.predictions)
            left_out.leverage[at] = 0.0  # they are by fits to other rows
            self._chances, self.forest_weights_[columns] = chances, chances.beyond_the_guess
        self._calibrate(X, some.values, left_out, guesses, grown.rows, predictions)
        _, posterior = self._posterior_of(some.values, some.observed)
        if fitted.trust > 0:
            posterior = self._moved_by_labels(rows, cells, posterior)
        self._cells, self._posterior = cells, posterior
        self.completed_, self.variance_ = self._in_units(posterior, X)
        return self

    def expected_gain(
        self, gaussian: GaussianCompleter, X: ArrayLike, most_columns: int | None = None
    ) -> tuple[float, float]:
        """Return how much better than a Gaussian these trees would be, without fitting them.

        Parameters
        ----------
        gaussian : GaussianCompleter
            Fitted to the table X (n, d).
        most_columns : int, optional
            Measure it on at most so many columns, drawn at random; by default on all.

        Returns
        -------
        gain, standard_error : float
            The share of its squared error in observed cells, each predicted from the others of its row, that
            one round of `n_trees` trees takes away. Labels have no part in it.
        """
        X = check_table(self, X, dtype=self.dtype, reset=True)
        with ThreadEngine(self.n_jobs) as engine:
            rows = ArrayRows(X, None, self.target, engine)
            return self._gain(X, rows, gaussian.fitted_gaussian, most_columns)

    def _gain(
        self, X: FloatArray, rows: ArrayRows, fitted: FittedGaussian, most_columns: int | None
    ) -> tuple[float, float]:
        """Measure `expected_gain` on the rows of a table."""
        some = rows.all_rows
        cells, _, guesses = _left_out(fitted, X, some)
        rng = np.random.default_rng(self.random_state)
        columns = rng.permutation(X.shape[1])[:most_columns]
        trees, categories = int(self.n_trees), _categories(fitted, X)
        numbers = np.setdiff1d(columns, columns_of(categories)) if categories else columns
        grown = grow_forests(fitted, cells, some.values, guesses, trees, rng, self.n_jobs, 1, numbers)
        measured = [c for c in categories if np.isin(np.arange(c.start, c.stop), columns).any()]
        if measured:
            learned = self._learn_categories(
                categories, fitted, rows.scaling, cells, some.values, grown.rows, rng, measured
            )
            model = learned.model
            guesses.mean[np.ix_(grown.rows, model.columns)], _ = model.scaled(learned.guesses)
            grown.predictions[:, model.columns], _ = model.scaled(learned.predictions)
            numbers = np.concatenate([numbers, columns_of(measured)])
        return grown.gain(cells, some.values, guesses, numbers)

    def _learn_categories(
        self,
        categories: Sequence[slice],
        fitted: FittedGaussian,
        scaling: Scaling,
        cells: Cells,
        values: FloatArray,
        rows: IntArray,
        rng: np.random.Generator,
        measured: Sequence[slice] | None = None,
    ) -> CategoryFit:
        return learn_categories(
            categories,
            fitted,
            Cells(cells.scores[rows], cells.observed[rows]),
            values[rows],
            scaling,
            int(self.n_trees),
            rng,
            self.n_jobs,
            measured,
        )

    def _posterior_of(self, values: FloatArray, observed: BoolArray) -> tuple[Cells, Posterior]:
        gaussian = self._gaussian
        cells = gaussian.unlabelled_cells(values, observed)
        guesses = Posterior(*gaussian.mean_and_variance(gaussian.posterior(cells)))
        filled = predict_holes(self._rounds, gaussian, cells, values, guesses)
        posterior = Posterior(np.where(observed, values, filled), guesses.variance)
        if self._chances is not None:
            posterior = self._chances.put_into(posterior, observed, self._chances.predict(cells, values))
        return cells, posterior

    def _calibrate(
        self,
        X: FloatArray,
        values: FloatArray,
        left_out: LeftOut,
        guesses: Posterior,
        rows: IntArray,
        predictions: FloatArray,
    ) -> None:
        """Keep the distribution of the residuals of unseen cells around their predictions."""
        observed, leverage = left_out.observed[rows], left_out.leverage[rows]
        ones = np.ones(observed.shape)
        cells = LeftOut(
            left_out.values[rows],
            np.where(observed, values[rows], 0),
            predictions,
            # Those of the guesses are already larger for the leverage, which the calibration allows for, too.
            np.where(observed, guesses.variance[rows] * (1 - leverage), 1.0),
            ones,
            ones,
            leverage,
            observed,
        )
        plain = replace(self._gaussian, margins=Margins((None,) * X.shape[1]))
        self._fitted = plain.calibrated(cells)

    def _label_shift(self, rows: ArrayRows, left_out: LeftOut, guesses: FloatArray) -> FloatArray:
        """Return by how much labels move the guesses of observed cells, (n, d) in scaled units."""
        if self._gaussian.trust == 0:
            return np.zeros(guesses.shape)
        completed = self._gaussian.complete(rows.cells)
        with_labels = self._gaussian.left_out(left_out.values, rows.cells, completed)
        posterior = self._gaussian.left_out_posterior(with_labels)
        return self._gaussian.mean_and_variance(posterior)[0] - guesses

    def _moved_by_labels(self, rows: ArrayRows, cells: Cells, posterior: Posterior) -> Posterior:
        """Return the posterior of the holes of `fit`, moved and narrowed as labels do the Gaussian's."""
        gaussian = self._gaussian
        without, _ = gaussian.mean_and_variance(gaussian.posterior(cells))
        mean, variance = gaussian.mean_and_variance(gaussian.posterior(rows.cells))
        moved = Posterior(posterior.mean + mean - without, variance)
        if self._chances is None:
            return moved
        return self._chances.put_into(moved, cells.observed, self._chances.of_scaled(moved.mean))

    def _settings(self, shape: tuple[int, int], rng: np.random.Generator) -> FitSettings:
        return FitSettings(
            n_factors=factor_count("auto", shape),
            n_rows=shape[0],
            shrinkage="auto",
            margins="auto",
            label_trust=self.label_trust,
            calibrate=True,
            tol=TOL,
            max_iter=MAX_ITER,
            callback=None,
            rng=rng,
        )

    def _earlier_fit(self, d: int) -> Start | None:
        """Return the Gaussian to start from, if there is one with the same number of columns."""
        if not (self.warm_start and hasattr(self, "_gaussian")) or self._gaussian.n_columns != d:
            return None
        return Start(self._gaussian, self.scaling_)

    def _check_parameters(self) -> None:
        check_number("n_trees", self.n_trees, minimum=1)
        check_label_trust(self.label_trust)
        check_dtype(self.dtype)


def _categories(fitted: FittedGaussian, X: FloatArray) -> tuple[slice, ...]:
    """Return the columns of the categories of a table that has enough rows to learn of them."""
    found = find_categories(X) if len(X) >= MIN_ROWS else ()
    ranked = fitted.margins.ranked
    return tuple(columns for columns in found if not ranked[columns].any())


def _other_columns(categories: Sequence[slice], d: int) -> IntArray | None:
    """Return the columns of a table without those of categories; None if there are none of these."""
    return np.setdiff1d(np.arange(d), columns_of(categories)) if categories else None


def _left_out(fitted: FittedGaussian, X: FloatArray, some: ScaledRows) -> tuple[Cells, LeftOut, Posterior]:
    """Return the cells of a table without labels, and each observed one as the others of its row guess it."""
    cells = fitted.unlabelled_cells(some.values, some.observed)
    left_out = fitted.left_out(X.astype(np.float64), cells, fitted.complete(cells))
    return cells, left_out, Posterior(*fitted.mean_and_variance(fitted.left_out_posterior(left_out)))
