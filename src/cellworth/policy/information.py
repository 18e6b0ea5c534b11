r"""What cells of rows tell about their labels: expected value of information from posterior draws.

Given M joint draws :math:`x^m` of the missing cells of a row, and the model's outputs :math:`f^m = f(x^m)`
for the completed rows, the belief once cell j is known is :math:`\mathrm{E}[f \mid x_j]`: a regression of the
outputs on the cell's own draws (Strong, Oakley and Brennan 2014, who compute the value of partial perfect
information so). One run of the model on M rows thus serves all cells and sets of cells; no draws are nested.

The regression is on polynomials of the cell's normal scores, or on the indicators of a category. Noise makes
fitted beliefs spread too far, and what is spread seems worth knowing. So their spread is shrunk to the
unbiased estimate of the explained variance (adjusted R2), and an F test says whether a cell tells anything.

A model that is trained on few rows also moves with columns that tell nothing, and too little with some that
tell much; both change what cells seem worth. The labels of the training rows are independent evidence. With
nothing else known, the model expects column j to explain :math:`m_j` of the variance of the label; a
regression of the labels on the column's known cells finds :math:`l_j`, with a standard error :math:`e_j`. Let
c be the ratio of their sums. If gains are off by factors :math:`t_j` of mean 1 and variance 1, then

.. math:: \hat t_j = \frac{1 + c\,m_j\,l_j / e_j^2}{1 + (c\,m_j)^2 / e_j^2}

is their best linear estimate: near 1 where labels say little, near :math:`l_j / (c\,m_j)` where they say
much. Expected gains of column j are multiplied by it (`column_trust`), in every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import fdtrc, ndtri
from scipy.stats import rankdata

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.cached_property import cached_property
from cellworth.policy.decision_costs import BeliefLoss, BeliefVariance
from cellworth.table import ColumnLayout

DEGREE = 3
"""Of the polynomials in a cell's normal scores."""
DOUBT = 0.01
"""Cells tell something if this chance, divided by the number of cells, would be enough to see so much."""
LEAST_TRUST = 0.05
"""A column is never written off: its gains keep this share."""
FEWEST = 10
"""Labelled cells that a column must have to say anything."""


