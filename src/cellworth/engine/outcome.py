"""From a table of row blocks to a completed one, in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, Engine, join
from cellworth.blocks.source import Source, split
from cellworth.blocks.threads import ThreadEngine
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.supervised import SupervisedCompleter
from cellworth.engine.batch import Batch, choose
from cellworth.engine.checkpoint import Checkpoint
from cellworth.engine.filled import Filled, OnFilled
from cellworth.engine.gaussian import fit_gaussian
from cellworth.engine.scoring import BlockScorer
from cellworth.engine.summary import Summary, summarise
from cellworth.engine.supervised import fit_supervised
from cellworth.engine.writing import write_filled
from cellworth.errors import DataError, ParameterError
from cellworth.prices import Prices
from cellworth.score import Scorer
from cellworth.select import Top
from cellworth.select.offer import Selector

Array = NDArray[np.floating]

NOT_OF_THE_RESULT = ("callback", "n_jobs", "warm_start", "dtype")


@dataclass(frozen=True)
class Completed:
    """A table of row blocks, completed. Its cells stay with the engine, or are made when they are asked for.

    Attributes
    ----------
    completer : SupervisedCompleter or GaussianCompleter
        Fitted; it has all attributes that do not have the table's size, and completes new rows.
    source : Source
    summary : Summary
    engine : Engine
        Must still be open when cells are asked for.
    blocks : Blocks
        Where the rows are.
    """

    completer: Any
    source: Source
    summary: Summary
    engine: Engine
    blocks: Blocks
    _fill: Callable[..., tuple[Array, Array | None]] = field(repr=False)
    _states: tuple[Blocks, ...] = field(repr=False)

    def map(self, function: Callable[..., Any], *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(filled, *of_block, *shared)`` on each completed block, a `Filled`; one pass."""
        do = OnFilled(function, self._fill, len(self._states))
        return self.engine.map(do, self.blocks, *self._states, *blocks, shared=shared)

    def reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        *blocks: Blocks,
        shared: tuple[Any, ...] = (),
    ) -> Any:
        """Do the same, and merge the small results in a fixed order; see `Engine.reduce`."""
        do = OnFilled(function, self._fill, len(self._states))
        return self.engine.reduce(do, merge, self.blocks, *self._states, *blocks, shared=shared)

    def gather(self) -> tuple[Array, Array | None]:
        """Return the completed table (n, d) and its variances or None: for tables that fit in memory."""
        parts = self.reduce(_both, join)
        completed, variances = zip(*parts, strict=True)
        whole = None if variances[0] is None else np.concatenate(variances)
        return np.concatenate(completed), whole

    def write(self, path: str | PathLike[str], *, variance: bool = False) -> None:
        """Write the completed table, block by block; the folder appears when it is complete.

        Parameters
        ----------
        path : path
            A new Parquet folder, with the row ids and the target beside the completed columns; or, if it ends
            in .zarr, a Zarr array.
        variance : bool
            Write the variance of each cell as well: in columns ``<name>_variance``, or in a second array
            beside the first whose name ends in .variance.zarr.
        """
        write_filled(self, path, variance=variance)

    def top(self, scorer: Scorer | BlockScorer, count: int) -> Batch:
        """Return the cells of the highest worth; ties go by row, then by column."""
        return self.select(scorer, Top(), count=count)

    def select(
        self,
        scorer: Scorer | BlockScorer,
        selector: Selector,
        *,
        budget: float | None = None,
        count: int | None = None,
        prices: Prices | None = None,
    ) -> Batch:
        """Spend a budget on the holes, without bringing all worths to one place.

        Each block names its best cells of each price, as many as the budget could buy at most; no others can
        be in the batch.

        Parameters
        ----------
        scorer : Variance, PosteriorVariance, PosteriorImpact, or a `BlockScorer` of one
        selector : Top, Ratio or Knapsack
            Without limits by row.
        budget, count : float and int, optional
            At least one of them.
        prices : Prices, optional
            By column, without groups and visits; by default each cell costs 1.

        Notes
        -----
        One pass. Memory here: about 100 bytes for each cell that the budget could buy of each price.
        """
        scoring = scorer if isinstance(scorer, BlockScorer) else BlockScorer(scorer)
        return choose(self, scoring.score(self), selector, budget, count, prices)


