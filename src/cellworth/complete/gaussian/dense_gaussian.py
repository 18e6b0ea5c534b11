r"""A joint Gaussian with a full covariance, and its EM step on the observed cells.

The penalised log-likelihood of n rows, with an inverse-Wishart penalty of strength :math:`\kappa` towards
the identity (the columns are scaled to variance 1), is

.. math:: \sum_i \log N(x_{i,o_i};\ \mu_{o_i}, \Sigma_{o_i o_i})
          - \frac{\kappa}{2}\bigl(\log|\Sigma| + \operatorname{tr}\Sigma^{-1}\bigr).

A row can be solved from either side: with :math:`\Lambda = \Sigma^{-1}` and residuals r, 0 in the holes,

.. math:: \text{holes m:}\quad \hat r_m = -\Lambda_{mm}^{-1}(\Lambda r)_m,\ C_{mm} = \Lambda_{mm}^{-1};
          \qquad \text{observed o:}\quad \hat r = \Sigma u,\ u_o = \Sigma_{oo}^{-1} r_o,\
          C = \Sigma - \Sigma P_o \Sigma_{oo}^{-1} P_o^\top \Sigma.

The M step, with the mean :math:`m` of the completed residuals, is :math:`\mu + m` and
:math:`\bigl(\sum_i (\hat r_i \hat r_i^\top + C_i) - n\,m m^\top + \kappa I\bigr)/(n + \kappa)`.
The side with fewer cells in the whole table is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg.lapack import dpotri

from cellworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from cellworth.blocks.thread_engine import ThreadEngine, add_up
from cellworth.cached_property import cached_property
from cellworth.complete.gaussian.pattern_systems import (
    BlockSystems,
    Patterns,
    Systems,
    inverse_diagonals,
    log_diagonals,
    remaining_diagonals,
)

SMALLEST_EIGENVALUE = 1e-3  # of the initial estimate


@dataclass(frozen=True)
class DenseGaussian:
    """A Gaussian over d columns.

    Attributes
    ----------
    mean : (d,) array
    covariance : (d, d) array
        Positive definite.
    """

    mean: FloatArray
    covariance: FloatArray

    @cached_property
    def factor(self) -> FloatArray:
        """The Cholesky factor of the covariance, (d, d), 0 above the diagonal.

        Raises LinAlgError if the covariance is not positive definite.
        """
        return np.linalg.cholesky(self.covariance)

    @cached_property
    def precision(self) -> FloatArray:
        """The inverse of the covariance, (d, d), from its factor; an EM step needs it three times."""
        upper, failed = dpotri(self.factor.T, lower=0)  # LAPACK's columns are our rows
        if failed:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        inverse: FloatArray = np.add(upper.T, upper, order="C")
        inverse.ravel()[:: len(inverse) + 1] /= 2
        return inverse

    def to_vector(self) -> FloatArray:
        """Return unconstrained parameters: mean, Cholesky factor below the diagonal, log of its diagonal."""
        L = self.factor
        return np.concatenate([self.mean, L.ravel()[_below_diagonal(len(L))], log_diagonals(L)])

    def from_vector(self, vector: FloatArray) -> Self:
        """Return the Gaussian with these parameters; see `to_vector`."""
        d = len(self.mean)
        L = np.zeros((d, d))
        L.ravel()[:: d + 1] = np.exp(vector[-d:])
        L.ravel()[_below_diagonal(d)] = vector[d:-d]
        made = replace(self, mean=vector[:d], covariance=L @ L.T)
        made.__dict__["factor"] = L  # the cached property
        return made

    def on_columns(self, columns: slice) -> Self:
        """Return the Gaussian of some of the columns."""
        return replace(self, mean=self.mean[columns], covariance=self.covariance[columns, columns])

    def with_noise(self, variances: FloatArray) -> Self:
        """Return the Gaussian with independent noise of these variances (d,) on its columns."""
        return replace(self, covariance=self.covariance + np.diag(variances))

    def rescaled(self, factor: FloatArray, shift: FloatArray) -> Self:
        """Return the Gaussian of factor * x + shift, column by column."""
        covariance = self.covariance * np.outer(factor, factor)
        return replace(self, mean=self.mean * factor + shift, covariance=covariance)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return n independent rows, (n, d)."""
        normal = rng.standard_normal((n, len(self.mean)))
        return self.mean + normal @ self.factor.T

    def precision_times(self, residual: FloatArray) -> FloatArray:
        """Return residual Sigma^-1, (n, d)."""
        return residual @ self.precision

    def layout(self, observed: BoolArray) -> DenseLayout:
        """Return the layout of the E step for a table with these observed cells (n, d)."""
        return DenseLayout(observed)

    def log_determinant(self) -> float:
        """Return log |Sigma|."""
        return 2 * float(log_diagonals(self.factor).sum())

    def improved(self, expected: DenseExpectation, shrinkage: float) -> tuple[float, float, DenseGaussian]:
        """Do the M step: return the penalised and the plain log-likelihood, and the next model, O(d^3)."""
        deviance, first, second, within, n_cells, n = expected
        plain = -0.5 * (deviance + n_cells * np.log(2 * np.pi))
        spread = float(np.trace(self.precision))
        penalised = plain - 0.5 * shrinkage * (self.log_determinant() + spread)
        shift = first / n
        scatter = second - n * np.outer(shift, shift) + within
        scatter.ravel()[:: len(shift) + 1] += shrinkage
        covariance = (scatter + scatter.T) / (2 * (n + shrinkage))
        return penalised, plain, DenseGaussian(self.mean + shift, covariance)

    def hole_variances(self, observed: BoolArray) -> FloatArray:
        """Return the variance of each hole given the observed cells of its row, (n, d); 0 if observed.

        O(P (k^3 + k^2 d)) for P distinct patterns; k is the cheaper side of each.
        """
        patterns = Patterns.of(observed)
        holes = ~patterns.masks
        few = _is_cheaper_inverted(holes)
        variance = np.zeros(holes.shape)
        variance[few] = inverse_diagonals(self.precision, holes[few])
        variance[~few] = remaining_diagonals(self.covariance, ~holes[~few])
        return variance[patterns.of_row]

    def left_out_variances(self, observed: BoolArray) -> FloatArray:
        r"""Return the variance of each observed cell given the OTHERS of its row, (n, d); 0 in the holes.

        :math:`1/(\Sigma_{oo}^{-1})_{jj}`; costs the same as `hole_variances`.
        """
        patterns = Patterns.of(observed)
        few = _is_cheaper_inverted(patterns.masks)
        precision = np.zeros(patterns.masks.shape)
        precision[few] = inverse_diagonals(self.covariance, patterns.masks[few])
        # The precision of the observed cells is the Schur complement of the holes in the full precision.
        precision[~few] = remaining_diagonals(self.precision, ~patterns.masks[~few])
        variance = np.divide(1, precision, where=patterns.masks, out=np.zeros_like(precision))
        return variance[patterns.of_row]


