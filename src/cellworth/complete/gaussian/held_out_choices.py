r"""Choices made on held-out cells: whether to map columns by rank, and how far to trust labels.

A label is added as an extra column. With trust t its variance v is increased by :math:`v(1-t)/t` when rows
are completed: t = 1 treats it as exact, t = 0 leaves it out. More trust completes cells better, but can make
the completed rows easier to tell apart than rows without labels will be, and a classifier trained on them is
then overconfident. So both effects are measured, three times:

* a third of the labelled rows lose their labels, and a fifth of the observed cells of the others is hidden;
* for each trust, the others are completed, which gives an error on the hidden cells; a linear model is
  trained on them and tested on the third, whose rows were completed without labels. Its loss is the fraction
  of pairs of rows that it orders wrongly (1 - AUC), or the squared error for a number.

Among trusts whose loss is within one standard error of the lowest, the one with the lowest error on cells is
chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.threads import ThreadEngine
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian, pairwise_start
from cellworth.complete.gaussian.em import EM, run_em
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian, factor_start
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.hold_out import hide_cells
from cellworth.complete.labels import Labels
from cellworth.complete.linear_model import LinearModel
from cellworth.complete.solver.losses import Loss

Gaussian = DenseGaussian | FactorGaussian

CELLS = 20_000  # approximate number of cells in the rows used for a choice
MIN_ROWS = 300  # to use, if there are that many
STRAIGHT = 0.995  # normal scores this correlated with the values change nothing
HELD_OUT = 0.2  # fraction of the observed cells
TOL = 1e-3
MIN_GAIN = 0.02  # rank margins are chosen if they lower the squared error by at least this fraction
TRUSTS = (0.0, 0.1, 0.3, 1.0)
FOLDS = 3
MIN_LABELLED = 30  # with fewer labelled rows nothing can be measured, so labels are left out
RIDGE = 1e-3  # of the linear model on completed rows


@dataclass(frozen=True)
class Recipe:
    """How to fit a Gaussian: full covariance (``n_factors`` None) or factors, and its shrinkage."""

    n_factors: int | None
    shrinkage: float

    def start(self, values: FloatArray, observed: BoolArray) -> Gaussian:
        """Return an initial estimate for scaled values (n, d), 0 in the holes."""
        if self.n_factors is None:
            return pairwise_start(values, observed, self.shrinkage)
        return factor_start(values, observed, self.n_factors)

    def fit(self, values: FloatArray, observed: BoolArray) -> Gaussian:
        """Return a Gaussian that is accurate enough to choose by."""
        start: Any = self.start(values, observed)
        em = self.em_on(start, values, observed)
        return run_em(em, start, n_cells=max(1, int(observed.sum())), tol=TOL, max_iter=100).model

    def em_on(
        self, kind: Any, values: FloatArray, observed: BoolArray, engine: ThreadEngine | None = None
    ) -> EM[Any]:
        """Return EM for a model of this kind on scaled values (n, d) in memory."""
        layout = kind.layout(observed)
        prepared = layout.prepared(values)
        work = layout.work(prepared)
        return EM(lambda model: layout.expect(model, prepared, engine, work), self.shrinkage)


def complete_scaled(model: Gaussian, margins: Margins, scores: FloatArray, observed: BoolArray) -> FloatArray:
    """Return posterior means in scaled units, (n, d)."""
    layout: Any = model.layout(observed)
    completed = layout.complete(model, scores)
    if margins.ranked.any():
        variance = model.hole_variances(observed)
        d = len(margins.columns)
        completed[:, :d], _ = margins.mean_and_variance(completed[:, :d], variance[:, :d], ~observed[:, :d])
    return completed


def choose_ranked(values: FloatArray, observed: BoolArray, recipe: Recipe, rng: np.random.Generator) -> bool:
    """Return whether rank margins complete held-out observed cells better than untransformed columns.

    Fits twice on some of the rows, or not at all if all columns are already close to normal. ``values``
    (n, d) are scaled, 0 in the holes.
    """
    rows = some_rows(np.ones(len(values), dtype=bool), values.shape[1], rng)
    values, observed = values[rows], observed[rows]
    if _all_straight(values, observed):
        return False
    hidden = hide(observed, rng)
    kept = observed & ~hidden
    usable = kept.any(axis=0)
    if not hidden.any():
        return False
    values, kept, hidden = values[:, usable], kept[:, usable], hidden[:, usable]
    errors = []
    for ranked in (False, True):
        margins = Margins.of(values, kept, np.full(values.shape[1], ranked))
        scores = margins.to_scores(values, kept)
        model = recipe.fit(scores, kept)
        completed = complete_scaled(model, margins, scores, kept)
        errors.append(float(((completed - values)[hidden] ** 2).sum()))
    return errors[1] < (1 - MIN_GAIN) * errors[0]


def _all_straight(values: FloatArray, observed: BoolArray) -> bool:
    """Return whether the normal scores of every column are nearly a linear function of its values."""
    scores = Margins.of(values, observed, np.ones(values.shape[1], dtype=bool)).to_scores(values, observed)
    for j in range(values.shape[1]):
        pair = values[observed[:, j], j], scores[observed[:, j], j]
        if min(np.ptp(pair[0]), np.ptp(pair[1])) > 0 and np.corrcoef(*pair)[0, 1] < STRAIGHT:
            return False
    return True


def some_rows(allowed: BoolArray, n_columns: int, rng: np.random.Generator) -> IntArray:
    """Return the rows to use for a choice, drawn at random from the allowed ones."""
    return rng.permutation(np.flatnonzero(allowed))[: max(MIN_ROWS, CELLS // n_columns)]


def hide(observed: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Return which observed cells to hold out, (n, d)."""
    return hide_cells(observed, rng, share=HELD_OUT, spare=None)


