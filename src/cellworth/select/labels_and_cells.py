"""Labels, and the cells that pay only together with them, beside a draw of the other cells.

A draw would spend money on labels and cells in proportion to what they are worth in all, however little a
label brings for the money. So a batch of the other cells is drawn first, to see what money is worth there:
labels and what waits for them come before it as far as they bring more, the best first, and after it
otherwise.
"""

from __future__ import annotations

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.select.greedy import GreedyPurchase
from cellworth.select.shortlist import up_to_the_first_that_does_not_fit

TIER = 1e6
"""Added to the key of what comes before all drawn cells; the logarithm of any ratio is far below it."""


class LabelsAndCells:
    """The candidates of a batch where labels are on offer, the last column.

    Parameters
    ----------
    greedy : GreedyPurchase
        Empty, with ``label_first``.
    key : (N,) array
        Of the candidates in the draw.
    worthless : (N,) array of bool
        Candidates with score 0, which come after all others.
    per_price : bool
        Whether a cell is drawn in proportion to its score per price.

    Attributes
    ----------
    waits : (N,) array of bool
        Labels, and the cells that are bought after the label of their row or not at all.
    """

    def __init__(
        self, greedy: GreedyPurchase, key: Float64Array, worthless: BoolArray, *, per_price: bool
    ) -> None:
        width = greedy.offer.scores.shape[1]
        self.greedy, self.worthless = greedy, worthless
        self._labels = greedy.places % width == width - 1
        self.waits = greedy.awaiting | self._labels
        self._slopes = np.log(np.where(worthless, 1.0, greedy.scores)) - np.log(greedy.prices)
        self._key = key - np.log(greedy.prices) if per_price else key

    def priority(self) -> Float64Array:
        """Return the order (N,) in which candidates are bought, those of one tier of `worthless` at a time.

        With a budget, what the money is worth elsewhere is that of the drawn batch of the cells that do not
        wait; without one, that of all of them in the whole table.
        """
        greedy = self.greedy
        if np.isfinite(greedy.budget):
            order = self._in_order()
            drawn = order[np.cumsum(greedy.prices[order]) <= greedy.budget]
            worth, money = float(greedy.scores[drawn].sum()), float(greedy.prices[drawn].sum())
        else:
            worth, money = greedy.offer.totals.beside_labels or (0.0, 0.0)
        level = np.log(worth / money) if money > 0 else -np.inf
        tier = np.where(self._slopes >= level, TIER, -TIER)
        return np.where(self.waits, self._slopes + tier, self._key)

    def rows_in_reach(self) -> IntArray:
        """Return the rows (k,) of a part of a table that a batch from the whole could touch.

        Labels come in the order of what they bring for the money, and cells that do not wait in that of their
        keys, wherever the ones are among the others: so each are in reach by themselves. What waits comes
        with its label. The cells that say what money is worth must be there, too.
        """
        greedy = self.greedy
        found = [
            greedy.rows_in_reach(self._slopes, self.worthless, self._labels),
            greedy.rows_in_reach(self._key, self.worthless, ~self.waits),
        ]
        if np.isfinite(greedy.budget):
            drawn = self._in_order()
            here = up_to_the_first_that_does_not_fit(self._key[drawn], greedy.prices[drawn], greedy.budget)
            found.append(greedy.rows[drawn[here]])
        return np.unique(np.concatenate(found)).astype(np.intp)

    def _in_order(self) -> IntArray:
        """Return the cells that are worth something and do not wait, in the order of the draw."""
        drawn = np.flatnonzero(~self.waits & ~self.worthless)
        return drawn[np.argsort(-self._key[drawn], kind="stable")]
