r"""Eq. (1) solved without an iterate: each iteration reads the table again.

The trace norm is a minimum over symmetric positive semidefinite matrices S (d, d),

.. math:: \lambda\|Z\|_{tr} = \min_S\ \tfrac12\sum_i z_i^\top S^{-1} z_i + \tfrac{\lambda^2}2 \mathrm{tr}\,S,
          \qquad S = (Z^\top Z)^{1/2} / \lambda,

so for given S and f every row is a problem of its own. With the squared loss it is a ridge regression: with c
the curvature of the loss and w the weight of a label,

.. math:: z_i = \arg\min_z\ \tfrac12\|R_i(z - x_i)\|^2 + \tfrac12 z^\top S^{-1} z
          + \tfrac{cw}2\|W^\top z + b - y_i\|^2.

That is the mean of z given the observed cells and labels, where z has the covariance S, cells the noise I and
labels the noise I/(c w): what the E step of a Gaussian over cells and labels computes. With e the gradient of
the first and last term at :math:`z_i`, up to its sign, :math:`z_i = S e_i`: so the second moments of e, which
follow from those of the E step, are all that is needed for a proximal gradient step from these rows. Its
result has an S and a best f of its own, for which the next pass solves the rows again. The objective never
rises, and falls faster than by the step alone: with weak labels or none it takes about half the iterations of
the accelerated method, which moves the rows themselves; where labels weigh much, up to three times as many.
Only S, W and b are kept between passes, however many rows there are. With labels, the problem is not convex
in table and model together, and the two methods may end in different stationary points.

With other losses, the row is that of a squared loss on working targets, which follow from its cells and label
(`cellworth.complete.solver.labelled_rows`). The parabolas of these lie above the losses and touch them at the
row's solution, so a step and a fit of the model that lower the former lower the latter.

A row takes a system of its observed cells, O(d^3), where a step of an iterate takes O(d^2). So the wider the
table, the more a pass takes beside reading it (`python -m benchmarks out_of_core` has the figures), but less
than writing and reading two iterates does in as many iterations as those need. Not for more than `WIDEST`
columns and labels, and with other losses than the squared one not for more than 64, the limit of their
compiled kernel. Such tables keep an iterate of each row, on the disks of Dask's workers where it does not fit
in memory; see `cellworth.complete.solver.unread_blocks`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.cell_columns import CellColumns
from cellworth.blocks.checkpoints import Checkpoint
from cellworth.blocks.engine_protocol import add
from cellworth.blocks.row_source import Part, Source
from cellworth.complete.compiled.library import kernels
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.streamed_step import MOST_COLUMNS, can_stream, completed_sums
from cellworth.complete.labels import LabelCode
from cellworth.complete.scaling import Scaling, scaled_cells
from cellworth.complete.solver.cell_sums import CellSums
from cellworth.complete.solver.factors import solve_rows
from cellworth.complete.solver.labelled_rows import best_scores, labelled_step
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart, fit_linear_part
from cellworth.complete.solver.losses import SquaredLoss
from cellworth.complete.solver.monitor import Callback, Monitor, Solution
from cellworth.complete.solver.sampled_start import SampleFit
from cellworth.complete.solver.singular_value_thresholding import Shrinkage, shrinkage

WIDEST = 256  # columns; beyond, iterations from iterates on disks are quicker


def needs_no_iterate(code: LabelCode, n_columns: int, trace_penalty: float) -> bool:
    """Return whether the problem can be solved this way: with few enough columns, and compiled kernels."""
    most = WIDEST if isinstance(code.loss, SquaredLoss) else MOST_COLUMNS
    return n_columns + code.n_outputs <= most and trace_penalty > 0 and kernels() is not None


@dataclass(frozen=True)
class Weights:
    """What is kept between passes: S (d, d), and f with its loss."""

    S: FloatArray
    model: LinearPart
    n_targets: int

    def gaussian(self, *, labels: bool) -> DenseGaussian:
        """Return the Gaussian of the cells of a row, and of its labels after them."""
        d, W = len(self.S), self.model.coef
        if not labels:
            return DenseGaussian(np.zeros(d), self.S + np.eye(d))
        G = np.hstack([np.eye(d), W])
        noise = np.ones(G.shape[1])
        noise[d:] = 1 / (self.model.loss.curvature * self.model.weight)
        mean = np.concatenate([np.zeros(d), self.model.intercept])
        return DenseGaussian(mean, G.T @ self.S @ G + np.diag(noise))


class SolvedSums(NamedTuple):
    """Sums of a pass: of the completed residuals of labelled rows, with targets, and of the other rows."""

    first: FloatArray  # (d + q,)
    second: FloatArray  # (d + q, d + q)
    unlabelled: FloatArray  # (d, d)
    excess: float  # of the weighted losses over those of the squared loss on working targets


def pass_sums(part: Part, weights: Weights, scaling: Scaling, code: LabelCode) -> SolvedSums:
    """Return the sums of a block, which is read and forgotten."""
    d = len(weights.S)
    width = d + code.n_outputs
    first: FloatArray = np.zeros(width)
    second: FloatArray = np.zeros((width, width))
    unlabelled: FloatArray = np.zeros((d, d))
    excess = 0.0
    targets, labelled = code.targets(part.y, part.n_rows)
    labelled = labelled & (weights.n_targets > 0)
    if labelled.any() and not isinstance(code.loss, SquaredLoss):
        both = weights.gaussian(labels=True).covariance
        first, second, excess = labelled_step(
            both, weights.model, part.X[labelled], targets[labelled], scaling
        )
    elif labelled.any():
        X = np.column_stack([part.X[labelled], targets[labelled].astype(part.X.dtype)])
        zeros, ones = np.zeros(code.n_outputs), np.ones(code.n_outputs)
        wide = Scaling(np.append(scaling.offset, zeros), np.append(scaling.width, ones))
        first, second = expected_sums(weights.gaussian(labels=True), X, wide)
    if not labelled.all():
        cells = part.X[~labelled] if labelled.any() else part.cells
        unlabelled = expected_sums(weights.gaussian(labels=False), cells, scaling)[1]
    return SolvedSums(first, second, unlabelled, excess)


def expected_sums(
    model: DenseGaussian, X: FloatArray | CellColumns, scaling: Scaling
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the completed residuals of rows X (m, d), NaN in holes, and of their products."""
    if can_stream(model):
        return completed_sums(model, X, scaling)
    rows = X.rows() if isinstance(X, CellColumns) else X
    values, observed = scaled_cells(rows, scaling)
    layout = model.layout(observed)
    found = layout.expect(model, layout.prepared(values.astype(np.float64)))
    return found.first, found.second


