"""Classifier and regressor for tables with holes: they choose completion and learner on the user's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from cellworth.arrays import AnyArray, BoolArray, Float64Array
from cellworth.complete.labels import as_floats, is_missing
from cellworth.errors import DataError
from cellworth.messages import shorten
from cellworth.model.completing_base import CompletingModel, class_numbers, plain_labels
from cellworth.model.cross_validation import LEAST_OF_CLASS
from cellworth.table import Table
from cellworth.table.target import MOST_CLASSES

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable


class CompletingClassifier(ClassifierMixin, CompletingModel):  # type: ignore[misc]
    """Predict classes from a table with holes, with the completion and the learner that suit it best.

    Candidates are pairs of a learner and what it sees of the holes: logistic regression, a linear support
    vector machine, extra trees and gradient boosting on the completed rows, on several draws of the missing
    cells, with a mask of the holes or with the holes kept; and a joint Gaussian with the class as a column.
    Each is cross-validated on the rows of the table. The average of the best and of those that are not
    clearly worse, by two standard errors, is fitted to all rows.

    Parameters
    ----------
    model : "auto", str or estimator, default="auto"
        "auto": choose by cross-validation. Or the name of a candidate in `cv_results_`, or a scikit-learn
        classifier of your own, trained on the completed rows; its scores are estimated all the same.
    completer : estimator or None, default=None
        Fills the holes; None is ``GaussianCompleter(label_trust=0.0)``, which does not use labels. The
        labels of rows to predict are never used.
    candidates : sequence, default=()
        Classifiers of your own, or (name, classifier) pairs, to try besides the built-in candidates.
    rows : {"complete", "as they are"}, default="complete"
        What to choose the model for: future rows that are completely known, or rows with holes like those
        of the table. Candidates are ranked by their score at hand; for complete rows, three tenths of the
        estimated step to the score on complete rows are added, as log-odds: the step is noisy.
    folds : int, default=5
    repeats : int, default=1
        Times to deal the rows into folds anew; more give a steadier choice on small tables.
    seconds : float or None, default=None
        No further candidate is tried after this time; the last fit comes on top. Candidates that were left
        out are named in `left_out_`. The choice then depends on the speed of the machine.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it, unless `seconds` is given.
    random_state : int, Generator or None, default=0
        Deals the folds and draws missing cells.
    callback : callable or None, default=None
        Called with a `ModelProgress` after each candidate; returning true ends the search.

    Attributes
    ----------
    best_candidate_ : str
        The name of the chosen candidate, to be given as ``model``; names joined with " + " are averaged.
        Where results are shown, an average of more than two is called, say, "average of 5 models".
    at_hand_score_ : Estimate
        AUC of the chosen candidate on held-out rows as they are, with its 95 % interval (``value``, ``low``,
        ``high``); with several classes, the mean of each against the rest.
    complete_rows_score_ : Estimate
        AUC on future rows that are completely known: an estimate, see
        `cellworth.model.score_on_complete_rows`. NaN, as `at_hand_score_`, if too few rows are labelled.
    cv_results_ : dict of arrays
        One entry per candidate: ``name``, ``complete_rows``, ``at_hand``, each also with ``_low`` and
        ``_high``, ``rank``, ``seconds``, and a ``note`` that says why a candidate failed. See
        `results_frame`.
    left_out_ : tuple of str
        Candidates that there was no time for.
    completer_ : estimator
        Fitted to all rows.
    classes_ : array
        The distinct labels.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Each fold costs one fit of the completer, which all candidates share, and one fit of each learner; see
    `cellworth.model.model_search.choose_model`. A table of 1,000 rows and 20 columns takes about 11 seconds
    on one core, and more with many classes, since boosted trees grow a tree for each: ``seconds`` limits it.
    Of tables with more than 4,000 labelled rows, a sample of that size is used to choose.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import CompletingClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.where(X.sum(axis=1) > 0, "ill", "well")
    >>> X[rng.random(X.shape) < 0.3] = np.nan
    >>> model = CompletingClassifier(model="logistic regression").fit(X, y)
    >>> model.predict([[2.0, np.nan, 1.0]])
    array(['ill'], dtype='<U4')
    >>> bool(model.at_hand_score_.value < model.complete_rows_score_.value)
    True
    """

    _is_number = False
    classes_: AnyArray

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class (m,) of rows X (m, d), an array or a `Table`, with holes or not."""
        outputs = self._outputs(X)
        return self.classes_[outputs.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Float64Array:
        """Return the probabilities of `classes_` (m, K) of rows X (m, d), an array or a `Table`."""
        outputs = self._outputs(X)
        return outputs / outputs.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on rows X and labels y; rows of a `Table` without a label do not count."""
        X, y, sample_weight = self._to_score(X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def _taken_apart(self, X: Any, y: Any) -> tuple[Float64Array, AnyArray]:
        rows, labels = super()._taken_apart(X, y)
        if not isinstance(X, Table):  # a table says itself what its target is
            _refuse_measurements(plain_labels(labels[~is_missing(labels)]))
        return rows, labels

    def _targets(self, labels: AnyArray) -> Float64Array:
        known = _labelled(labels)
        check_classification_targets(plain_labels(labels[known]))
        self.classes_, targets = class_numbers(labels)
        if len(self.classes_) < 2:
            raise DataError(
                f"all labels are of one class, {self.classes_.tolist()[0]!r}; expected at least two. Add "
                "rows of another class."
            )
        return targets

    def _n_classes(self) -> int:
        return len(self.classes_)


def _labelled(labels: AnyArray) -> BoolArray:
    """Return which rows (n,) have a label; DataError if none has."""
    known: BoolArray = ~is_missing(labels)
    if not known.any():
        raise DataError("no row has a label, so there is nothing to learn from; give some labels.")
    return known


def _refuse_measurements(labels: AnyArray) -> None:
    """Raise DataError if labels (n,) are many whole numbers of which most are too rare to be classes.

    As in a `Table`, few different numbers are classes. So are many, if most of them have enough rows to be
    scored. Numbers with fractions are refused by scikit-learn's own check.
    """
    if labels.dtype.kind not in "iuf" or (labels != np.rint(labels)).any():
        return
    values, counts = np.unique(labels, return_counts=True)
    rare = int((counts < LEAST_OF_CLASS).sum())
    if len(values) > MOST_CLASSES and 2 * rare > len(values):
        raise DataError(
            f"y has {len(values)} different numbers in {len(labels)} rows, {rare} of them in fewer than "
            f"{LEAST_OF_CLASS}, so it looks like a number and not like classes; use CompletingRegressor. If "
            "they are classes, pass them as text, as in y.astype(str)."
        )


class CompletingRegressor(RegressorMixin, CompletingModel):  # type: ignore[misc]
    """Predict a number from a table with holes, with the completion and the learner that suit it best.

    Candidates are pairs of a learner and what it sees of the holes: ridge regression, extra trees and
    gradient boosting on the completed rows, on several draws of the missing cells, with a mask of the holes
    or with the holes kept; and a joint Gaussian with the number as a column. Each is cross-validated on the
    rows of the table. The average of the best and of those that are not clearly worse, by two standard
    errors, is fitted to all rows.

    Parameters
    ----------
    model : "auto", str or estimator, default="auto"
        "auto": choose by cross-validation. Or the name of a candidate in `cv_results_`, or a scikit-learn
        regressor of your own, trained on the completed rows; its scores are estimated all the same.
    completer : estimator or None, default=None
        Fills the holes; None is ``GaussianCompleter(label_trust=0.0)``, which does not use labels. The
        labels of rows to predict are never used.
    candidates : sequence, default=()
        Regressors of your own, or (name, regressor) pairs, to try besides the built-in candidates.
    rows : {"complete", "as they are"}, default="complete"
        What to choose the model for: future rows that are completely known, or rows with holes like those
        of the table. Candidates are ranked by their score at hand; for complete rows, three tenths of the
        estimated step to the score on complete rows are added, as log-odds: the step is noisy.
    folds : int, default=5
    repeats : int, default=1
        Times to deal the rows into folds anew; more give a steadier choice on small tables.
    seconds : float or None, default=None
        No further candidate is tried after this time; the last fit comes on top. Candidates that were left
        out are named in `left_out_`. The choice then depends on the speed of the machine.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it, unless `seconds` is given.
    random_state : int, Generator or None, default=0
        Deals the folds and draws missing cells.
    callback : callable or None, default=None
        Called with a `ModelProgress` after each candidate; returning true ends the search.

    Attributes
    ----------
    best_candidate_ : str
        The name of the chosen candidate, to be given as ``model``; names joined with " + " are averaged.
        Where results are shown, an average of more than two is called, say, "average of 5 models".
    at_hand_score_ : Estimate
        R2 of the chosen candidate on held-out rows as they are, with its 95 % interval (``value``,
        ``low``, ``high``).
    complete_rows_score_ : Estimate
        R2 on future rows that are completely known: an estimate, see
        `cellworth.model.score_on_complete_rows`. NaN, as `at_hand_score_`, if too few rows are labelled.
    cv_results_ : dict of arrays
        One entry per candidate: ``name``, ``complete_rows``, ``at_hand``, each also with ``_low`` and
        ``_high``, ``rank``, ``seconds``, and a ``note`` that says why a candidate failed. See
        `results_frame`.
    left_out_ : tuple of str
        Candidates that there was no time for.
    completer_ : estimator
        Fitted to all rows.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    The cost is that of `CompletingClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import CompletingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X.sum(axis=1)
    >>> X[rng.random(X.shape) < 0.3] = np.nan
    >>> model = CompletingRegressor(model="ridge regression").fit(X, y)
    >>> model.predict([[2.0, -1.0, 1.0], [2.0, np.nan, np.nan]]).round()
    array([2., 2.])
    """

    _is_number = True

    def predict(self, X: Any) -> Float64Array:
        """Return the numbers (m,) of rows X (m, d), an array or a `Table`, with or without holes."""
        return self._outputs(X)[:, 0]

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return R2 on rows X and their numbers y; rows of a `Table` without a label do not count."""
        X, y, sample_weight = self._to_score(X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def _targets(self, labels: AnyArray) -> Float64Array:
        known = _labelled(labels)
        numbers = as_floats(labels[known])
        if numbers is None or not np.isfinite(numbers).all():
            each = ((row, as_floats(labels[row : row + 1])) for row in np.flatnonzero(known))
            row = next(row for row, number in each if number is None or not np.isfinite(number[0]))
            raise DataError(
                f"y must be finite numbers, NaN where missing; got {shorten(labels[row])} for row {row}. "
                "For classes, use CompletingClassifier."
            )
        targets = np.full(len(labels), np.nan)
        targets[known] = numbers
        return targets

    def _n_classes(self) -> int:
        return 1


def model_of(table: Table | BlockTable, **settings: Any) -> CompletingClassifier | CompletingRegressor:
    """Return a model of a table's target, chosen and fitted; ``settings`` are those of the estimators.

    Of a table in row blocks, it learns from every k-th row, 4,000 to 8,000 in all.
    """
    from cellworth.blocks.row_sample import in_memory  # only where a model is made

    table, _ = in_memory(table, "the model")
    if table.target is None:
        raise DataError("a model needs labels; name the target when you make the table.")
    kind = CompletingRegressor if table.target.is_number else CompletingClassifier
    return kind(**settings).fit(table)
