r"""How far labels are trusted in completing rows, chosen on held-out cells and held-out rows.

A label joins as a further column. With trust t its variance v is raised by :math:`v(1-t)/t` when rows are
completed: t = 1 takes it as exact, t = 0 leaves it out. More trust completes cells better, but can make
the completed rows easier to tell apart than rows without labels ever will be, and a classifier trained
on them is then too sure. So both are measured, three times over:

* a third of the labelled rows lose their labels, and of the others a fifth of the observed cells is hidden;
* for each trust the others are completed, which gives an error on the hidden cells; a linear model is
  trained on them, and tried on the third, whose rows were completed without labels: the loss is the share
  of pairs of rows that it orders wrongly (1 - AUC), or the squared error of a number.

Of the trusts whose loss is within one standard error of the least, the one with the least error on cells
is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from cellworth.arrays import BoolArray
from cellworth.complete.gaussian.choose import Gaussian, Recipe, complete_scaled, hide, some_rows
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.labels import Labels
from cellworth.complete.solver.losses import Loss

Array = NDArray[np.floating]

TRUSTS = (0.0, 0.1, 0.3, 1.0)
FOLDS = 3
MIN_ROWS = 30  # with fewer labelled rows nothing can be measured, and labels are left out
RIDGE = 1e-3  # of the linear model on completed rows


def temper(model: Gaussian, trust: float, n_labels: int) -> Gaussian:
    """Return the model with its last ``n_labels`` columns made noisier; ``trust`` is above 0."""
    variances = np.zeros(len(model.mean))
    start = len(variances) - n_labels
    own = np.diag(model.covariance)[start:]
    variances[start:] = own * (1 - trust) / trust
    return model.with_noise(variances)


def choose_trust(
    scores: Array,
    observed: BoolArray,
    columns: Array,
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
        The labels as further columns, scaled; 0 where missing.
    labels : Labels
        The same for the loss of the linear model.

    Notes
    -----
    `FOLDS` fits of the Gaussian and FOLDS x len(TRUSTS) linear ones, on some of the rows.
    """
    rows = some_rows(labels.labelled, scores.shape[1], rng)
    if len(rows) < MIN_ROWS:
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
    scores: Array,
    observed: BoolArray,
    columns: Array,
    targets: Array,
    labels: Labels,
    margins: Margins,
    recipe: Recipe,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Return, for each trust, the losses of the held rows (T, n_held) and the error on hidden cells (T,)."""
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
        predict = _train(filled[~held], targets[~held], labels.loss)
        losses.append(_row_losses(predict(without[held]), targets[held], labels))
    return np.array(losses), np.array(errors)


def _row_losses(scores: Array, targets: Array, labels: Labels) -> Array:
    """Return each row's loss, (n,): squared for a number, else the share of wrongly ordered pairs.

    For classes, the pairs are of the row and all rows of another class, under the score of either class;
    the mean over the rows of a class is 1 - AUC. It asks what the scores tell apart, not how sure they
    are: being too sure of rows completed with labels is what a user can put right later.
    """
    if labels.classes is None:
        return labels.loss.value(scores, targets)
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


def _train(X: Array, targets: Array, loss: Loss) -> Callable[[Array], Array]:
    """Return the scores of the linear model with the least mean loss and ridge on completed rows."""
    (n, d), q = X.shape, targets.shape[1]
    extended = np.column_stack([X, np.ones(n)])

    def mean_loss(flat: Array) -> tuple[float, Array]:
        coef = flat.reshape(d + 1, q)
        scores = extended @ coef
        value = loss.value(scores, targets).mean() + RIDGE / 2 * np.vdot(coef[:d], coef[:d])
        slope = extended.T @ loss.gradient(scores, targets) / n
        slope[:d] += RIDGE * coef[:d]
        return float(value), slope.ravel()

    start = np.zeros((d + 1) * q)
    found = minimize(mean_loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    coef = found.x.reshape(d + 1, q)
    return lambda rows: rows @ coef[:d] + coef[d]
