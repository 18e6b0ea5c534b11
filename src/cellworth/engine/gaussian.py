"""The joint Gaussian over row blocks: EM whose E step is one pass and one sum."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, Engine, add, join
from cellworth.blocks.sizes import Sized
from cellworth.blocks.source import Block, Part, Source, sample
from cellworth.complete.completer import scaled_cells
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.gaussian.calibration import Calibration
from cellworth.complete.gaussian.choose import Gaussian, Recipe
from cellworth.complete.gaussian.climb import Ascent, climb
from cellworth.complete.gaussian.fitting import (
    Job,
    Start,
    first_model,
    is_ranked,
    sample_stride,
    trust_of,
)
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.pairwise import pair_sums, start_from_pairs
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, calibration_stride
from cellworth.complete.gaussian.settings import check_settings, factor_count
from cellworth.complete.labels import code_labels, is_missing
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.blocks import workers
from cellworth.engine.checkpoint import Checkpoint
from cellworth.engine.descent_file import load_ascent, save_ascent
from cellworth.engine.labels import LabelCode, label_code
from cellworth.engine.ranks import learn_margins
from cellworth.engine.summary import Summary
from cellworth.errors import DataError

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Outline:
    """What a block must know of the whole table to become cells of the Gaussian.

    Attributes
    ----------
    code : LabelCode
    trust : float
        In the labels; above 0 they join as further columns.
    """

    scaling: Scaling
    margins: Margins
    code: LabelCode
    trust: float

    def cells(self, part: Part) -> Cells:
        """Return the cells of some rows: normal scores, and label columns where they are trusted."""
        values, observed = scaled_cells(part.X.astype(np.float64, copy=False), self.scaling)
        scores = self.margins.to_scores(values, observed)
        if self.trust == 0:
            return Cells(scores, observed)
        targets, labelled = self.code.targets(part.y, len(scores))
        columns = np.where(labelled[:, None], (targets - self.code.mean) / self.code.spread, 0)
        known = np.repeat(labelled[:, None], columns.shape[1], axis=1)
        return Cells(np.hstack([scores, columns]), np.hstack([observed, known]))


class EngineEM:
    """EM on row blocks that lie with an engine: what `climb` asks for.

    Parameters
    ----------
    engine : Engine
    prepared : Blocks
        Of `Prepared`.
    shrinkage : float
    """

    def __init__(self, engine: Engine, prepared: Blocks, shrinkage: float) -> None:
        self._engine, self._prepared, self._shrinkage = engine, prepared, shrinkage

    def step(self, model: Any) -> tuple[float, float, Any]:
        """Return the penalised and the plain log-likelihood of the model, and the next model."""
        np.linalg.cholesky(model.covariance)  # a model that is none is noticed before any block is sent
        total = self._engine.reduce(_expect, add, self._prepared, shared=(model,))
        return model.improved(_expected_type(model)(*total), self._shrinkage)


@dataclass(frozen=True)
class FillByModel:
    """Completes the rows of a block from the fitted model, which is all that they need."""

    completer: GaussianCompleter
    outline: Outline

    def __call__(self, part: Part) -> tuple[Array, Array]:
        """Return the completed rows and the variance of each cell, (m, d) each, in the user's units."""
        posterior = self.completer._fitted.posterior(self.outline.cells(part))
        return self.completer._in_units(posterior, part.X)


def fit_gaussian(
    engine: Engine,
    blocks: Blocks,
    source: Source,
    summary: Summary,
    settings: GaussianCompleter,
    checkpoint: Checkpoint | None,
    earlier: GaussianCompleter | None = None,
) -> tuple[GaussianCompleter, FillByModel, tuple[Blocks, ...]]:
    """Fit to a table of row blocks; see `cellworth.engine.complete`.

    What is chosen on held-out cells is chosen on every k-th row, 2,000 to 4,000 of them. Returns the fitted
    completer, without what has the table's size, and what fills a block.
    """
    completer = GaussianCompleter(**settings.get_params())
    check_settings(completer)
    n, d = source.n_rows, len(source.columns)
    completer.scaling_ = summary.scaling("standard", source.dtype)
    completer.n_features_in_ = d
    if source.named:
        completer.feature_names_in_ = np.array(source.columns, dtype=object)
    completer.n_factors_ = factor_count(completer.factors, (n, d))
    before = None if earlier is None else Start(earlier._fitted, earlier.scaling_)
    code = label_code(summary.labels, "squared", completer.target, source.target)
    with workers(1):
        job, outline, start = _begin(engine, blocks, completer, code, before, n)
    n_cells = int(summary.counts.sum()) + (code.n_labelled * code.n_outputs if outline.trust > 0 else 0)
    prepared = engine.map(_prepare, blocks, shared=(outline, start))
    went = climb(
        EngineEM(engine, prepared, job.recipe.shrinkage),
        start,
        n_cells=n_cells,
        tol=completer.tol,
        max_iter=completer.max_iter,
        callback=completer.callback,
        ascent=_resumed(checkpoint, start),
        after=None if checkpoint is None else lambda ascent: checkpoint.save(save_ascent(ascent)),
    )
    fitted = FittedGaussian(went.model, outline.margins, outline.trust)
    if completer.calibrate:
        fitted = _calibrated(engine, blocks, fitted, outline, summary, n)
    completer._fitted = fitted
    completer._keep(went, summary.counts)
    silent = copy(completer)
    silent.callback = None  # it belongs here, not on other machines
    return completer, FillByModel(silent, outline), ()


