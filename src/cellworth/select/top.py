"""The cells of the highest score."""

from __future__ import annotations

import numpy as np

from cellworth.select.limits import check_limits
from cellworth.select.offer import Array, Offer, Places, Selection
from cellworth.select.spread import Spread
from cellworth.select.walk import Walk


class Top:
    """Take the cells of the highest score, whatever they cost, as long as the budget lasts.

    A cell that does not fit the budget is passed over, and cheaper ones further down are still taken. Equal
    scores go by row, then by column. Nothing is random.

    Parameters
    ----------
    per_row : int or None, default=None
        The most cells of one row; None: any number.
    crowding : float, default=1.0
        Above 0 and at most 1: a cell's score is multiplied by this for each cell already chosen in its row.

    Notes
    -----
    O(N + k log k) for k cells out of N; with spread or with prices of groups and visits
    O(N + k p log(k p)) for p columns.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.prices import PriceList
    >>> from cellworth.select import Offer, Top
    >>> none = np.full(3, -1), np.zeros(3), np.zeros(0, dtype=bool)
    >>> prices = PriceList(np.tile([1.0, 2.0, 5.0], (2, 1)), *none)
    >>> scores = np.array([[3.0, 4.0, 9.0], [2.0, 8.0, 1.0]])
    >>> holes = np.ones((2, 3), dtype=bool)
    >>> batch = Top().select(Offer(scores, holes, prices, ~holes), budget=8, rng=np.random.default_rng(0))
    >>> batch.cells.tolist(), batch.cost
    ([[0, 2], [1, 1], [0, 0]], 8.0)
    """

    def __init__(self, per_row: int | None = None, crowding: float = 1.0) -> None:
        self._spread = Spread(per_row, crowding)
        self.per_row = per_row
        self.crowding = crowding

    def __repr__(self) -> str:
        return f"Top(per_row={self.per_row}, crowding={self.crowding})"

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Choose cells that cost at most ``budget`` and are at most ``count``; ``rng`` is not used."""
        walk = Walk(offer, self._spread, *check_limits(budget, count))

        def crowded(cells: Places, prices: Array, taken: int, last: int) -> Array:
            return walk.scores[cells] * self.crowding**taken

        return walk.run(walk.scores, crowded if self.crowding < 1 else None)
