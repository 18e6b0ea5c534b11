"""Rows with holes as learners see them: filled with means, filled with several draws, or with their holes.

A label tells something of the cells that are missing. Draws that ignore it have nothing to do with it, and a
learner that is trained on them takes the columns for less than they are: with half of the cells drawn like
that, half of what a column does is lost. So the label belongs into the model that draws (Moons et al., "Using
the outcome for imputation of missing predictor values was preferred", Journal of Clinical Epidemiology 59,
2006). Means are different: the mean given the other cells is what a linear model needs, and a mean given the
label would give the label away.

A number is one more column of the completer. Classes may differ in more than their means, so the rows of a
class are drawn by a completer of their own where there are enough of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.cached_property import cached_property
from cellworth.errors import ParameterError

N_DRAWS = 5
"""Draws per row in the view "draws"; more cost time in proportion and bring little."""
LEAST_ROWS = 30
"""A class with fewer rows has no completer of its own."""
LEAST_KNOWN = 5
"""A column with fewer known cells in a class is drawn as in all rows."""

Fill = Literal["mean", "draws", "raw"]


@dataclass(frozen=True)
class View:
    """How rows with holes become features.

    Attributes
    ----------
    fill : {"mean", "draws", "raw"}
        "mean": holes get the completer's values. "draws": each row occurs `N_DRAWS` times, its holes filled
        with draws from the completer's posterior, given the label too if the row is trained on; predictions
        are averaged over them. "raw": holes stay NaN.
    mask : bool
        Whether to add d columns that are 1 in the holes and 0 elsewhere.
    """

    fill: Fill = "mean"
    mask: bool = False


class ViewedRows:
    """Rows of a table with holes, in any view; each way to fill them is computed once, when needed.

    Parameters
    ----------
    X : (n, d) array
        NaN in the holes.
    mean : callable
        Returns the rows with their holes filled, (n, d).
    draw : callable or None
        Given a number of draws, returns them, (draws, n, d); None if the completer cannot draw.
    completer : completer, optional
        What is fitted anew for draws given labels; None: they are not to be had.
    seed : int
        Of those draws.
    """

    def __init__(
        self,
        X: Float64Array,
        mean: Callable[[], Any],
        draw: Callable[[int], Any] | None,
        completer: Any = None,
        seed: int = 0,
    ) -> None:
        self.X = X
        self._mean, self._draw = mean, draw
        self._completer, self._seed = completer, seed
        self._with_labels: tuple[Float64Array, ViewedRows] | None = None

    @classmethod
    def trained_on(cls, completer: Any, X: Float64Array, seed: int) -> ViewedRows:
        """Return the view of rows that a completer was fitted to, or of others if it was fitted elsewhere."""
        completed = getattr(completer, "completed_", None)
        if not isinstance(completed, np.ndarray) or not _is_completion(completed, X):
            return cls.new(completer, X, seed)
        draw = (lambda n: completer.sample(n, seed)) if can_draw(completer) else None
        return cls(X, lambda: completed, draw, completer if takes_labels(completer) else None, seed)

    @classmethod
    def new(cls, completer: Any, X: Float64Array, seed: int) -> ViewedRows:
        """Return the view of new rows, filled without labels.

        If the completer can share random numbers among rows, as `GaussianCompleter.sample` does, what is
        drawn for a row does not depend on the others.
        """
        draw = (lambda n: sample_alike(completer, n, seed, X)) if can_draw(completer) else None
        return cls(X, lambda: completer.transform(X), draw)

    @cached_property
    def has_holes(self) -> bool:
        """Whether any cell is missing."""
        return bool(np.isnan(self.X).any())

    @cached_property
    def mean(self) -> Float64Array:
        """The rows with their holes filled, (n, d)."""
        return np.asarray(self._mean(), dtype=np.float64) if self.has_holes else self.X

    @cached_property
    def draws(self) -> Float64Array:
        """Draws of the rows, (N_DRAWS, n, d); one copy if there is nothing to draw."""
        if not self.has_holes:
            return self.X[np.newaxis]
        if self._draw is None:
            raise ParameterError("the completer has no method sample; use one that has, or another view")
        return np.asarray(self._draw(N_DRAWS), dtype=np.float64)

    def given_labels(self, y: Float64Array, *, is_number: bool) -> ViewedRows:
        """Return the rows with draws that are conditional on labels y (n,), NaN where there is none.

        The rows of the last labels are kept; see `draw_given_labels` for what draws cost. Labels
        that are all alike tell nothing, and a completer that takes none draws without them.
        """
        if self._completer is None or len(np.unique(y[~np.isnan(y)])) < 2:
            return self
        if self._with_labels is None or not np.array_equal(self._with_labels[0], y, equal_nan=True):
            rows = ViewedRows(
                self.X,
                lambda: self.mean,
                lambda n: draw_given_labels(self._completer, self.X, y, n, self._seed, is_number=is_number),
            )
            self._with_labels = y, rows
        return self._with_labels[1]

    def with_columns(self, columns: BoolArray) -> ViewedRows:
        """Return the rows without some columns; (d,) bool says which to keep. They are filled from all."""
        return ViewedRows(
            self.X[:, columns],
            lambda: self.mean[:, columns],
            None if self._draw is None else lambda _: self.draws[:, :, columns],
        )

    def with_rows(self, rows: BoolArray) -> ViewedRows:
        """Return some of the rows; (n,) bool says which. They are filled as they are among all rows."""
        return ViewedRows(
            self.X[rows],
            lambda: self.mean[rows],
            None if self._draw is None else lambda _: self.draws[:, rows],
        )

    def features(self, view: View, rows: IntArray | slice = slice(None)) -> Float64Array:
        """Return the features of some rows, (copies, n, d), or (copies, n, 2 d) with a mask."""
        if view.fill == "draws":
            filled = self.draws[:, rows]
        else:
            filled = (self.mean if view.fill == "mean" else self.X)[np.newaxis, rows]
        if not view.mask:
            return filled
        mask = np.broadcast_to(np.isnan(self.X[rows]), filled.shape)
        return np.concatenate([filled, mask], axis=2)


def can_draw(completer: Any) -> bool:
    """Return whether a completer draws from a posterior."""
    return hasattr(completer, "sample")


def sample_alike(completer: Any, n: int, seed: int, X: Float64Array) -> Any:
    """Return n draws (n, m, d) of new rows X (m, d), each row's independent of the others if possible."""
    inner = getattr(completer, "best_completer_", completer)  # what an AutoCompleter chose
    if "shared" in signature(inner.sample).parameters:
        return completer.sample(n, seed, X, shared=True)
    return completer.sample(n, seed, X)