def _begin(
    engine: Engine,
    blocks: Blocks,
    completer: GaussianCompleter,
    code: LabelCode,
    before: Start | None,
    n_rows: int,
) -> tuple[Job, Outline, Any]:
    """Settle what is chosen on a sample of rows; return how blocks become cells, and where EM starts."""
    X, y = sample(engine, blocks, sample_stride(n_rows))
    job = Job.of(completer, X, y, completer.scaling_, n_rows=n_rows)
    ranked = is_ranked(job, before)
    margins = learn_margins(engine, blocks, completer.scaling_, ranked, n_rows, X.shape[1])
    outline = Outline(completer.scaling_, margins, code, _trust(job, before, margins, code))
    some = outline.cells(Part(X, y, None, 0))
    guess = _guess(engine, blocks, job.recipe, outline, some)
    return job, outline, first_model(job, guess, before, some, margins, is_part=len(X) < n_rows)


def _resumed(checkpoint: Checkpoint | None, kind: Any) -> Ascent[Any] | None:
    if checkpoint is None or not checkpoint.is_there():
        return None
    return load_ascent(checkpoint.load(), kind)


def _trust(job: Job, before: Start | None, margins: Margins, code: LabelCode) -> float:
    """Return the trust in the labels; a sample whose labels tell nothing apart gives none to choose by."""
    if code.n_labelled == 0:
        return 0.0
    if job.label_trust != "auto":
        return float(job.label_trust)
    if job.y is None or is_missing(job.y).all():
        return 0.0
    kind: Any = "number" if code.classes is None else "classes"
    try:
        labels = code_labels(job.y, len(job.values), "squared", kind)
    except DataError:
        return 0.0
    scores = margins.to_scores(job.values, job.observed)
    return trust_of(replace(job, target=kind), before, scores, margins, labels)


def _guess(engine: Engine, blocks: Blocks, recipe: Recipe, outline: Outline, some: Cells) -> Gaussian:
    if recipe.n_factors is not None:
        return recipe.start(some.scores, some.observed)
    pairs, products = engine.reduce(_pair_sums, add, blocks, shared=(outline,))
    return start_from_pairs(pairs, products, recipe.shrinkage)


def _pair_sums(block: Block, outline: Outline) -> tuple[Array, Array]:
    cells = outline.cells(block.read())
    return pair_sums(cells.scores, cells.observed)


@dataclass(frozen=True)
class Prepared(Sized):
    """The layout of a block's systems, and its values as the layout takes them."""

    layout: Any
    values: Array


def _prepare(block: Block, outline: Outline, kind: Any) -> Prepared:
    cells = outline.cells(block.read())
    layout = kind.layout(cells.observed)
    return Prepared(layout, layout.prepared(cells.scores))


def _expect(prepared: Prepared, model: Any) -> tuple[Any, ...]:
    expected: tuple[Any, ...] = prepared.layout.expect(model, prepared.values)
    return expected


def _expected_type(model: Any) -> Any:
    """Return the type of what a model's E step adds up."""
    from cellworth.complete.gaussian import dense, factor

    return dense.Expected if isinstance(model, dense.DenseGaussian) else factor.Expected


def _calibrated(
    engine: Engine, blocks: Blocks, fitted: FittedGaussian, outline: Outline, summary: Summary, n_rows: int
) -> FittedGaussian:
    """Learn the calibration from every k-th row, about 4,096 of them."""
    shared = fitted, outline, calibration_stride(n_rows)
    parts = engine.reduce(_left_out_residuals, join, blocks, shared=shared)
    residuals, observed = (np.concatenate(column) for column in zip(*parts, strict=True))
    return replace(fitted, calibration=Calibration.of(residuals, observed, summary.counts))


def _left_out_residuals(
    block: Block, fitted: FittedGaussian, outline: Outline, every: int
) -> tuple[tuple[Array, NDArray[np.bool_]], ...]:
    first = (-block.start) % every
    if first >= block.stop - block.start:
        return ()
    part = block.read()
    y = None if part.y is None else part.y[first::every]
    cells = outline.cells(Part(part.X[first::every], y, None, block.start + first))
    residuals = fitted.left_out_residuals(cells, fitted.complete(cells))
    return ((residuals, cells.observed[:, : fitted.n_columns]),)
