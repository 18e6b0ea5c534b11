r"""A joint Gaussian of many columns: a few common factors plus independent noise.

.. math:: x_i = \mu + W z_i + \varepsilon_i, \qquad z_i \sim N(0, I_r), \quad
          \varepsilon_{ij} \sim N(0, \psi_j), \qquad \Sigma = W W^\top + \operatorname{diag}\psi

Given the observed cells o of a row with residuals r, the factors have covariance and mean

.. math:: C = \bigl(I + W_o^\top \Psi_o^{-1} W_o\bigr)^{-1}, \qquad
          \hat z = C\,W_o^\top \Psi_o^{-1} r_o,

so a row takes a system of r unknowns, for any number of columns. The penalised log-likelihood is

.. math:: \sum_i \log N(x_{i,o_i};\ \mu_{o_i}, \Sigma_{o_i o_i}) - \frac{\kappa}{2} \sum_j
          \Bigl(\log\psi_j + \frac{1 + \|W_j\|^2}{\psi_j}\Bigr),

and the M step regresses each column on :math:`(\hat z, 1)` over the rows where it is observed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.extmath import randomized_svd

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.thread_engine import ThreadEngine, add_up
from cellworth.complete.gaussian.pattern_systems import log_diagonals

BATCH_BYTES = 1 << 22  # of stacked matrices in one row block


@dataclass(frozen=True)
class FactorGaussian:
    """A Gaussian over d columns with r factors.

    Attributes
    ----------
    mean : (d,) array
    loadings : (d, r) array
        W.
    noise : (d,) array
        psi, positive.
    """

    mean: FloatArray
    loadings: FloatArray
    noise: FloatArray

    @property
    def covariance(self) -> FloatArray:
        """Sigma, (d, d)."""
        return self.loadings @ self.loadings.T + np.diag(self.noise)

    def to_vector(self) -> FloatArray:
        """Return unconstrained parameters: mean, loadings, log of the noise."""
        return np.concatenate([self.mean, self.loadings.ravel(), np.log(self.noise)])

    def from_vector(self, vector: FloatArray) -> Self:
        """Return the Gaussian with these parameters; see `to_vector`."""
        d = len(self.mean)
        loadings = vector[d:-d].reshape(self.loadings.shape)
        return replace(self, mean=vector[:d], loadings=loadings, noise=np.exp(vector[-d:]))

    def on_columns(self, columns: slice) -> Self:
        """Return the Gaussian of some of the columns."""
        return replace(
            self, mean=self.mean[columns], loadings=self.loadings[columns], noise=self.noise[columns]
        )

    def with_noise(self, variances: FloatArray) -> Self:
        """Return the Gaussian with independent noise of these variances (d,) on its columns."""
        return replace(self, noise=self.noise + variances)

    def rescaled(self, factor: FloatArray, shift: FloatArray) -> Self:
        """Return the Gaussian of factor * x + shift, column by column."""
        loadings = self.loadings * factor[:, None]
        return replace(self, mean=self.mean * factor + shift, loadings=loadings, noise=self.noise * factor**2)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return n independent rows, (n, d)."""
        d, r = self.loadings.shape
        common = rng.standard_normal((n, r)) @ self.loadings.T
        return self.mean + common + rng.standard_normal((n, d)) * np.sqrt(self.noise)

    def precision_times(self, residual: FloatArray) -> FloatArray:
        """Return residual Sigma^-1, (n, d), by Woodbury's formula: O(n d r)."""
        weighted = self.loadings / self.noise[:, None]
        inner = np.eye(self.loadings.shape[1]) + self.loadings.T @ weighted
        return residual / self.noise - np.linalg.solve(inner, (residual @ weighted).T).T @ weighted.T

    def layout(self, observed: BoolArray) -> FactorLayout:
        """Return the layout of the E step for a table with these observed cells (n, d)."""
        return FactorLayout(observed, self.loadings.shape[1])

    def improved(self, expected: FactorExpectation, shrinkage: float) -> tuple[float, float, FactorGaussian]:
        """Do the M step: return the penalised and the plain log-likelihood, and the next model, O(d r^3)."""
        deviance, products, cross, squares, counts = expected
        d, r = self.loadings.shape
        plain = -0.5 * (deviance + counts.sum() * np.log(2 * np.pi))
        lengths = (self.loadings**2).sum(axis=1)
        penalty = float((np.log(self.noise) + (1 + lengths) / self.noise).sum())
        products = products.reshape(d, r + 1, r + 1)
        ridge = np.diag(np.append(np.full(r, shrinkage), 0.0))
        # Regress each column on the factors and a constant, over the rows where it is observed.
        coefficients = np.linalg.solve(products + ridge, cross[:, :, None])[:, :, 0]
        unexplained = squares - np.einsum("jk,jk->j", coefficients, cross) + shrinkage
        noise = np.maximum(unexplained / (counts + shrinkage), np.finfo(np.float64).eps)
        following = FactorGaussian(coefficients[:, r].copy(), coefficients[:, :r].copy(), noise)
        return plain - 0.5 * shrinkage * penalty, plain, following

    def hole_variances(self, observed: BoolArray) -> FloatArray:
        r"""Return the variance of each hole given the observed cells of its row, (n, d); 0 where observed.

        :math:`\psi_j + W_j^\top C_i W_j`, O(n r^2 (d + r)).
        """
        return np.where(observed, 0, self.noise + self._common_variances(observed))

    def left_out_variances(self, observed: BoolArray) -> FloatArray:
        r"""Return the variance of each observed cell given the OTHERS of its row, (n, d); 0 in the holes.

        :math:`\psi_j^2 / (\psi_j - W_j^\top C_i W_j)`, O(n r^2 (d + r)).
        """
        left_over = self.noise - self._common_variances(observed)
        floor = np.finfo(np.float64).eps * self.noise
        return np.where(observed, self.noise**2 / np.maximum(left_over, floor), 0)

    def _common_variances(self, observed: BoolArray) -> FloatArray:
        """Return W_j' C_i W_j, (n, d)."""
        out = np.empty(observed.shape)
        for rows in self.layout(observed).blocks:
            covariances, _ = _factor_covariances(self, observed[rows])
            out[rows] = covariances.reshape(len(covariances), -1) @ _outer(self.loadings).T
        return out


