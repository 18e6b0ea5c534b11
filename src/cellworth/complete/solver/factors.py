"""Tables as a product of two factors: what the low-rank methods share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]
Watch = Callable[[int, float, float], bool]  # iteration, objective, relative change -> stop now?


@dataclass
class Factors:
    """A low-rank table ``left @ right`` and how it was found.

    Attributes
    ----------
    left, right : (n, r) and (r, d) arrays
    objective : list of float
        After each iteration at the final settings; never rises.
    n_iter : int
        All iterations, those at earlier settings included.
    converged, stopped : bool
        ``stopped``: the watcher ended the work.
    """

    left: Array
    right: Array
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False


def never_stop(iteration: int, objective: float, stationarity: float) -> bool:
    """Watch nothing: the default of every solver."""
    return False


def residual(values: Array, observed: Mask, left: Array, right: Array) -> Array:
    """Return R_Omega(values - left @ right), (n, d)."""
    out = left @ right
    np.subtract(values, out, out=out)
    out *= observed
    return out


def sum_of_squares(A: Array) -> float:
    """Return the squared Frobenius norm; rows are added in float64, whatever the precision of A."""
    return float(np.einsum("ij,ij->i", A, A).sum(dtype=np.float64))


def norm_or_one(A: Array) -> float:
    """Return the Frobenius norm of A, or 1 for a table of zeros: what relative figures are relative to."""
    return float(np.sqrt(sum_of_squares(A))) or 1.0


def determined_rank(shape: tuple[int, int], cells: int) -> int:
    """Return the largest rank r, from 1 on, with no more free numbers than cells: r (n + d - r) <= cells."""
    n, d = shape
    half = (n + d) / 2
    return int(np.clip(half - np.sqrt(max(0.0, half * half - cells)), 1, min(n, d)))


def leading_directions(A: Array, rank: int) -> tuple[Array, Array]:
    """Return the largest ``rank`` singular values of A (n, d), descending, and their right vectors (d, rank).

    From the smaller Gram matrix, O(n d min(n, d)); the vectors are orthonormal even where values are 0.
    """
    wide = A.shape[0] < A.shape[1]
    gram = (A @ A.T if wide else A.T @ A).astype(np.float64, copy=False)
    m = len(gram)
    squares, vectors = eigh(gram, subset_by_index=[m - rank, m - 1], check_finite=False)
    singular_values = np.sqrt(np.maximum(squares[::-1], 0))
    vectors = vectors[:, ::-1].astype(A.dtype)
    if wide:
        vectors, _ = np.linalg.qr(A.T @ vectors)
    return singular_values, vectors


def principal_factors(left: Array, right: Array) -> tuple[Array, Array, Array]:
    """Return the thin singular value decomposition (U, s, Vt) of ``left @ right``, without its zeros.

    O((n + d) r^2): neither the product nor a Gram matrix is formed.
    """
    Q, core = np.linalg.qr(left)
    P, lower = np.linalg.qr(right.T)
    u, s, vt = np.linalg.svd(core @ lower.T)
    smallest = s[:1].sum() * np.finfo(s.dtype).eps * max(len(left), right.shape[1])
    rank = int(np.count_nonzero(s > smallest))
    return Q @ u[:, :rank], s[:rank], vt[:rank] @ P.T


def balance(left: Array, right: Array) -> tuple[Array, Array]:
    """Return factors of the same product that both have the square roots of its singular values."""
    U, s, Vt = principal_factors(left, right)
    root = np.sqrt(s)
    return U * root, root[:, None] * Vt
