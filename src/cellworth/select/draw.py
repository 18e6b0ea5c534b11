"""Draw cells at random, in proportion to their score."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.complete.inputs import check_choice
from cellworth.errors import ParameterError
from cellworth.select.bundles import Bundles, buy_bundles
from cellworth.select.greedy import GreedyPurchase
from cellworth.select.labels_and_cells import LabelsAndCells
from cellworth.select.row_spread import Spread
from cellworth.select.selector import Offer, OfferTotals, Selection, as_number, check_limits
from cellworth.select.shortlist import TableNumbers

ENOUGH_CELLS = 0.015
"""Rows are finished if as many of them as columns that count make up at most this share of the table."""


class Draw:
    r"""Draw cells one by one, without replacement, in proportion to score or score per price.

    The highest scores often cluster in a few rows and columns, which gives a model a biased sample to learn
    from. A draw favours high scores without being limited to them.

    Parameters
    ----------
    per : {"score", "price"}, default="score"
        A cell's probability is proportional to its score, whatever it costs, or to its score divided by its
        price. With group and visit prices, the latter draws rows and cells together (see Notes).
    power : float, default=1.0
        Scores are raised to this power first: 0 draws uniformly, a large power approaches `Top`.
    per_row : int or None, default=None
        Maximum number of cells per row; None sets no limit.
    crowding : float, default=1.0
        Above 0 and at most 1: multiplies a cell's score once for each cell already chosen in its row.
    by : {"cell", "row", "auto"}, default="cell"
        "cell": chance strikes each cell on its own. "row": it strikes rows, and the cells of a row come in
        the order of their scores, or scores per price. So a batch takes several cells of few rows, which
        suits scores that grow as a row fills, such as those of `TrainingGain`. "auto": "row" if few columns
        count and rows are many, so that enough rows can be finished to learn from them (see Notes);
        otherwise "cell".

    Notes
    -----
    Cell j gets the key :math:`\log w_j + g_j` with an independent standard Gumbel variable :math:`g_j`. The
    keys in decreasing order are a draw without replacement in proportion to w. Equivalently,
    :math:`\exp(-\text{key})` is the arrival time of an exponential clock with rate w. Crowding slows the
    clocks of a row from the time of a purchase on, and the draw stays exact. A cell that does not fit the
    budget is skipped. Cells with score 0 come after all others, drawn as if their scores were 1. With
    ``by="row"``, the cells of a row have the same Gumbel variable.

    **Rows or cells.** With the mean score :math:`m_j` of the cells on offer in column j, the number of
    columns that count is :math:`k = (\sum m_j)^2 / \sum m_j^2`. A model of k columns needs some multiple of k
    rows, and k finished rows cost about :math:`k^2` of the n p cells of the table. ``by="auto"`` finishes
    rows if :math:`k^2 \le 0.015\, n p`: with k = p, if there are 67 rows to a column. In shorter or wider
    tables a budget would go into too few rows. The threshold was set on the tuning half of the
    tables in docs/results/money.md, with a few seeds: it is a choice, not yet a finding.

    **Fees.** With group or visit prices, ``per="price"`` draws rows, fees and cells together. Each weight,
    score to the power, is divided by an exponential waiting time that is the same for cells that share a fee.
    Then bundles (see `cellworth.select.bundles`) are bought by decreasing ratio of this drawn worth to price,
    fees included. Once a fee is paid, other cells of the row or group compete at the price that remains. From
    the first bundle that does not fit, cells are bought one by one.

    If all cells of a row share, it is opened at the rate of its best bundle's weight per price. By time t, a
    cell is bought with probability :math:`1 - \exp(-\rho t)`, where :math:`\rho` is the weight per price of
    its bundle; without fees, each cell is its own bundle. The sets bought in a row are nested. The cost of a
    row is submodular, so no other joint distribution with these probabilities costs less on average.

    **Labels.** If labels are on offer, the cells of a row without one that bring less for the money than the
    label pay only together with it, and are bought after it, or not at all. Chance would spend money on
    labels and cells in proportion to what they are worth in all, however little a label at a hundred times
    the price brings for the money. So a batch of other cells is drawn first, to see what the money is worth
    there; labels, and cells together with them, are bought before that batch as far as they bring more for
    the money, the best first, and after it otherwise. No chance is needed among labels: what is learnt from a
    row does not crowd onto a column.

    Sharing a waiting time pays only if the fee matters: a cell whose own price is above the fee shares with
    probability fee / own price. As fees fall to 0, the draw becomes the one without fees. Crowding multiplies
    the drawn worths themselves here.

    O(N + k log k) for k cells out of N; with spread O(N + k p log(k p)) for p columns, and with fees a few
    passes over the n rows more, O(n p + n log n + k p log(k p)).

    References
    ----------
    T. Yellott, "The relationship between Luce's choice axiom, Thurstone's theory of comparative judgment,
    and the double exponential distribution", Journal of Mathematical Psychology 15 (1977).

    L. Lovász, "Submodular functions and convexity", Mathematical Programming: The State of the Art (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.prices import PriceList
    >>> from cellworth.select import Draw, Offer
    >>> none = np.full(2, -1), np.zeros(2), np.zeros(0, dtype=bool)
    >>> holes = np.ones((500, 2), dtype=bool)
    >>> offer = Offer(np.tile([3.0, 1.0], (500, 1)), holes, PriceList(np.ones((500, 2)), *none), ~holes)
    >>> batch = Draw().select(offer, count=100, rng=np.random.default_rng(0))
    >>> np.bincount(batch.cells[:, 1])  # about 3 to 1
    array([70, 30])
    """

    def __init__(
        self,
        per: Literal["score", "price"] = "score",
        power: float = 1.0,
        per_row: int | None = None,
        crowding: float = 1.0,
        by: Literal["cell", "row", "auto"] = "cell",
    ) -> None:
        check_choice("per", per, ("score", "price"))
        check_choice("by", by, ("cell", "row", "auto"))
        if not 0 <= as_number(power) < np.inf:
            raise ParameterError(f"power must be a number, 0 or more; got {power!r}")
        self._spread = Spread(per_row, crowding)
        self.per = per
        self.power = power
        self.by = by
        self.per_row = per_row
        self.crowding = crowding

    def __repr__(self) -> str:
        return (
            f"Draw(per={self.per!r}, power={self.power}, per_row={self.per_row}, "
            f"crowding={self.crowding}, by={self.by!r})"
        )

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Draw at most ``count`` cells that cost at most ``budget``."""
        selection = self._select(self._drawn(offer, rng), budget, count)
        return replace(selection, drawn="row" if self._by_row(offer) else "cell")

    def _select(self, offer: Offer, budget: float | None, count: int | None) -> Selection:
        """Choose cells by what has been drawn for them."""
        greedy, key, worthless = self._keys(offer, budget, count)
        if offer.prices.labels and (offer.available[:, -1] & (offer.scores[:, -1] > 0)).any():
            return self._with_labels(LabelsAndCells(greedy, key, worthless, per_price=self.per == "price"))
        if self._shares_fees(offer):
            return self._buy_bundles(greedy, key, worthless)
        if self.per == "price":
            key -= _logarithm(greedy.prices)
        slower = self.crowding**self.power

        def crowded(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
            # A purchase at time t scales the rate of a clock due at a by c, so it is due at t + (a - t) / c.
            now = np.where(worthless[cells] == worthless[last], key[last], np.inf)
            elapsed = np.exp(np.minimum(0.0, key[cells] - now))  # t / a; at most 1
            key[cells] += np.log(slower) - np.log1p(-(1 - slower) * elapsed)
            return key[cells]

        return greedy.run(key, crowded if slower < 1 else None, worthless)

    def alternatives(self) -> tuple[Draw, ...]:
        """Return itself, or what ``by="auto"`` may turn out to be; see `BlockSelector`."""
        if self.by != "auto":
            return (self,)
        return tuple(Draw(self.per, self.power, self.per_row, self.crowding, by) for by in ("row", "cell"))

    def chosen(self, totals: OfferTotals) -> int:
        """Return which of the alternatives ``by="auto"`` is, given what is on offer in the table."""
        return 0 if finishes_rows(totals) else 1

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the rows (k,) that a batch could touch; see `BlockSelector`. The offer has its noise."""
        greedy, key, worthless = self._keys(offer, budget, count)
        if not len(key):
            return np.zeros(0, dtype=np.intp)
        if not offer.prices.labels:
            return self._in_reach(greedy, key, worthless)
        # Whether any label is worth something, the other parts of the table may decide.
        mixed = LabelsAndCells(greedy, key, worthless, per_price=self.per == "price")
        return np.union1d(self._in_reach(greedy, key, worthless), mixed.rows_in_reach())

    def _in_reach(self, greedy: GreedyPurchase, key: Float64Array, worthless: BoolArray) -> IntArray:
        """Return the rows that a draw could touch in which no label comes first."""
        offer = greedy.offer
        if self._shares_fees(offer):
            best = greedy.rows[[int(np.argmax(np.where(worthless, -np.inf, key)))]]  # the unit of worths
            bundles = self._bundles(greedy, key, worthless).rows_in_reach(greedy.budget)
            alone = greedy.rows_in_reach(key - np.log(greedy.prices), worthless)
            return np.unique(np.concatenate([best, bundles, alone]))
        priority = key - _logarithm(greedy.prices) if self.per == "price" else key
        return greedy.rows_in_reach(priority, worthless)

    def noise(self, offer: Offer, numbers: TableNumbers) -> Float64Array:
        """Return the Gumbel variables of the cells (n, p); 0 where nothing is on offer."""
        drawn = np.zeros(offer.scores.shape)
        if self._by_row(offer):
            return drawn + numbers.for_rows("gumbel")
        drawn[offer.available] = numbers.for_cells("gumbel")
        if self._shares_fees(offer):
            drawn = share_clocks(offer, drawn, numbers)
        return drawn

    def _drawn(self, offer: Offer, rng: np.random.Generator) -> Offer:
        """Return the offer with its noise, drawn now unless it has been."""
        if offer.noise is not None:
            return offer
        return replace(offer, noise=self.noise(offer, TableNumbers(rng, offer.available)))

    def _by_row(self, offer: Offer) -> bool:
        return finishes_rows(offer.totals) if self.by == "auto" else self.by == "row"

    def _shares_fees(self, offer: Offer) -> bool:
        return self.per == "price" and not offer.prices.additive

    def _keys(
        self, offer: Offer, budget: float | None, count: int | None
    ) -> tuple[GreedyPurchase, Float64Array, BoolArray]:
        """Return an empty batch, the keys (N,) of the cells on offer, and which are worthless."""
        assert offer.noise is not None
        greedy = GreedyPurchase(offer, self._spread, *check_limits(budget, count), label_first=True)
        worthless = greedy.scores == 0
        key = np.log(np.where(worthless, 1.0, greedy.scores))
        if self.power != 1:
            key *= self.power
        key += offer.noise.ravel()[greedy.places]
        return greedy, key, worthless

    def _with_labels(self, mixed: LabelsAndCells) -> Selection:
        """Buy labels, and cells together with them, before or after a draw of the other cells."""
        greedy, key = mixed.greedy, mixed.priority()

        def renewed(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
            return key[cells] + np.log(greedy.prices[cells]) - np.log(prices)

        return greedy.run(key, None if greedy.offer.prices.additive else renewed, mixed.worthless)

    def _bundles(self, greedy: GreedyPurchase, key: Float64Array, worthless: BoolArray) -> Bundles:
        """Return the bundles of the drawn worths, exp(key)."""
        offer = greedy.offer
        slower = max(self.crowding**self.power, float(np.finfo(float).tiny))
        worthy = ~worthless & (greedy.prices <= greedy.left)
        worths = np.zeros(offer.scores.shape)
        worths.flat[greedy.places[worthy]] = np.exp(key[worthy] - key[worthy].max(initial=-np.inf))
        wanted = worths > 0  # not those lost to underflow, which may still be bought one by one
        drawn = Offer(worths, wanted, offer.prices, offer.before)
        return Bundles(drawn, wanted, Spread(self.per_row, slower))

    def _buy_bundles(self, greedy: GreedyPurchase, key: Float64Array, worthless: BoolArray) -> Selection:
        """Buy the bundles with the highest drawn worth, exp(key), per price; then single cells."""
        slower = max(self.crowding**self.power, float(np.finfo(float).tiny))
        bundles = self._bundles(greedy, key, worthless)
        chosen, _ = buy_bundles(bundles, greedy.budget, greedy.count, skip=False)

        def renewed(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
            return key[cells] + taken * np.log(slower) - np.log(prices)

        begin = np.searchsorted(greedy.places, chosen).tolist()
        return greedy.run(key - np.log(greedy.prices), renewed, worthless, begin)


def _logarithm(prices: Float64Array) -> Float64Array | float:
    """Return the logarithms of prices (N,), or that of all of them if there is but one price."""
    if len(prices) and (prices == prices[0]).all():
        return float(np.log(prices[0]))
    return np.asarray(np.log(prices))


def finishes_rows(totals: OfferTotals) -> bool:
    """Return whether few enough columns count that rows should be finished; labels do not count."""
    cells = slice(0, None if totals.beside_labels is None else -1)
    on_offer, sums = totals.cells[cells], totals.worth[cells]
    means = sums[on_offer > 0] / on_offer[on_offer > 0]
    if not means.any():
        return False
    means /= means.max()  # squares of very small scores would vanish
    counting = means.sum() ** 2 / np.square(means).sum()
    return bool(counting**2 <= ENOUGH_CELLS * totals.rows * len(totals.cells))


def share_clocks(offer: Offer, noise: Float64Array, numbers: TableNumbers) -> Float64Array:
    """Return the noise of the cells (n, p), made the same for cells that share a fee; O(n p).

    A cell takes on the noise of its group, if a fee is due there, with probability fee / own price. A group,
    or a cell on its own, takes on the noise of its row with probability visit / price without the visit. A
    ratio above 1 means always.
    """
    prices, width = offer.prices, offer.scores.shape[1]
    fees = offer.opening_fees()
    row = numbers.for_rows("gumbel")
    alone = prices.own + fees
    shared = np.where(numbers.for_rows("random", width) * alone < prices.visit, row, noise)
    for group in range(len(prices.lasting)):
        columns = np.flatnonzero(prices.group_of == group)
        if not columns.size:
            continue
        cheapest = np.where(offer.available, alone, np.inf)[:, columns].min(axis=1, keepdims=True)
        of_row = numbers.for_rows("random") * cheapest < prices.visit
        clock = np.where(of_row, row, numbers.for_rows("gumbel"))
        joins = numbers.for_rows("random", len(columns)) * prices.own[:, columns] < fees[:, columns]
        shared[:, columns] = np.where(joins, clock, shared[:, columns])
    return shared
