r"""Tables as a product of two factors: shared by the low-rank methods.

The trace norm of a table is the smallest :math:`\frac12(\|A\|_F^2 + \|B\|_F^2)` over all
:math:`AB = \hat X`, reached by the balanced factors :math:`A = U\Sigma^{1/2}, B = \Sigma^{1/2}V^\top`. With
B fixed, the rows separate: each is a ridge regression of its observed cells on the columns of B. So a new row
is completed exactly as an unlabelled row of the fit with the same B would be.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.compiled.library import address, kernels
from cellworth.complete.solver.singular_value_thresholding import spectrum

Watch = Callable[[int, float, float], bool]  # iteration, objective, relative change -> stop now?

SYSTEM_BYTES = 1 << 24  # of stacked linear systems solved in one call
COMPILED_RANK = 48  # from here on, LAPACK solves one system faster than the kernel eight at once


@dataclass
class Factors:
    """A low-rank table ``left @ right`` and how it was found.

    Attributes
    ----------
    left, right : (n, r) and (r, d) arrays
    objective : list of float
        Objective after each iteration at the final settings; never increases.
    n_iter : int
        All iterations, including those at earlier settings.
    converged, stopped : bool
        ``stopped``: the watcher ended the fit.
    """

    left: FloatArray
    right: FloatArray
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False


def never_stop(iteration: int, objective: float, stationarity: float) -> bool:
    """Never stop early: the default watcher of every solver."""
    return False


def residual(values: FloatArray, observed: BoolArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return R_Omega(values - left @ right), (n, d)."""
    out = left @ right
    np.subtract(values, out, out=out)
    out *= observed
    return out


def sum_of_squares(A: FloatArray) -> float:
    """Return the squared Frobenius norm; rows are summed in float64, whatever the precision of A."""
    if A.dtype == np.float64:
        return float(np.vdot(A, A))
    return float(np.einsum("ij,ij->i", A, A).sum(dtype=np.float64))


def norm_or_one(A: FloatArray) -> float:
    """Return the Frobenius norm of A, or 1 for a table of zeros: the unit of relative quantities."""
    return float(np.sqrt(sum_of_squares(A))) or 1.0


def determined_rank(shape: tuple[int, int], cells: int) -> int:
    """Return the largest rank r >= 1 with no more free parameters than cells: r (n + d - r) <= cells."""
    n, d = shape
    half = (n + d) / 2
    return int(np.clip(half - np.sqrt(max(0.0, half * half - cells)), 1, min(n, d)))