def complete_features(X: Float64Array, view: View) -> Float64Array:
    """Return the features of rows without holes, (m, d), or (m, 2 d) with a mask of zeros."""
    return np.hstack([X, np.zeros_like(X)]) if view.mask else X


def _is_completion(completed: Any, X: Float64Array) -> bool:
    """Return whether the completed table has the observed cells of X."""
    if completed.shape != X.shape:
        return False
    known = ~np.isnan(X)
    return bool(np.array_equal(completed[known], X[known].astype(completed.dtype)))


def takes_labels(completer: Any) -> bool:
    """Return whether a completer draws, and can be told how far to trust labels."""
    return hasattr(completer, "sample") and "label_trust" in getattr(completer, "get_params", dict)()


def draw_given_labels(
    completer: Any, X: Float64Array, y: Float64Array, n_draws: int, seed: int, *, is_number: bool
) -> Float64Array:
    """Return draws (n_draws, n, d) of rows X (n, d), NaN in the holes, given labels y (n,), NaN if missing.

    ``completer``, one that `takes_labels`, is not changed: a clone is fitted to all rows with their labels,
    and another to the rows of each class. Costs about two fits.
    """
    kind = "number" if is_number else "classes"
    whole = clone(completer).set_params(label_trust=1.0, target=kind).fit(X, y)
    drawn = np.asarray(whole.sample(n_draws, seed), dtype=np.float64)
    if is_number:
        return drawn
    for value in np.unique(y[~np.isnan(y)]):
        rows = np.flatnonzero(y == value)
        columns = np.flatnonzero((~np.isnan(X[rows])).sum(axis=0) >= LEAST_KNOWN)
        if len(rows) < LEAST_ROWS or not len(columns):
            continue
        own = clone(completer).set_params(label_trust=0.0).fit(X[np.ix_(rows, columns)])
        drawn[np.ix_(np.arange(n_draws), rows, columns)] = own.sample(n_draws, seed)
    return drawn