def temper(model: Gaussian, trust: float, n_labels: int) -> Gaussian:
    """Return the model with its last ``n_labels`` columns made noisier; ``trust`` is above 0."""
    variances = np.zeros(len(model.mean))
    start = len(variances) - n_labels
    own = np.diag(model.covariance)[start:]
    variances[start:] = own * (1 - trust) / trust
    return model.with_noise(variances)


def choose_trust(
    scores: FloatArray,
    observed: BoolArray,
    columns: FloatArray,
    labels: Labels,
    margins: Margins,
    recipe: Recipe,
    rng: np.random.Generator,
) -> float:
    """Return one of `TRUSTS`.

    Parameters
    ----------
    scores, observed : (n, d) arrays
        0 in the holes.
    columns : (n, q) array
        The labels as extra columns, scaled; 0 where missing.
    labels : Labels
        The same labels, coded for the loss of the linear model.

    Notes
    -----
    Takes `FOLDS` fits of the Gaussian and FOLDS x len(TRUSTS) linear fits, on some of the rows.
    """
    rows = some_rows(labels.labelled, scores.shape[1], rng)
    if len(rows) < MIN_LABELLED:
        return 0.0
    fold = rng.permutation(len(rows)) % FOLDS
    losses = np.zeros((len(TRUSTS), len(rows)))
    errors = np.zeros(len(TRUSTS))
    for held in (fold == f for f in range(FOLDS)):
        parts = scores[rows], observed[rows], columns[rows], labels.targets[rows]
        fold_losses, fold_errors = _measure(held, *parts, labels, margins, recipe, rng)
        losses[:, held] = fold_losses
        errors += fold_errors
    means = losses.mean(axis=1)
    excess = losses - losses[means.argmin()]
    noise = excess.std(axis=1) / np.sqrt(len(rows))
    errors[excess.mean(axis=1) > noise] = np.inf
    return TRUSTS[int(errors.argmin())]


def _measure(
    held: BoolArray,
    scores: FloatArray,
    observed: BoolArray,
    columns: FloatArray,
    targets: FloatArray,
    labels: Labels,
    margins: Margins,
    recipe: Recipe,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return, for each trust, the losses of held-out rows (T, n_held) and the error on hidden cells (T,)."""
    q = columns.shape[1]
    d = scores.shape[1]
    hidden = hide(observed, rng) & ~held[:, None]
    table = np.hstack([np.where(hidden, 0, scores), columns])
    known = np.hstack([observed & ~hidden, np.repeat(~held[:, None], q, axis=1)])
    model = recipe.fit(table, known)
    unlabelled = known.copy()
    unlabelled[:, d:] = False
    truth = margins.to_values(scores)
    losses, errors = [], []
    without = complete_scaled(model, margins, table, unlabelled)[:, :d]
    for trust in TRUSTS:
        filled = without
        if trust > 0:
            filled = complete_scaled(temper(model, trust, q), margins, table, known)[:, :d]
        errors.append(float(((filled - truth)[hidden] ** 2).sum()))
        model_of_target = LinearModel.fit_loss(filled[~held], targets[~held], labels.loss, RIDGE)
        scores_of_held = model_of_target.predict(without[held])
        losses.append(row_losses(scores_of_held, targets[held], labels.loss, labels.classes is None))
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
