"""What completers with a posterior offer: variances of new rows, intervals and draws."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete.completer import Completer
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.inputs import check_number, check_table
from cellworth.complete.scaling import put_back, scaled_cells
from cellworth.errors import ParameterError


class PosteriorCompleter(Completer):
    """Base class of completers whose holes have a distribution around their completed values.

    A subclass's ``fit`` sets ``completed_``, ``scaling_``, and three private attributes for the rows of the
    table: ``_cells``, their ``_posterior``, and ``_fitted``, which turns a posterior into values.
    """

    _fitted: FittedGaussian
    _cells: Cells
    _posterior: Posterior

    @abstractmethod
    def _posterior_of(self, values: FloatArray, observed: BoolArray) -> tuple[Cells, Posterior]:
        """Return the cells of new rows and their posterior, given scaled values (m, d), 0 in the holes."""

    def transform_with_variance(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Complete new rows X (m, d) and return them with the variance of each cell, (m, d) each.

        The completed rows are those of `transform`.
        """
        X, _, posterior = self._new_rows(X)
        return self._in_units(posterior, X)

    def predict_interval(
        self, level: float = 0.9, X: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of intervals for all cells, (n, d) each, in the table's units.

        Parameters
        ----------
        level : float
            Between 0 and 1: the fraction of hidden cells that should fall inside.
        X : array-like (m, d), optional
            New rows, without labels; by default the table passed to `fit`.

        Returns
        -------
        lower, upper : (n, d) arrays
            Equal to the value if a cell is observed; otherwise they enclose the completed value.
        """
        check_number("level", level, above=0)
        if level >= 1:
            raise ParameterError(f"level must be below 1; got {level!r}")
        table, _, posterior = self._rows(X)
        return self._interval(table, posterior, level)

    def _interval(
        self, table: FloatArray, posterior: Posterior, level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals of rows with this posterior."""
        completed, _ = self._in_units(posterior, table)
        ends = self._fitted.interval(posterior, level, self.scaling_)
        lower, upper = (put_back(table, end.astype(table.dtype)) for end in ends)
        return np.minimum(lower, completed), np.maximum(upper, completed)

    def sample(
        self,
        n_draws: int = 1,
        random_state: int | np.random.Generator | None = None,
        X: ArrayLike | None = None,
        *,
        shared: bool = False,
        parameters: bool = False,
    ) -> FloatArray:
        """Draw completed tables from the posterior, for multiple imputation.

        Parameters
        ----------
        n_draws : int
        random_state : int, Generator or None
        X : array-like (m, d), optional
            New rows, without labels; by default the table passed to `fit`.
        shared : bool
            Use the same random numbers for all rows: the draws of a row do not depend on the other rows.
        parameters : bool
            Draw the model's parameters anew for each table, too, by fitting them to rows drawn with
            replacement (Honaker and King, 2010). What all rows of a table have in common, such as a column's
            mean, then varies between draws as it should: for Rubin's rules on small tables. Costs a short fit
            for each draw; for a `GaussianCompleter` fitted to an array.

        Returns
        -------
        (n_draws, n, d) array
            In the table's units; observed cells are kept. To use less memory, draw in parts with one
            Generator.
        """
        check_number("n_draws", n_draws, minimum=1)
        rows = self._rows(X)
        return self._sampled(*rows, n_draws, random_state, shared=shared, parameters=parameters)

    def sample_rows(
        self, rows: IntArray, n_draws: int, random_state: int | np.random.Generator | None = None
    ) -> FloatArray:
        """Draw some rows (m,), given by number, of the table passed to `fit`: (n_draws, m, d)."""
        table, cells, posterior = self._rows(None)
        some = Cells(cells.scores[rows], cells.observed[rows])
        return self._sampled(
            table[rows],
            some,
            Posterior(posterior.mean[rows], posterior.variance[rows]),
            n_draws,
            random_state,
        )

    def _sampled(
        self,
        table: FloatArray,
        cells: Cells,
        posterior: Posterior,
        n_draws: int,
        random_state: int | np.random.Generator | None,
        *,
        shared: bool = False,
        parameters: bool = False,
    ) -> FloatArray:
        with worker_threads(1):
            rng = np.random.default_rng(random_state)
            if parameters:
                models = (self._redrawn(rng) for _ in range(int(n_draws)))
                parts = [
                    m.sample(cells, m.posterior(cells), 1, rng, self.scaling_, shared=shared) for m in models
                ]
                draws = np.concatenate(parts)
            else:
                draws = self._fitted.sample(cells, posterior, int(n_draws), rng, self.scaling_, shared=shared)
        out = draws.astype(table.dtype, copy=False)
        for draw in out:
            draw[:] = put_back(table, draw)
        return out

    def _redrawn(self, rng: np.random.Generator) -> FittedGaussian:
        """Return the model with other parameters, as uncertain as the fitted ones."""
        raise ParameterError(
            f"{type(self).__name__} does not draw its parameters; leave parameters=True out, or use "
            "GaussianCompleter"
        )

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        with worker_threads(1):
            _, posterior = self._posterior_of(values.astype(np.float64, copy=False), observed)
            return self._fitted.mean_and_variance(posterior)[0]

    def _rows(self, X: ArrayLike | None) -> tuple[FloatArray, Cells, Posterior]:
        """Return the table passed to `fit`, or new rows, with its cells and their posterior."""
        if X is not None:
            return self._new_rows(X)
        check_is_fitted(self)
        holes = ~self._cells.observed[:, : self.completed_.shape[1]]
        return (
            np.where(holes, self.completed_.dtype.type(np.nan), self.completed_),
            self._cells,
            self._posterior,
        )

    def _new_rows(self, X: ArrayLike) -> tuple[FloatArray, Cells, Posterior]:
        check_is_fitted(self)
        X = check_table(self, X, dtype=self.dtype, reset=False)
        values, observed = scaled_cells(X, self.scaling_)
        with worker_threads(1):
            return X, *self._posterior_of(values.astype(np.float64, copy=False), observed)

    def _in_units(self, posterior: Posterior, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return completed cells and variances in the table's units."""
        mean, variance = self._fitted.mean_and_variance(posterior)
        completed = put_back(X, self.scaling_.undo_in_place(mean.astype(X.dtype, copy=False)))
        return completed, (variance * self.scaling_.width**2).astype(X.dtype, copy=False)
