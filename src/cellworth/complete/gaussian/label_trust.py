r"""How far to trust labels, chosen on held-out cells and rows.

A label is added as an extra column. With trust t its variance v is increased by :math:`v(1-t)/t` when rows
are completed: t = 1 treats it as exact, t = 0 leaves it out. More trust completes cells better, but can make
the completed rows easier to tell apart than rows without labels will be, and a classifier trained on them is
then overconfident. So both effects are measured, three times:

* a third of the labelled rows lose their labels, and a fifth of the observed cells of the others is hidden;
* for each trust, the others are completed, which gives an error on the hidden cells; a linear model is
  trained on them and tested on the third, whose rows were completed without labels. Its loss is the fraction
  of pairs of rows that it orders wrongly (1 - AUC), or the squared error for a number.

Labels are left out unless a trust lowers the error on cells by more than one standard error and does not
raise the loss by more than one, or half a percent. Among those that do, the one with the lowest error is
chosen.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.quick_fit import (
    Gaussian,
    GaussianEstimator,
    LabelledSample,
    RowsToChooseOn,
    complete_scaled,
    hide,
    some_rows,
)
from cellworth.complete.inputs import check_number
from cellworth.complete.linear_model import LinearModel
from cellworth.complete.solver.losses import Loss
from cellworth.errors import ParameterError

TRUSTS = (0.0, 0.1, 0.3, 1.0)
FOLDS = 3
MIN_LABELLED = 30  # with fewer labelled rows nothing can be measured, so labels are left out
SMALL_LOSS = 0.005  # a rise of the loss that does not matter, of all pairs or of a number's variance
RIDGE = 1e-3  # of the linear model on completed rows


def check_label_trust(trust: float | Literal["auto"]) -> None:
    """Raise unless a setting is between 0 and 1, or "auto"."""
    if trust != "auto":
        check_number("label_trust", trust, minimum=0)
        if trust > 1:
            raise ParameterError(f"label_trust must be at most 1, or 'auto'; got {trust!r}")


def temper(model: Gaussian, trust: float, n_labels: int) -> Gaussian:
    """Return the model with its last ``n_labels`` columns made noisier; ``trust`` is above 0."""
    variances = np.zeros(len(model.mean))
    start = len(variances) - n_labels
    own = np.diag(model.covariance)[start:]
    variances[start:] = own * (1 - trust) / trust
    return model.with_noise(variances)


def choose_trust(
    rows: RowsToChooseOn, margins: Margins, estimator: GaussianEstimator, rng: np.random.Generator
) -> float:
    """Return one of `TRUSTS`.

    Parameters
    ----------
    rows : RowsToChooseOn
        Of a table in memory or in row blocks: the same rows of either are used.

    Notes
    -----
    Takes `FOLDS` fits of the Gaussian and FOLDS x len(TRUSTS) linear fits, on some of the rows.
    """
    numbers = some_rows(rows.code.n_labelled, len(rows.counts), rng)
    if len(numbers) < MIN_LABELLED:
        return 0.0
    some = rows.labelled_at(numbers)
    fold = rng.permutation(len(numbers)) % FOLDS
    losses = np.zeros((len(TRUSTS), len(numbers)))
    errors = np.zeros((len(TRUSTS), len(numbers)))
    for held in (fold == f for f in range(FOLDS)):
        losses[:, held], of_others = _measure(held, some, margins, estimator, rng)
        errors[:, ~held] += of_others
    return TRUSTS[_least(errors, losses)]


def _least(errors: FloatArray, losses: FloatArray) -> int:
    """Return which trust to use, given the errors and losses of each row, (T, n) each."""
    gain, noise = _gains(errors)
    better, of_loss = _gains(losses)
    usable = (gain > noise) & (-better <= np.maximum(of_loss, SMALL_LOSS))
    return int(np.where(usable, errors.sum(axis=1), np.inf).argmin()) if usable.any() else 0


def _gains(of_rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return by how much each trust is better than none, (T,), and the standard error of that."""
    gains = of_rows[0] - of_rows
    return gains.mean(axis=1), gains.std(axis=1) / np.sqrt(of_rows.shape[1])


def _measure(
    held: BoolArray,
    some: LabelledSample,
    margins: Margins,
    estimator: GaussianEstimator,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return, for each trust, the losses of held rows (T, n_held), and the others' errors on hidden cells."""
    columns, targets, loss, observed = some.columns, some.targets, some.code.loss, some.rows.observed
    scores = margins.to_scores(some.rows.values, observed)
    q = columns.shape[1]
    d = scores.shape[1]
    hidden = hide(some.rows, rng) & ~held[:, None]
    # The labels of held rows must not be in the table: the start from pairs reads all that is not 0.
    table = np.hstack([np.where(hidden, 0, scores), np.where(held[:, None], 0, columns)])
    known = np.hstack([observed & ~hidden, np.repeat(~held[:, None], q, axis=1)])
    model = estimator.fit(table, known)
    unlabelled = known.copy()
    unlabelled[:, d:] = False
    truth = margins.to_values(scores)
    losses, errors = [], []
    without = complete_scaled(model, margins, table, unlabelled)[:, :d]
    for trust in TRUSTS:
        filled = without
        if trust > 0:
            filled = complete_scaled(temper(model, trust, q), margins, table, known)[:, :d]
        errors.append((((filled - truth) * hidden) ** 2).sum(axis=1)[~held])
        model_of_target = LinearModel.fit_loss(filled[~held], targets[~held], loss, RIDGE)
        scores_of_held = model_of_target.predict(without[held])
        losses.append(row_losses(scores_of_held, targets[held], loss, some.code.classes is None))
    return np.array(losses), np.array(errors)


def row_losses(scores: FloatArray, targets: FloatArray, loss: Loss, is_number: bool) -> FloatArray:
    """Return each row's loss, (n,): squared for a number, else the fraction of wrongly ordered pairs.

    For classes, a row is paired with all rows of another class, under the score of either class; the mean
    over the rows of a class is 1 - AUC. It measures what the scores tell apart, not how confident they are:
    a user can correct overconfidence from rows completed with labels later.
    """
    if is_number:
        return loss.value(scores, targets)
    total = np.zeros(len(scores))
    for score, positive in zip(scores.T, targets.T > 0, strict=True):
        if positive.all() or not positive.any():
            continue
        for own, sign in ((positive, 1), (~positive, -1)):
            others = np.sort(sign * score[~own])
            lower = np.searchsorted(others, sign * score[own], side="left")
            upper = np.searchsorted(others, sign * score[own], side="right")
            total[own] += 1 - (lower + upper) / (2 * len(others))
    return total / scores.shape[1]
