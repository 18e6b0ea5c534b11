r"""The chances of categories in the holes of a table, from several sources.

Trees that are grown on each column of a category by itself would learn to read it off the others, which a
hole does not have. So a category is predicted as a whole. The sources are the shares of its column, the
Gaussian's guess, rows that are alike (`cellworth.complete.related_rows`) and a forest for its classes, whose
features are the row as the Gaussian completes it without the category, and the guess. They are pooled with
exponents that suit known cells, each predicted by sources that did not see it: the Gaussian's guesses are by
one of a few that were fitted to the other rows, since with many columns it fits its own rows too closely.

The logarithmic pool of the chances :math:`P_l(c)` is proportional to :math:`\prod_l P_l(c)^{a_l}`. Unlike an
average it adds up evidence: sources that see different things make each other more certain, and one that says
what all say need not count twice. The exponents are those under which known cells are likeliest, given
chances by sources that did not see them: a logistic regression with a handful of coefficients. So the pool is
also as certain as it should be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.optimize import minimize

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete.class_trees import ClassTrees, grow_class_trees
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.gaussian.quick_fit import SMALLEST_SHRINKAGE, Gaussian, GaussianEstimator
from cellworth.complete.related_rows import RelatedRows
from cellworth.complete.scaling import Scaling

FOLDS = 5  # of the rows, for guesses of Gaussians that did not see them
MIN_CELLS = 30  # of a category; with fewer it has no forest
REDRAWN = (0.1, 0.8)  # near copies among the rows, and a wider kin
LEAF_CELLS = 3
MOST_FEATURES = 30  # considered for a split
SHARE_OF_ROWS = 0.8  # that a tree sees
POOL_ROWS = 4_000  # to fit the exponents on
LEAST = 1e-2  # chance that any source gives any category
RIDGE = 5.0  # pulls the exponents to those of the first source alone


@dataclass(frozen=True)
class CategoryChances:
    """What predicts the categories of a table.

    Attributes
    ----------
    categories : tuple of slices
        Their columns in the table.
    gaussian : FittedGaussian
        Without labels.
    scaling : Scaling
        Of the table's columns.
    related : RelatedRows
    forests : tuple of ClassTrees or None
    exponents : (L,) array
        Of the shares, the guess, `REDRAWN` and the forests, in the pool.
    """

    categories: tuple[slice, ...]
    gaussian: FittedGaussian
    scaling: Scaling
    related: RelatedRows
    forests: tuple[ClassTrees | None, ...]
    exponents: FloatArray

    @property
    def columns(self) -> IntArray:
        """The columns of all categories, (D,), ascending."""
        return columns_of(self.categories)

    @property
    def beyond_the_guess(self) -> float:
        """How much of the pool is other than the guess and the shares: from 0 to 1."""
        weights = np.abs(self.exponents[1:])
        return float(1 - weights[0] / max(weights.sum(), np.finfo(np.float64).tiny))

    def predict(self, cells: Cells, values: FloatArray) -> FloatArray:
        """Return the chances (n, D) in the holes of rows, given their cells and scaled values (n, d)."""
        filled = self.gaussian.complete(cells)
        known = one_hot(values, cells.observed, self.scaling, self.columns)
        kin = [self.related.votes(known, redrawn) for redrawn in REDRAWN]
        shares, out = self.related.shares, np.zeros(known.shape)
        for columns, here, forest in zip(
            self.categories, places_of(self.categories), self.forests, strict=True
        ):
            base = np.broadcast_to(shares[here], (len(out), shares[here].size))
            guess = chances_of(filled, columns, self.scaling)
            grown = base if forest is None else forest.predict(features_of(filled, columns))
            sources = [base, guess, *(votes[:, here] for votes in kin), grown]
            out[:, here] = pool(logs_of(sources), self.exponents)
        return out

    def scaled(self, chances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return chances (n, D) and their variances p (1 - p) in scaled units."""
        offset, width = self.scaling.offset[self.columns], self.scaling.width[self.columns]
        return (chances - offset) / width, chances * (1 - chances) / width**2

    def of_scaled(self, mean: FloatArray) -> FloatArray:
        """Return the chances (n, D) that scaled cells (n, d) stand for."""
        return np.hstack([chances_of(mean, columns, self.scaling) for columns in self.categories])

    def put_into(self, posterior: Posterior, observed: BoolArray, chances: FloatArray) -> Posterior:
        """Return a posterior (n, d), in scaled units, with chances (n, D) in the holes of categories."""
        columns, (scaled, spread) = self.columns, self.scaled(chances)
        mean, variance, known = posterior.mean.copy(), posterior.variance.copy(), observed[:, columns]
        mean[:, columns] = np.where(known, mean[:, columns], scaled)
        variance[:, columns] = np.where(known, 0.0, spread)
        return Posterior(mean, variance)