@cache
def _below_diagonal(d: int) -> IntArray:
    """Return where the numbers below the diagonal are in a raveled matrix (d, d), row by row."""
    where = np.flatnonzero(np.tri(d, k=-1, dtype=bool))
    where.flags.writeable = False  # one array for all callers
    return where


def _is_cheaper_inverted(active: BoolArray) -> BoolArray:
    """Return for which patterns (P, d) to invert the matrix of the active columns, rather than of the others.

    For k active columns the former costs k^3 / 3 products, for a Cholesky factor and its inverse. The latter,
    for m = d - k others, costs m^3 / 6 for a factor, and m^2 k / 2 for what remains of the diagonal.
    """
    d = active.shape[1]
    k = active.sum(axis=1).astype(np.float64)
    m = d - k
    return 2 * k**3 <= m**2 * (m + 3 * k)


class Sums(NamedTuple):
    """The sums of one layout's E step over its row blocks."""

    inverses: FloatArray  # (c, c): padded inverses of the systems
    log_determinant: float
    quadratic: float  # r' Sigma_oo^-1 r, only when solved from the observed side
    first: FloatArray  # (d,): completed residuals
    second: FloatArray  # (d, d): products of completed residuals


class DenseExpectation(NamedTuple):
    """What the M step needs from an E step; additive over rows, whichever side each was solved from."""

    deviance: float  # -2 times the log-likelihood of the observed cells, up to a constant
    first: FloatArray  # (d,): sum of the completed residuals
    second: FloatArray  # (d, d): sum of their products
    within: FloatArray  # (d, d): sum of the posterior covariances
    n_cells: float  # number of observed cells
    n_rows: int


