"""What the classifier and the regressor for tables with holes share: input, search, fit and results."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from cellworth.arrays import AnyArray, Float64Array, IntArray
from cellworth.blocks.thread_engine import one_core
from cellworth.complete.inputs import check_choice, check_number, check_table, measured_only, warn_left_out
from cellworth.complete.labels import is_missing
from cellworth.errors import DataError, ParameterError
from cellworth.model.candidates import Candidate, candidate_named, default_models, own_candidates
from cellworth.model.cross_validation import Estimate, scorable
from cellworth.model.feature_views import can_draw
from cellworth.model.fitted_model import FittedModel, fit_candidate
from cellworth.model.held_out_folds import fit_completer
from cellworth.model.learners import quiet_about_rare_classes
from cellworth.model.mixed_frames import encoded_like, is_mixed, refuse_unlike, table_of, unmeasured_names
from cellworth.model.model_results import FrameLibrary, plot_results, results_arrays, to_results_frame
from cellworth.model.model_search import ChosenModel, DecidingRows, ModelProgress, choose_model
from cellworth.setting_names import setting
from cellworth.table import ColumnLayout, Table
from cellworth.table.frames import library_of
from cellworth.table.target import metric_of

UNKNOWN = Estimate(math.nan, math.nan, math.nan)
"""The score where there are too few labelled rows to estimate one."""


class CompletingModel(BaseEstimator):  # type: ignore[misc]
    """Base class of `CompletingClassifier`, which documents the parameters, and `CompletingRegressor`."""

    _is_number: bool

    def __init__(
        self,
        *,
        model: Any = "auto",
        completer: Any = None,
        candidates: Sequence[Any] = (),
        rows: DecidingRows = "complete",
        folds: int = 5,
        repeats: int = 1,
        seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        callback: Callable[[ModelProgress], object] | None = None,
    ) -> None:
        self.model = model
        self.completer = completer
        self.candidates = candidates
        self.rows = rows
        self.folds = folds
        self.repeats = repeats
        self.seconds = seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    best_candidate_: str
    at_hand_score_: Estimate
    complete_rows_score_: Estimate
    cv_results_: dict[str, AnyArray]
    completer_: Any
    n_features_in_: int
    _fitted: FittedModel
    measured_columns_: IntArray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose a model for the rows X and their labels, and fit it to all of them.

        Parameters
        ----------
        X : array-like (n, d), frame, or Table
            NaN in the holes. A column of nothing but holes is left out, with a warning. A `Table` brings its
            labels, and its categories become columns of 0 and 1. A frame with text, dates or yes/no is read
            as by `Table.from_frame`; rows to predict may then have texts that are new, which count as holes.
        y : array-like (n,), optional
            Labels, NaN or None where missing: these rows only help to fill holes. Left out with a `Table`.
            A classifier refuses numbers that look measured; classes named by many numbers are given as text.
        sample_weight : array-like (n,), optional
            How much each row counts when a learner is trained, 0 or more. Rows of weight 0 are left out. In
            a table without holes, a row of weight 2 counts as two rows, if the learner says so. Holes are
            filled, and candidates scored, without weights: how cells of a row depend on each other does not
            depend on how much the row counts. Candidates whose learner takes no weights fail, with a note.
        """
        self._check_settings()
        X, labels = self._taken_apart(X, y)
        weights = None
        if sample_weight is not None:
            X, labels, weights = _weighted(X, labels, sample_weight)
        X = np.asarray(measured_only(self, X), np.float64)
        targets = self._targets(labels)
        seed = _seed_of(self.random_state)
        chosen = self._choose(X, targets, self._planned(), seed, weights)
        with one_core():
            self.completer_ = fit_completer(self.completer, X, targets, self._is_number)
        with quiet_about_rare_classes():
            self._fitted = fit_candidate(
                chosen.candidate,
                self.completer_,
                X,
                targets,
                is_number=self._is_number,
                n_classes=self._n_classes(),
                seed=seed,
                n_jobs=self.n_jobs,
                weights=weights,
            )
        self.best_candidate_, self.left_out_ = chosen.name, tuple(chosen.left_out)
        self.cv_results_ = results_arrays(chosen, self.rows)
        best = chosen.best
        self.at_hand_score_ = UNKNOWN if best.at_hand is None else best.at_hand.estimate()
        self.complete_rows_score_ = UNKNOWN if best.complete_rows is None else best.complete_rows.estimate()
        return self

    def results_frame(self, frame: FrameLibrary = "pandas") -> Any:
        """Return `cv_results_` as a frame of pandas, polars or pyarrow, one row per candidate, best first."""
        check_is_fitted(self, "cv_results_")
        return to_results_frame(self.cv_results_, frame)

    def plot(self, ax: Any = None) -> Any:
        """Draw both scores of each candidate, with their intervals, and return the matplotlib axes."""
        check_is_fitted(self, "cv_results_")
        return plot_results(self.cv_results_, self.best_candidate_, metric_of(is_number=self._is_number), ax)

    @abstractmethod
    def _targets(self, labels: AnyArray) -> Float64Array:
        """Return labels as class numbers or numbers, NaN where missing, and learn the classes."""

    @abstractmethod
    def _n_classes(self) -> int:
        """Return the number of classes; 1 for a number."""

    def _outputs(self, X: Any) -> Float64Array:
        """Return the fitted model's predictions for rows or a table, (m, K)."""
        check_is_fitted(self, "_fitted")
        X = check_table(self, self._as_rows(X), dtype=np.float64, reset=False)
        with one_core():
            return self._fitted.predict(X)

    def _to_score(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return labelled rows, their labels and weights."""
        if not isinstance(X, Table):
            return self._as_rows(X), y, sample_weight
        labels, rows = self._labels_of(X) if y is None else np.asarray(y), self._encoded(X)
        known = ~is_missing(labels)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return rows[known], plain_labels(labels[known]), weights

    def _taken_apart(self, X: Any, y: Any) -> tuple[Float64Array, AnyArray]:
        """Return the rows and labels of an array, a frame or a table, checked."""
        for name in ("_columns", "_left_out"):
            self.__dict__.pop(name, None)
        if isinstance(X, Table):
            if y is not None:
                raise ParameterError("a Table brings its own labels; leave y out")
            y = self._labels_of(X)
            self._columns = X.columns
            X = check_table(self, X.encode(prior=True).X, dtype=np.float64, reset=True, keep_unmeasured=True)
            return X, y
        if y is not None and is_mixed(X):
            self._left_out = unmeasured_names(X)
            if self._left_out:
                warn_left_out([f"column {name!r}" for name in self._left_out], stacklevel=4)
            table = table_of(X, self._left_out)
            self._columns = table.columns
            X = table.encode(prior=True).X
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: a model needs "
                "labels. Pass them, or a Table with a target."
            )
        X = check_table(self, X, dtype=np.float64, reset=True, keep_unmeasured=True)
        labels = column_or_1d(_label_array(y), warn=True)
        if len(labels) != len(X):
            raise DataError(
                f"Found input variables with inconsistent numbers of samples: X has {len(X)} rows and y "
                f"{len(labels)} labels; expected one label per row, NaN where it is missing."
            )
        return X, labels

    def _labels_of(self, table: Table) -> AnyArray:
        target = table.target
        if target is None:
            raise DataError(
                f"the table has no target; name it when you read the table, with {setting('target')}."
            )
        if target.is_number is not self._is_number:
            other = "CompletingRegressor" if not self._is_number else "CompletingClassifier"
            raise DataError(
                f"the target {target.name!r} is {'a number' if not self._is_number else 'a class'}; use "
                f"{other}, or read the table with another target_kind."
            )
        return target.labels

    def _as_rows(self, X: Any) -> Any:
        """Return rows to predict as numbers, if they are a table, or a frame like the training table."""
        if isinstance(X, Table):
            return self._encoded(X)
        columns = getattr(self, "_columns", None)
        if columns is None:
            return X
        if library_of(X) is None:
            refuse_unlike(X, columns)
            return X
        return encoded_like(X, columns, getattr(self, "_left_out", ()))

    def _encoded(self, table: Table) -> Float64Array:
        """Return the rows of a table with the columns of the one passed to `fit`."""
        columns = getattr(self, "_columns", None)
        if columns is None:
            return table.encode().X
        if table.columns != columns:
            expected = ", ".join(repr(column.name) for column in columns)
            raise DataError(
                f"the table must have the columns that the model was trained on, {expected}, with the same "
                "kinds and categories; read it with Table.read(path, **trained_table.keywords())."
            )
        return table.encode().X

    def _planned(self) -> list[Candidate]:
        """Return the candidates to try."""
        if isinstance(self.model, Candidate):
            return [self.model]
        if not isinstance(self.model, str):
            return own_candidates([self.model], is_number=self._is_number)
        if self.model != "auto":
            return [candidate_named(self.model, is_number=self._is_number)]
        found = default_models(is_number=self._is_number)
        if self.completer is not None and not can_draw(self.completer):
            found = [each for each in found if each.view.fill != "draws"]
        taken = [each.name for each in found]
        return found + own_candidates(self.candidates, is_number=self._is_number, taken=taken)

    def _choose(
        self,
        X: Float64Array,
        y: Float64Array,
        planned: list[Candidate],
        seed: int,
        weights: Float64Array | None,
    ) -> ChosenModel:
        if not scorable(y[~np.isnan(y)], classes=not self._is_number):
            if self.model == "auto":
                warnings.warn(
                    f"too few labelled rows to choose a model on; took {planned[0].name!r}, with no scores.",
                    UserWarning,
                    stacklevel=3,
                )
            return ChosenModel.unscored(planned, is_number=self._is_number)
        return choose_model(
            X,
            y,
            is_number=self._is_number,
            completer=self.completer,
            candidates=planned,
            averages=isinstance(self.model, str) and self.model == "auto",
            rows=self.rows,
            folds=self.folds,
            repeats=self.repeats,
            seconds=self.seconds,
            n_jobs=self.n_jobs,
            seed=seed,
            cell_of=self._cell_of(),
            callback=self.callback,
            weights=weights,
        )

    def _cell_of(self) -> IntArray | None:
        """Return which cell each measured column belongs to, for a `Table`."""
        columns = getattr(self, "_columns", None)
        return None if columns is None else ColumnLayout(columns).owner[self.measured_columns_]

    def _check_settings(self) -> None:
        check_number("folds", self.folds, minimum=2)
        check_number("repeats", self.repeats, minimum=1)
        if self.seconds is not None:
            check_number("seconds", self.seconds, minimum=0)
        check_choice("rows", self.rows, ("complete", "as they are"))


def class_numbers(labels: AnyArray) -> tuple[AnyArray, Float64Array]:
    """Return the classes among labels (n,), sorted, and the number (n,) of each label; NaN where missing."""
    known = ~is_missing(labels)
    classes, codes = np.unique(plain_labels(labels[known]), return_inverse=True)
    numbers = np.full(len(labels), np.nan)
    numbers[known] = codes
    return classes, numbers


def _label_array(y: Any) -> AnyArray:
    """Return labels as an array; whole numbers and yes/no stay so beside the NA of a nullable column."""
    kind = getattr(getattr(y, "dtype", None), "kind", "O")
    nullable = kind in "iub" and hasattr(y, "isna") and bool(y.isna().any())
    return np.asarray(y, dtype=object) if nullable else np.asarray(y)


def plain_labels(labels: AnyArray) -> AnyArray:
    """Return labels without missing ones as an array of their own type."""
    return np.array(labels.tolist()) if labels.dtype == object else labels


def _weighted(
    X: Float64Array, labels: AnyArray, sample_weight: ArrayLike
) -> tuple[Float64Array, AnyArray, Float64Array | None]:
    """Return the rows that count, their labels and weights; no weights if all are 1."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar; got the shape {weights.shape}.")
    if len(weights) != len(X):
        raise DataError(
            f"sample_weight.shape == {weights.shape}, expected {(len(X),)}: one number per row of X."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"sample_weight must be finite numbers, 0 or more; got {weights[wrong[0]]:g} for row {wrong[0]}."
        )
    counts = weights > 0
    if not counts.any():
        raise DataError("every sample_weight is zero, so that no row counts; give some rows a weight.")
    kept = weights[counts]
    return X[counts], labels[counts], None if (kept == 1).all() else kept


def _seed_of(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(np.random.default_rng(random_state).integers(2**31))