@dataclass(frozen=True)
class CategoryFit:
    """What predicts the categories, and what it says of known cells that it did not see.

    Attributes
    ----------
    model : CategoryChances
    guesses, predictions : (m, D) arrays
        Of the known cells, by the Gaussian, cut to [0, 1], and pooled; anything in the holes.
    """

    model: CategoryChances
    guesses: FloatArray
    predictions: FloatArray


def learn_categories(
    categories: Sequence[slice],
    gaussian: FittedGaussian,
    cells: Cells,
    values: FloatArray,
    scaling: Scaling,
    n_trees: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    some: Collection[slice] | None = None,
) -> CategoryFit:
    """Learn to predict categories.

    Parameters
    ----------
    categories : sequence of slices
    gaussian : FittedGaussian
        Of the table, without labels.
    cells : Cells
        (m, d), without labels.
    values : (m, d) array
        Scaled.
    some : collection of slices, optional
        Those to predict known cells of, to see how well that goes: only these get forests. All by default.

    Notes
    -----
    `FOLDS` short fits of the Gaussian, a completion for each category, O(t f m log m) for its forest of t
    trees, and O(m^2 D) for the votes of rows.
    """
    categories = tuple(categories)
    columns, places = columns_of(categories), places_of(categories)
    chosen = [k for k, of in enumerate(categories) if some is None or of in some]
    fits = _fits_to_other_rows(gaussian, cells, rng)
    known = one_hot(values, cells.observed, scaling, columns)
    related = RelatedRows(known, np.array([here.start for here in places]))
    shares, kin = related.left_out_shares(), [related.left_out_votes(redrawn) for redrawn in REDRAWN]
    guesses, predictions, grown = np.zeros(known.shape), shares.copy(), shares.copy()

    def grow(job: tuple[int, np.random.Generator]) -> tuple[ClassTrees | None, FloatArray, IntArray]:
        """Return the forest, and the logarithms of all sources in the known cells with their codes."""
        k, draws = job
        here, at = places[k], cells.observed[:, categories[k].start]
        unseen = _completed_without(categories[k], cells, fits)
        guesses[at, here] = np.clip(cells_of(unseen, categories[k], scaling), 0.0, 1.0)
        codes, forest = known[at, here].argmax(axis=1), None
        if len(codes) >= MIN_CELLS and np.ptp(codes) > 0:
            features = features_of(unseen, categories[k])
            forest, grown[at, here] = _grow(features, codes, shares[at, here], n_trees, draws)
        guess = chances_of(unseen, categories[k], scaling)
        votes = (of_kin[at, here] for of_kin in kin)
        return forest, logs_of([shares[at, here], guess, *votes, grown[at, here]]), codes

    with worker_threads(int(effective_n_jobs(n_jobs))) as threads:
        jobs = list(zip(chosen, rng.spawn(len(chosen)), strict=True))
        found = list((map if threads is None else threads.map)(grow, jobs))
    every = max(1, len(known) // POOL_ROWS)
    exponents = fit_exponents([(logs[::every], codes[::every]) for _, logs, codes in found], 3 + len(REDRAWN))
    forests: list[ClassTrees | None] = [None] * len(categories)
    for k, (forest, logs, _) in zip(chosen, found, strict=True):
        forests[k] = forest
        predictions[cells.observed[:, categories[k].start], places[k]] = pool(logs, exponents)
    model = CategoryChances(categories, gaussian, scaling, related, tuple(forests), exponents)
    return CategoryFit(model, guesses, predictions)


def _grow(
    features: FloatArray, codes: IntArray, shares: FloatArray, n_trees: int, rng: np.random.Generator
) -> tuple[ClassTrees, FloatArray]:
    """Return a forest, and the chances (m, k) of rows left out; the shares if no tree left them out."""
    grown = grow_class_trees(
        features,
        codes,
        shares.shape[1],
        n_trees=n_trees,
        n_rows=max(1, round(SHARE_OF_ROWS * len(codes))),
        leaf=LEAF_CELLS,
        most_features=MOST_FEATURES,
        rng=rng,
    )
    return grown.trees, np.where(grown.n_left_out[:, None] > 0, grown.left_out, shares)


def _fits_to_other_rows(
    gaussian: FittedGaussian, cells: Cells, rng: np.random.Generator
) -> list[tuple[BoolArray, Gaussian]]:
    """Return parts of the rows, (m,) each, and Gaussians like this one that were fitted without them."""
    model = gaussian.model
    n_factors = model.loadings.shape[1] if isinstance(model, FactorGaussian) else None
    shrinkage = max(gaussian.shrinkage * (1 - 1 / FOLDS), SMALLEST_SHRINKAGE * len(cells.scores))
    estimator = GaussianEstimator(n_factors, shrinkage)
    fold = rng.permutation(len(cells.scores)) % FOLDS
    parts = (fold == f for f in range(FOLDS))
    return [(held, estimator.fit(cells.scores[~held], cells.observed[~held])) for held in parts]


def _completed_without(
    columns: slice, cells: Cells, fits: Sequence[tuple[BoolArray, Gaussian]]
) -> FloatArray:
    """Return the rows that know a category as they are completed without it, by fits to other rows."""
    at = cells.observed[:, columns.start]
    out = np.empty((int(at.sum()), cells.scores.shape[1]))
    for held, model in fits:
        rows = at & held
        if rows.any():
            observed = cells.observed[rows]
            observed[:, columns] = False
            layout: Any = model.layout(observed)
            out[held[at]] = layout.complete(model, np.where(observed, cells.scores[rows], 0.0))
    return out


def features_of(filled: FloatArray, columns: slice) -> FloatArray:
    """Return the features (m, d) of a category: the other columns of completed rows, then the guess."""
    return np.hstack([filled[:, : columns.start], filled[:, columns.stop :], filled[:, columns]])


def chances_of(filled: FloatArray, columns: slice, scaling: Scaling) -> FloatArray:
    """Return the chances (m, k) of a category by the completed cells of its columns, none too small."""
    raw = np.clip(cells_of(filled, columns, scaling), LEAST, 1.0)
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


def cells_of(values: FloatArray, columns: slice | IntArray, scaling: Scaling) -> FloatArray:
    """Return columns of scaled cells in the table's units."""
    return np.asarray(values[:, columns] * scaling.width[columns] + scaling.offset[columns])


def one_hot(values: FloatArray, observed: BoolArray, scaling: Scaling, columns: IntArray) -> FloatArray:
    """Return columns (m, D) of scaled cells as 0 and 1; 0 in the holes."""
    return np.asarray(observed[:, columns] & (cells_of(values, columns, scaling) > 0.5), dtype=np.float64)


def columns_of(categories: Sequence[slice]) -> IntArray:
    """Return the columns of all categories."""
    return np.concatenate([np.arange(columns.start, columns.stop) for columns in categories])


def places_of(categories: Sequence[slice]) -> list[slice]:
    """Return where the columns of each category are among those of all."""
    widths = [columns.stop - columns.start for columns in categories]
    ends = np.cumsum(widths).tolist()
    return [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]


def logs_of(sources: Sequence[FloatArray]) -> FloatArray:
    """Return the logarithms (m, k, L) of chances (m, k) of L sources, none less than `LEAST`."""
    logs: FloatArray = np.log(np.maximum(np.stack(list(sources), axis=2), LEAST))
    return logs


def pool(logs: FloatArray, exponents: FloatArray) -> FloatArray:
    """Return the pooled chances (m, k) of sources with these logarithms (m, k, L)."""
    summed = logs @ exponents
    chances = np.exp(summed - summed.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def fit_exponents(columns: Sequence[tuple[FloatArray, IntArray]], n_sources: int) -> FloatArray:
    """Return the exponents (L,), given the logarithms (m, k, L) and the codes (m,) of the cells of columns.

    O(L) for each cell, category and step; a dozen steps.
    """
    prior = np.zeros(n_sources)
    prior[0] = 1.0

    def surprise(exponents: FloatArray) -> tuple[float, FloatArray]:
        off = exponents - prior
        loss, slope = RIDGE * float(off @ off), 2 * RIDGE * off
        for logs, codes in columns:
            chances, own = pool(logs, exponents), np.arange(len(codes))
            loss -= float(np.log(np.maximum(chances[own, codes], 1e-300)).sum())
            slope = slope + (np.einsum("mk,mkl->ml", chances, logs) - logs[own, codes]).sum(axis=0)
        return loss, slope

    return np.asarray(minimize(surprise, prior, jac=True, method="L-BFGS-B").x)
