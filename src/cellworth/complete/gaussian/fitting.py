"""One fit, from a table to a fitted Gaussian: margins, labels, EM, calibration."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray
from cellworth.complete.completer import scaled_cells
from cellworth.complete.gaussian.choose import Gaussian, Recipe, choose_ranked
from cellworth.complete.gaussian.climb import Climb, climb
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.gaussian.trust import choose_trust
from cellworth.complete.labels import Labels, TargetKind, code_labels
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.monitor import Callback

Array = NDArray[np.floating]
MarginKind = Literal["normal", "rank", "auto"]

SMALLEST_SHRINKAGE = 1e-9  # per row: keeps a covariance positive definite where shrinkage=0
SAMPLE_ROWS = 2000  # enough for a covariance of some dozen columns to be a good start
SAMPLE_TOL = 30.0  # times that of the fit: closer, the error of sampling is all that is left


@dataclass(frozen=True)
class Start:
    """An earlier fit to start from."""

    fitted: FittedGaussian
    scaling: Scaling


@dataclass(frozen=True)
class Job:
    """What is to be fitted, and how.

    Attributes
    ----------
    values, observed : (n, d) arrays
        Scaled, 0 in the holes.
    y : the user's labels, or None
    """

    values: Array
    observed: BoolArray
    y: Any
    target: TargetKind
    scaling: Scaling
    recipe: Recipe
    margins: MarginKind
    label_trust: float | Literal["auto"]
    calibrate: bool
    tol: float
    max_iter: int
    callback: Callback | None
    rng: np.random.Generator

    @classmethod
    def of(cls, completer: Any, X: Array, y: Any, scaling: Scaling, *, n_rows: int) -> Job:
        """Return the job that a `GaussianCompleter` states, on the rows X; the whole table has ``n_rows``."""
        values, observed = scaled_cells(X.astype(np.float64, copy=False), scaling)
        return cls(
            values=values,
            observed=observed,
            y=y,
            target=completer.target,
            scaling=scaling,
            recipe=Recipe(completer.n_factors_, max(completer.shrinkage, SMALLEST_SHRINKAGE * n_rows)),
            margins=completer.margins,
            label_trust=completer.label_trust,
            calibrate=completer.calibrate,
            tol=completer.tol,
            max_iter=completer.max_iter,
            callback=completer.callback,
            rng=np.random.default_rng(completer.random_state),
        )


@dataclass(frozen=True)
class Fit:
    """A fitted Gaussian, the cells that it was fitted to, what it says about them, and how EM went."""

    fitted: FittedGaussian
    cells: Cells
    posterior: Posterior
    went: Climb[Any]


def run(job: Job, earlier: Start | None, pool: ThreadPoolExecutor | None) -> Fit:
    """Fit a Gaussian to a table.

    An ``earlier`` fit settles what is chosen on held-out cells, and is the start of EM where it has the
    same columns.
    """
    n, d = job.values.shape
    labels = code_labels(job.y, n, "squared", job.target)
    margins = Margins.of(job.values, job.observed, np.full(d, is_ranked(job, earlier)))
    scores = margins.to_scores(job.values, job.observed)
    trust = trust_of(job, earlier, scores, margins, labels)
    columns = scaled_labels(labels) if trust > 0 else np.zeros((n, 0))
    known = np.repeat(labels.labelled[:, None], columns.shape[1], axis=1)
    cells = Cells(np.hstack([scores, columns]), np.hstack([job.observed, known]))
    sample = every_kth(cells)
    # Singular vectors of a sample are as good a start as those of a long table.
    seen = cells if job.recipe.n_factors is None else sample
    guess = job.recipe.start(seen.scores, seen.observed)
    start: Any = first_model(job, guess, earlier, sample, margins, is_part=len(sample.scores) < n, pool=pool)
    layout = start.layout(cells.observed)
    em = layout.em(cells.scores, job.recipe.shrinkage, pool)
    went = climb(
        em,
        start,
        n_cells=int(cells.observed.sum()),
        tol=job.tol,
        max_iter=job.max_iter,
        callback=job.callback,
    )
    fitted = FittedGaussian(went.model, margins, trust)
    # Without labels, what completes the table is the model of EM itself, whose last step has done it.
    completed = em.completed(went.model) if trust == 0 else fitted.complete(cells, layout, pool)
    posterior = fitted.posterior(cells, completed)
    if job.calibrate:
        fitted, posterior = fitted.calibrated(cells, completed, posterior)
    return Fit(fitted, cells, posterior, went)


def every_kth(cells: Cells) -> Cells:
    """Return every k-th row: all rows of a short table, else 2,000 to 4,000."""
    every = sample_stride(len(cells.scores))
    return Cells(cells.scores[::every], cells.observed[::every])


def sample_stride(n_rows: int) -> int:
    """Return k of `every_kth`."""
    return max(1, n_rows // SAMPLE_ROWS)


def first_model(
    job: Job,
    guess: Gaussian,
    earlier: Start | None,
    sample: Cells,
    margins: Margins,
    *,
    is_part: bool,
    pool: ThreadPoolExecutor | None = None,
) -> Gaussian:
    """Return where EM starts: at an earlier fit if it fits, else at a guess.

    If the sample of rows is only a part of the table, EM on it improves the guess at a fraction of the cost.
    """
    start: Any = _earlier_or(guess, job, earlier, margins)
    if earlier is not None or not is_part:
        return start
    problem = start.layout(sample.observed).em(sample.scores, job.recipe.shrinkage, pool)
    n_cells = int(sample.observed.sum())
    return climb(problem, start, n_cells=n_cells, tol=SAMPLE_TOL * job.tol, max_iter=job.max_iter).model


def scaled_labels(labels: Labels) -> Array:
    """Return the label columns with mean 0 and variance 1 over the labelled rows, 0 in the others."""
    known = labels.targets[labels.labelled]
    spread = known.std(axis=0)
    centred = (labels.targets - known.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.where(labels.labelled[:, None], centred, 0)


def is_ranked(job: Job, earlier: Start | None) -> bool:
    """Return whether margins are ranked: as set, as in an earlier fit, or chosen."""
    if job.margins != "auto":
        return job.margins == "rank"
    if earlier is not None:
        return bool(earlier.fitted.margins.ranked.any())
    return choose_ranked(job.values, job.observed, job.recipe, job.rng)


def trust_of(job: Job, earlier: Start | None, scores: Array, margins: Margins, labels: Labels) -> float:
    """Return the trust in the labels: as given, as in an earlier fit, or chosen; 0 without labels."""
    if not labels.labelled.any():
        return 0.0
    if job.label_trust != "auto":
        return float(job.label_trust)
    if earlier is not None:
        return earlier.fitted.trust
    for_loss = code_labels(
        job.y, len(scores), "squared" if labels.classes is None else "logistic", job.target
    )
    columns = scaled_labels(labels)
    return choose_trust(scores, job.observed, columns, for_loss, margins, job.recipe, job.rng)


def _earlier_or(fresh: Gaussian, job: Job, earlier: Start | None, margins: Margins) -> Gaussian:
    """Return the earlier model in the units of the new scaling if it fits, else the fresh one."""
    if earlier is None:
        return fresh
    old = earlier.fitted
    if old.model.to_vector().shape != fresh.to_vector().shape or type(old.model) is not type(fresh):
        return fresh
    if (old.margins.ranked != margins.ranked).any():
        return fresh
    factor, shift = np.ones(len(fresh.mean)), np.zeros(len(fresh.mean))
    d, then, now = len(margins.columns), earlier.scaling, job.scaling
    factor[:d] = np.where(margins.ranked, 1, then.width / now.width)
    shift[:d] = np.where(margins.ranked, 0, (then.offset - now.offset) / now.width)
    return old.model.rescaled(factor, shift)