@dataclass(frozen=True, eq=False)
class Information:
    """Draws of the missing cells of m rows, ready to regress the model's outputs on them.

    Attributes
    ----------
    outputs : (m, M, K) array
        Of the model, one line per draw.
    bases : (m, p, M, k) array
        For each of p cells, up to k orthonormal columns, orthogonal to a constant; 0 beyond.
    sizes : (m, p) array
        How many columns of each basis are in use; 0 for a cell that is known, or always drawn the
        same.

    Notes
    -----
    Memory O(m p M k), and so is the time of all methods, times K. Rows do not depend on each other.
    """

    outputs: Float64Array
    bases: Float64Array
    sizes: IntArray

    @classmethod
    def made(
        cls, outputs: Float64Array, cells: Sequence[Float64Array], open_cells: BoolArray, tied: Sequence[bool]
    ) -> Information:
        """Prepare the draws of each cell.

        Parameters
        ----------
        outputs : (m, M, K) array
        cells : sequence of (m, M, width) arrays
            The draws of each of the p cells; several columns are the indicators of a category.
        open_cells : (m, p) array of bool
            Which cells are missing.
        tied : sequence of bool
            Whether draws of a cell may be equal.
        """
        m, M, _ = outputs.shape
        k = max([DEGREE, *(cell.shape[2] for cell in cells)])
        bases, sizes = np.zeros((m, len(cells), M, k)), np.zeros((m, len(cells)), dtype=np.intp)
        for place, cell in enumerate(cells):
            rows = np.flatnonzero(open_cells[:, place])
            if not len(rows):
                continue
            if not tied[place]:
                order = cell[rows, :, 0].argsort(axis=1)
                bases[rows[:, np.newaxis], place, order, :DEGREE] = score_polynomials(M)
                sizes[rows, place] = DEGREE
                continue
            lines, sizes[rows, place] = cell_lines(cell[rows])
            bases[rows, place, :, : lines.shape[1]] = lines.transpose(0, 2, 1)
        return cls(outputs, bases, sizes)

    @cached_property
    def belief(self) -> Float64Array:
        """The mean outputs (m, K)."""
        return np.asarray(self.outputs.mean(axis=1))

    def perfect(self, loss: BeliefLoss) -> Float64Array:
        """Return what knowing all cells would save, (m,): no cell or set of cells is worth more."""
        return loss.saved(self.belief, self.outputs)

    def told(self, residual: Float64Array | None = None) -> tuple[Float64Array, Float64Array]:
        """Return what share of the outputs' variance each cell explains, (m, p), and the chance of so much.

        The share is adjusted for noise, at least 0. With ``residual`` (m, M, K), what earlier cells left
        unexplained, shares are of it. The chance (m, p) is the F test's, for cells that tell nothing.
        """
        left = self.outputs - self.belief[:, np.newaxis] if residual is None else residual
        total = (left**2).sum(axis=(1, 2))
        nothing = total <= 1e-18 * left.shape[1]
        explained = (self._coefficients(left) ** 2).sum(axis=(2, 3))
        explained /= np.where(nothing, 1.0, total)[:, np.newaxis]
        share, chance = adjusted(explained, self.sizes, left.shape[1])
        return np.where(nothing[:, np.newaxis], 0.0, share), np.where(nothing[:, np.newaxis], 1.0, chance)

    def worths(self, loss: BeliefLoss) -> Float64Array:
        """Return what knowing each cell alone would save on average, (m, p), at most `perfect`."""
        around = self.outputs - self.belief[:, np.newaxis]
        coefficients = self._coefficients(around)
        total = (around**2).sum(axis=(1, 2))
        raw = (coefficients**2).sum(axis=(2, 3)) / np.where(total > 0, total, 1.0)[:, np.newaxis]
        share, _ = adjusted(raw, self.sizes, around.shape[1])
        if loss.per_variance is not None:
            return loss.per_variance * share * total[:, np.newaxis] / around.shape[1]
        shrunk = np.sqrt(np.divide(share, raw, where=raw > 0, out=np.zeros_like(raw)))
        fitted = (self.bases @ coefficients) * shrunk[:, :, np.newaxis, np.newaxis]
        fitted += self.belief[:, np.newaxis, np.newaxis]
        now = self.belief[:, np.newaxis]
        worths = loss.saved(now, self._possible(fitted.swapaxes(0, 1)).swapaxes(0, 1))
        some = total > 1e-18 * around.shape[1]
        return np.where(some[:, np.newaxis], np.minimum(worths, self.perfect(loss)[:, np.newaxis]), 0.0)

    def significant(self, chance: Float64Array) -> BoolArray:
        """Return which cells tell something, (m, p), given the chances of `told`."""
        return np.asarray(chance < DOUBT / np.maximum(1, (self.sizes > 0).sum(axis=1, keepdims=True)))

    def worth_of(self, beliefs: Float64Array, loss: BeliefLoss) -> Float64Array:
        """Return what fitted beliefs (m, M, K) would save, (m,), at most `perfect`."""
        return np.minimum(loss.saved(self.belief, self._possible(beliefs)), self.perfect(loss))

    def _coefficients(self, around: Float64Array) -> Float64Array:
        return np.asarray(self.bases.swapaxes(2, 3) @ around[:, np.newaxis])

    def _possible(self, beliefs: Float64Array) -> Float64Array:
        """Keep beliefs (..., m, M, K) within what the model's outputs are."""
        low, high = self.outputs.min(axis=1)[:, np.newaxis], self.outputs.max(axis=1)[:, np.newaxis]
        return np.clip(beliefs, low, high)


