"""Run a strategy through its rounds on a table in row blocks: what `Adviser` is for a table in memory."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cellworth.arrays import IntArray
from cellworth.blocks.array_source import DenseBlock
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.row_source import Source
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.completer import resume_source
from cellworth.errors import ParameterError
from cellworth.prices import Prices
from cellworth.score.block_scores import BlockScores
from cellworth.score.scorer import Memoryless
from cellworth.strategy.block_batch import BlockOffers, Explored, check_parts
from cellworth.strategy.block_prices import BlockPrices
from cellworth.strategy.block_shortlist import BlockChoice, choose_from_blocks
from cellworth.strategy.choose_batch import batch_generator, check_sale, warm_completer
from cellworth.strategy.registry import Strategy
from cellworth.table import ColumnLayout
from cellworth.table.target import label_kind_of

NO_CELLS: IntArray = np.zeros((0, 2), dtype=np.intp)
NO_ROWS: IntArray = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class BlockRound:
    """A round on a table in row blocks whose cells are scored; what `ScoredRound` is in memory.

    Attributes
    ----------
    number : int
        0, 1, ...
    table : BlockTable
        As it was completed.
    completed : CompletedBlocks
    scores : BlockScores
        Worked out again in each pass.
    explored : Explored
    seed : int
        The adviser's seed.
    generator : dict
        The state of the round's generator after scoring.
    """

    number: int
    table: BlockTable
    completed: CompletedBlocks
    scores: BlockScores
    explored: Explored
    seed: int
    generator: dict[str, Any] = field(repr=False)

    def rng(self, asks_before: int) -> np.random.Generator:
        """Return the generator for the batch that comes after ``asks_before`` others in this round."""
        return batch_generator(self.seed, self.number, asks_before, self.generator)


class BlockAdviser:
    """Runs a strategy through the rounds of one campaign on a table in row blocks.

    Given the same tables and seed, its batches are those of an `Adviser`, as far as the completer goes on
    from its last fit on blocks as it does in memory: `GaussianCompleter` does; `SupervisedCompleter` starts
    anew, and ends within its tolerance.

    Parameters
    ----------
    strategy : Strategy
        Settled, of parts that run on row blocks.
    table : BlockTable
        With the columns and the target of the tables to come.
    seed : int

    Attributes
    ----------
    completer, rounds, scored
        As in `Adviser`; ``scored`` is a `BlockRound`.
    """

    def __init__(self, strategy: Strategy, table: BlockTable, *, seed: int = 0) -> None:
        if strategy.is_open:
            raise ParameterError(
                f"strategy {strategy.name!r} chooses its parts on a table; call its settled(task) first"
            )
        self.strategy = strategy
        self._target = label_kind_of(table.target)
        self._seed = seed
        self.rounds = 0
        self.scored: BlockRound | None = None
        self.begin_anew(table.layout)

    def begin_anew(self, layout: ColumnLayout) -> None:
        """Forget all rounds but their number; tables have these columns from now on."""
        self._layout, strategy = layout, self.strategy
        self._scorer, self._selector = check_parts(copy.deepcopy(strategy.scorer), strategy.selector)
        self.completer: Any = warm_completer(strategy, self._target)

    def run(self, table: BlockTable, prices: Prices) -> None:
        """Start a round on a table, and score its cells at these prices; the passes of both.

        Begin anew if its columns changed.
        """
        if table.columns != self._layout.columns:
            self.begin_anew(table.layout)
        listed = BlockPrices.of(prices, table)
        completed: CompletedBlocks = self.completer.fit(_source(table, listed)).completed_
        if table.is_sparse:
            completed = replace(completed, source=completed.source.with_blocks(DenseBlock))  # type: ignore[arg-type]
        self.rounds += 1
        self._score(table, completed, listed)

    def _score(self, table: BlockTable, completed: CompletedBlocks, prices: BlockPrices) -> None:
        number = self.rounds - 1
        check_sale(self.strategy, self._scorer, sells_labels=prices.base.labels)
        rng = np.random.default_rng([self._seed, number])
        scores = self._scorer.score_blocks(completed, rng, prices.alone)
        found = Explored.of(scores, table, rng)
        state = dict(rng.bit_generator.state)
        self.scored = BlockRound(number, table, completed, scores, found, self._seed, state)

    @property
    def remembers(self) -> bool:
        """Whether a round may depend on those before it, through the completer or the scorer."""
        return "warm_start" in self.completer.get_params() or not isinstance(self._scorer, Memoryless)

    def skip(self, rounds: int) -> None:
        """Leave out some rounds; only if the adviser does not remember them."""
        self.rounds += rounds

    def choose(
        self,
        prices: BlockPrices,
        *,
        gone: IntArray = NO_CELLS,
        learned: IntArray = NO_CELLS,
        refused_labels: IntArray = NO_ROWS,
        budget: float | None = None,
        count: int | None = None,
        asks_before: int = 0,
    ) -> BlockChoice:
        """Return the batch that the strategy would buy, given this round's scores; one pass, or two.

        Parameters
        ----------
        prices : BlockPrices
        gone, learned : (k, 2) int arrays
            Row and column numbers, in any order, of holes that cannot be bought, and of cells that have
            become known since the round. A label is a cell of the column after the last.
        refused_labels : (k,) int array
            The numbers of rows whose label cannot be obtained.
        budget, count, asks_before
            See `choose`.
        """
        scores, offers = self.on_offer(prices)
        assert self.scored is not None
        return choose_from_blocks(
            self._selector,
            scores,
            replace(
                offers, gone=_by_row(gone), learned=_by_row(learned), refused_labels=np.sort(refused_labels)
            ),
            budget=budget,
            count=count,
            rng=self.scored.rng(asks_before),
            learned=self.scored.table.learned,
        )

    def on_offer(self, prices: BlockPrices) -> tuple[BlockScores, BlockOffers]:
        """Return this round's scores, and what makes the offer of each block at these prices; no pass."""
        scored = self.scored
        if scored is None:
            raise ParameterError("nothing to choose from; call run(table, prices) in each round")
        scores = scored.scores
        if prices.needs_ids:
            completed = scores.completed
            scores = replace(scores, completed=replace(completed, source=completed.source.with_ids()))
        return scores, BlockOffers(prices, scored.table.unmeasured, NO_CELLS, NO_CELLS, scored.explored)

    def reasons(self, choice: BlockChoice) -> list[str]:
        """Return one sentence for each cell of a batch."""
        assert self.scored is not None
        return choice.reasons(self.scored.table, self._selector)

    def state(self) -> dict[str, Any]:
        """Return everything later batches depend on. Nothing in it is ever modified, so nothing is copied."""
        return {
            "rounds": self.rounds,
            "layout": self._layout,
            "completer": copy.copy(self.completer),
            "scorer": copy.copy(self._scorer),
            "scored": self.scored,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state: the next batches are those its owner would have chosen."""
        self.rounds, self.scored, self._layout = state["rounds"], state["scored"], state["layout"]
        self.completer, self._scorer = copy.copy(state["completer"]), copy.copy(state["scorer"])

    def to_plain(self) -> dict[str, Any] | None:
        """Return what does not grow with the table, as arrays and JSON; None if that is not enough.

        It is enough for a scorer that remembers nothing and a completer that can say what it has fitted.
        """
        fitted = getattr(self.completer, "fitted_parameters", None)
        if fitted is None or not isinstance(self._scorer, Memoryless):
            return None
        return {"rounds": self.rounds, "completer": fitted()}

    def resume(self, plain: dict[str, Any], table: Callable[[], BlockTable], prices: Prices) -> None:
        """Resume from `to_plain`, given the table and prices of the last round; passes to score it."""
        if not hasattr(self.completer, "resume_blocks"):
            raise ParameterError(f"{type(self.completer).__name__} cannot go on from what another has fitted")
        last = table()
        listed = BlockPrices.of(prices, last)
        source = _source(last, listed)
        completed = resume_source(self.completer, source, plain["completer"])
        self.rounds = int(plain["rounds"])
        self._score(last, completed, listed)

    def misfit(self, p: int, least_rows: int, most_rows: int, *, labels: bool) -> str | None:
        """Return None: the scores were worked out on the table itself."""
        return None


def _source(table: BlockTable, prices: BlockPrices) -> Source:
    """Return the table as numeric columns, with row ids if prices need them."""
    source = table.source()
    return source if table.is_sparse or not prices.needs_ids else source.with_ids()


def _by_row(cells: IntArray) -> IntArray:
    found: IntArray = cells.reshape(-1, 2)
    return found[np.argsort(found[:, 0], kind="stable")]
