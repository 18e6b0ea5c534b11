"""What a completer with a posterior can tell about the cells of a table, in the user's units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cellworth.arrays import BoolArray
from cellworth.complete.completer import Completer, put_back, scaled_cells
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.inputs import check_number, check_table
from cellworth.complete.solver.blocks import workers
from cellworth.errors import ParameterError

Array = NDArray[np.floating]


class PosteriorCompleter(Completer):
    """A completer whose ``fit`` leaves a `FittedGaussian` and what it says about the table."""

    variance_: Array
    _fitted: FittedGaussian
    _cells: Cells
    _posterior: Posterior

    def transform_with_variance(self, X: ArrayLike) -> tuple[Array, Array]:
        """Complete new rows X (m, d) and return them with the variance of each cell, (m, d) each.

        The completed rows are those of `transform`.
        """
        X, _, posterior = self._new_rows(X)
        return self._in_units(posterior, X)

    def predict_interval(self, level: float = 0.9, X: ArrayLike | None = None) -> tuple[Array, Array]:
        """Return the lower and upper ends of intervals for all cells, (n, d) each, in the table's units.

        Parameters
        ----------
        level : float
            Between 0 and 1: the share of hidden cells that should lie within.
        X : array-like (m, d), optional
            New rows, without labels; by default the table of `fit`.

        Returns
        -------
        lower, upper : (n, d) arrays
            Equal to the value where a cell is observed; they enclose the completed value elsewhere.
        """
        check_number("level", level, above=0)
        if level >= 1:
            raise ParameterError(f"level must be below 1; got {level!r}")
        table, _, posterior = self._rows(X)
        completed, _ = self._in_units(posterior, table)
        ends = self._fitted.interval(posterior, level)
        lower, upper = (put_back(table, self.scaling_.undo_in_place(end.astype(table.dtype))) for end in ends)
        return np.minimum(lower, completed), np.maximum(upper, completed)

    def sample(
        self,
        n_draws: int = 1,
        random_state: int | np.random.Generator | None = None,
        X: ArrayLike | None = None,
    ) -> Array:
        """Draw completed tables from the posterior, for multiple imputation.

        Parameters
        ----------
        n_draws : int
        random_state : int, Generator or None
        X : array-like (m, d), optional
            New rows, without labels; by default the table of `fit`.

        Returns
        -------
        (n_draws, n, d) array
            In the table's units; observed cells are kept. For less memory at a time, draw in parts
            with one Generator. The model's parameters are held fixed.
        """
        check_number("n_draws", n_draws, minimum=1)
        table, cells, posterior = self._rows(X)
        with workers(1):
            rng = np.random.default_rng(random_state)
            draws = self._fitted.sample(cells, posterior, int(n_draws), rng)
        out = draws.astype(table.dtype, copy=False)
        for draw in out:
            draw[:] = put_back(table, self.scaling_.undo_in_place(draw))
        return out

    def _complete_new(self, values: Array, observed: BoolArray) -> Array:
        with workers(1):
            cells = self._fitted.unlabelled_cells(values.astype(np.float64, copy=False), observed)
            return self._fitted.moments(self._fitted.posterior(cells))[0]

    def _rows(self, X: ArrayLike | None) -> tuple[Array, Cells, Posterior]:
        """Return the table of `fit`, or new rows, with its cells and what is known about them."""
        if X is not None:
            return self._new_rows(X)
        check_is_fitted(self)
        holes = ~self._cells.observed[:, : self.n_features_in_]
        return (
            np.where(holes, self.completed_.dtype.type(np.nan), self.completed_),
            self._cells,
            self._posterior,
        )

    def _new_rows(self, X: ArrayLike) -> tuple[Array, Cells, Posterior]:
        check_is_fitted(self)
        X = check_table(self, X, dtype=self.dtype, reset=False)
        values, observed = scaled_cells(X, self.scaling_)
        with workers(1):
            cells = self._fitted.unlabelled_cells(values.astype(np.float64, copy=False), observed)
            return X, cells, self._fitted.posterior(cells)

    def _in_units(self, posterior: Posterior, X: Array) -> tuple[Array, Array]:
        """Return completed cells and variances in the table's units."""
        mean, variance = self._fitted.moments(posterior)
        completed = put_back(X, self.scaling_.undo_in_place(mean.astype(X.dtype, copy=False)))
        return completed, (variance * self.scaling_.width**2).astype(X.dtype, copy=False)