def leading_directions(A: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest ``rank`` singular values of A (n, d), descending, and their right vectors (d, rank).

    From the smaller Gram matrix, O(n d min(n, d)); the vectors are orthonormal even if values are 0.
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


def principal_factors(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the thin SVD (U, s, Vt) of ``left @ right``, without zero singular values.

    O((n + d) r^2): neither the product nor a Gram matrix is formed.
    """
    Q, core = np.linalg.qr(left)
    P, lower = np.linalg.qr(right.T)
    u, s, vt = np.linalg.svd(core @ lower.T)
    smallest = s[:1].sum() * np.finfo(s.dtype).eps * max(len(left), right.shape[1])
    rank = int(np.count_nonzero(s > smallest))
    return Q @ u[:, :rank], s[:rank], vt[:rank] @ P.T


def balanced_factors(
    X: FloatArray, singular_values: FloatArray, basis: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (left, right), shapes (n, rank) and (rank, d), with X = left @ right.

    Both factors have the same singular values, the square roots of those of X. One product, O(n d rank).

    Parameters
    ----------
    X : (n, d) array
    singular_values : (rank,) array
        Singular values of X, descending, all positive.
    basis : (min(n, d), rank) array
        Their singular vectors on the shorter side: the right ones, or the left ones if n < d.
    """
    root = np.sqrt(singular_values)
    if X.shape[0] < X.shape[1]:
        return (basis * root).astype(X.dtype), right_factor(X, singular_values, basis)
    return _row_product(X, (basis / root).astype(X.dtype)), right_factor(X, singular_values, basis)


def right_factor(X: FloatArray, singular_values: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the right one (rank, d) of `balanced_factors`: a product only if n < d."""
    root = np.sqrt(singular_values)
    if X.shape[0] < X.shape[1]:
        return np.asarray((basis / root).astype(X.dtype).T @ X)
    return np.ascontiguousarray((basis * root).astype(X.dtype).T)


def onto_left_factor(right: FloatArray) -> FloatArray:
    """Return the array (d, rank) that takes a table to its balanced left factor."""
    return (right / np.einsum("kj,kj->k", right, right)[:, None]).T


def left_factor(X: FloatArray, right: FloatArray) -> FloatArray:
    """Return the balanced left factor (n, rank) of a table X (n, d) with this right one (rank, d)."""
    return _row_product(X, onto_left_factor(right))


def _row_product(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return A @ B for many rows A (n, k) and a small B (k, r); the kernel takes half of the time of BLAS."""
    compiled, B = kernels(), np.ascontiguousarray(B)
    if compiled is None or A.dtype not in compiled.products or not A.flags.c_contiguous or not B.size:
        return np.asarray(A @ B)
    out = np.empty((len(A), B.shape[1]), A.dtype)
    blas = compiled.passes[A.dtype][1]
    compiled.products[A.dtype](byref(blas), len(A), *B.shape, *map(address, (A, B, out)))
    return out


def factorise(X: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return balanced factors of any X (n, d), of rank at most ``most``. O(n d min(n, d))."""
    of_X = spectrum(X)
    return balanced_factors(X, of_X.singular_values[:most], of_X.basis[:, :most])


def fold_in(values: FloatArray, observed: BoolArray, right: FloatArray, penalty: float) -> FloatArray:
    """Complete rows with the right factor B of a fitted table.

    Parameters
    ----------
    values : (n, d) array
        Scaled; any finite values in the holes.
    right : (rank, d) array
    penalty : float
        The trace penalty of the fit.

    Returns
    -------
    (n, d) array
        a_i B with a_i = argmin 1/2 ||R(a B - x_i)||^2 + penalty/2 ||a||^2.

    Notes
    -----
    O(n rank^2 (d + rank)), in batches of bounded memory; no loop over rows.
    """
    B = right.astype(np.float64)
    ridge = max(penalty, np.finfo(np.float64).eps * float(np.vdot(B, B)))
    left = solve_rows(observed, B, ridge * np.eye(len(B)), (values * observed) @ B.T)
    return (left @ B).astype(values.dtype, copy=False)


def solve_rows(observed: BoolArray, right: FloatArray, common: FloatArray, sides: FloatArray) -> FloatArray:
    r"""Return the z_i (n, rank) with :math:`(B M_i B^\top + A)\,z_i = s_i` for every row i.

    Each row has its own observed cells, hence its own matrix: :math:`M_i` is their diagonal mask.

    Parameters
    ----------
    observed : (n, d) bool array
        The masks :math:`M_i`.
    right : (rank, d) float64 array
        B.
    common : (rank, rank) array
        A, symmetric, such that every system is positive definite.
    sides : (n, rank) array
        The :math:`s_i`.

    Notes
    -----
    O(n rank^2 (d + rank)), in batches of bounded memory; no loop over rows.
    """
    rank, d = right.shape
    compiled = kernels()
    if compiled is not None and 0 < rank <= COMPILED_RANK and len(sides):
        solved = np.empty((len(sides), rank))
        given = (observed, bool), (right, float), (common, float), (sides, float)
        arrays = [np.ascontiguousarray(each, dtype=dtype) for each, dtype in given]
        if not compiled.solve_rows(len(sides), d, rank, *map(address, (*arrays, solved))):
            return solved
    outer = np.einsum("aj,bj->jab", right, right).reshape(d, rank * rank)
    solved = np.zeros((len(sides), rank))
    size = max(1, SYSTEM_BYTES // max(8 * rank * rank, 8 * d))
    for i in range(0, len(sides) if rank else 0, size):
        rows = slice(i, i + size)
        systems = (observed[rows].astype(np.float64) @ outer).reshape(-1, rank, rank)
        systems += common
        solved[rows] = np.linalg.solve(systems, sides[rows, :, None])[:, :, 0]
    return solved
