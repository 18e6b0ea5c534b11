r"""LMaFit (Wen, Yin and Zhang, 2012): two factors fitted by nonlinear successive over-relaxation.

.. math:: \min_{U,V,Z}\ \tfrac12\|UV - Z\|_\mathrm{F}^2 \quad\text{subject to}\quad R_\Omega(Z) = R_\Omega(X)

With :math:`Z = UV + R`, R the residual of the observed cells, and :math:`Z_\omega = UV + \omega R`:

.. math:: U_+ = \mathrm{orth}(Z_\omega V^\top), \qquad V_+ = U_+^\top Z_\omega.

:math:`\omega = 1` is alternating least squares and never increases :math:`\frac12\|R\|_\mathrm{F}^2`. A
larger :math:`\omega` takes longer steps; it grows while steps succeed and is reset to 1 when one fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import qr

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.factored_completer import (
    FactoredCompleter,
    check_rank,
    choose_rank,
    mean_square,
    shrink_rows,
)
from cellworth.complete.hold_out import hold_out
from cellworth.complete.inputs import check_choice, check_number
from cellworth.complete.solver.factors import (
    Factors,
    Watch,
    determined_rank,
    leading_directions,
    never_stop,
    norm_or_one,
    residual,
    sum_of_squares,
)
from cellworth.complete.solver.monitor import Callback
from cellworth.errors import ParameterError

SLOW = 0.7  # gamma_1: the weight grows when a step leaves more than this fraction of the residual
MOST_WEIGHT = 1e4
GAP = 10.0  # cut the rank where one drop of the QR diagonal is this many times the mean of the others
GROWING_TOL = 1e-3  # an intermediate rank need not be exact: the next one will move it


class LMaFitCompleter(FactoredCompleter):
    r"""Fill the holes of a table with a product of two thin factors, found by over-relaxation.

    Following Wen, Yin and Zhang (2012), solves

    .. math:: \min_{U, V, Z}\ \tfrac12\|UV - Z\|_F^2 \quad\text{subject to}\quad
              R_\Omega(Z) = R_\Omega(X)

    over U (n, r) and V (r, d), by nonlinear successive over-relaxation with an adaptive weight. The
    rank r is found along the way. Then, unlike in the paper, the rows are re-estimated from V with a
    ridge, so that rows with few observed cells stay sensible; ``ridge=0`` skips this.

    Parameters
    ----------
    rank : int or None, default=None
        The maximum number of components for "increase" and "decrease"; the exact number for "fixed",
        which requires it. None: the largest for which U and V have no more free parameters than there
        are observed cells. Never more than the number of rows or columns.
    rank_strategy : {"increase", "decrease", "fixed"}, default="increase"
        "increase" adds components one by one, up to the number that best fills a hidden tenth of the
        observed cells: each one must lower their error by 1 %. "decrease" starts from the maximum and
        cuts where the diagonal of a QR factor of U drops steeply, for tables with one clear rank.
        "fixed" keeps `rank`.
    ridge : float or None, default=None
        Noise variance, in scaled units, for estimating rows from V. 0 keeps the factors as they are.
        None: chosen along with the rank on the hidden cells, between 1e-6 and 1 times the mean square
        of the observed values.
    scale : {"minmax", "standard", None}, default="standard"
        How to scale columns first. Results are in the units of the input. "standard", the default of all
        low-rank completers without labels, weights columns equally and fills a cell with its column's mean
        if nothing is known about it. "minmax", which `SupervisedCompleter` takes from its paper, fills such
        a cell with the column's smallest value, and the means take up one component.
    tol : float, default=1e-3
        Stop when the part of the residual that factors of this rank could still remove is below this
        fraction of the norm of the observed (scaled) values. Noisy tables gain nothing from a smaller
        value; to recover a noise-free table exactly, use 1e-6.
    max_iter : int, default=1000
        The maximum number of iterations, over all ranks.
    random_state : int, numpy.random.Generator or None, default=0
        Draws the hidden cells. None draws different ones in each fit.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Precision of the computation and of the result. None: float32 for a float32 table, else float64.
    callback : callable or None, default=None
        Called with a `Progress` after each iteration of the final fit; returning true stops the fit.

    Attributes
    ----------
    completed_ : (n, d) array
        The table passed to `fit` with its holes filled, in its own units; observed cells are unchanged.
    low_rank_ : tuple of (n, rank_) and (rank_, d) arrays
        Factors of the estimate in scaled units. The rows of the right one are orthogonal; the left
        one has columns of mean square 1, or less where the ridge shrank them.
    rank_ : int
    ridge_ : float
        The noise variance used, in scaled units.
    objective_ : array
        :math:`\frac12\|R_\Omega(UV - X)\|_F^2` after each iteration at the final rank, before the rows
        are re-estimated; never increases.
    n_iter_ : int
    converged_ : bool
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Not on row blocks: its factors are fitted to the whole table at once. Use `SupervisedCompleter`.

    Per iteration at rank r: four products of 2 n d r flops and a QR of an n x r matrix; per new
    component one product of 2 n d min(n, d) flops. The choice of rank and ridge uses at most
    10,000 rows. Memory: three arrays of the table's size besides the table.

    References
    ----------
    Z. Wen, W. Yin and Y. Zhang, "Solving a low-rank factorization model for matrix completion by a
    nonlinear successive over-relaxation algorithm", Mathematical Programming Computation 4 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.lmafit import LMaFitCompleter
    >>> X = np.outer(np.arange(1.0, 101.0), [1.0, 10.0, 100.0])  # three columns in proportion
    >>> X[29, 2] = np.nan
    >>> completer = LMaFitCompleter(scale="minmax", tol=1e-6)
    >>> completer.fit_transform(X)[29].round()
    array([  30.,  300., 3000.])
    >>> completer.transform([[60.0, np.nan, np.nan]]).round()
    array([[  60.,  600., 6000.]])
    """

    def __init__(
        self,
        *,
        rank: int | None = None,
        rank_strategy: Literal["increase", "decrease", "fixed"] = "increase",
        ridge: float | None = None,
        scale: Literal["minmax", "standard"] | None = "standard",
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: int | np.random.Generator | None = 0,
        dtype: DTypeLike | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.rank = rank
        self.rank_strategy = rank_strategy
        self.ridge = ridge
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.dtype = dtype
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rank(self.rank)
        if self.ridge is not None:
            check_number("ridge", self.ridge, minimum=0)
        check_choice("rank_strategy", self.rank_strategy, ("increase", "decrease", "fixed"))
        if self.rank_strategy == "fixed" and self.rank is None:
            raise ParameterError("rank_strategy='fixed' needs a rank; got None. Give one, or use 'increase'.")

    def _factorise(
        self, values: FloatArray, observed: BoolArray, rng: np.random.Generator, watch: Watch
    ) -> Factors:
        rank = determined_rank(values.shape, int(observed.sum())) if self.rank is None else self.rank
        rank, ridge = min(rank, *values.shape), self.ridge
        growing = self.rank_strategy == "increase"
        if growing or ridge is None:
            held = hold_out(values, observed, rng)
            choice = choose_rank(held, self._path(held.values, held.observed, rank), ridge)
            rank = choice.rank if growing else rank
            ridge = choice.relative * mean_square(values, observed) if ridge is None else ridge
        *_, fit = self._path(values, observed, rank, watch)
        shrink_rows(fit, values, observed, ridge)
        self.ridge_ = float(ridge)
        return fit

    def _row_penalty(self) -> float:
        return self.ridge_

    def _path(
        self, values: FloatArray, observed: BoolArray, rank: int, watch: Watch = never_stop
    ) -> Iterable[Factors]:
        """Return the fits leading up to ``rank``: one per rank with "increase", otherwise one."""
        if self.rank_strategy == "increase":
            return grow(values, observed, rank, tol=self.tol, max_iter=self.max_iter, watch=watch)
        _, V = leading_directions(values, rank)
        return [
            relax(
                values,
                observed,
                values @ V,
                V.T,
                tol=self.tol,
                max_iter=self.max_iter,
                drop_rank=self.rank_strategy == "decrease",
                watch=watch,
            )
        ]


# Numerical kernel: arrays only.


def relax(
    values: FloatArray,
    observed: BoolArray,
    left: FloatArray,
    right: FloatArray,
    *,
    tol: float,
    max_iter: int,
    drop_rank: bool = False,
    watch: Watch = never_stop,
) -> Factors:
    """Minimise half the squared residual of the observed cells from ``left @ right``.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    left, right : (n, r) and (r, d) arrays
        Where to start; not changed.
    tol : float
        Stop when `stationarity` is below this.
    drop_rank : bool
        Cut the rank once, at a clear gap in the diagonal of the pivoted QR of Z V^T.

    Notes
    -----
    Per iteration four products of 2 n d r flops and a QR of an n x r matrix.
    """
    fit = Factors(left, right)
    norm = norm_or_one(values)
    R = residual(values, observed, left, right)
    squares, weight, growth = sum_of_squares(R), 1.0, 1.0
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        Q, drops = _orthogonalise(
            fit.left @ (fit.right @ fit.right.T) + weight * (R @ fit.right.T), drop_rank
        )
        right = (Q.T @ fit.left) @ fit.right + weight * (Q.T @ R)
        new = residual(values, observed, Q, right)
        new_squares = sum_of_squares(new)
        if drops:
            drop_rank, weight, growth = False, 1.0, 1.0
            fit.objective.clear()
        elif new_squares >= squares:
            fit.converged = weight == 1.0  # only rounding stops alternating least squares from decreasing
            weight, growth = 1.0, growth / 10
            continue
        elif new_squares > SLOW**2 * squares:
            growth = max(growth, (weight - 1) / 4)
            weight = min(weight + growth, MOST_WEIGHT)
        fit.left, fit.right, R, squares = Q, right, new, new_squares
        fit.objective.append(squares / 2)
        slope = stationarity(R, fit.left, fit.right) / norm
        fit.converged = slope <= tol
        fit.stopped = watch(fit.n_iter, squares / 2, slope)
    fit.objective = fit.objective or [squares / 2]
    return fit


def stationarity(R: FloatArray, Q: FloatArray, right: FloatArray) -> float:
    r"""Return the norm of the part of the residual R that the factors could still remove.

    This part is the gradient of :math:`\frac12\|R_\Omega(UV - X)\|^2` on the manifold of tables of rank
    r: R projected onto :math:`\{UA + BV\}`. Q has orthonormal columns.
    """
    P, _ = np.linalg.qr(right.T)
    across, along = R @ P, Q.T @ R
    return float(
        np.sqrt(max(0.0, sum_of_squares(across) + sum_of_squares(along) - sum_of_squares(along @ P)))
    )


def grow(
    values: FloatArray,
    observed: BoolArray,
    most: int,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = never_stop,
) -> Iterator[Factors]:
    """Yield fits of rank 1, 2, ... ``most``, each starting from the previous one and its residual.

    The last is fitted to the stationarity ``tol``, the others to `GROWING_TOL` if that is larger.
    ``max_iter`` and a fit's number of iterations count all ranks up to it.
    """
    fit = Factors(values[:, :0], values[:0])
    for rank in range(1, most + 1):
        done = fit.n_iter

        def watch_on(k: int, objective: float, slope: float, done: int = done) -> bool:
            return watch(done + k, objective, slope)

        left, right = _add_direction(values, observed, fit)
        enough = tol if rank == most else max(tol, GROWING_TOL)
        fit = relax(values, observed, left, right, tol=enough, max_iter=max_iter - done, watch=watch_on)
        fit.n_iter += done
        last = fit.stopped or fit.n_iter >= max_iter
        fit.converged = fit.converged and (rank == most or not last)
        yield fit
        if last:
            return


def _add_direction(values: FloatArray, observed: BoolArray, fit: Factors) -> tuple[FloatArray, FloatArray]:
    """Return the factors of ``fit`` plus one component, the leading one of its residual."""
    R = residual(values, observed, fit.left, fit.right)
    _, direction = leading_directions(R, 1)
    return np.hstack([fit.left, R @ direction]), np.vstack([fit.right, direction.T])


def _orthogonalise(A: FloatArray, drop_rank: bool) -> tuple[FloatArray, bool]:
    """Return an orthonormal basis of the columns of A, and whether it was cut at a gap."""
    if not drop_rank or A.shape[1] < 2:
        return np.linalg.qr(A)[0], False
    Q, upper, _ = qr(A, mode="economic", pivoting=True, check_finite=False)
    rank = rank_at_gap(np.abs(np.diag(upper)))
    return np.ascontiguousarray(Q[:, :rank]), rank < A.shape[1]


def rank_at_gap(diagonal: FloatArray) -> int:
    """Return the position of the one clear gap in the descending ``diagonal`` (r,), or r if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> rank_at_gap(np.array([9.0, 8.0, 7.0, 0.01, 0.009]))
    3
    >>> rank_at_gap(np.array([9.0, 3.0, 1.0, 0.3]))
    4
    """
    floor = np.finfo(diagonal.dtype).eps * diagonal[0]
    if floor == 0:
        return 1
    held = np.maximum(diagonal, floor)
    drops = held[:-1] / held[1:]
    p = int(drops.argmax())
    others = (drops.sum() - drops[p]) / max(1, len(drops) - 1)
    return p + 1 if drops[p] > GAP * max(others, 1.0) else len(diagonal)