class DenseLayout:
    """The E step of a `DenseGaussian` for one pattern of observed cells, laid out once."""

    def __init__(self, observed: BoolArray) -> None:
        self._by_holes = bool(2 * observed.sum() >= observed.size)
        self._systems = Systems(~observed if self._by_holes else observed)
        # Columns with holes (or with known cells) come first, so that they are a slice and never gathered.
        used = self._systems.columns
        rest = np.setdiff1d(np.arange(observed.shape[1]), used)
        self._columns: IntArray = np.concatenate([used, rest])
        self._back: IntArray = np.argsort(self._columns)
        self._as_given = not len(rest)  # then the columns are in their own order
        self._observed = self.prepared(observed)

    def prepared(self, table: AnyArray) -> AnyArray:
        """Return a table (n, d) with rows and columns in the order of the systems, as `expect` needs it."""
        return np.ascontiguousarray(table[np.ix_(self._systems.order, self._columns)])

    def work(self, values: FloatArray) -> FloatArray:
        """Return memory for the residuals of `expect`, to reuse over many steps on the same values."""
        return np.empty_like(values)

    def complete(
        self, model: DenseGaussian, values: FloatArray, engine: ThreadEngine | None = None
    ) -> FloatArray:
        """Return the posterior means (n, d); observed cells keep their values.

        ``values`` may hold any finite value in the holes. O(n d^2) plus the systems.
        """
        return self.completed(model, self.prepared(values), engine)

    def completed(
        self,
        model: DenseGaussian,
        values: FloatArray,
        engine: ThreadEngine | None = None,
        residuals: FloatArray | None = None,
    ) -> FloatArray:
        """Do the same for prepared values; the ``residuals`` of the model's E step save recomputing them."""
        if residuals is None:
            residuals = np.empty_like(values)
            self._run(model, values, engine, residuals, with_inverses=False)
        return self._restored(model, values, residuals)

    def _restored(self, model: DenseGaussian, values: FloatArray, residuals: FloatArray) -> FloatArray:
        """Return the completed table in its original order from sorted values and completed residuals."""
        completed = np.empty_like(values)
        completed[self._systems.order] = np.where(
            self._observed, values, residuals + model.mean[self._columns]
        )[:, self._back]
        return completed

    def _run(
        self,
        model: DenseGaussian,
        values: FloatArray,
        engine: ThreadEngine | None,
        residuals: FloatArray,
        *,
        with_inverses: bool,
    ) -> Sums:
        """Do the E step on sorted values; write completed values minus the mean, sorted, to ``residuals``."""
        mean, A = model.mean, model.precision if self._by_holes else model.covariance
        if not self._as_given:
            mean, A = mean[self._columns], A[np.ix_(self._columns, self._columns)]

        def of_block(block: BlockSystems) -> Sums:
            residual = residuals[block.rows]
            np.multiply(values[block.rows] - mean, self._observed[block.rows], out=residual)
            return self._e_step(A, residual, block, with_inverses)

        sums = Sums._make(add_up(of_block, self._systems.blocks, engine))
        if self._as_given:
            return sums
        second = sums.second[np.ix_(self._back, self._back)]
        return sums._replace(first=sums.first[self._back], second=second)

    def _e_step(
        self,
        A: FloatArray,
        residual: FloatArray,
        block: BlockSystems,
        with_inverses: bool,
    ) -> Sums:
        """Complete the residuals of a block in place; 0 in the holes on entry.

        ``A`` (d, d) is the precision, or the covariance if solved from the observed side.
        """
        c = len(self._systems.columns)
        rhs: FloatArray = residual @ A[:, :c] if self._by_holes else residual[:, :c]
        inverses, log_determinant, solution = block.solver.solve(A[:c, :c], rhs, with_inverses=with_inverses)
        quadratic = 0.0
        if self._by_holes:  # `expect` gets the quadratic form from its sums
            residual[:, :c] -= solution
        else:
            quadratic = float(np.vdot(solution, rhs))
            np.copyto(residual, solution @ A[:c], where=~self._observed[block.rows])
        return Sums(inverses, log_determinant, quadratic, residual.sum(axis=0), residual.T @ residual)

    def expect(
        self,
        model: DenseGaussian,
        values: FloatArray,
        engine: ThreadEngine | None = None,
        residuals: FloatArray | None = None,
    ) -> DenseExpectation:
        """Do the E step on prepared values; write completed residuals, in that order, to ``residuals``."""
        n, d = values.shape
        residuals = np.empty_like(values) if residuals is None else residuals
        sums = self._run(model, values, engine, residuals, with_inverses=True)
        within = np.zeros((d, d))
        at = np.ix_(self._systems.columns, self._systems.columns)
        if self._by_holes:
            within[at] = sums.inverses
            deviance = n * model.log_determinant() + sums.log_determinant
            deviance += float(np.vdot(model.precision, sums.second))
        else:
            within[at] = -sums.inverses
            within = n * model.covariance + model.covariance @ within @ model.covariance
            deviance = sums.log_determinant + sums.quadratic
        return DenseExpectation(deviance, sums.first, sums.second, within, float(self._observed.sum()), n)


def pairwise_start(values: FloatArray, observed: BoolArray, shrinkage: float) -> DenseGaussian:
    """Return an initial estimate from centred and scaled values (n, d), 0 in the holes; O(n d^2 + d^3)."""
    return start_from_pairs(*pair_sums(values, observed), shrinkage)


def pair_sums(values: FloatArray, observed: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return, for all pairs of columns (d, d), the count of rows with both observed, and product sums."""
    weights = observed.astype(np.float64)
    return weights.T @ weights, values.T @ values


def start_from_pairs(pairs: FloatArray, products: FloatArray, shrinkage: float) -> DenseGaussian:
    """Return an initial estimate from the `pair_sums` of centred and scaled values, 0 in the holes; O(d^3).

    Correlations estimated from few pairs are shrunk towards 0, and eigenvalues are kept away from 0.
    """
    covariance = products / (pairs + shrinkage)
    np.fill_diagonal(covariance, 1.0)
    eigenvalues, basis = np.linalg.eigh(covariance)
    covariance = (basis * np.maximum(eigenvalues, SMALLEST_EIGENVALUE)) @ basis.T
    return DenseGaussian(np.zeros(len(covariance)), covariance)
