"""Advise on a table: which of its missing cells are worth buying now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cellworth.arrays import IntArray
from cellworth.blocks.array_source import is_sparse_table
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.open_table import table_of_source
from cellworth.blocks.row_source import Part, Source, open_blocks
from cellworth.complete import SparseCompleter
from cellworth.errors import DataError, ParameterError
from cellworth.messages import not_there, shorten
from cellworth.prices import AnyPrices, Prices
from cellworth.select.selector import check_limits
from cellworth.strategy.auto_choice import BuyingTask
from cellworth.strategy.batch import Batch, Purchase, why_nothing
from cellworth.strategy.block_adviser import BlockAdviser
from cellworth.strategy.block_prices import BlockPrices
from cellworth.strategy.choose_batch import Adviser
from cellworth.strategy.reasons import Reasons
from cellworth.strategy.registry import Strategy, get
from cellworth.table import Table
from cellworth.table.any_table import AnyTable, as_table
from cellworth.table.frames import GivenFrame
from cellworth.table.target import label_kind_of

SAMPLE_ROWS = 2_000
"""Of a table in row blocks, "auto" sees at least this many rows, if there are more."""


def advise(
    table: AnyTable | BlockTable | Source,
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
    table : Table, data frame, path of a file, sparse matrix, BlockTable or Source
        A table with holes; with a target, strategies can see what the cells do for a classifier. A
        `BlockTable`, from `Table.open`, and a `Source`, from `cellworth.blocks.open_blocks`, are read in row
        blocks; then the strategy's parts must run on them. "auto" chooses on every k-th of many rows.
        A sparse matrix (of ratings, say), a ``.npz`` file of one or a folder of them is completed by
        `SparseCompleter`, whatever the strategy; its cells are in one unit, and rows and columns are numbers
        from 0.
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
        strategy "auto", ``choice`` says what was chosen on the table, and why. If the budget is below the
        price of every cell, the batch is empty, and ``note`` names the lowest price.

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
    (25.0, 10, 10)
    """
    if check_limits(budget, count)[0] == 0:
        raise ParameterError("a budget of 0 buys nothing; give an amount of money above 0")
    if is_sparse_table(table):
        table = open_blocks(table, target=target)
    if isinstance(table, Source):
        table = table_of_source(table)
    if isinstance(table, BlockTable):
        return _advise_on_blocks(table, Prices.of(prices), budget, count, get(strategy), refused, seed)
    given = GivenFrame.of(table)
    table = as_table(table, target=target)
    stated = Prices.of(prices)
    on_sale = stated.purchasable(table)
    if not on_sale.holes.any():
        lacks_labels = table.target is not None and bool(np.isnan(table.target.values).any())
        raise ParameterError(_nothing_to_buy(table, lacks_labels=lacks_labels))
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
        note=why_nothing(
            float(listed.marginal(~on_sale.holes)[available].min(initial=np.inf)), budget, stated.currency
        ),
    )


def _nothing_to_buy(table: Table | BlockTable, *, lacks_labels: bool) -> str:
    if table.target is None or not lacks_labels:
        return "the table has no holes, so there is nothing to buy"
    return (
        "the table has no holes but in its target, and labels have no price, so there is nothing to buy; "
        f"give the column {shorten(table.target.name)} a price"
    )


def _advise_on_blocks(
    table: BlockTable,
    stated: Prices,
    budget: float | None,
    count: int | None,
    strategy: Strategy,
    refused: Iterable[tuple[str, str]],
    seed: int,
) -> Batch:
    """Choose the missing cells of a table in row blocks that are worth buying now; see `advise`."""
    sells_labels = stated.sells_labels(table)
    if not table.n_holes and not (sells_labels and table.n_unlabelled):
        raise ParameterError(_nothing_to_buy(table, lacks_labels=table.n_unlabelled > 0))
    names = table.column_names
    if sells_labels and table.target is not None:
        names = (*names, table.target.name)
    gone = _numbered(table, refused, names)
    prices = BlockPrices.of(stated, table)
    if table.is_sparse:
        strategy = _on_sparse(strategy)
    if strategy.is_open:
        strategy = strategy.settled(sampled_task(table, prices, seed))
    adviser = BlockAdviser(strategy, table, seed=seed)
    adviser.run(table, stated)
    lost = gone[gone[:, 1] == len(table.columns), 0]
    choice = adviser.choose(prices, gone=gone, refused_labels=lost, budget=budget, count=count)
    why = adviser.reasons(choice)
    chosen = choice.selection
    ids = table.row_ids(choice.rows[chosen.cells[:, 0]])
    groups = {column: group.name for group in stated.groups for column in group.columns}
    return Batch(
        (
            Purchase(row, names[j], price, worth, groups.get(names[j]), reason)
            for row, j, price, worth, reason in zip(
                ids, chosen.cells[:, 1], chosen.prices.tolist(), chosen.scores.tolist(), why, strict=True
            )
        ),
        strategy.choice,
        note=why_nothing(choice.totals.worth.cheapest, budget, stated.currency),
    )


def _numbered(table: BlockTable, cells: Iterable[tuple[str, str]], names: tuple[str, ...]) -> IntArray:
    """Return the row and column numbers (k, 2) of cells, given the names of the columns on sale."""
    found = []
    for row, column in cells:
        if column not in names:
            raise DataError(not_there("column", column, names))
        found.append((row, names.index(column)))
    rows = table.row_numbers([str(row) for row, _ in found])
    return np.column_stack([rows, [column for _, column in found]]).astype(np.intp).reshape(-1, 2)


def _on_sparse(strategy: Strategy) -> Strategy:
    """Return a strategy for a sparse table: with `SparseCompleter`, unless it has a completer of the kind."""
    if strategy.is_open:
        raise ParameterError(
            f"strategy {strategy.name!r} compares completers that need a dense table; got a sparse one. Use "
            "'recommended'."
        )
    if getattr(strategy.completer, "takes_sparse", False):
        return strategy
    return replace(strategy, completer=SparseCompleter(variance=True))


def sampled_task(table: BlockTable, prices: BlockPrices, seed: int) -> BuyingTask:
    """Return what an open strategy is chosen on: every k-th row, `SAMPLE_ROWS` to twice as many."""
    every = max(1, table.n_rows // SAMPLE_ROWS)
    some = table.every(every)
    X, y = some.encode(prior=True).X, some.y
    labels = [None] * len(X) if y is None else [y[[i]] for i in range(len(X))]
    parts = (Part(X[[i]], labels[i], np.array([row]), i * every) for i, row in enumerate(some.row_ids))
    own = np.vstack([prices.on(part).own for part in parts])
    listed = replace(prices.base, own=own).of_cells()
    kind = label_kind_of(table.target)
    return BuyingTask(X, some.y, table.layout, kind, listed, seed, in_blocks=True)
