"""From a table with holes to a shopping list, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellworth.errors import ParameterError
from cellworth.prices import Prices
from cellworth.select import Selection
from cellworth.strategy.adviser import Adviser
from cellworth.strategy.strategy import Strategy, get
from cellworth.table import Table


@dataclass(frozen=True)
class Purchase:
    """One cell to buy.

    Attributes
    ----------
    row : str
        The user's id of the row.
    column : str
    price : float
        What it adds to the bill when the list is bought in its order.
    worth : float
        As the strategy scores it: comparable within one list, not between strategies.
    """

    row: str
    column: str
    price: float
    worth: float


@dataclass(frozen=True, eq=False)
class Advice:
    """A shopping list: a sequence of purchases, the first choice first.

    Attributes
    ----------
    purchases : tuple of Purchase
    selection : Selection
        The same by row and column numbers, with the trade-off of worth against money where it was found.
    """

    purchases: tuple[Purchase, ...]
    selection: Selection = field(repr=False)

    @property
    def cost(self) -> float:
        """The bill, in the money of the prices."""
        return self.selection.cost

    def __len__(self) -> int:
        return len(self.purchases)

    def __iter__(self) -> Iterator[Purchase]:
        return iter(self.purchases)


def advise(
    table: Table,
    *,
    prices: Prices | None = None,
    budget: float | None = None,
    count: int | None = None,
    strategy: str | Strategy = "recommended",
    refused: Iterable[tuple[str, str]] = (),
    seed: int = 0,
) -> Advice:
    """Say which missing cells are worth buying now.

    Parameters
    ----------
    table : Table
        With holes; a target lets strategies see what the cells do for a classifier.
    prices : Prices, optional
        By default every cell costs 1.
    budget : float, optional
        Most money to spend. This or `count` must be given; with both, both bind.
    count : int, optional
        Most cells to buy.
    strategy : str or Strategy, default="recommended"
        See `cellworth.strategy.names`. Those that live on earlier rounds fall back on their first-round
        rule here.
    refused : pairs of row id and column name
        Cells that cannot be had.
    seed : int, default=0
        Of the strategies that draw.

    Returns
    -------
    Advice

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import Prices, Table, advise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] > 0  # only the first column matters
    >>> X[rng.random(X.shape) < 0.5] = np.nan
    >>> table = Table.from_arrays(X, y, columns=["useful", "noise", "also noise"])
    >>> advice = advise(table, prices=Prices.same(2.5), budget=25)
    >>> advice.cost, {purchase.column for purchase in advice}
    (25.0, {'useful'})
    """
    if not table.holes.any():
        raise ParameterError("the table has no hole: there is nothing to buy")
    encoded = table.encode()
    kind = None if table.target is None else table.target.kind
    adviser = Adviser(
        get(strategy),
        owner=encoded.owner,
        target=None if kind is None else ("number" if kind == "number" else "classes"),
        seed=seed,
    )
    available = np.array(table.holes)
    for row, column in refused:
        available[table.row_index(row), table.column_index(column)] = False
    adviser.complete(encoded.X, table.y)
    selection = adviser.choose(
        adviser.score(),
        (prices or Prices.same(1.0)).on(table),
        available=available,
        before=~table.holes,
        budget=budget,
        count=count,
    )
    return Advice(_purchases(table, selection), selection)


def _purchases(table: Table, selection: Selection) -> tuple[Purchase, ...]:
    columns: Any = zip(selection.cells, selection.prices, selection.scores, strict=True)
    return tuple(
        Purchase(table.row_ids[i], table.column_names[j], float(price), float(worth))
        for (i, j), price, worth in columns
    )
