r"""When completion works: coherence, and the bound of Theorem 1 of Huang et al. (KDD 2018).

The bound says how the mean squared error falls with the number of observed cells. It holds up to a
constant that the theory does not give, so use it for comparisons: twice the cells, half the rank, another
table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cellworth.errors import DataError, ParameterError

__all__ = ["coherence", "theorem_1_bound"]


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
    M = np.asarray(M, dtype=np.float64)
    if M.ndim != 2 or not M.size:
        raise DataError(f"M must be a matrix with at least one cell; got shape {M.shape}")
    if not np.isfinite(M).all():
        raise DataError("M must be finite and without holes; complete it first")
    U, sigma, Vt = np.linalg.svd(M, full_matrices=False)
    numerical = int(np.count_nonzero(sigma > max(M.shape) * np.finfo(float).eps * sigma[0]))
    r = numerical if rank is None else rank
    if not 0 <= r <= len(sigma):
        raise ParameterError(f"rank must be from 0 to {len(sigma)}; got {rank}")
    rows, columns = (np.linalg.norm(A, axis=1).max(initial=0.0) for A in (U[:, :r], Vt[:r].T))
    return float(min(1.0, max(rows, columns)))


def theorem_1_bound(
    n: int,
    d: int,
    n_observed: float,
    *,
    rank: int,
    beta: float,
    coherence: float,
    constant: float = 1.0,
) -> float:
    r"""Return the bound of Theorem 1 on the mean squared error of the completed table.

    .. math:: \frac{1}{nd}\|\hat X^* - X\|_F^2 \le 2\,C_0\,\mu^2\beta\sqrt{\frac{r(n+d)}{|\Omega|}}
              \sqrt{1 + \frac{(n+d)\log(n+d)}{|\Omega|}}

    It holds with probability at least :math:`1 - C/(n+d)` if cells are observed independently at random,
    labels are an exact function of the rows, and :math:`\|X\|_{tr}^2 \le \beta\sqrt{r n d}`.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    n_observed : float
        :math:`|\Omega|`, the number of observed cells; greater than 0 and at most n d.
    rank : int
        r in the trace norm bound; from 1 to min(n, d).
    beta : float
        :math:`\beta`, the size of the table's trace norm; positive.
    coherence : float
        :math:`\mu`, the largest coherence of the tables that fit the labels; in (0, 1].
    constant : float
        :math:`C_0`, which the theory does not give; the bound is meaningful only up to this factor.

    Returns
    -------
    float
        In the squared units of the table.

    Examples
    --------
    Four times as many cells more than halve the bound:

    >>> settings = dict(rank=5, beta=1.0, coherence=0.5)
    >>> few, many = (theorem_1_bound(2000, 20, m, **settings) for m in (8000, 32000))
    >>> many < few / 2
    True
    """
    _check(n >= 1 and d >= 1, f"n and d must be at least 1; got {n} and {d}")
    _check(0 < n_observed <= n * d, f"n_observed must be above 0 and at most n d = {n * d}; got {n_observed}")
    _check(1 <= rank <= min(n, d), f"rank must be from 1 to min(n, d) = {min(n, d)}; got {rank}")
    _check(beta > 0, f"beta must be positive; got {beta}")
    _check(0 < coherence <= 1, f"coherence must be above 0 and at most 1; got {coherence}")
    _check(constant > 0, f"constant must be positive; got {constant}")
    size = n + d
    sampling = np.sqrt(rank * size / n_observed)
    small_sample = np.sqrt(1 + size * np.log(size) / n_observed)
    return float(2 * constant * coherence**2 * beta * sampling * small_sample)


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise ParameterError(message)
