r"""When completion works: coherence, and the bound of Theorem 1 of Huang et al. (KDD 2018).

The bound says how the mean squared error falls with the number of observed cells. It holds up to a
constant that the theory does not give, so use it for comparisons: twice the cells, half the rank, another
table.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cellworth.arrays import Float64Array
from cellworth.errors import DataError, ParameterError

__all__ = ["CompletionBound"]


@dataclass(frozen=True)
class CompletionBound:
    r"""The bound of Theorem 1 on the mean squared error of a completed table.

    .. math:: \frac{1}{nd}\|\hat X^* - X\|_F^2 \le 2\,C_0\,\mu^2\beta\sqrt{\frac{r(n+d)}{|\Omega|}}
              \sqrt{1 + \frac{(n+d)\log(n+d)}{|\Omega|}}

    It holds with probability at least :math:`1 - C/(n+d)` if cells are observed independently at random,
    labels are an exact function of the rows, and :math:`\|X\|_{tr}^2 \le \beta\sqrt{r n d}`.

    Attributes
    ----------
    n, d : int
        Rows and columns.
    rank : int
        r in the trace norm bound; from 1 to min(n, d).
    beta : float
        :math:`\beta`, the size of the table's trace norm, in squared units of the table; positive.
    coherence : float
        :math:`\mu`, the largest coherence of the tables that fit the labels; in (0, 1].

    Warnings
    --------
    At a fixed share of observed cells the bound of a real table grows with its rows. The trace norm of a
    table of given spread grows like the root of n, so :math:`\beta`, its square over the root of n, does,
    too, while the first root of the bound stays. So compare shares of one table by it, not tables of
    different lengths. The bound of a table is often above the table's own mean square, and then says nothing.

    Examples
    --------
    Four times as many cells more than halve the bound:

    >>> bound = CompletionBound(n=2000, d=20, rank=5, beta=1.0, coherence=0.5)
    >>> bound.mean_squared_error(32000) < bound.mean_squared_error(8000) / 2
    True

    Of a table without holes:

    >>> bound = CompletionBound.of([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> bound.rank, round(bound.beta, 2)
    (1, 28.58)
    """

    n: int
    d: int
    rank: int
    beta: float
    coherence: float

    def __post_init__(self) -> None:
        _check(self.n >= 1 and self.d >= 1, f"n and d must be at least 1; got {self.n} and {self.d}")
        most = min(self.n, self.d)
        _check(1 <= self.rank <= most, f"rank must be from 1 to min(n, d) = {most}; got {self.rank}")
        _check(self.beta > 0, f"beta must be positive; got {self.beta}")
        _check(0 < self.coherence <= 1, f"coherence must be above 0 and at most 1; got {self.coherence}")

    @classmethod
    def of(cls, M: ArrayLike, rank: int | None = None) -> CompletionBound:
        r"""Return the bound of a table M (n, d) without holes; O(n d min(n, d)).

        :math:`\beta` is the least one that the theorem allows, :math:`\|M\|_{tr}^2/\sqrt{r n d}`, with the
        trace norm of the whole table, and :math:`\mu` is the coherence of M itself, a lower limit of that of
        all tables that fit the labels.

        Parameters
        ----------
        rank : int, optional
            r, and the number of singular vectors whose coherence counts; by default the numerical rank. Pass
            it for a noisy table: otherwise all directions of noise count.

        Warns
        -----
        UserWarning
            If even with all cells observed the bound is above the mean square of M, for a constant of 1.
        """
        table = _checked(M)
        U, sigma, Vt = np.linalg.svd(table, full_matrices=False)
        r = _rank(table, sigma, rank)
        if r == 0:
            raise DataError("M is 0 everywhere, so there is nothing to bound; expected a value that is not 0")
        n, d = table.shape
        made = cls(n, d, r, float(sigma.sum() ** 2 / np.sqrt(r * n * d)), _coherence(U, Vt, r))
        mean_square = float(np.mean(table**2))
        least = made.mean_squared_error(n * d)
        if least > mean_square:
            warnings.warn(
                f"the bound of this table is at least {least:.3g}, above its mean square of "
                f"{mean_square:.3g}: only ratios of it mean anything, and only at this number of rows (it "
                "grows with them at a fixed share of observed cells)",
                UserWarning,
                stacklevel=2,
            )
        return made

    def mean_squared_error(self, n_observed: float, *, constant: float = 1.0) -> float:
        r"""Return the bound for a number of observed cells, in the squared units of the table.

        Parameters
        ----------
        n_observed : float
            :math:`|\Omega|`, greater than 0 and at most n d.
        constant : float
            :math:`C_0`, which the theory does not give; the bound is meaningful only up to this factor.
        """
        most = self.n * self.d
        _check(
            0 < n_observed <= most, f"n_observed must be above 0 and at most n d = {most}; got {n_observed}"
        )
        _check(constant > 0, f"constant must be positive; got {constant}")
        size = self.n + self.d
        sampling = np.sqrt(self.rank * size / n_observed)
        small_sample = np.sqrt(1 + size * np.log(size) / n_observed)
        return float(2 * constant * self.coherence**2 * self.beta * sampling * small_sample)


def coherence(M: ArrayLike, rank: int | None = None) -> float:
    r"""Return how unevenly the content of a matrix is spread over its rows and columns.

    For :math:`M = U\Sigma V^\top` of rank r it is the largest norm of a row of U or of V,
    :math:`\mu(M) = \max\{\max_i \|U_{i*}\|, \max_j \|V_{j*}\|\}`. It ranges from
    :math:`\sqrt{r/\min(n, d)}`, where all rows and columns matter equally, to 1, where one row or column
    carries a whole component by itself, so that no other cell says anything about it.

    Parameters
    ----------
    M : (n, d) array-like
        Without holes.
    rank : int, optional
        Number of singular vectors to use; by default, the numerical rank.

    Returns
    -------
    float
        Not normalised by the size of the matrix, as in the paper.

    Examples
    --------
    >>> coherence([[1.0, 1.0], [1.0, 1.0]])  # spread evenly
    0.7071067811865476
    >>> coherence([[1.0, 0.0], [0.0, 0.0]])  # all in one cell
    1.0
    """
    table = _checked(M)
    U, sigma, Vt = np.linalg.svd(table, full_matrices=False)
    return _coherence(U, Vt, _rank(table, sigma, rank))


def _coherence(U: Float64Array, Vt: Float64Array, rank: int) -> float:
    rows, columns = (np.linalg.norm(A, axis=1).max(initial=0.0) for A in (U[:, :rank], Vt[:rank].T))
    return float(min(1.0, max(rows, columns)))


def _checked(M: ArrayLike) -> Float64Array:
    table = np.asarray(M, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise DataError(f"M must be a matrix with at least one cell; got shape {table.shape}")
    if not np.isfinite(table).all():
        raise DataError("M must be finite and without holes; complete it first")
    return table


def _rank(table: Float64Array, sigma: Float64Array, rank: int | None) -> int:
    """Return the rank asked for, or the numerical one."""
    numerical = int(np.count_nonzero(sigma > max(table.shape) * np.finfo(float).eps * sigma[0]))
    r = numerical if rank is None else rank
    if not 0 <= r <= len(sigma):
        raise ParameterError(f"rank must be from 0 to {len(sigma)}; got {rank}")
    return r


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise ParameterError(message)
