r"""A joint Gaussian with a full covariance, and its EM step on the observed cells.

The penalised log-likelihood of n rows, with the inverse-Wishart penalty of strength :math:`\kappa` towards
the identity (the columns are scaled to variance 1), is

.. math:: \sum_i \log N(x_{i,o_i};\ \mu_{o_i}, \Sigma_{o_i o_i})
          - \frac{\kappa}{2}\bigl(\log|\Sigma| + \operatorname{tr}\Sigma^{-1}\bigr).

Either side of a row can be solved: with :math:`\Lambda = \Sigma^{-1}` and residuals r, 0 in the holes,

.. math:: \text{holes m:}\quad \hat r_m = -\Lambda_{mm}^{-1}(\Lambda r)_m,\ C_{mm} = \Lambda_{mm}^{-1};
          \qquad \text{observed o:}\quad \hat r = \Sigma u,\ u_o = \Sigma_{oo}^{-1} r_o,\
          C = \Sigma - \Sigma P_o \Sigma_{oo}^{-1} P_o^\top \Sigma.

The M step, with the mean :math:`m` of the completed residuals, is :math:`\mu + m` and
:math:`\bigl(\sum_i (\hat r_i \hat r_i^\top + C_i) - n\,m m^\top + \kappa I\bigr)/(n + \kappa)`.
The side with fewer cells in the whole table is taken.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray, IntArray
from cellworth.complete.gaussian.patterns import Patterns
from cellworth.complete.gaussian.sums import add_up
from cellworth.complete.gaussian.systems import Block, Systems, inverse_diagonals, remaining_diagonals

Array = NDArray[np.floating]


@dataclass(frozen=True)
class DenseGaussian:
    """A Gaussian of d columns.

    Attributes
    ----------
    mean : (d,) array
    covariance : (d, d) array
        Positive definite.
    """

    mean: Array
    covariance: Array

    def to_vector(self) -> Array:
        """Return unconstrained parameters: mean, Cholesky factor below the diagonal, log of its diagonal."""
        L = np.linalg.cholesky(self.covariance)
        return np.concatenate([self.mean, L[np.tril_indices(len(L), -1)], np.log(np.diag(L))])

    def from_vector(self, vector: Array) -> Self:
        """Return the Gaussian with these parameters, see `to_vector`."""
        d = len(self.mean)
        L = np.diag(np.exp(vector[-d:]))
        L[np.tril_indices(d, -1)] = vector[d:-d]
        return replace(self, mean=vector[:d], covariance=L @ L.T)

    def on_columns(self, columns: slice) -> Self:
        """Return the Gaussian of some of the columns."""
        return replace(self, mean=self.mean[columns], covariance=self.covariance[columns, columns])

    def with_noise(self, variances: Array) -> Self:
        """Return the Gaussian with independent noise of these variances (d,) on its columns."""
        return replace(self, covariance=self.covariance + np.diag(variances))

    def rescaled(self, factor: Array, shift: Array) -> Self:
        """Return the Gaussian of factor * x + shift, column by column."""
        covariance = self.covariance * np.outer(factor, factor)
        return replace(self, mean=self.mean * factor + shift, covariance=covariance)

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """Return n independent rows, (n, d)."""
        normal = rng.standard_normal((n, len(self.mean)))
        return self.mean + normal @ np.linalg.cholesky(self.covariance).T

    def precision_times(self, residual: Array) -> Array:
        """Return residual Sigma^-1, (n, d)."""
        return residual @ np.linalg.inv(self.covariance)

    def layout(self, observed: BoolArray) -> DenseLayout:
        """Return the layout of the E step for a table with these observed cells (n, d)."""
        return DenseLayout(observed)

    def log_determinant(self) -> float:
        """Return log |Sigma|."""
        return 2 * float(np.log(np.diag(np.linalg.cholesky(self.covariance))).sum())

    def improved(self, expected: Expected, shrinkage: float) -> tuple[float, float, DenseGaussian]:
        """Return the penalised and the plain log-likelihood, and the next model: the M step, O(d^3)."""
        _, first, second, within, n_cells, n = expected
        plain = -0.5 * (expected.deviance + n_cells * np.log(2 * np.pi))
        spread = float(np.trace(np.linalg.inv(self.covariance)))
        penalised = plain - 0.5 * shrinkage * (self.log_determinant() + spread)
        shift = first / n
        scatter = second - n * np.outer(shift, shift) + within + shrinkage * np.eye(len(shift))
        covariance = (scatter + scatter.T) / (2 * (n + shrinkage))
        return penalised, plain, DenseGaussian(self.mean + shift, covariance)

    def hole_variances(self, observed: BoolArray) -> Array:
        """Return the variance of each hole given the observed cells of its row, (n, d); 0 where observed.

        O(P (k^3 + k^2 d)) for P distinct patterns; k is the smaller side of each.
        """
        patterns = Patterns.of(observed)
        holes = ~patterns.masks
        few = 2 * holes.sum(axis=1) <= holes.shape[1]
        variance = np.zeros(holes.shape)
        variance[few] = inverse_diagonals(np.linalg.inv(self.covariance), holes[few])
        variance[~few] = remaining_diagonals(self.covariance, ~holes[~few])
        return variance[patterns.of_row]

    def left_out_variances(self, observed: BoolArray) -> Array:
        r"""Return the variance of each observed cell given the OTHERS of its row, (n, d); 0 in the holes.

        :math:`1/(\Sigma_{oo}^{-1})_{jj}`; the cost is that of `hole_variances`.
        """
        patterns = Patterns.of(observed)
        few = 2 * patterns.masks.sum(axis=1) <= patterns.masks.shape[1]
        precision = np.zeros(patterns.masks.shape)
        precision[few] = inverse_diagonals(self.covariance, patterns.masks[few])
        # The precision of the observed cells is what remains of the whole one when the holes are taken out.
        precision[~few] = remaining_diagonals(np.linalg.inv(self.covariance), ~patterns.masks[~few])
        variance = np.divide(1, precision, where=patterns.masks, out=np.zeros_like(precision))
        return variance[patterns.of_row]


class Sums(NamedTuple):
    """What the E step of one layout adds up over its blocks of rows."""

    inverses: Array  # (c, c): padded inverses of the systems
    log_determinant: float
    quadratic: float  # r' Sigma_oo^-1 r, on the observed side only
    first: Array  # (d,): completed residuals
    second: Array  # (d, d): products of completed residuals


class Expected(NamedTuple):
    """What the M step needs of an E step; additive over rows, whichever side each was solved by."""

    deviance: float  # -2 times the log-likelihood of the observed cells, without its constant
    first: Array  # (d,): sum of the completed residuals
    second: Array  # (d, d): of their products
    within: Array  # (d, d): of the covariances that remain
    n_cells: float  # observed
    n_rows: int


class DenseLayout:
    """The E step of a `DenseGaussian` for one pattern of observed cells, laid out once."""

    def __init__(self, observed: BoolArray) -> None:
        self._by_holes = bool(2 * observed.sum() >= observed.size)
        self._systems = Systems(~observed if self._by_holes else observed)
        # Columns stand as the systems eliminate them, so that blocks are sliced and never gathered.
        used = self._systems.columns
        rest = np.setdiff1d(np.arange(observed.shape[1]), used)
        self._columns: IntArray = np.concatenate([used, rest])
        self._places: IntArray = np.argsort(self._columns)
        self._observed = self.prepared(observed)

    def prepared(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return a table (n, d), rows and columns in the order of the systems, as `expect` takes it."""
        return np.ascontiguousarray(table[np.ix_(self._systems.order, self._columns)])

    def complete(self, model: DenseGaussian, values: Array, pool: ThreadPoolExecutor | None = None) -> Array:
        """Return the posterior means (n, d); observed cells keep their values.

        ``values`` is finite and of any value in the holes. O(n d^2) plus the systems.
        """
        values = self.prepared(values)
        residuals = np.empty_like(values)
        self._run(model, values, pool, residuals, with_inverses=False)
        return self._restored(model, values, residuals)

    def _restored(self, model: DenseGaussian, values: Array, residuals: Array) -> Array:
        """Return the completed table in its own order from sorted values and completed residuals."""
        completed = np.empty_like(values)
        completed[self._systems.order] = np.where(
            self._observed, values, residuals + model.mean[self._columns]
        )[:, self._places]
        return completed

    def em(self, values: Array, shrinkage: float, pool: ThreadPoolExecutor | None) -> DenseEM:
        """Return the EM iteration on these values (n, d)."""
        return DenseEM(self, self.prepared(values), shrinkage, pool)

    def _run(
        self,
        model: DenseGaussian,
        values: Array,
        pool: ThreadPoolExecutor | None,
        residuals: Array,
        *,
        with_inverses: bool,
    ) -> Sums:
        """Do the E step on sorted values; the completed ones less the mean, sorted, go into ``residuals``."""
        mean, covariance = model.mean[self._columns], model.covariance[np.ix_(self._columns, self._columns)]
        precision = np.linalg.inv(covariance)

        def of_block(block: Block) -> Sums:
            residual = residuals[block.rows]
            np.multiply(values[block.rows] - mean, self._observed[block.rows], out=residual)
            return self._e_step(covariance, precision, residual, block, with_inverses)

        inverses, log_determinant, quadratic, first, second = add_up(of_block, self._systems.blocks, pool)
        at = np.ix_(self._places, self._places)
        return Sums(inverses, log_determinant, quadratic, first[self._places], second[at])

    def _e_step(
        self, covariance: Array, precision: Array, residual: Array, block: Block, with_inverses: bool
    ) -> Sums:
        """Complete the residuals of a block in place; 0 in the holes on entry."""
        c = len(self._systems.columns)
        A = (precision if self._by_holes else covariance)[:c, :c]
        # Column after column, as the solvers work.
        rhs: Array = (-precision[:c] @ residual.T).T if self._by_holes else residual[:, :c]
        inverses, log_determinant, solution = block.solver.solve(A, rhs, with_inverses=with_inverses)
        quadratic = 0.0
        if self._by_holes:  # the sums of `step` hold the quadratic form
            residual[:, :c] += solution
        else:
            quadratic = float(np.vdot(solution, rhs))
            np.copyto(residual, solution @ covariance[:c], where=~self._observed[block.rows])
        return Sums(inverses, log_determinant, quadratic, residual.sum(axis=0), residual.T @ residual)

    def expect(
        self,
        model: DenseGaussian,
        values: Array,
        pool: ThreadPoolExecutor | None = None,
        residuals: Array | None = None,
    ) -> Expected:
        """Do the E step on prepared values; completed residuals, sorted like them, go into ``residuals``."""
        n, d = values.shape
        residuals = np.empty_like(values) if residuals is None else residuals
        sums = self._run(model, values, pool, residuals, with_inverses=True)
        precision = np.linalg.inv(model.covariance)
        within = np.zeros((d, d))
        at = np.ix_(self._systems.columns, self._systems.columns)
        if self._by_holes:
            within[at] = sums.inverses
            deviance = n * model.log_determinant() + sums.log_determinant
            deviance += float(np.vdot(precision, sums.second))
        else:
            within[at] = -sums.inverses
            within = n * model.covariance + model.covariance @ within @ model.covariance
            deviance = sums.log_determinant + sums.quadratic
        return Expected(deviance, sums.first, sums.second, within, float(self._observed.sum()), n)


@dataclass
class DenseEM:
    """EM on given values: what `cellworth.complete.gaussian.climb.climb` asks for."""

    layout: DenseLayout
    values: Array  # (n, d), sorted
    shrinkage: float
    pool: ThreadPoolExecutor | None

    def __post_init__(self) -> None:
        self._residuals = np.empty_like(self.values)
        self._stepped: DenseGaussian | None = None  # the model that the residuals are completed by

    def step(self, model: DenseGaussian) -> tuple[float, float, DenseGaussian]:
        """Return the penalised and the plain log-likelihood of the model, and the next model."""
        self._stepped = None
        expected = self.layout.expect(model, self.values, self.pool, self._residuals)
        self._stepped = model
        return model.improved(expected, self.shrinkage)

    def completed(self, model: DenseGaussian) -> Array:
        """Return the posterior means (n, d) in the table's order: at hand for the model of the last step."""
        if model is not self._stepped:
            self.step(model)
        return self.layout._restored(model, self.values, self._residuals)
