r"""What rows that are alike in their categories say of a hole.

Rows of a table may be near copies of each other: genes of one family, houses of one street, products of one
series. No model of columns sees that. Here each row votes for its own category of a column, with the weight

.. math:: w_{ii'} = \prod_j \frac{(1-r)\,[z_{ij} = z_{i'j}] + r\,p_j(z_{ij})}{p_j(z_{ij})},

over the other columns j that both rows know, where :math:`p_j` are the shares of the categories. That is how
much likelier row i is if each of its cells is a copy of row i' with the probability 1 - r, and else drawn
from the shares: Aitchison and Aitken's kernel (1976), relative to the density of unrelated rows. With a small
r only near copies count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import FloatArray, IntArray

BACKGROUND = 0.05  # of the number of rows: weight of the shares beside the votes
AT_ONCE = 4_000_000  # weights to hold at once
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class RelatedRows:
    """Rows that vote.

    Attributes
    ----------
    cells : (m, D) array
        The columns of p categories: 1 for the category of a row, 0 elsewhere, and in all columns of a hole.
    starts : (p,) int array
        The first column of each category.
    """

    cells: FloatArray
    starts: IntArray

    @property
    def shares(self) -> FloatArray:
        """The share of each category among the known cells of its column, (D,), each counted 1/k more."""
        return self._shares(self.cells.sum(axis=0))

    def left_out_shares(self) -> FloatArray:
        """Return the shares for each row, without its own cell, (m, D)."""
        return self._shares(self.cells.sum(axis=0) - self.cells)

    def votes(self, cells: FloatArray, redrawn: float) -> FloatArray:
        """Return the chances of each category in the holes of rows (n, D); anything in their known cells.

        ``redrawn`` is r above. O(n m D).
        """
        return np.concatenate([np.zeros_like(cells[:0]), *self._in_parts(cells, redrawn, left_out=False)])

    def left_out_votes(self, redrawn: float) -> FloatArray:
        """Return the chances in the known cells of these rows (m, D), each from the other cells and rows."""
        return np.concatenate([self.cells[:0], *self._in_parts(self.cells, redrawn, left_out=True)])

    def _in_parts(self, cells: FloatArray, redrawn: float, *, left_out: bool) -> list[FloatArray]:
        shares = self.left_out_shares() if left_out else np.broadcast_to(self.shares, cells.shape)
        agreement = np.log1p((1 - redrawn) / (redrawn * self.shares))  # beside a cell that differs
        at_once = max(1, AT_ONCE // max(1, len(self.cells)))
        return [
            self._part(cells, shares, redrawn, agreement, slice(i, i + at_once), left_out=left_out)
            for i in range(0, len(cells), at_once)
        ]

    def _part(
        self,
        cells: FloatArray,
        shares: FloatArray,
        redrawn: float,
        agreement: FloatArray,
        rows: slice,
        *,
        left_out: bool,
    ) -> FloatArray:
        mine, base = cells[rows], shares[rows]
        known = np.add.reduceat(mine, self.starts, axis=1)
        logs = np.log(redrawn) * (known @ np.add.reduceat(self.cells, self.starts, axis=1).T)
        logs += (mine * agreement) @ self.cells.T
        if left_out:  # a row does not vote for itself
            own = np.arange(len(mine))
            logs[own, own + rows.start] = -np.inf
        largest = np.maximum(logs.max(axis=1, initial=0.0, keepdims=True), 0.0)
        votes = np.exp(logs - largest) @ self.cells
        if left_out:  # the cell itself has no part in the weights of its own votes
            votes = np.where(mine > 0, votes * np.exp(-agreement), votes)
            votes /= np.where(self._by_column(known) > 0, redrawn, 1.0)
        votes += (BACKGROUND * len(self.cells) * np.exp(-largest) + TINY) * base
        return np.asarray(votes / self._by_column(np.add.reduceat(votes, self.starts, axis=1)))

    def _shares(self, counts: FloatArray) -> FloatArray:
        width = self._by_column(np.diff(np.append(self.starts, self.cells.shape[1])))
        total = self._by_column(np.add.reduceat(counts, self.starts, axis=-1))
        return np.asarray((counts + 1 / width) / (total + 1))

    def _by_column(self, of_categories: FloatArray | IntArray) -> FloatArray:
        """Repeat what categories (..., p) have for their columns (..., D)."""
        widths = np.diff(np.append(self.starts, self.cells.shape[1]))
        return np.repeat(of_categories, widths, axis=-1)
