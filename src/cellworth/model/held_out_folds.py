"""Folds of a table with holes, each with its own completer; all candidates share its fills and draws.

A completer is fitted to the rows outside a fold, labelled or not. Rows in the fold are filled without their
label. Besides, complete versions of them are drawn, again without their label; see
`cellworth.model.score_on_complete_rows` for how the score on complete rows is estimated from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.thread_engine import one_core
from cellworth.cached_property import cached_property
from cellworth.complete import GaussianCompleter
from cellworth.complete.labels import tell_target
from cellworth.model.candidates import Candidate
from cellworth.model.cross_validation import deal
from cellworth.model.discrete_draws import make_discrete
from cellworth.model.feature_views import ViewedRows, can_draw
from cellworth.model.fitted_model import FittedModel, fit_learners
from cellworth.model.score_on_complete_rows import THINNED

DRAWN = 20
"""Complete versions drawn of each held-out row."""


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """Predictions of a candidate for all labelled rows, each from the folds without it.

    Attributes
    ----------
    at_hand : (n, K) array
        For the rows as they are.
    drawn : (`DRAWN`, n, K) array
        For complete versions of them; all alike if a row has no holes.
    thinned : (`THINNED`, n, K) array
        For the rows with shares of their known cells.
    """

    at_hand: Float64Array
    drawn: Float64Array
    thinned: Float64Array


class HeldOutFold:
    """A fold: the rows to train on, and the rows held out, filled and drawn.

    Parameters
    ----------
    X : (n, d) array
        NaN in the holes.
    y : (n,) array
        NaN where the label is missing.
    held : (n,) array of bool
        The rows of this fold; all of them are labelled.
    completer : estimator
        Unfitted.
    cell_of : (d,) array of int, optional
        The cell that each column belongs to; see `make_discrete`.
    weights : (n,) array, optional
        How much each row counts when a learner is trained.
    """

    def __init__(
        self,
        X: Float64Array,
        y: Float64Array,
        held: BoolArray,
        completer: Any,
        *,
        is_number: bool,
        seed: int,
        cell_of: IntArray | None = None,
        weights: Float64Array | None = None,
    ) -> None:
        self._X, self._y, self.held, self._cell_of = X, y, held, cell_of
        self._weights = weights
        self._unfitted, self._is_number, self._seed = completer, is_number, seed

    def predict(self, candidate: Candidate, n_classes: int) -> tuple[Float64Array, Float64Array]:
        """Train on the other rows and return what `HeldOutPredictions` holds, for the rows of this fold."""
        return self.predictions_of(self.train(candidate, n_classes), self.columns)

    def predictions_of(self, model: FittedModel, columns: BoolArray) -> tuple[Float64Array, Float64Array]:
        """Return the same for a model trained elsewhere without the rows of this fold.

        ``columns`` (d,) bool are those that the model knows, all of them in `columns`.
        """
        known = columns[self.columns]
        tested, drawn = self._tested, self._drawn if self._tested.has_holes else None
        if not known.all():
            tested = self._tested.with_columns(known)
            drawn = None if drawn is None else drawn[:, :, known]
        with one_core():
            at_hand = model.predict_viewed(tested)
            if drawn is None:
                return at_hand, np.repeat(at_hand[np.newaxis], DRAWN, axis=0)
            flat = drawn.reshape(-1, drawn.shape[2])
            guesses = model.predict_complete(flat).reshape(DRAWN, -1, model.n_classes)
        whole = ~np.isnan(tested.X).any(axis=1)
        guesses[:, whole] = at_hand[whole]
        return at_hand, guesses

    def predict_thinned(self, model: FittedModel) -> Float64Array:
        """Return predictions (`THINNED`, n_held, K) of a model from `train` for rows with fewer known cells.

        The cells of a smaller share are among those of a larger one.
        """
        X = self._X[self.held]
        cells = np.arange(X.shape[1]) if self._cell_of is None else self._cell_of
        chance = np.random.default_rng([self._seed, 2]).random((len(X), int(cells.max()) + 1))[:, cells]
        with one_core():
            return np.array(
                [model.predict(np.where(chance < share, X, np.nan)[:, self.columns]) for share in THINNED]
            )

    def predict_at_hand(self, model: FittedModel) -> Float64Array:
        """Return predictions (n_held, K) of a model from `train` for the rows of this fold as they are."""
        with one_core():
            return model.predict_viewed(self._tested)

    def train(self, candidate: Candidate, n_classes: int) -> FittedModel:
        """Return the candidate trained on the rows outside this fold; it knows their `columns` only."""
        labelled = np.flatnonzero(~np.isnan(self._y[~self.held]))
        y = self._y[~self.held][labelled]
        counts = None if self._weights is None else self._weights[~self.held][labelled]
        learners = fit_learners(
            candidate, self._trained, labelled, y, is_number=self._is_number, weights=counts
        )
        return FittedModel(candidate, self.completer, self._is_number, n_classes, learners, self._seed)

    @cached_property
    def columns(self) -> BoolArray:
        """Columns with a value outside the fold; without one, nothing can be learned about them."""
        return np.asarray(~np.isnan(self._X[~self.held]).all(axis=0))

    @cached_property
    def completer(self) -> Any:
        """Fitted to the rows outside the fold; it knows their `columns` only."""
        with one_core():
            return fit_completer(
                self._unfitted, self._X[~self.held][:, self.columns], self._y[~self.held], self._is_number
            )

    @cached_property
    def _trained(self) -> ViewedRows:
        X = self._X[~self.held][:, self.columns]
        return ViewedRows.trained_on(self.completer, X, self._seed)

    @cached_property
    def _tested(self) -> ViewedRows:
        return ViewedRows.new(self.completer, self._X[self.held][:, self.columns], self._seed)

    @cached_property
    def _drawn(self) -> Float64Array:
        """Complete versions of the held-out rows, (DRAWN, n_held, d)."""
        drawer = self.completer
        if not can_draw(drawer):
            X = self._X[~self.held][:, self.columns]
            drawer = fit_completer(None, X, None, self._is_number)
        draws = np.asarray(drawer.sample(DRAWN, self._seed + 1, self._tested.X), dtype=np.float64)
        cell_of = None if self._cell_of is None else self._cell_of[self.columns]
        make_discrete(draws, np.isnan(self._tested.X), self._X[~self.held][:, self.columns], cell_of)
        return draws


def make_folds(
    X: Float64Array,
    y: Float64Array,
    completer: Any,
    *,
    is_number: bool,
    folds: int,
    repeats: int,
    seed: int,
    cell_of: IntArray | None = None,
    weights: Float64Array | None = None,
) -> tuple[list[IntArray], list[list[HeldOutFold]]]:
    """Deal the labelled rows into folds, ``repeats`` times.

    Returns
    -------
    deals : list of (n_labelled,) arrays
        The fold of each labelled row, once per repeat.
    made : list of lists of HeldOutFold
        Nothing is computed yet.
    """
    labelled = np.flatnonzero(~np.isnan(y))
    rng = np.random.default_rng(seed)
    deals = [deal(y[labelled], folds, rng, classes=not is_number) for _ in range(repeats)]
    made = []
    for r, dealt in enumerate(deals):
        of_repeat = []
        for number in range(folds):
            held = np.zeros(len(y), dtype=bool)
            held[labelled[dealt == number]] = True
            fold_seed = seed + 1000 * r + number
            settings: Any = {"seed": fold_seed, "cell_of": cell_of, "weights": weights}
            of_repeat.append(HeldOutFold(X, y, held, completer, is_number=is_number, **settings))
        made.append(of_repeat)
    return deals, made


def fit_completer(completer: Any, X: Float64Array, y: Float64Array | None, is_number: bool) -> Any:
    """Return a fitted clone; by default a Gaussian without labels.

    If the completer's parameter ``target`` is "auto", it is set to the kind of target.
    """
    fitted = clone(GaussianCompleter(label_trust=0.0) if completer is None else completer)
    tell_target(fitted, "number" if is_number else "classes")
    return fitted.fit(X, y) if y is not None else fitted.fit(X)
