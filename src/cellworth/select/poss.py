"""Pareto optimisation of score and cost: the paper's second way to spend a budget."""

from __future__ import annotations

import math
import sys
import time
import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, Int64Array, IntArray
from cellworth.complete.inputs import check_choice
from cellworth.errors import ParameterError
from cellworth.prices.money import MoneyUnits
from cellworth.progress import ProgressLine
from cellworth.select.greedy import Ratio, Top
from cellworth.select.knapsack_solver import affordable
from cellworth.select.pareto import PARTS, ParetoArchive, Problem, Scratch, compiled, evolve
from cellworth.select.row_spread import Spread
from cellworth.select.selector import Front, Offer, Selection, check_limits, positive_integer, settle

SCORE_BITS = 60  # the sum of all scores stays below 2**60
CHUNK = 1 << 16  # iterations to draw random numbers for at once
MOST_ITERATIONS = 200_000
"""A tenth of a second where numba compiles the loop, two seconds in plain Python."""
PAPER_ITERATIONS = 2_000_000
MOST_CANDIDATES = 20_000
"""Of more cells on offer, the search takes half as many with the highest scores, and with those per price."""
PATIENCE = 2.0  # seconds without a progress bar
PREFIXES = 128  # archived at the start; a set takes memory in proportion to its cells

Draws = tuple[Any, Int64Array, Int64Array]  # choice, starts and flips of `evolve`


