r"""Rows with labels of any loss, solved exactly for a given shape of the table and a given model.

With S and f given, a row of Eq. (1) is

.. math:: \min_z\ \tfrac12\|R(z - x)\|^2 + \tfrac12 z^\top S^{-1} z + w\,\ell(y, W^\top z + b).

The first two terms are those of a Gaussian: given its observed cells, the scores :math:`s = W^\top z + b` of
the row have a mean m and a q x q covariance V. What the label does to the row, it does through these,

.. math:: s = \arg\min_s\ \tfrac12 (s - m)^\top V^{-1} (s - m) + w\,\ell(y, s)
          \quad\Longleftrightarrow\quad s = m - w V \ell'(s),

q equations for Newton's method. The parabola that touches the loss there, with its largest curvature c, has
its minimum at the working targets :math:`t = s - \ell'(s)/c`: with these as targets of a squared loss, the
row has the same solution. So a row's score need not be kept from pass to pass; it is found anew from its
cells.
"""

from __future__ import annotations

from ctypes import byref
from typing import NamedTuple

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.complete.compiled.library import KernelCells, address, kernels
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.fused_step import LOSSES
from cellworth.complete.solver.linear_part import LinearPart

NEWTON_STEPS = 60
HALVINGS = 40
PRECISION = 1e-14


class LabelledMoments(NamedTuple):
    """Sums over labelled rows of their completed residuals, d cells and q working targets."""

    first: FloatArray  # (d + q,)
    second: FloatArray  # (d + q, d + q)
    excess: float  # weighted losses, less those of the squared loss on the working targets


def labelled_step(
    covariance: FloatArray, model: LinearPart, X: FloatArray, targets: FloatArray, scaling: Scaling
) -> LabelledMoments:
    """Solve the rows X (n, d), NaN in the holes, and return their sums; compiled.

    ``covariance`` (d + q, d + q) is that of cells and labels, where labels have the noise of the squared loss
    on working targets, 1 / (c w). d + q is at most 64. O(n d^2) plus at most O(n d^3 / 16) as in
    `cellworth.complete.gaussian.streamed_step`, and O(n q^3).
    """
    found = kernels()
    assert found is not None, "see needs_no_iterate"
    (n, d), q = X.shape, targets.shape[1]
    c, w = model.loss.curvature, model.weight
    unit = np.ones(d + q)
    unit[d:] = np.sqrt(c * w)  # labels of noise 1: that of a weak label would drown its other variance
    covariance = np.ascontiguousarray(covariance * np.outer(unit, unit))
    inverse = np.linalg.inv(covariance)
    precision = np.ascontiguousarray((inverse + inverse.T) / 2)
    first, second, excess = np.zeros(d + q), np.zeros((d + q, d + q)), np.zeros(1)
    given = targets, scaling.offset, scaling.width, precision, covariance
    arrays = [np.ascontiguousarray(array, dtype=np.float64) for array in given]
    cells, intercept = KernelCells(X), np.ascontiguousarray(model.intercept)
    failed = found.labelled_step(
        *(byref(found.passes[np.dtype("f8")][1]), n, d, q, byref(cells.pointers)),
        *(*map(address, arrays), LOSSES.index(type(model.loss)), w, c),
        *map(address, (intercept, first, second, excess)),
    )
    if failed == 2:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    if failed:
        raise MemoryError("not enough memory for the rows of a block")
    return LabelledMoments(first / unit, second / np.outer(unit, unit), float(excess[0]))


def best_scores(m: FloatArray, V: FloatArray, targets: FloatArray, model: LinearPart) -> FloatArray:
    """Return the scores s (n, q) of rows, given their means m (n, q) and covariances V (n, q, q); in NumPy.

    Newton's method on a = V^-1 (s - m), with steps that are halved until the objective does not rise.
    """
    loss, w = model.loss, model.weight
    a, s = np.zeros_like(m), m.copy()

    def value(a: FloatArray, s: FloatArray) -> FloatArray:
        return np.asarray((a * (s - m)).sum(axis=1) / 2 + w * loss.value(s, targets))

    best = value(a, s)
    for _ in range(NEWTON_STEPS):
        slopes = loss.gradient(s, targets)
        away = a + w * slopes
        left = np.abs(away).max(axis=1) > PRECISION * w * np.abs(slopes).max(axis=1)
        if not left.any():
            break
        system = np.eye(m.shape[1]) + w * loss.hessian(s, targets) @ V
        step = np.where(left[:, None], -np.linalg.solve(system, away[:, :, None])[:, :, 0], 0.0)
        for _ in range(HALVINGS):
            trial = a + step
            moved = m + (V @ trial[:, :, None])[:, :, 0]
            now = value(trial, moved)
            rose = now > best + PRECISION * np.abs(best)
            if not rose.any():
                break
            step[rose] /= 2
        a, s, best = trial, moved, now
        if (np.abs(step) <= PRECISION * np.abs(a)).all():
            break
    return s