class Point(NamedTuple):
    """What the sums of a pass say about S and f.

    Attributes
    ----------
    misfit : float
        The objective without the terms of S and of the ridge.
    residual : (d, d) array
        The second moments of e, the gradient of misfit and loss at the rows z = S e, up to its sign.
    of_labelled : LabelledSums
        Of the e of rows with labels, and their labels.
    """

    misfit: float
    residual: FloatArray
    of_labelled: LabelledSums


def point_of(sums: SolvedSums, weights: Weights) -> Point:
    """Return what the sums of a pass say; O(d^3)."""
    W, d = weights.model.coef, len(weights.S)
    inverse = np.linalg.inv(weights.gaussian(labels=False).covariance)
    residual = inverse @ sums.unlabelled @ inverse
    misfit = 0.5 * float(np.vdot(inverse, sums.unlabelled))
    q = W.shape[1]
    zeros = LabelledSums(np.zeros((d, d)), np.zeros((d, q)), np.zeros(d), np.zeros(q), 0)
    if not weights.n_targets:
        return Point(misfit, residual, zeros)
    inverse = np.linalg.inv(weights.gaussian(labels=True).covariance)
    back = np.hstack([np.eye(d), W]) @ inverse  # from the completed residuals of a row to its e
    of_labelled = back @ sums.second @ back.T
    misfit += 0.5 * float(np.vdot(inverse, sums.second)) + sums.excess
    b, n = weights.model.intercept, weights.n_targets
    e = back @ sums.first
    with_labels = back @ sums.second[:, d:] + np.outer(e, b)
    labelled = LabelledSums(of_labelled, with_labels, e, sums.first[d:] + n * b, n)
    return Point(misfit, residual + of_labelled, labelled)


class Step(NamedTuple):
    """The proximal gradient step from the rows z = S e, to the rows e T.

    Attributes
    ----------
    T : (d, d) array
    shrunk : Shrinkage
    gradient : float
        Norm of the gradient mapping.
    """

    T: FloatArray
    shrunk: Shrinkage
    gradient: float

    def best_S(self, penalty: float) -> FloatArray:
        """Return the S (d, d) that is best for the rows e T."""
        return (self.shrunk.basis * (self.shrunk.singular_values / penalty)) @ self.shrunk.basis.T


def proximal_step(point: Point, weights: Weights, penalty: float) -> Step:
    """Return the proximal gradient step from the rows of a pass; O(d^3)."""
    lipschitz = weights.model.lipschitz()
    ahead = weights.S + np.eye(len(weights.S)) / lipschitz
    shrunk = shrinkage(ahead @ point.residual @ ahead, penalty / lipschitz)
    T = ahead @ shrunk.operator
    move = weights.S - T
    square = max(0.0, float(np.vdot(move, point.residual @ move)))
    return Step(T, shrunk, lipschitz * float(np.sqrt(square)))


