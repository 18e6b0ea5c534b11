"""A batch: the cells to buy, under the user's own names, best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, overload

from cellworth.prices.money import add_up

if TYPE_CHECKING:
    from cellworth.select import Selection
    from cellworth.strategy.strategy_choice import StrategyChoice


@dataclass(frozen=True)
class Purchase:
    """One cell to buy.

    Attributes
    ----------
    row : str
        The row's id, as the user gave it.
    column : str
    price : float
        What it adds to the bill when the batch is bought in order. A campaign reserves this amount.
    worth : float
        The strategy's score; comparable within one round, not across rounds or strategies.
    group : str or None
        The column's price group, such as one blood draw; cells in the same row and group come together.
    why : str or None
        A one-sentence explanation. This and the following attributes are set only by campaigns.
    until : datetime or None
        When the lease expires and the cell may be asked for again, in UTC; None for never.
    asked_by : str or None
        Who asked.
    holder : str or None
        Who has taken it to find its value; None if nobody has.
    held_until : datetime or None
        When others may take it, in UTC; None if nobody has it.
    """

    row: str
    column: str
    price: float
    worth: float
    group: str | None = None
    why: str | None = None
    until: datetime | None = None
    asked_by: str | None = None
    holder: str | None = None
    held_until: datetime | None = None


class Batch(Sequence[Purchase]):
    """A sequence of purchases, best first. It compares equal to a list or tuple of the same purchases.

    Parameters
    ----------
    purchases : iterable of Purchase
    choice : StrategyChoice, optional
        What the strategy chose on the table, and why; None if it leaves nothing open.

    Examples
    --------
    >>> batch = Batch([Purchase("p1", "age", 0.1, 3.0), Purchase("p2", "age", 0.2, 1.0)])
    >>> len(batch), batch[0].row, batch.cost
    (2, 'p1', 0.3)
    >>> batch.cells
    [('p1', 'age'), ('p2', 'age')]
    """

    def __init__(self, purchases: Iterable[Purchase] = (), choice: StrategyChoice | None = None) -> None:
        self.purchases = tuple(purchases)
        self.choice = choice

    @classmethod
    def of(
        cls,
        selection: Selection,
        rows: Sequence[str],
        columns: Sequence[str],
        choice: StrategyChoice | None = None,
    ) -> Batch:
        """Name the cells of a selection by the row ids and column names of its table."""
        each = zip(
            selection.cells.tolist(), selection.prices.tolist(), selection.scores.tolist(), strict=True
        )
        return cls((Purchase(rows[i], columns[j], price, worth) for (i, j), price, worth in each), choice)

    @property
    def cost(self) -> float:
        """The total cost, in the currency of the prices; summed as decimals, so 0.1 + 0.2 is 0.3."""
        return float(add_up([purchase.price for purchase in self.purchases]))

    @property
    def worth(self) -> float:
        """The total worth."""
        return float(sum(purchase.worth for purchase in self.purchases))

    @property
    def cells(self) -> list[tuple[str, str]]:
        """The row id and column name of each purchase."""
        return [(purchase.row, purchase.column) for purchase in self.purchases]

    def __len__(self) -> int:
        return len(self.purchases)

    def __iter__(self) -> Iterator[Purchase]:
        return iter(self.purchases)

    @overload
    def __getitem__(self, which: int) -> Purchase: ...
    @overload
    def __getitem__(self, which: slice) -> Batch: ...
    def __getitem__(self, which: int | slice) -> Purchase | Batch:
        return Batch(self.purchases[which]) if isinstance(which, slice) else self.purchases[which]

    def __add__(self, more: Iterable[Purchase]) -> Batch:
        return Batch([*self.purchases, *more])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch | list | tuple):
            return NotImplemented
        return self.purchases == tuple(other)

    def __hash__(self) -> int:
        return hash(self.purchases)

    def __repr__(self) -> str:
        return f"Batch({list(self.purchases)!r})"
