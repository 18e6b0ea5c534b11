"""Choose batches: run a strategy through its rounds, and spend the money in one function.

Everything that buys goes through `choose`: `advise`, the simulator, campaigns, the command line and the web
pages. Given the same table, prices, strategy, seed and limits, they all return the same list.

Randomness: round r (0, 1, ...) uses the generator ``default_rng([seed, r])``. The scorer draws from it first,
and the round's first batch continues where scoring stopped. The k-th batch after that (k = 1, 2, ...) uses
``default_rng([seed, r, k])``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import BoolArray, Float64Array
from cellworth.blocks.row_source import Source
from cellworth.errors import ParameterError
from cellworth.prices import AnyPrices, PriceList, Prices
from cellworth.score import Round
from cellworth.score.scorer import Memoryless
from cellworth.select.selector import Offer, Selection, Selector, check_limits
from cellworth.strategy.batch import Batch
from cellworth.strategy.block_batch import check_parts, choose_from_blocks
from cellworth.strategy.buying_task import BuyingTask
from cellworth.strategy.exploring import explored
from cellworth.strategy.reasons import Reasons
from cellworth.strategy.registry import Strategy, get
from cellworth.table import ColumnLayout, Table
from cellworth.table.any_table import AnyTable, as_table
from cellworth.table.frames import GivenFrame
from cellworth.table.target import LabelKind


@dataclass(frozen=True, eq=False)
class ScoredRound:
    """A round whose cells are scored: everything needed to choose its batches.

    Attributes
    ----------
    number : int
        0, 1, ...
    scores : (n, p) array
        The worth of each cell; 0 for known cells.
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
        if asks_before:
            return np.random.default_rng([self.seed, self.number, asks_before])
        generator = np.random.default_rng()
        generator.bit_generator.state = self.generator
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
) -> Selection:
    """Choose the cells to buy; every batch is made here.

    Parameters
    ----------
    selector : Selector
    scored : ScoredRound
        Not modified: the same call returns the same batch again.
    prices : PriceList
        For (n, p) cells. Rows added since the round come last; none of them is chosen.
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
    """
    n, known_rows = len(available), len(scored.scores)
    scores = scored.scores
    if n > known_rows:
        scores = np.vstack([scores, np.zeros((n - known_rows, scores.shape[1]))])
        available = available.copy()
        available[known_rows:] = False
    offer = Offer(scores, available, prices, before)
    return selector.select(offer, budget=budget, count=count, rng=scored.rng(asks_before))


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
        self.completer: Any = clone(strategy.completer)
        settings = self.completer.get_params()
        if target is not None and settings.get("target") == "auto":
            self.completer.set_params(target=target)
        if "warm_start" in settings:
            self.completer.set_params(warm_start=True)
        self._scorer = copy.deepcopy(strategy.scorer)
        self._layout = layout
        self._target = target
        self._seed = seed
        self.rounds = 0
        self._unscored: Round | None = None
        self.scored: ScoredRound | None = None

    @classmethod
    def of(cls, strategy: Strategy, table: Table, *, seed: int = 0) -> Adviser:
        """Return an adviser for tables with the same columns and target as this one."""
        return cls(
            strategy,
            layout=table.layout,
            target=None if table.target is None else table.target.label_kind,
            seed=seed,
        )

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

    @property
    def remembers(self) -> bool:
        """Whether a round may depend on those before it, through the completer or the scorer."""
        return "warm_start" in self.completer.get_params() or not isinstance(self._scorer, Memoryless)

    def skip(self, rounds: int) -> None:
        """Leave out some rounds; only if the adviser does not remember them."""
        self.rounds += rounds

    def score(self, prices: PriceList | None = None) -> Float64Array:
        """Return the worth of each cell (n, p) in this round, 0 if known; call it once per round.

        Cells that pay only together are weighed by their prices, by default all the same. The scores are not
        divided by them.
        """
        if self._unscored is None:
            raise ParameterError("nothing to score; call complete(X, y) first in each round")
        of_cells = None if prices is None else self._layout.share_by_column(prices.alone)
        scores = self._layout.sum_by_cell(self._scorer.score(replace(self._unscored, prices=of_cells)))
        scores = explored(scores, self._unmeasured, self._unscored.rng)
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
        )

    def state(self) -> dict[str, Any]:
        """Return everything later batches depend on: rounds done, completer, scorer and scored round."""
        scored = self.scored
        return {
            "rounds": self.rounds,
            "completer": copy.deepcopy(self.completer),
            "scorer": self._scorer.state(),
            "scores": None if scored is None else scored.scores,
            "generator": None if scored is None else scored.generator,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state: the next batches are those its owner would have chosen."""
        self.rounds = state["rounds"]
        self.completer = copy.deepcopy(state["completer"])
        self._scorer = copy.deepcopy(self.strategy.scorer)
        self._scorer.restore(state["scorer"])
        self._unscored, self.scored = None, None
        if state["scores"] is not None:
            self.scored = ScoredRound(self.rounds - 1, state["scores"], self._seed, state["generator"])


def advise(
    table: AnyTable | Source,
    *,
    target: str | None = None,
    prices: AnyPrices | None = None,
    budget: float | None = None,
    count: int | None = None,
    strategy: str | Strategy = "recommended",
    refused: Iterable[tuple[str, str]] = (),
    seed: int = 0,
) -> Batch:
    """Choose the missing cells that are worth buying now.

    Parameters
    ----------
    table : Table, pandas or polars DataFrame, pyarrow Table, path of a file, or Source
        A table with holes; with a target, strategies can see what the cells do for a classifier. A `Source`,
        from `cellworth.blocks.open_blocks`, is a table read in row blocks; then the strategy's parts must run
        on row blocks, and prices must be by column.
    target : str, optional
        The column of a frame or file to predict. A `Table` has its own.
    prices : Prices, float, mapping or path, optional
        See `Prices.of`: a number for every cell, or a mapping of column names to prices. By default every
        cell costs 1.
    budget : float, optional
        The most money to spend, above 0. Give this, `count` or both; with both, both limits apply.
    count : int, optional
        The most cells to buy.
    strategy : str or Strategy, default="recommended"
        See `cellworth.strategy.names`. Strategies that rely on earlier rounds use their first-round rule
        here.
    refused : pairs of row id and column name
        Cells that cannot be obtained.
    seed : int, default=0
        For strategies that choose at random.

    Returns
    -------
    Batch
        What a new campaign with these settings would ask for first, with the reason for each cell. With the
        strategy "auto", ``choice`` says what was chosen on the table, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import Prices, Table, advise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] > 0  # only the first column matters
    >>> X[rng.random(X.shape) < 0.5] = np.nan
    >>> table = Table.from_arrays(X, y, columns=["useful", "noise", "also noise"])
    >>> batch = advise(table, prices=Prices.same(2.5), budget=25)
    >>> batch.cost, [purchase.column for purchase in batch].count("useful"), len(batch)
    (25.0, 7, 10)
    """
    if check_limits(budget, count)[0] == 0:
        raise ParameterError("a budget of 0 buys nothing; give an amount of money above 0")
    if isinstance(table, Source):
        prices = None if prices is None else Prices.of(prices)
        return _advise_on_blocks(table, prices, budget, count, get(strategy), refused, seed)
    given = GivenFrame.of(table)
    table = as_table(table, target=target)
    if not table.holes.any():
        raise ParameterError("the table has no holes, so there is nothing to buy")
    available = np.array(table.holes)
    for row, column in refused:
        available[table.row_index(row), table.column_index(column)] = False
    stated = Prices.of(prices)
    task = BuyingTask.of(table, stated, seed)
    settled = get(strategy).settled(task)
    adviser = Adviser.of(settled, table, seed=seed)
    adviser.complete(task.X, table.y, np.asarray(table.holes.all(axis=0)))
    scores = adviser.score(task.prices)
    offered: Any = {"available": available, "before": ~table.holes}
    selection = adviser.choose(task.prices, **offered, budget=budget, count=count)
    reasons = Reasons(
        table.columns, adviser.completer, scores, adviser.strategy.selector, prices=task.prices, **offered
    )
    groups = {column: group.name for group in stated.groups for column in group.columns}
    bare = Batch.of(selection, table.row_ids, table.column_names)
    return Batch(
        (
            replace(each, group=groups.get(each.column), why=why)
            for each, why in zip(bare, reasons.of(selection), strict=True)
        ),
        settled.choice,
        row_labels=None if given is None else given.row_labels(table),
        library=None if given is None else given.library,
    )


def _advise_on_blocks(
    source: Source,
    prices: Prices | None,
    budget: float | None,
    count: int | None,
    strategy: Strategy,
    refused: Iterable[tuple[str, str]],
    seed: int,
) -> Batch:
    """Choose the missing cells of a table in row blocks that are worth buying now; see `advise`."""
    if list(refused):
        raise ParameterError("refused cells are not supported on row blocks, only for tables in memory")
    if strategy.is_open:
        raise ParameterError(
            f"strategy {strategy.name!r} chooses on a table in memory, not on row blocks; name another"
        )
    scorer, selector = check_parts(copy.deepcopy(strategy.scorer), strategy.selector)
    completed = clone(strategy.completer).fit(source).completed_
    rng = np.random.default_rng([seed, 0])
    scores = scorer.score_blocks(completed, rng)
    return choose_from_blocks(selector, scores, prices=prices, budget=budget, count=count, rng=rng)