def complete(
    source: Source,
    completer: Any | None = None,
    *,
    engine: Engine | None = None,
    checkpoint: str | PathLike[str] | None = None,
    start: Completed | None = None,
) -> Completed:
    """Complete a table that is read block by block.

    With settings that choose nothing by trial, the result is that of the completer itself on the whole table,
    up to the rounding of sums. What "auto" chooses on held-out cells is chosen on every k-th row, some 2,000
    to 4,000 of them; on every row of a shorter table.

    Parameters
    ----------
    source : Source
        From `open_blocks`.
    completer : SupervisedCompleter or GaussianCompleter, optional
        Its settings; by default ``GaussianCompleter()``. It is not fitted itself.
    engine : Engine, optional
        By default a `ThreadEngine`.
    checkpoint : path, optional
        A folder in which the state is kept from time to time. A run with the same table and settings goes on
        from there. It also bounds what must be made again when a worker dies.
    start : Completed, optional
        An earlier round, of the same columns: `GaussianCompleter` starts from its model.

    Returns
    -------
    Completed

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.engine import ThreadEngine, complete, open_blocks
    >>> from cellworth.score import PosteriorVariance
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, size=500)
    >>> X = np.column_stack([height, height - 100 + rng.normal(0, 5, size=500)])
    >>> X[3], X[4] = [180, np.nan], [np.nan, np.nan]
    >>> with ThreadEngine(block_rows=100) as engine:
    ...     source = open_blocks(X, columns=["height", "weight"])
    ...     done = complete(source, GaussianCompleter(margins="normal"), engine=engine)
    ...     best = done.top(PosteriorVariance(), count=2)
    >>> best.rows.tolist(), best.columns.tolist()
    ([4, 4], ['height', 'weight'])
    """
    settings = GaussianCompleter() if completer is None else completer
    _refuse_unknown(settings, source)
    engine = ThreadEngine() if engine is None else engine
    blocks = split(source, engine)
    kept = None if checkpoint is None else Checkpoint(fspath(checkpoint), _identity(source, settings, blocks))
    summary = summarise(engine, blocks, source)
    about = engine, blocks, source, summary, settings, kept
    found: tuple[Any, Any, tuple[Blocks, ...]]
    if isinstance(settings, SupervisedCompleter):
        found = fit_supervised(*about)
    else:
        found = fit_gaussian(*about, earlier=_earlier(start, source))
    fitted, fill, states = found
    return Completed(fitted, source, summary, engine, blocks, fill, states)


def _refuse_unknown(settings: Any, source: Source) -> None:
    if type(settings) not in (SupervisedCompleter, GaussianCompleter):
        raise ParameterError(
            f"an engine runs SupervisedCompleter and GaussianCompleter; got {type(settings).__name__}"
        )
    if settings.dtype is not None and np.dtype(settings.dtype) != source.dtype:
        raise ParameterError(
            f"an engine works in the precision of the table, {source.dtype}; got dtype={settings.dtype!r}"
        )


def _earlier(start: Completed | None, source: Source) -> GaussianCompleter | None:
    """Return the completer of an earlier round, if it can be started from."""
    if start is None:
        return None
    if not isinstance(start.completer, GaussianCompleter) or start.source.columns != source.columns:
        raise DataError("start must be a table of the same columns that a GaussianCompleter has completed")
    return start.completer


def _identity(source: Source, settings: Any, blocks: Blocks) -> dict[str, Any]:
    parameters = {k: v for k, v in settings.get_params().items() if k not in NOT_OF_THE_RESULT}
    return {
        **source.identity(),
        "completer": type(settings).__name__,
        "settings": parameters,
        "blocks": len(blocks),
    }


def _both(filled: Filled) -> tuple[tuple[Array, Array | None], ...]:
    return ((filled.completed, filled.variance),)
