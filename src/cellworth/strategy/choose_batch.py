"""Choose batches: run a strategy through its rounds, and spend the money in one function.

Everything that buys goes through `choose`: `advise`, the simulator, campaigns, the command line and the web
pages. Given the same table, prices, strategy, seed and limits, they all return the same list.

Randomness: round r (0, 1, ...) uses the generator ``default_rng([seed, r])``. The scorer draws from it first,
and the round's first batch continues where scoring stopped. The k-th batch after that (k = 1, 2, ...) uses
``default_rng([seed, r, k])``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete.labels import tell_target
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.progress import portion
from cellworth.score import Round
from cellworth.score.scorer import Memoryless
from cellworth.select.selector import Offer, Selection, Selector
from cellworth.strategy.registry import Strategy
from cellworth.table import ColumnLayout, Table
from cellworth.table.target import LabelKind, label_kind_of

FIRST_CELLS = 10
"""How many cells of a column that nobody has measured yet are bought before all others."""
AHEAD = 1000.0
"""How many times the worth of the best other cell they are worth."""


@dataclass(frozen=True, eq=False)
class ScoredRound:
    """A round whose cells are scored: everything needed to choose its batches.

    Attributes
    ----------
    number : int
        0, 1, ...
    scores : (n, p) array
        The worth of each cell, 0 if known; if labels have a price and the strategy buys them, they are the
        last column.
    seed : int
        The adviser's seed.
    generator : dict
        The state of the round's generator after scoring: numbers and strings.
    """

    number: int
    scores: Float64Array
    seed: int
    generator: dict[str, Any] = field(repr=False)

    def rng(self, asks_before: int) -> np.random.Generator:
        """Return the generator for the batch that comes after ``asks_before`` others in this round."""
        return batch_generator(self.seed, self.number, asks_before, self.generator)


def batch_generator(
    seed: int, number: int, asks_before: int, after_scoring: dict[str, Any]
) -> np.random.Generator:
    """Return the generator for the batch that comes after ``asks_before`` others in round ``number``."""
    if asks_before:
        return np.random.default_rng([seed, number, asks_before])
    generator = np.random.default_rng()
    generator.bit_generator.state = after_scoring
    return generator


def choose(
    selector: Selector,
    scored: ScoredRound,
    prices: PriceList,
    *,
    available: BoolArray,
    before: BoolArray,
    budget: float | None = None,
    count: int | None = None,
    asks_before: int = 0,
    refused_labels: BoolArray | None = None,
) -> Selection:
    """Choose the cells to buy; every batch is made here.

    Parameters
    ----------
    selector : Selector
    scored : ScoredRound
        Not modified: the same call returns the same batch again.
    prices : PriceList
        For (n, p) cells. Rows added since the round come last; none of them is chosen. Nor is a label, if the
        round has no scores of labels.
    available : (n, p) array of bool
        The cells that can be bought.
    before : (n, p) array of bool
        The cells known before this batch; they may have opened price groups.
    budget : float, optional
        The most money to spend. Give this, ``count`` or both; with both, both limits apply.
    count : int, optional
        The most cells to buy.
    asks_before : int, default=0
        How many batches have already been chosen from this round's scores.
    refused_labels : (n,) array of bool, optional
        Rows whose label cannot be obtained: their cells are bought after all others.
    """
    scores, available = as_wide_as(prices, scored.scores, available)
    n, known_rows = len(available), len(scores)
    if n > known_rows:
        scores = np.vstack([scores, np.zeros((n - known_rows, scores.shape[1]))])
        available[known_rows:] = False
    if prices.labels:
        if refused_labels is not None and refused_labels.any():
            scores = np.where(refused_labels[:, np.newaxis], 0.0, scores)
        if WorthSomething.of(scores, available).labels_alone:
            available[:, :-1] = False  # the strategy buys labels only
    offer = Offer(scores, available, prices, before)
    return selector.select(offer, budget=budget, count=count, rng=scored.rng(asks_before))


@dataclass(frozen=True)
class WorthSomething:
    """Whether any cell on offer is worth something, and any label; parts of a table can be added."""

    cells: bool
    labels: bool

    @classmethod
    def of(cls, scores: Float64Array, available: BoolArray) -> WorthSomething:
        """Look at the scores (n, p) of what is available; the last column is that of the labels."""
        worthy = available & (scores > 0)
        return cls(bool(worthy[:, :-1].any()), bool(worthy[:, -1].any()))

    @property
    def labels_alone(self) -> bool:
        """Whether labels alone are worth something: then no cell is bought."""
        return self.labels and not self.cells

    def added(self, other: WorthSomething) -> WorthSomething:
        """Return that of both parts."""
        return WorthSomething(self.cells or other.cells, self.labels or other.labels)


def check_sale(strategy: Strategy, scorer: Any, *, sells_labels: bool) -> None:
    """Raise ParameterError if a scorer buys labels only, and they have no price."""
    if not sells_labels and getattr(scorer, "labels_only", False):
        raise ParameterError(
            f"strategy {strategy.name!r} buys labels only, but they have no price; give the column "
            "of the target a price, or choose another strategy"
        )


def as_wide_as(
    prices: PriceList, scores: Float64Array, available: BoolArray
) -> tuple[Float64Array, BoolArray]:
    """Return scores with as many columns as the prices, and a copy of what is available.

    Labels may have got a price since, or lost it; those without a score are not available.
    """
    width, available = prices.own.shape[1], available.copy()
    if scores.shape[1] < width:
        available[:, scores.shape[1] :] = False
        scores = np.column_stack([scores, np.zeros((len(scores), width - scores.shape[1]))])
    return scores[:, :width], available


class Adviser:
    """Runs a strategy through the rounds of one campaign or simulation.

    A round calls `complete` and, to buy something, `score` once and `choose` one or more times. Completers
    that can start from their last fit do so. The same calls with the same seed give the same batches.

    Parameters
    ----------
    strategy : Strategy
        Settled; its parts are copied.
    layout : ColumnLayout
        The cell column that each column of X belongs to; a category is bought as one cell.
    target : {"classes", "number"} or None
        What the labels are.
    seed : int

    Attributes
    ----------
    completer : estimator
        Fitted in the last round.
    rounds : int
        How many rounds have been completed so far.
    scored : ScoredRound or None
        The last round, once it has been scored.
    """

    def __init__(
        self, strategy: Strategy, *, layout: ColumnLayout, target: LabelKind | None, seed: int = 0
    ) -> None:
        if strategy.is_open:
            raise ParameterError(
                f"strategy {strategy.name!r} chooses its parts on a table; call its settled(task) first"
            )
        self.strategy = strategy
        self._target = target
        self._seed = seed
        self.rounds = 0
        self.begin_anew(layout)
        self._unscored: Round | None = None
        self.scored: ScoredRound | None = None

    @classmethod
    def of(cls, strategy: Strategy, table: Table, *, seed: int = 0) -> Adviser:
        """Return an adviser for tables with the same columns and target as this one."""
        return cls(
            strategy,
            layout=table.layout,
            target=label_kind_of(table.target),
            seed=seed,
        )

    def run(self, table: Table, prices: Prices) -> None:
        """Start a round on a table, anew if its columns changed, and score its cells at these prices."""
        if table.columns != self._layout.columns:
            self.begin_anew(table.layout)
        encoded = table.encode(prior=True)
        with portion(0.0, 0.8):
            self.complete(encoded.X, table.y, encoded.unmeasured)
        with portion(0.8, 1.0):
            self.score(prices.on(table))

    def complete(
        self, X: Float64Array, y: Float64Array | None, unmeasured: BoolArray | None = None
    ) -> Float64Array:
        """Start a round: fill the encoded table X (n, d), with labels y (n,), and return it filled.

        Cells of ``unmeasured`` columns (p,) are scored by `explored`.
        """
        self.completer.fit(X, y)
        self._unmeasured = np.zeros(len(self._layout.columns), bool) if unmeasured is None else unmeasured
        rng = np.random.default_rng([self._seed, self.rounds])
        self._unscored, self.scored = Round(X, y, self._target, self.completer, rng), None
        self.rounds += 1
        return self._unscored.completed

    def begin_anew(self, layout: ColumnLayout) -> None:
        """Forget all rounds but their number; tables have these columns from now on."""
        self._layout = layout
        self.completer: Any = warm_completer(self.strategy, self._target)
        self._scorer = copy.deepcopy(self.strategy.scorer)

    @property
    def remembers(self) -> bool:
        """Whether a round may depend on those before it, through the completer or the scorer."""
        return "warm_start" in self.completer.get_params() or not isinstance(self._scorer, Memoryless)

    def skip(self, rounds: int) -> None:
        """Leave out some rounds; only if the adviser does not remember them."""
        self.rounds += rounds

    def score(self, prices: PriceList | None = None) -> Float64Array:
        """Return the worth of each cell (n, p) in this round, 0 if known; call it once per round.

        If labels have a price and the scorer buys them, their worth is the last column. Cells that pay only
        together are weighed by their prices, by default all the same. The scores are not divided by them.
        """
        if self._unscored is None:
            raise ParameterError("nothing to score; call complete(X, y) first in each round")
        this_round, width = self._unscored, self._layout.width
        if prices is not None:
            of_cells = self._layout.share_by_column(prices.of_cells().alone)
            of_labels = prices.alone[:, -1] if prices.labels else None
            this_round = replace(this_round, prices=of_cells, label_prices=of_labels)
        check_sale(self.strategy, self._scorer, sells_labels=this_round.label_prices is not None)
        found = self._scorer.score(this_round)
        scores = self._layout.sum_by_cell(found[:, :width])
        unmeasured = self._unmeasured
        if this_round.label_prices is not None and found.shape[1] > width:
            scores = np.column_stack([scores, found[:, width]])
            unmeasured = np.append(unmeasured, False)
        scores = explored(scores, unmeasured, self._unscored.rng)
        state = dict(self._unscored.rng.bit_generator.state)
        self._unscored, self.scored = None, ScoredRound(self.rounds - 1, scores, self._seed, state)
        return scores

    def choose(
        self,
        prices: PriceList,
        *,
        available: BoolArray,
        before: BoolArray,
        budget: float | None = None,
        count: int | None = None,
        asks_before: int = 0,
        refused_labels: BoolArray | None = None,
    ) -> Selection:
        """Return the batch that the strategy would buy, given this round's scores; see `choose`."""
        if self.scored is None:
            raise ParameterError("nothing to choose from; call complete(X, y) and score() in each round")
        return choose(
            self.strategy.selector,
            self.scored,
            prices,
            available=available,
            before=before,
            budget=budget,
            count=count,
            asks_before=asks_before,
            refused_labels=refused_labels,
        )

    def state(self) -> dict[str, Any]:
        """Return everything later batches depend on: rounds done, completer, scorer and scored round."""
        scored = self.scored
        return {
            "rounds": self.rounds,
            "layout": self._layout,
            "completer": copy.deepcopy(self.completer),
            "scorer": self._scorer.state(),
            "scores": None if scored is None else scored.scores,
            "generator": None if scored is None else scored.generator,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state: the next batches are those its owner would have chosen."""
        self.rounds, self._layout = state["rounds"], state["layout"]
        self.completer = copy.deepcopy(state["completer"])
        self._scorer = copy.deepcopy(self.strategy.scorer)
        self._scorer.restore(state["scorer"])
        self._unscored, self.scored = None, None
        if state["scores"] is not None:
            self.scored = ScoredRound(self.rounds - 1, state["scores"], self._seed, state["generator"])

    def to_plain(self) -> dict[str, Any] | None:
        """Return the state as arrays and JSON; None if the completer cannot say what it has fitted."""
        if not (hasattr(self.completer, "fitted_state") and hasattr(self.completer, "restore_fitted")):
            return None
        plain = self.state() | {"completer": self.completer.fitted_state()}
        del plain["layout"]
        return plain

    def resume(self, plain: dict[str, Any], table: Callable[[], Table], prices: Prices) -> None:
        """Resume from `to_plain`; the last round was on a table with the columns that are expected now."""
        completer = self.completer
        if not hasattr(completer, "restore_fitted"):
            raise ParameterError(f"{type(completer).__name__} cannot go on from what another has fitted")
        completer.restore_fitted(plain["completer"])
        self.restore({**plain, "layout": self._layout, "completer": completer})

    def misfit(self, p: int, least_rows: int, most_rows: int, *, labels: bool) -> str | None:
        """Say why the state cannot be that of a table with p columns and so many rows; None if it can."""
        scored, completed = self.scored, np.asarray(self.completer.completed_)
        assert scored is not None
        rows, width = scored.scores.shape
        fits = (width == p or (width == p + 1 and labels)) and least_rows <= rows <= most_rows
        if not fits or not np.isfinite(scored.scores).all() or (scored.scores < 0).any():
            return "its scores do not fit this table"
        if completed.shape != (rows, self._layout.width) or not np.isfinite(completed).all():
            return "its completed table does not fit this table"
        return None


def warm_completer(strategy: Strategy, target: LabelKind | None) -> Any:
    """Return a copy of a strategy's completer that starts from its last fit, if it can."""
    completer = clone(strategy.completer)
    tell_target(completer, target)
    if "warm_start" in completer.get_params():
        completer.set_params(warm_start=True)
    return completer


def explored(scores: Float64Array, unmeasured: BoolArray, rng: np.random.Generator) -> Float64Array:
    """Return scores (n, p) in which `FIRST_CELLS` cells of each unmeasured column come first.

    No model can tell what a column is worth before it has seen some of it. The cells are in rows drawn at
    random; all others of the column are worth as much as the average hole elsewhere.

    Parameters
    ----------
    scores : (n, p) array
        The worth of each cell; 0 for known cells.
    unmeasured : (p,) array of bool
        Columns without a known value.
    rng : Generator
        Drawn from only if there are such columns.
    """
    if not unmeasured.any():
        return scores
    others = scores[:, ~unmeasured]
    worth = others[others > 0]
    average, best = (float(worth.mean()), float(worth.max())) if worth.size else (1.0, 1.0)
    scores = scores.copy()
    scores[:, unmeasured] = average
    for j in np.flatnonzero(unmeasured):
        scores[rng.permutation(len(scores))[:FIRST_CELLS], j] = AHEAD * best
    return scores
