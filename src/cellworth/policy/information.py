r"""What a cell of one row tells about its label: expected value of information from posterior draws.

Given M joint draws :math:`x^m` of the missing cells of a row, and the model's outputs :math:`f^m = f(x^m)`
for the completed rows, the belief once cell j is known is :math:`\mathrm{E}[f \mid x_j]`: a regression of the
outputs on the cell's own draws (Strong, Oakley and Brennan 2014, who compute the value of partial perfect
information so). One run of the model on M rows thus serves all cells and sets of cells; no draws are nested.

The regression is on polynomials of the cell's normal scores, or on the indicators of a category. Noise makes
fitted beliefs spread too far, and what is spread seems worth knowing. So their spread is shrunk to the
unbiased estimate of the explained variance (adjusted R2), and an F test says whether a cell tells anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, ndtri
from scipy.stats import rankdata

from cellworth.arrays import Float64Array, IntArray
from cellworth.policy.decision_costs import BeliefLoss

DEGREE = 3
"""Of the polynomials in a cell's normal scores."""
DOUBT = 0.01
"""Cells tell something if this chance, divided by the number of cells, would be enough to see so much."""


@dataclass(frozen=True, eq=False)
class RowInformation:
    """Draws of one row's missing cells, ready to regress the model's outputs on them.

    Attributes
    ----------
    outputs : (M, K) array
        Of the model, one line per draw.
    bases : (p, M, k) array
        For each of p open cells, up to k orthonormal columns, orthogonal to a constant; 0 beyond.
    sizes : (p,) array
        How many columns of each basis are in use; 0 for a cell whose draws are all the same.

    Notes
    -----
    Memory O(p M k), and so is the time of `made` and `told`, times K.
    """

    outputs: Float64Array
    bases: Float64Array
    sizes: IntArray

    @classmethod
    def made(cls, outputs: Float64Array, cells: Sequence[Float64Array]) -> RowInformation:
        """Prepare the draws of each open cell, (M,), or (M, width) for a category of several columns."""
        M = len(outputs)
        single = [place for place, cell in enumerate(cells) if cell.ndim == 1]
        k = max([DEGREE, *(cell.shape[1] for cell in cells if cell.ndim == 2)])
        raw = np.zeros((len(cells), k, M))
        if single:
            scores = normal_scores(np.array([cells[place] for place in single]))
            raw[single, :DEGREE] = np.stack([scores**power for power in range(1, DEGREE + 1)], axis=1)
        for place, cell in enumerate(cells):
            if cell.ndim == 2:
                raw[place, : cell.shape[1]] = cell.T
        bases, sizes = orthonormal(raw)
        return cls(outputs, bases.transpose(0, 2, 1), sizes)

    @property
    def belief(self) -> Float64Array:
        """The mean output (K,)."""
        return np.asarray(self.outputs.mean(axis=0))

    def perfect(self, loss: BeliefLoss) -> float:
        """Return what knowing all cells would save: no cell or set of cells is worth more."""
        return float(loss.saved(self.belief, self.outputs))

    def told(self, residual: Float64Array | None = None) -> tuple[Float64Array, Float64Array]:
        """Return what share of the outputs' variance each cell explains, (p,), and the chance of so much.

        The share is adjusted for noise, at least 0. With ``residual`` (M, K), what earlier cells left
        unexplained, shares are of it. The chance (p,) is the F test's, for cells that tell nothing.
        """
        left = self.outputs - self.belief if residual is None else residual
        total = float((left**2).sum())
        if total <= 1e-18 * len(left):
            return np.zeros(len(self.sizes)), np.ones(len(self.sizes))
        explained = (np.einsum("pmk,mc->pkc", self.bases, left) ** 2).sum(axis=(1, 2)) / total
        return _adjusted(explained, self.sizes, len(left))

    def fitted(self, cells: Sequence[int]) -> Float64Array:
        """Return the beliefs (M, K) once a set of cells is known, one per draw; their mean is the belief.

        Of several cells, products of their first columns are regressed on, too: two cells may tell together
        what neither tells alone. So are the square and the cube of the sum of what each tells: models bend
        such sums, as a logistic curve does. O(M b^2) for b columns.
        """
        columns = [self.bases[cell, :, : self.sizes[cell]] for cell in cells if self.sizes[cell]]
        if not columns:
            return np.broadcast_to(self.belief, self.outputs.shape)
        M, around = len(self.outputs), self.outputs - self.belief
        lines = [each.T for each in columns]
        if len(columns) > 1:
            firsts = [each[:, 0] for each in columns]
            lines += [a * b for place, a in enumerate(firsts) for b in firsts[:place]]
            sums = np.sum([each @ (each.T @ around) for each in columns], axis=0)
            lines += [sums.T**2, sums.T**3]
        basis, size = orthonormal(np.vstack(lines)[np.newaxis])
        fit = basis[0].T @ (basis[0] @ around)
        total = float((around**2).sum())
        raw = float((fit**2).sum()) / total if total > 0 else 0.0
        share, _ = _adjusted(np.array([raw]), size, M)
        return np.asarray(self.belief + fit * np.sqrt(share[0] / raw if raw > 0 else 0.0))

    def worth(self, cells: Sequence[int], loss: BeliefLoss) -> float:
        """Return what knowing a set of cells would save on average, at most `perfect`."""
        return min(float(loss.saved(self.belief, self._possible(self.fitted(cells)))), self.perfect(loss))

    def worths(self, loss: BeliefLoss) -> Float64Array:
        """Return `worth` of each cell alone, (p,), together; O(p M K (k + K))."""
        around = self.outputs - self.belief
        coefficients = np.einsum("pmk,mc->pkc", self.bases, around)
        total = float((around**2).sum())
        if total <= 1e-18 * len(around):
            return np.zeros(len(self.sizes))
        raw = (coefficients**2).sum(axis=(1, 2)) / total
        share, _ = _adjusted(raw, self.sizes, len(around))
        shrunk = np.sqrt(np.divide(share, raw, where=raw > 0, out=np.zeros_like(raw)))
        fitted = self.belief + (self.bases @ coefficients) * shrunk[:, np.newaxis, np.newaxis]
        return np.minimum(loss.saved(self.belief, self._possible(fitted)), self.perfect(loss))

    def significant(self, chance: Float64Array) -> Float64Array:
        """Return which cells tell something, (p,) bool, given the chances of `told`."""
        return np.asarray(chance < DOUBT / max(1, len(chance)))

    def _possible(self, beliefs: Float64Array) -> Float64Array:
        """Keep beliefs (..., M, K) within what the model's outputs are."""
        return np.clip(beliefs, self.outputs.min(axis=0), self.outputs.max(axis=0))


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


def _adjusted(raw: Float64Array, sizes: IntArray, M: int) -> tuple[Float64Array, Float64Array]:
    """Return explained shares corrected for noise, and the F test's chance of as much without any effect."""
    free = np.maximum(M - 1 - sizes, 1)
    share = np.where(sizes > 0, np.maximum(0.0, 1 - (1 - raw) * (M - 1) / free), 0.0)
    ratio = raw / np.maximum(sizes, 1) / np.maximum((1 - raw) / free, 1e-12)
    chance = np.where(sizes > 0, fdtrc(np.maximum(sizes, 1), free, ratio), 1.0)
    return np.minimum(share, raw), chance
