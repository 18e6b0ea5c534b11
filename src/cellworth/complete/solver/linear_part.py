r"""The linear part of Eq. (1), the model f of the target, and its best fit to a completed table.

A loss with curvature at most c is bounded above by the parabola with its value and slope at the current
scores :math:`s`. The parabola has its minimum at the working targets :math:`t = s - \ell'(s)/c`, so fitting
the model to the completed table is a least-squares problem on t, with a ridge:

.. math:: \min_{W, b}\ \frac{c\,w}{2}\sum_{i\ \mathrm{labelled}} \|W^\top x_i + b - t_i\|^2
          + \frac{\rho}{2}\|W\|_F^2

It needs only the sums of :math:`x x^\top`, :math:`x t^\top`, x and t. For the squared loss :math:`t = y`
and the fit is exact; for the others it lowers the loss, and is exact in the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dposv

from cellworth.arrays import FloatArray
from cellworth.complete.solver.losses import Loss


@dataclass(frozen=True)
class LinearPart:
    """f(x) = W^T x + b, with its loss and the weight of one labelled row's loss."""

    loss: Loss
    weight: float  # label weight / number of labelled rows
    ridge: float  # rho
    coef: FloatArray  # (d, n_outputs): W
    intercept: FloatArray  # (n_outputs,): b
    fit_intercept: bool = True  # if not, b stays 0

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the scores of the rows of X, (n, n_outputs)."""
        scores: FloatArray = X @ self.coef.astype(X.dtype, copy=False)
        scores += self.intercept.astype(X.dtype, copy=False)
        return scores

    def total_loss(self, X: FloatArray, targets: FloatArray) -> float:
        """Return the weighted sum of the losses of the labelled rows X, with one row of targets each."""
        return self.weighted(self.scores(X), targets)

    def weighted(self, scores: FloatArray, targets: FloatArray) -> float:
        """Return the weighted sum of the losses of the given scores (m, n_outputs)."""
        return self.weight * float(self.loss.value(scores, targets).sum())

    def penalty(self) -> float:
        """Return the ridge term."""
        return self.ridge / 2 * float(np.vdot(self.coef, self.coef))

    def lipschitz(self) -> float:
        """Return the Lipschitz constant of the gradient of the smooth part of Eq. (1) in the table.

        The observed cells contribute 1, the labels the rest.
        """
        W = self.coef
        square = float(np.vdot(W, W)) if W.shape[1] == 1 else float(eigvalsh(W.T @ W)[-1])
        return 1.0 + self.loss.curvature * self.weight * square

    def ahead_of(self, earlier: LinearPart, momentum: float) -> LinearPart:
        """Return self + momentum * (self - earlier)."""
        if momentum == 0:
            return self
        coef = self.coef + momentum * (self.coef - earlier.coef)
        return self.at(coef, self.intercept + momentum * (self.intercept - earlier.intercept))

    def at(self, coef: FloatArray, intercept: FloatArray) -> LinearPart:
        """Return the model with other coefficients."""
        return LinearPart(self.loss, self.weight, self.ridge, coef, intercept, self.fit_intercept)


class LabelledSums(NamedTuple):
    """Sums over the labelled rows x of a table and their working targets t."""

    xx: FloatArray  # (d, d)
    xt: FloatArray  # (d, n_outputs)
    x: FloatArray  # (d,)
    t: FloatArray  # (n_outputs,)
    n_rows: int

    @classmethod
    def of(cls, X: FloatArray, targets: FloatArray) -> LabelledSums:
        """Return the sums of rows X (m, d) and working targets (m, n_outputs)."""
        X, targets = X.astype(np.float64, copy=False), targets.astype(np.float64, copy=False)
        return cls(X.T @ X, X.T @ targets, X.sum(axis=0), targets.sum(axis=0), len(X))

    def after(self, operator: FloatArray) -> LabelledSums:
        """Return the sums of the table X P for a symmetric P (d, d), from those of X."""
        return LabelledSums(
            operator @ self.xx @ operator, operator @ self.xt, operator @ self.x, self.t, self.n_rows
        )


def fit_linear_part(start: LinearPart, sums: LabelledSums) -> tuple[LinearPart, float]:
    """Return the best model for the sums, and how far it is from ``start``.

    The distance is in the metric of the objective's Hessian, so half its square is the decrease of the
    (majorised) objective. O(d^3).
    """
    if sums.n_rows == 0:
        return start, 0.0
    scale = start.loss.curvature * start.weight
    x_mean, t_mean = sums.x / sums.n_rows, sums.t / sums.n_rows
    if not start.fit_intercept:
        x_mean, t_mean = np.zeros_like(x_mean), np.zeros_like(t_mean)
    hessian = scale * (sums.xx - sums.x[:, None] * x_mean)
    hessian.flat[:: len(hessian) + 1] += start.ridge
    side = scale * (sums.xt - sums.x[:, None] * t_mean)
    _, coef, failed = dposv(hessian, side, lower=True)
    if failed:
        raise np.linalg.LinAlgError("the ridge is too small for the model to be determined")
    move = coef - start.coef
    fitted = start.at(coef, t_mean - x_mean @ coef)
    return fitted, float(np.sqrt(max(0.0, np.vdot(move, hessian @ move))))