class GrowingFit:
    """The beliefs once a set of cells is known, for sets that grow by one cell per row at a time.

    Of several cells, products of their first columns are regressed on, too: two cells may tell together what
    neither tells alone. Each cell costs O(m M b k) for the b columns so far.
    """

    def __init__(self, information: Information) -> None:
        self._information = information
        m, M, _ = information.outputs.shape
        self._around = information.outputs - information.belief[:, np.newaxis]
        self._total = (self._around**2).sum(axis=(1, 2))
        self._fit = np.zeros_like(self._around)
        self._lines = np.zeros((m, 0, M))  # orthonormal; 0 where they depend on earlier ones
        self._firsts = np.zeros((m, 0, M))
        self._size = np.zeros(m, dtype=np.intp)

    @property
    def residual(self) -> Float64Array:
        """What the cells leave unexplained of the outputs, (m, M, K)."""
        return self._around - self._fit

    def add(self, cells: IntArray, rows: BoolArray) -> None:
        """Add one cell (m,) per row, in the rows (m,) that have one."""
        bases = self._information.bases[np.arange(len(cells)), cells].swapaxes(1, 2)
        new = bases * rows[:, np.newaxis, np.newaxis]
        first = new[:, :1]
        lines, fit, size = self._orthonormal(np.concatenate([new, first * self._firsts], axis=1))
        self._firsts = np.concatenate([self._firsts, first], axis=1)
        self._lines = np.concatenate([self._lines, lines], axis=1)
        self._fit = self._fit + fit
        self._size = self._size + size

    def beliefs(self) -> Float64Array:
        """Return the fitted beliefs (m, M, K), one per draw, shrunk to the adjusted R2.

        The square and the cube of the fit, of the output that varies most, are fitted, too: models bend sums
        of what cells tell, as a logistic curve does.
        """
        fit, size = self._fit, self._size
        if self._firsts.shape[1] > 1:
            varied = (fit**2).sum(axis=1).argmax(axis=1)
            line = np.take_along_axis(fit, varied[:, np.newaxis, np.newaxis], axis=2)[:, :, 0]
            _, more, further = self._orthonormal(np.stack([line**2, line**3], axis=1))
            fit, size = fit + more, size + further
        raw = (fit**2).sum(axis=(1, 2)) / np.where(self._total > 0, self._total, 1.0)
        share, _ = adjusted(raw, size, fit.shape[1])
        shrunk = np.sqrt(np.divide(share, raw, where=raw > 0, out=np.zeros_like(raw)))
        return np.asarray(self._information.belief[:, np.newaxis] + fit * shrunk[:, np.newaxis, np.newaxis])

    def _orthonormal(self, new: Float64Array) -> tuple[Float64Array, Float64Array, IntArray]:
        """Return new lines (m, c, M) made orthonormal to all, their fit (m, M, K), and their number."""
        new = new - new.mean(axis=2, keepdims=True)
        before = np.sqrt((new**2).sum(axis=2, keepdims=True))
        for _ in range(2):  # twice, for accuracy
            new = new - (new @ self._lines.swapaxes(1, 2)) @ self._lines
        new[np.sqrt((new**2).sum(axis=2, keepdims=True))[..., 0] <= 1e-6 * before[..., 0]] = 0.0
        lines, size = orthonormal(new)
        return lines, lines.swapaxes(1, 2) @ (lines @ self._around), size


@cache
def score_polynomials(M: int) -> Float64Array:
    """Return the orthonormal polynomials (M, `DEGREE`) of the normal scores of M draws without ties."""
    scores = ndtri((np.arange(M) + 0.5) / M)
    lines, _ = orthonormal(np.stack([scores**power for power in range(1, DEGREE + 1)])[np.newaxis])
    return np.ascontiguousarray(lines[0].T)


def cell_lines(draws: Float64Array) -> tuple[Float64Array, IntArray]:
    """Return orthonormal lines (m, k, M) of draws (m, M, width) of a cell, and how many are in use (m,)."""
    if draws.shape[2] > 1:
        return orthonormal(draws.swapaxes(1, 2))
    scores = normal_scores(draws[:, :, 0])
    return orthonormal(np.stack([scores**power for power in range(1, DEGREE + 1)], axis=1))


def normal_scores(draws: Float64Array) -> Float64Array:
    """Return the normal scores of draws (p, M) among the M of their line; ties share their mean rank."""
    return np.asarray(ndtri((rankdata(draws, axis=1) - 0.5) / draws.shape[1]))


