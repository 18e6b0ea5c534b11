"""Fit a Gaussian to a table: margins, labels, EM, calibration.

The steps are the same wherever the rows are stored; see `cellworth.complete.gaussian.rows_to_fit`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cellworth.blocks.checkpoints import Checkpoint
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.gaussian.dense_gaussian import start_from_pairs
from cellworth.complete.gaussian.em import EM, EMResult, EMState, run_em
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian
from cellworth.complete.gaussian.held_out_choices import Chosen, choose
from cellworth.complete.gaussian.interval_calibration import leverage_unit
from cellworth.complete.gaussian.label_trust import choose_trust
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian
from cellworth.complete.gaussian.quick_fit import SMALLEST_SHRINKAGE, Gaussian, GaussianEstimator
from cellworth.complete.gaussian.rows_to_fit import CellForm, TableRows
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.monitor import Callback
from cellworth.progress import portion

MarginKind = Literal["normal", "rank", "auto"]

FIRST_SHRINKAGE = 3.0  # of "auto", which only raises it
SAMPLE_TOL = 30.0  # times that of the fit: below this, sampling error dominates


@dataclass(frozen=True)
class FitSettings:
    """How to fit: the settings and random generator of a `GaussianCompleter`."""

    n_factors: int | None
    n_rows: int
    shrinkage: float | Literal["auto"]
    margins: MarginKind
    label_trust: float | Literal["auto"]
    calibrate: bool
    tol: float
    max_iter: int
    callback: Callback | None
    rng: np.random.Generator

    @classmethod
    def of(cls, completer: Any, n_rows: int) -> FitSettings:
        """Return the settings of a `GaussianCompleter` for a table of ``n_rows``."""
        return cls(
            n_factors=completer.n_factors_,
            n_rows=n_rows,
            shrinkage=completer.shrinkage,
            margins=completer.margins,
            label_trust=completer.label_trust,
            calibrate=completer.calibrate,
            tol=completer.tol,
            max_iter=completer.max_iter,
            callback=completer.callback,
            rng=np.random.default_rng(completer.random_state),
        )

    def estimator(self, shrinkage: float) -> GaussianEstimator:
        """Return the estimator with this shrinkage, or as little as keeps a covariance positive definite."""
        return GaussianEstimator(self.n_factors, max(shrinkage, SMALLEST_SHRINKAGE * self.n_rows))


@dataclass(frozen=True)
class Start:
    """An earlier fit to start from."""

    fitted: FittedGaussian
    scaling: Scaling


def fit_gaussian(
    settings: FitSettings,
    rows: TableRows,
    earlier: Start | None,
    *,
    engine: ThreadEngine | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[FittedGaussian, CellForm, EMResult[Any]]:
    """Fit a Gaussian to the rows of a table; return it, how rows become its cells, and the EM result.

    An ``earlier`` fit supplies what would be chosen on held-out cells, and EM starts from it if it has the
    same columns. The ``engine`` runs in-memory work.
    """
    with portion(0.0, 0.2):
        chosen = _choices(settings, earlier, rows)
    estimator = settings.estimator(chosen.shrinkage)
    margins = rows.rank_margins() if chosen.ranked else Margins((None,) * len(rows.counts))
    with portion(0.2, 0.3):
        trust = _trust(settings, estimator, earlier, rows, margins)
    form = CellForm(rows.scaling, margins, rows.code, trust)
    sample, is_part = rows.take(form)
    start: Any = _goes_on(earlier, estimator, rows.scaling, margins, sample.scores.shape[1])
    start = _first(chosen, estimator, rows, sample) if start is None else start
    if is_part and earlier is None:  # EM on the sample improves the start at a fraction of the cost
        with portion(0.3, 0.35):
            start = run_em(
                estimator.em_on(start, sample.scores, sample.observed, engine),
                start,
                n_cells=int(sample.observed.sum()),
                tol=SAMPLE_TOL * settings.tol,
                max_iter=settings.max_iter,
            ).model
    resume = checkpoint is not None and checkpoint.is_there()
    n_cells = int(rows.counts.sum()) + (rows.code.n_labelled * rows.code.n_outputs if form.trust else 0)
    with portion(0.35, 0.65):
        result = run_em(
            EM(rows.expect(start), estimator.shrinkage),
            start,
            n_cells=n_cells,
            tol=settings.tol,
            max_iter=settings.max_iter,
            callback=settings.callback,
            state=EMState.from_arrays(checkpoint.load(), start) if checkpoint and resume else None,
            after=None if checkpoint is None else lambda state: checkpoint.save(state.to_arrays()),
        )
    fitted = FittedGaussian(result.model, margins, form.trust, chosen.shrinkage, chosen.excess)
    if settings.calibrate:
        per_row = float(rows.counts.sum()) / settings.n_rows
        leverage = leverage_unit(rows.counts, chosen.shrinkage, per_row, fitted.n_labels, fitted.excess)
        fitted = replace(fitted, leverage=leverage)
        fitted = fitted.calibrated(rows.left_out(fitted))
    return fitted, form, result


def _choices(settings: FitSettings, earlier: Start | None, rows: TableRows) -> Chosen:
    """Return margins, shrinkage and leverage: as set, as in an earlier fit, or chosen."""
    ranked = None if settings.margins == "auto" else settings.margins == "rank"
    shrinkage = None if settings.shrinkage == "auto" else float(settings.shrinkage)
    if earlier is not None:
        before = earlier.fitted
        ranked = bool(before.margins.ranked.any()) if ranked is None else ranked
        shrinkage = before.shrinkage if shrinkage is None else shrinkage
        return Chosen(ranked, shrinkage, before.excess)
    estimator = settings.estimator(FIRST_SHRINKAGE if shrinkage is None else shrinkage)
    return choose(
        rows,
        estimator,
        settings.rng,
        ranked=ranked,
        shrinkage=shrinkage,
        calibrate=settings.calibrate,
    )


def _first(chosen: Chosen, estimator: GaussianEstimator, rows: TableRows, sample: Cells) -> Gaussian:
    """Return the Gaussian to start from: that of the choices, or a new one."""
    at_hand = chosen.start
    if at_hand is not None and len(at_hand.mean) == sample.scores.shape[1]:
        return at_hand
    if estimator.n_factors is None:
        return start_from_pairs(*rows.pair_sums(), estimator.shrinkage)
    # Singular vectors of a sample start EM as well as those of a long table.
    return estimator.start(sample.scores, sample.observed)


def _trust(
    settings: FitSettings,
    estimator: GaussianEstimator,
    earlier: Start | None,
    rows: TableRows,
    margins: Margins,
) -> float:
    """Return the trust in the labels: as given, as in an earlier fit, or chosen; 0 without labels."""
    if rows.code.n_labelled == 0:
        return 0.0
    if settings.label_trust != "auto":
        return float(settings.label_trust)
    if earlier is not None:
        return earlier.fitted.trust
    return choose_trust(rows, margins, estimator, settings.rng)


def _goes_on(
    earlier: Start | None, estimator: GaussianEstimator, now: Scaling, margins: Margins, width: int
) -> Gaussian | None:
    """Return the earlier model in the units of the new scaling, if it is one of ``width`` columns like it."""
    if earlier is None:
        return None
    old = earlier.fitted
    n_factors = old.model.loadings.shape[1] if isinstance(old.model, FactorGaussian) else None
    if n_factors != estimator.n_factors or len(old.model.mean) != width:
        return None
    if (old.margins.ranked != margins.ranked).any():
        return None
    factor, shift = np.ones(width), np.zeros(width)
    d, then = len(margins.columns), earlier.scaling
    factor[:d] = np.where(margins.ranked, 1, then.width / now.width)
    shift[:d] = np.where(margins.ranked, 0, (then.offset - now.offset) / now.width)
    return old.model.rescaled(factor, shift)