def moved_sums(sums: LabelledSums, T: FloatArray) -> LabelledSums:
    """Return the sums of the rows e T, from those of e."""
    return LabelledSums(T.T @ sums.xx @ T, T.T @ sums.xt, T.T @ sums.x, sums.t, sums.n_rows)


def minimise_without_iterate(
    source: Source,
    model: LinearPart,
    sums: CellSums,
    scaling: Scaling,
    code: LabelCode,
    *,
    n_targets: int,
    trace_penalty: float,
    tol: float,
    max_iter: int,
    sample: SampleFit | None = None,
    checkpoint: Checkpoint | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Minimise F over a table that is read in each iteration; see `minimise_blocks`.

    The solution has no iterate: rows are completed from its basis by `FoldIn`.
    """
    if checkpoint is not None and checkpoint.is_there():
        saved = checkpoint.load()
        model = replace(model, coef=saved["coef"], intercept=saved["intercept"])
        S = saved["S"]
    else:
        seen = np.sqrt(np.maximum(sums.counts, 1) / source.n_rows)
        start = shrinkage(sums.gram / np.outer(seen, seen), 0.0) if sample is None else sample.shape
        model = model if sample is None else sample.model
        S = (start.basis * (start.singular_values / trace_penalty)) @ start.basis.T
    weights, monitor = Weights(S, model, n_targets), None
    scale, eps = float(np.sqrt(sums.square)), float(np.finfo(np.float64).eps)
    while monitor is None or monitor.wants_more():
        if checkpoint is not None:
            kept = {"S": weights.S, "coef": weights.model.coef, "intercept": weights.model.intercept}
            checkpoint.save(kept)
        found = SolvedSums(*source.reduce(pass_sums, add, shared=(weights, scaling, code)))
        point = point_of(found, weights)
        objective = point.misfit + trace_penalty**2 / 2 * float(np.trace(weights.S)) + weights.model.penalty()
        if monitor is None:
            monitor = Monitor.of(scale, eps, objective, tol, max_iter, callback)
        step, last = proximal_step(point, weights, trace_penalty), weights.model
        model, move = fit_linear_part(last, moved_sums(point.of_labelled, step.T))
        pull = trace_penalty * step.shrunk.subgradient_norm
        monitor.record(objective, float(np.hypot(step.gradient, move)), pull, exact=True)
        weights = Weights(step.best_S(trace_penalty), model, n_targets)
    return monitor.solution(None, last, step.shrunk)


@dataclass(frozen=True)
class FoldIn:
    """Completes rows from their cells and labels, given what the fit has found.

    Attributes
    ----------
    code : LabelCode
    model : LinearPart
        In scaled units.
    right : (rank, d) array
        S is right^T right / lambda.
    n_targets : int
    trace_penalty : float
    """

    code: LabelCode
    model: LinearPart
    right: FloatArray
    n_targets: int
    trace_penalty: float

    def rows(self, part: Part, scaling: Scaling) -> FloatArray:
        """Return the rows z (m, d) of a block in scaled units; O(m rank^2 (d + rank))."""
        values, observed = scaled_cells(part.X, scaling)
        targets, labelled = self.code.targets(part.y, len(part.X))
        B = self.right.astype(np.float64)
        ridge = max(self.trace_penalty, np.finfo(np.float64).eps * float(np.vdot(B, B))) * np.eye(len(B))
        left = solve_rows(observed, B, ridge, (values * observed) @ B.T)
        if self.n_targets and labelled.any():
            left[labelled] += self._moved_by_labels(
                left[labelled], observed[labelled], ridge, targets[labelled]
            )
        return (left @ B).astype(values.dtype, copy=False)

    def _moved_by_labels(
        self, left: FloatArray, observed: BoolArray, ridge: FloatArray, targets: FloatArray
    ) -> FloatArray:
        """Return how labels move the left factors (m, rank) that follow from the cells."""
        model, B = self.model, self.right.astype(np.float64)
        U = B @ model.coef  # scores are left @ U + b
        along = [solve_rows(observed, B, ridge, np.tile(u, (len(left), 1))) for u in U.T]
        V = np.stack([of_one @ U for of_one in along], axis=1)  # (m, q, q)
        scores = best_scores(left @ U + model.intercept, (V + V.transpose(0, 2, 1)) / 2, targets, model)
        slopes = -model.weight * model.loss.gradient(scores, targets)
        moved = np.zeros_like(left)
        for of_one, slope in zip(along, slopes.T, strict=True):
            moved += of_one * slope[:, None]
        return moved