def orthonormal(raw: Float64Array) -> tuple[Float64Array, IntArray]:
    """Orthonormalise the lines of each matrix (p, k, M) after centring them; return them and their number.

    Gram and Schmidt's method, twice for accuracy; lines that depend on earlier ones are dropped, and the rest
    moved up. O(p k^2 M).
    """
    p, k, M = raw.shape
    lines = raw - raw.mean(axis=2, keepdims=True)
    size = np.zeros(p, dtype=np.intp)
    out = np.zeros_like(lines)
    for number in range(k):
        line = lines[:, number]
        before = np.sqrt((line**2).sum(axis=1))
        for _ in range(2):
            line = line - np.einsum("pkm,pk->pm", out, np.einsum("pkm,pm->pk", out, line))
        length = np.sqrt((line**2).sum(axis=1))
        fresh = np.flatnonzero((length > 1e-6 * before) & (before > 1e-12 * np.sqrt(M)))
        out[fresh, size[fresh]] = line[fresh] / length[fresh, np.newaxis]
        size[fresh] += 1
    return out, size


def adjusted(raw: Float64Array, sizes: IntArray, M: int) -> tuple[Float64Array, Float64Array]:
    """Return explained shares corrected for noise, and the F test's chance of as much without any effect."""
    free = np.maximum(M - 1 - sizes, 1)
    share = np.where(sizes > 0, np.maximum(0.0, 1 - (1 - raw) * (M - 1) / free), 0.0)
    ratio = raw / np.maximum(sizes, 1) / np.maximum((1 - raw) / free, 1e-12)
    chance = np.where(sizes > 0, fdtrc(np.maximum(sizes, 1), free, ratio), 1.0)
    return np.minimum(share, raw), chance


def column_trust(
    expected: Information, layout: ColumnLayout, X: Float64Array, labels: Float64Array, *, is_number: bool
) -> Float64Array:
    """Return by what the gains of each column (p,) are to be multiplied.

    Parameters
    ----------
    expected : Information
        Of one row of which nothing is known.
    layout : ColumnLayout
    X : (n, d) array
        The encoded training rows, NaN where missing.
    labels : (n,) array
        Their labels, class numbers or numbers, NaN where missing.
    is_number : bool
    """
    p = len(layout.columns)
    labelled = ~np.isnan(labels)
    if len(np.unique(labels[labelled])) < 2:
        return np.ones(p)
    model = expected.worths(BeliefVariance())[0]
    found, errors = np.zeros(p), np.full(p, np.inf)
    for place in range(p):
        block = layout.columns_of(place)
        rows = labelled & ~np.isnan(X[:, block.start])
        if rows.sum() >= FEWEST:
            targets = _targets(labels[rows], is_number=is_number)
            found[place], errors[place] = _explained(X[rows, block], targets)
    known = np.isfinite(errors)
    if not (found[known].sum() > 0 and model[known].sum() > 0):
        return np.ones(p)
    model *= found[known].sum() / model[known].sum()
    precision = 1 / errors**2
    return np.maximum(LEAST_TRUST, (1 + model * found * precision) / (1 + model**2 * precision))


def _targets(labels: Float64Array, *, is_number: bool) -> Float64Array:
    targets = labels[:, np.newaxis] if is_number else (labels[:, np.newaxis] == np.unique(labels)) * 1.0
    return np.asarray(targets - targets.mean(axis=0))


def _explained(cells: Float64Array, targets: Float64Array) -> tuple[float, float]:
    """Return the variance of centred targets (n, K) that cells (n, width) explain, and its standard error."""
    lines, sizes = cell_lines(cells[np.newaxis])
    n, variance = len(targets), float((targets**2).sum()) / len(targets)
    if not (sizes[0] and variance > 0):
        return 0.0, np.inf
    raw = float(((lines[0] @ targets) ** 2).sum()) / (n * variance)
    share = float(adjusted(np.array([raw]), sizes, n)[0][0])
    error = np.sqrt(4 * share * (1 - share) ** 2 / n + 2 * sizes[0] / n**2)  # of an R2, for large n
    return share * variance, float(error * variance)