class Poss:
    r"""Search for batches with low cost and high score by Pareto optimisation (POSS).

    Minimises two objectives over sets S of cells, for a budget b,

    .. math:: J_1(S) = -\sum_{(i, j) \in S} I_{ij} \quad\text{and}\quad J_2(S) = \text{the cost of } S,

    with :math:`J_1 = \infty` for the empty set and for costs of 2b or more. Each iteration takes a set from
    the archive at random, flips each of the N candidates with probability 1/N, and archives the result unless
    an archived set is better in one objective and no worse in the other; sets that it equals or beats in both
    are removed. Finally, the archived set with the highest score within the budget is chosen.

    For additive prices without spread, `Knapsack` finds the best batch directly, and no search can do better.
    This search is the paper's. It handles group prices, visit prices and spread directly, and gives the
    whole trade-off between score and cost as ``Selection.front``.

    Parameters
    ----------
    iterations : int, "paper" or None, default=None
        "paper": :math:`2 e k^2 N`, the number for which the POSS paper has its guarantee, but at most
        2,000,000; k is the largest number of cells that the limits allow. None: the same, but at most
        200,000. On a terminal, a search of more than two seconds shows its progress.
    per_row : int or None, default=None
        Maximum number of cells per row in every archived set; None sets no limit.
    crowding : float, default=1.0
        Above 0 and at most 1: the r-th best cell of a row counts ``crowding**(r - 1)`` times its score.
    start : {"ratio", "empty"}, default="ratio"
        What the archive starts with. "ratio": the empty set, the batch of `Ratio`, and batches of growing
        cost in its order, so the result is never below `Ratio`'s. "empty": the empty set alone, as published;
        a RuntimeWarning says by how much the result is below `Ratio`'s, as it usually is on large tables.

    Notes
    -----
    Candidates are the available cells with a score above 0 that cost less than 2b. With a count and no
    budget, every cell costs 1; with both, no archived set has more than ``count`` cells.

    An archived set takes memory in proportion to its size, not to N. An iteration takes
    O(log(archive) + log(set)); one that enters the archive also copies a set. Costs and scores are counted in
    whole units, so that rounding errors do not accumulate. ``pip install "cellworth[fast]"`` lets numba
    compile the loop; without it, the result is bitwise the same, but about 30 times slower.

    References
    ----------
    C. Qian, Y. Yu and Z.-H. Zhou, "Subset selection by Pareto optimization", NIPS 28 (2015).
    S.-J. Huang et al., "Active feature acquisition with supervised matrix completion", KDD (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.prices import PriceList
    >>> from cellworth.select import Offer, Poss
    >>> none = np.full(3, -1), np.zeros(3), np.zeros(0, dtype=bool)
    >>> prices = PriceList(np.tile([1.0, 2.0, 5.0], (2, 1)), *none)
    >>> scores = np.array([[3.0, 4.0, 9.0], [2.0, 8.0, 1.0]])
    >>> holes = np.ones((2, 3), dtype=bool)
    >>> batch = Poss().select(Offer(scores, holes, prices, ~holes), budget=3, rng=np.random.default_rng(0))
    >>> batch.cells.tolist(), batch.score
    ([[1, 1], [0, 0]], 11.0)
    >>> batch.front.costs, batch.front.scores
    (array([0., 1., 2., 3., 4., 5.]), array([ 0.,  3.,  8., 11., 13., 15.]))
    """

    def __init__(
        self,
        iterations: int | Literal["paper"] | None = None,
        per_row: int | None = None,
        crowding: float = 1.0,
        start: Literal["ratio", "empty"] = "ratio",
    ) -> None:
        if isinstance(iterations, str) and iterations != "paper":
            raise ParameterError(f"iterations must be a number, 'paper' or None; got {iterations!r}")
        if iterations is not None and not isinstance(iterations, str):
            positive_integer("iterations", iterations)
        check_choice("start", start, ("ratio", "empty"))
        self._spread = Spread(per_row, crowding)
        self.start = start
        self.iterations = iterations
        self.per_row = per_row
        self.crowding = crowding

    def __repr__(self) -> str:
        settings = f"iterations={self.iterations!r}, per_row={self.per_row}, crowding={self.crowding}"
        return f"Poss({settings}, start={self.start!r})"

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Choose at most ``count`` cells that cost at most ``budget``."""
        money, most = check_limits(budget, count)
        alone = offer.prices.marginal(offer.before)
        wanted = self._candidates(offer, alone)
        if offer.totals.cells.sum() > MOST_CANDIDATES:
            offer = replace(offer, available=wanted, whole=None)
        # A set never costs more than its cells bought separately; twice that stands in for no limit.
        money = min(money, 2 * float(alone[wanted].sum()))
        places = np.flatnonzero(wanted & (alone < 2 * money))
        if not len(places) or most == 0:
            return settle(offer, places[:0], money, front=Front(np.zeros(1), np.zeros(1)))
        if budget is None:
            cells_at_most = int(min(most, len(places)))
            units, most = MoneyUnits(cells_at_most, 2 * cells_at_most, 1.0, True), math.inf
            cells = CountedCells.of_equal_price(offer, places)
        else:
            units, cells = CountedCells.of(offer, places, money)
        score, shift = whole_scores(offer.scores.flat[places])
        problem = cells.problem(score, units.double, most, self._spread)
        iterations = self.iterations
        if iterations is None or isinstance(iterations, str):
            limit = MOST_ITERATIONS if iterations is None else PAPER_ITERATIONS
            iterations = default_iterations(problem, units.budget, limit)
        greedy, order = self._greedy(offer, units, most, places, count if budget is None else None)
        archive = search(problem, iterations, rng, first=_steps(greedy, order, self.start))
        chosen = int(np.searchsorted(archive.cost[: archive.used[0]], units.budget, side="right")) - 1
        members = archive.members[archive.begin[chosen] :][: archive.length[chosen]]
        best_first = members[np.argsort(-score[members], kind="stable")]
        found, reached = float(score[members].sum()), float(score[greedy].sum())
        if self.start == "empty" and self.crowding == 1 and found < reached:
            warnings.warn(
                f"the search found a batch with {found / reached:.0%} of the score that Ratio gets for the "
                "same money; use start='ratio', more iterations, or Ratio or Knapsack.",
                RuntimeWarning,
                stacklevel=2,
            )
        return settle(offer, places[best_first], money, front=_front(archive, units, shift))

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the rows (k,) of the best candidates; see `BlockSelector`."""
        check_limits(budget, count)
        return np.flatnonzero(self._candidates(offer, offer.prices.marginal(offer.before)).any(axis=1))

    def _candidates(self, offer: Offer, alone: Float64Array) -> BoolArray:
        """Return the cells (n, p) to search among: all that are worth something, or the best of very many."""
        wanted = offer.available & (offer.scores > 0)
        if offer.totals.cells.sum() <= MOST_CANDIDATES:
            return wanted
        places = np.flatnonzero(wanted)
        scores = offer.scores.ravel()[places]
        best = [
            np.argsort(-each, kind="stable")[: MOST_CANDIDATES // 2]
            for each in (scores, scores / alone.ravel()[places])
        ]
        few = np.zeros(wanted.shape, dtype=bool)
        few.flat[places[np.concatenate(best)]] = True
        return few

    def _greedy(
        self, offer: Offer, units: MoneyUnits, most: float, places: IntArray, count: int | None
    ) -> tuple[IntArray, IntArray]:
        """Return the candidates that `Ratio` buys with the budget, and those of nearly twice it, in order.

        With a ``count`` alone, cells have no price, and the highest scores take their place.
        """
        settings: dict[str, Any] = {"per_row": self.per_row, "crowding": self.crowding}
        none: Any = None  # neither draws
        if count is not None:
            limits: Any = ({"count": units.budget}, {"count": max(1, units.double - 1)})
            batches = [Top(**settings).select(offer, rng=none, **limit) for limit in limits]
        else:
            whole = int(most) if most < math.inf else None
            twice = np.array([units.budget, max(units.budget, units.double - 1)])
            batches = [
                Ratio(**settings).select(offer, budget=money, count=whole, rng=none)
                for money in units.money(twice).tolist()
            ]
        flat = [batch.cells[:, 0] * offer.scores.shape[1] + batch.cells[:, 1] for batch in batches]
        candidates = [cells[np.isin(cells, places)] for cells in flat]
        return np.searchsorted(places, candidates[0]), np.searchsorted(places, candidates[1])


def _steps(greedy: IntArray, order: IntArray, start: str) -> Draws | None:
    """Return the iterations that archive prefixes of an order, then a batch; see `evolve`.

    The first ones add the next cells to the dearest archived set; the last flips the batch in the empty set.
    """
    if start == "empty" or not len(order):
        return None
    parts = [*np.array_split(order, min(len(order), PREFIXES)), greedy]
    choice = np.full(len(parts), 1 - 2.0**-20)  # the last of fewer than a million sets
    choice[-1] = 0.0
    starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return choice, starts, np.concatenate([np.sort(part) for part in parts]).astype(np.int64)


def default_iterations(problem: Problem, budget: int, limit: int = MOST_ITERATIONS) -> int:
    """Return the POSS paper's number of iterations, but at most ``limit``."""
    size = max(1, min(affordable(np.sort(problem.own), budget), problem.most))
    return min(limit, math.ceil(2 * math.e * size**2 * len(problem.own)))


def search(
    problem: Problem,
    iterations: int,
    rng: np.random.Generator,
    *,
    fast: bool = True,
    first: Draws | None = None,
) -> ParetoArchive:
    """Run the iterations from the empty set and return the archive; a long run on a terminal shows a bar.

    The iterations of ``first`` come before those that are drawn.
    """
    loop = compiled(evolve, *PARTS) if fast else evolve
    begun_at, chunks = time.perf_counter(), -(-iterations // CHUNK)
    line = ProgressLine("searching batches", chunks, begun=begun_at) if sys.stderr.isatty() else None
    shown = False
    archive, scratch = empty_archive(), scratch_for(problem)
    for begun in [*([] if first is None else [-CHUNK]), *range(0, iterations, CHUNK)]:
        drawn = begun >= 0 or first is None
        draws = _draw(len(problem.own), min(CHUNK, iterations - begun), rng) if drawn else first
        assert draws is not None
        done = 0
        while done < len(draws[0]):
            done = loop(problem, archive, scratch, *draws, done)
            if done < len(draws[0]):
                archive = _with_room(archive, len(problem.own))
        shown |= time.perf_counter() - begun_at > PATIENCE
        if line is not None and shown:
            line.show(begun // CHUNK + 1)
    return archive


def _draw(n: int, iterations: int, rng: np.random.Generator) -> Draws:
    """Return, for each iteration, a number in [0, 1) and Binomial(n, 1/n) distinct candidates, sorted."""
    choice = rng.random(iterations)
    sizes = rng.binomial(n, 1 / n, size=iterations)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    iteration = np.repeat(np.arange(iterations), sizes)
    keys = np.sort(iteration * n + rng.integers(n, size=starts[-1]))
    flips = keys - iteration * n
    for t in np.unique(iteration[1:][keys[1:] == keys[:-1]]):  # rare: some candidate was drawn twice
        flips[starts[t] : starts[t + 1]] = np.sort(rng.choice(n, size=sizes[t], replace=False))
    return choice, starts, flips


def empty_archive() -> ParetoArchive:
    """Return an archive with only the empty set."""
    arrays = [np.zeros(1 << 10, dtype=np.int64) for _ in range(4)]
    cost, value, begin, length = arrays
    archive = ParetoArchive(cost, value, begin, length, np.zeros(1 << 14, dtype=np.int32), np.array([1, 0]))
    archive.value[0] = -1  # the empty set: worth less than any other
    return archive


def _with_room(archive: ParetoArchive, n: int) -> ParetoArchive:
    """Return the archive compacted, with room for more sets."""
    count = int(archive.used[0])
    columns = [archive.cost, archive.value, archive.begin, archive.length]
    if count == len(archive.cost):
        columns = [np.concatenate([column, np.zeros_like(column)]) for column in columns]
    length = columns[3][:count]
    ends = np.cumsum(length)
    live = int(ends[-1])
    longest = int(length.max()) + min(n, 1 << 10)
    members = np.empty(max(1 << 14, 4 * live, live + 2 * longest), dtype=np.int32)
    for i, (begin, size) in enumerate(zip(columns[2][:count].tolist(), length.tolist(), strict=True)):
        members[ends[i] - size : ends[i]] = archive.members[begin : begin + size]
    columns[2][:count] = ends - length
    cost, value, begins, lengths = columns
    return ParetoArchive(cost, value, begins, lengths, members, np.array([count, live]))


def scratch_for(problem: Problem) -> Scratch:
    """Return working memory for a problem."""
    width = int((problem.row_end - problem.row_begin).max())
    rooms = [np.zeros(width, dtype=np.int64) for _ in range(3)]
    before, after, scores = rooms
    return Scratch(before, after, scores, np.zeros(int(problem.group.max()) + 1, dtype=np.int64))


def _front(archive: ParetoArchive, units: MoneyUnits, shift: int) -> Front:
    count = int(archive.used[0])
    scores = np.ldexp(np.maximum(archive.value[:count], 0).astype(float), -shift)
    return Front(units.money(archive.cost[:count]), scores)


class CountedCells:
    """Candidates with prices in whole units."""

    def __init__(self, offer: Offer, places: IntArray, own: Int64Array, fee: Int64Array, visit: int) -> None:
        rows, columns = np.divmod(places, offer.scores.shape[1])
        self.rows, self.own, self.fee, self.visit = rows, own, fee, visit
        groups = len(offer.prices.lasting)
        # Cells without a group have no fee; they share a fee slot that stays 0.
        self.group = np.where(offer.prices.group_of < 0, groups, offer.prices.group_of)[columns]

    @classmethod
    def of_equal_price(cls, offer: Offer, places: IntArray) -> CountedCells:
        """Return candidates, given by flat cell numbers (N,), at a price of one unit each."""
        return cls(offer, places, np.ones(len(places), np.int64), np.zeros(len(places), np.int64), 0)

    @classmethod
    def of(cls, offer: Offer, places: IntArray, budget: float) -> tuple[MoneyUnits, CountedCells]:
        """Choose a unit of money; return it and the candidates at their prices."""
        prices = offer.prices
        own = prices.own.flat[places]
        fee = offer.opening_fees().flat[places]
        visit = np.array([prices.visit])
        units = MoneyUnits.of(budget, own, fee, visit)
        return units, cls(offer, places, units.count(own), units.count(fee), int(units.count(visit)[0]))

    def problem(self, score: Int64Array, limit: int, most: float, spread: Spread) -> Problem:
        """Return the problem of sets that cost less than ``limit`` units, given whole scores (N,)."""
        n = len(self.own)
        begin, end = (np.searchsorted(self.rows, self.rows, side=side) for side in ("left", "right"))
        width = int((end - begin).max())
        return Problem(
            own=self.own,
            score=score,
            fee=self.fee,
            group=self.group.astype(np.int64),
            row_begin=begin.astype(np.int64),
            row_end=end.astype(np.int64),
            discount=spread.crowding ** np.arange(width, dtype=float),
            visit=self.visit,
            per_row=int(min(spread.most, n)),
            most=int(min(most, n)),
            limit=limit,
            coupled=bool(self.visit > 0 or self.fee.any() or spread.active),
            crowded=spread.crowding < 1,
        )


def whole_scores(scores: Float64Array) -> tuple[Int64Array, int]:
    """Return scores (N,) as integer multiples of :math:`2^{-s}` that sum to less than 2**60, and s.

    Digits beyond that are rounded, but none of a score that is at least 2**(-6) / N of the largest.
    """
    shift = SCORE_BITS - math.frexp(float(scores.max(initial=0.0)))[1] - len(scores).bit_length()
    return np.rint(np.ldexp(scores, shift)).astype(np.int64), shift
