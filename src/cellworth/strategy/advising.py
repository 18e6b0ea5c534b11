"""Advise on a table: which of its missing cells are worth buying now."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.blocks.row_source import Source
from cellworth.errors import ParameterError
from cellworth.messages import shorten
from cellworth.prices import AnyPrices, Prices
from cellworth.select.selector import check_limits
from cellworth.strategy.batch import Batch
from cellworth.strategy.block_batch import check_parts, choose_from_blocks
from cellworth.strategy.buying_task import BuyingTask
from cellworth.strategy.choose_batch import Adviser
from cellworth.strategy.reasons import Reasons
from cellworth.strategy.registry import Strategy, get
from cellworth.table import Table
from cellworth.table.any_table import AnyTable, as_table
from cellworth.table.frames import GivenFrame


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
        cell costs 1. If they name the target, labels can be bought, too.
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
    stated = Prices.of(prices)
    on_sale = stated.purchasable(table)
    if not on_sale.holes.any():
        raise ParameterError(_nothing_to_buy(table))
    available = np.array(on_sale.holes)
    for row, column in refused:
        available[table.row_index(row), on_sale.column_index(column)] = False
    listed = stated.on(table)
    task = BuyingTask.of(table, stated, seed)
    settled = get(strategy).settled(task)
    adviser = Adviser.of(settled, table, seed=seed)
    adviser.complete(task.X, table.y, np.asarray(table.holes.all(axis=0)))
    scores = adviser.score(listed)
    offered: Any = {"available": available, "before": ~on_sale.holes}
    lost = on_sale.holes[:, -1] & ~available[:, -1] if listed.labels else None
    selection = adviser.choose(listed, **offered, budget=budget, count=count, refused_labels=lost)
    reasons = Reasons(
        table.columns, adviser.completer, scores, adviser.strategy.selector, prices=listed, **offered
    )
    groups = {column: group.name for group in stated.groups for column in group.columns}
    bare = Batch.of(selection, on_sale.row_ids, on_sale.column_names)
    return Batch(
        (
            replace(each, group=groups.get(each.column), why=why)
            for each, why in zip(bare, reasons.of(selection), strict=True)
        ),
        settled.choice,
        row_labels=None if given is None else given.row_labels(table),
        library=None if given is None else given.library,
    )


def _nothing_to_buy(table: Table) -> str:
    target = table.target
    if target is None or not np.isnan(target.values).any():
        return "the table has no holes, so there is nothing to buy"
    return (
        "the table has no holes but in its target, and labels have no price, so there is nothing to buy; "
        f"give the column {shorten(target.name)} a price"
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
