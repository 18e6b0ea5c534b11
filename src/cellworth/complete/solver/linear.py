r"""The other half of the alternation: the best linear model f for a given completed table.

Minimises :math:`\sum_i w_i\,\ell(y_i, W^\top x_i + b) + \frac{\rho}{2}\|W\|_\mathrm{F}^2` over W and b.
The intercept is not penalised. Without the ridge the joint problem has no minimiser: a column of the
table that carries the label at a vanishing scale, read with a growing coefficient, drives the loss to
zero at no cost in trace norm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from cellworth.complete.solver.blocks import Model, RowBlocks, Rows

Array = NDArray[np.floating]


def fit_linear(model: Model, X: Array, rows: Rows, ridge: float, blocks: RowBlocks) -> Model:
    """Return the best model for the table X (n, d), starting from ``model``.

    Squared loss: one pass and a d x d system. Other losses: L-BFGS, two passes of O(n d n_outputs) per
    evaluation. The penalised loss of the result is never above that of ``model``.
    """
    if model.loss.quadratic:
        return _solve_normal_equations(model, X, rows, ridge, blocks)
    return _run_lbfgs(model, X, rows, ridge, blocks)


def _solve_normal_equations(model: Model, X: Array, rows: Rows, ridge: float, blocks: RowBlocks) -> Model:
    def moments(block: slice) -> tuple[Array, ...]:
        x = X[block].astype(np.float64, copy=False)
        w, y = rows.weights[block].astype(np.float64), rows.targets[block]
        weighted = x * w
        return weighted.T @ x, weighted.T @ y, weighted.sum(axis=0), (w * y).sum(axis=0), w.sum()

    xx, xy, x_sum, y_sum, total = blocks.sum(moments)
    x_mean, y_mean = x_sum / total, y_sum / total
    # 2 * covariance + ridge: the factor 2 is the second derivative of the loss, which is not halved.
    hessian = 2 * (xx - total * np.outer(x_mean, x_mean))
    hessian[np.diag_indices_from(hessian)] += ridge
    slope = 2 * (xy - total * np.outer(x_mean, y_mean))
    coef = cho_solve(cho_factor(hessian, lower=True), slope)
    return Model(model.loss, coef, y_mean - x_mean @ coef)


def _run_lbfgs(model: Model, X: Array, rows: Rows, ridge: float, blocks: RowBlocks) -> Model:
    d, n_outputs = model.coef.shape

    def unpack(parameters: Array) -> Model:
        stacked = parameters.reshape(d + 1, n_outputs)
        return Model(model.loss, stacked[:d], stacked[d])

    def penalised_loss(parameters: Array) -> tuple[float, Array]:
        candidate = unpack(parameters)

        def value_and_slope(block: slice) -> tuple[float, Array, Array]:
            x, part = X[block], rows[block]
            scores = candidate.scores(x)
            value = float(part.weights[:, 0] @ model.loss.value(scores, part.targets))
            slopes = model.loss.gradient(scores, part.targets) * part.weights
            return value, (x.T @ slopes).astype(np.float64), slopes.sum(axis=0, dtype=np.float64)

        value, coef_slope, intercept_slope = blocks.sum(value_and_slope)
        value += ridge / 2 * np.vdot(candidate.coef, candidate.coef)
        gradient = np.vstack([coef_slope + ridge * candidate.coef, intercept_slope])
        return value, gradient.reshape(-1)

    first = np.vstack([model.coef, model.intercept]).astype(np.float64).reshape(-1)
    options = {"maxiter": 500, "gtol": 1e-9, "ftol": 1e-14}
    result = minimize(penalised_loss, first, jac=True, method="L-BFGS-B", options=options)
    return unpack(result.x) if result.fun <= penalised_loss(first)[0] else model