class FactorExpectation(NamedTuple):
    """What the M step needs from an E step: column regressions on (z, 1); additive over rows."""

    deviance: float  # -2 times the log-likelihood of the observed cells, up to a constant
    products: FloatArray  # (d, (r + 1)^2)
    cross: FloatArray  # (d, r + 1)
    squares: FloatArray  # (d,)
    counts: FloatArray  # (d,): number of observed cells


class FactorLayout:
    """The E step of a `FactorGaussian`, on row blocks of bounded memory."""

    def __init__(self, observed: BoolArray, n_factors: int) -> None:
        n, d = observed.shape
        size = max(1, BATCH_BYTES // (8 * max((n_factors + 1) ** 2, d)))
        self.blocks = [slice(i, min(i + size, n)) for i in range(0, n, size)]
        self.observed = observed

    def complete(
        self, model: FactorGaussian, values: FloatArray, engine: ThreadEngine | None = None
    ) -> FloatArray:
        """Return the posterior means (n, d); observed cells keep their values."""
        out = np.empty_like(values)

        def of_block(rows: slice) -> tuple[int]:
            observed = self.observed[rows]
            residual = np.where(observed, values[rows] - model.mean, 0)
            factors = _factors(model, residual, observed)[1]
            out[rows] = np.where(observed, values[rows], model.mean + factors @ model.loadings.T)
            return (0,)

        add_up(of_block, self.blocks, engine)
        return out

    def completed(
        self,
        model: FactorGaussian,
        values: FloatArray,
        engine: ThreadEngine | None = None,
        residuals: None = None,
    ) -> FloatArray:
        """Do the same for prepared values."""
        return self.complete(model, values, engine)

    def work(self, values: FloatArray) -> None:
        """Return None: `expect` needs no memory worth reusing."""

    def prepared(self, values: FloatArray) -> FloatArray:
        """Return values (n, d) as `expect` needs them: 0 in the holes."""
        return np.where(self.observed, values, 0)

    def expect(
        self,
        model: FactorGaussian,
        values: FloatArray,
        engine: ThreadEngine | None = None,
        residuals: None = None,
    ) -> FactorExpectation:
        """Do the E step on values from `prepared`: n r^2 (2 d + r) multiplications."""

        def of_block(rows: slice) -> tuple[Any, ...]:
            return _block_sums(model, values[rows], self.observed[rows])

        return FactorExpectation(*add_up(of_block, self.blocks, engine))


def _factor_covariances(model: FactorGaussian, observed: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return C (n, r, r) and the log-determinants of its inverse (n,)."""
    r = model.loadings.shape[1]
    weights = observed / model.noise
    inner = (weights @ _outer(model.loadings)).reshape(-1, r, r) + np.eye(r)
    return np.linalg.inv(inner), 2 * log_diagonals(np.linalg.cholesky(inner)).sum(axis=1)


def _factors(
    model: FactorGaussian, residual: FloatArray, observed: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return C (n, r, r), the factor means (n, r) and the log-determinants of the inverse of C (n,)."""
    covariances, log_determinants = _factor_covariances(model, observed)
    projected = (residual / model.noise) @ model.loadings
    return covariances, np.matmul(covariances, projected[:, :, None])[:, :, 0], log_determinants


def _block_sums(model: FactorGaussian, values: FloatArray, observed: BoolArray) -> tuple[Any, ...]:
    """Return the deviance of a block and the products for its column regressions on (z, 1)."""
    n, r = len(values), model.loadings.shape[1]
    weights = observed.astype(np.float64)
    residual = values - model.mean * weights
    covariances, factors, log_determinants = _factors(model, residual, observed)
    scaled = residual / model.noise
    explained = np.einsum("nr,nr->", scaled @ model.loadings, factors)
    deviance = float(log_determinants.sum() + (weights @ np.log(model.noise)).sum())
    deviance += float(np.vdot(scaled, residual) - explained)
    extended = np.concatenate([factors, np.ones((n, 1))], axis=1)
    second = extended[:, :, None] * extended[:, None, :]
    second[:, :r, :r] += covariances
    products = weights.T @ second.reshape(n, -1)
    return deviance, products, values.T @ extended, (values**2).sum(axis=0), weights.sum(axis=0)


def _outer(loadings: FloatArray) -> FloatArray:
    """Return the products of all pairs of loadings of each column, (d, r^2)."""
    d, r = loadings.shape
    return (loadings[:, :, None] * loadings[:, None, :]).reshape(d, r * r)


def factor_start(values: FloatArray, observed: BoolArray, n_factors: int) -> FactorGaussian:
    """Return an initial estimate from the singular vectors of the table with zeros in its holes, O(n d r).

    ``values`` are centred and scaled. Singular values are corrected for the fraction of observed cells.
    """
    n, d = values.shape
    share = float(observed.mean())
    _, singular, right = randomized_svd(values, n_factors, random_state=0)
    loadings = np.zeros((d, n_factors))
    loadings[:, : len(singular)] = right.T * singular / (np.sqrt(n) * share)
    length = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    loadings *= np.minimum(1, 0.95 / np.maximum(length, np.finfo(np.float64).tiny))
    return FactorGaussian(np.zeros(d), loadings, 1 - (loadings**2).sum(axis=1))
