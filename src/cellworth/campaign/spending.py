"""A campaign's money: what is owed for the answers so far, and what is reserved for the cells that are out.

What is owed depends only on which cells were answered, not on the order in which they were asked for or told:
each answer costs its own price, and answers that share a fee owe the largest fee among them, once. A visit is
shared by the cells of one row in one ask; the fee of a group, too, unless the group is lasting: then all asks
share it in that row. An answer with a stated price costs that price and shares nothing. The money reserved is
what the cells that are out would add if all of them were answered. All sums are exact.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from cellworth.campaign.cell_index import Cell
from cellworth.campaign.columnar_dict import ColumnarDict, Field
from cellworth.prices.money import Money

_NOTHING = Money()
Share = tuple[int, int, str]
"""Cells that share a fee: the number of their ask (0 for any), their row, and their group ("" for none)."""
Due = tuple["Terms", Cell]


class Terms(NamedTuple):
    """What a cell costs, as recorded when it was asked for; money in the currency of the prices."""

    own: float
    """Its price if it shares every fee with an answer that pays for it."""
    visit: float = 0.0
    fee: float = 0.0
    """What it owes to open its group; 0 if the group was open."""
    group: str | None = None
    lasting: bool = False
    number: int = 0
    """The number of the event that asked for it."""

    @property
    def is_shared(self) -> bool:
        """Whether it may share a fee with other answers."""
        return bool(self.fee or self.visit)

    def shares(self, cell: Cell) -> list[tuple[Share, Money]]:
        """Return the fees that the cell may share."""
        if not self.is_shared:
            return []
        found = []
        if self.fee and self.group is not None:
            found.append(((0 if self.lasting else self.number, cell[0], self.group), as_money(self.fee)))
        if self.visit:
            found.append(((self.number, cell[0], ""), as_money(self.visit)))
        return found


TERMS: tuple[Field, ...] = (float, float, float, str, bool, int)
"""The types of the fields of `Terms`."""


class Spending:
    """Money spent and reserved, as exact sums of decimals; O(1) for each cell, or O(p) if it shares fees.

    Examples
    --------
    Two cells share a visit of 100. If one is withdrawn, the other still owes it:

    >>> account = Spending()
    >>> terms = Terms(own=1.0, visit=100.0, number=1)
    >>> account.ask((0, 0), terms)
    >>> account.ask((0, 1), terms)
    >>> account.reserved()
    102.0
    >>> account.release((0, 0), terms)
    >>> account.release((0, 1), terms)
    >>> account.pay((0, 1), terms)
    >>> account.spent, account.reserved()
    (101.0, 0.0)
    """

    def __init__(self) -> None:
        self._spent = Money()
        self._own = Money()  # own prices of the cells that are out
        self._fees = Money()  # fees that they would add
        self._paid: ColumnarDict[Share, Money] = ColumnarDict(
            (int, int, str), (float,), encode=lambda fee: (float(fee),), decode=as_money
        )
        self._out: dict[Share, dict[Cell, Money]] = {}

    @property
    def spent(self) -> float:
        """What the answers have cost, rounded once."""
        return float(self._spent)

    def ask(self, cell: Cell, terms: Terms) -> None:
        """Reserve the price of a cell that is asked for."""
        self._own += as_money(terms.own)
        for share, fee in terms.shares(cell):
            self._fees -= self._open_fee(share)
            self._out.setdefault(share, {})[cell] = fee
            self._fees += self._open_fee(share)

    def release(self, cell: Cell, terms: Terms) -> None:
        """Release the money reserved for a cell that is no longer out."""
        self._own -= as_money(terms.own)
        for share, _ in terms.shares(cell):
            self._fees -= self._open_fee(share)
            del self._out[share][cell]
            self._fees += self._open_fee(share)
            if not self._out[share]:
                del self._out[share]

    def give_back(self, price: float, times: int = 1) -> None:
        """Release a reserved price that shares nothing, once or several times."""
        self._own -= as_money(price) * times

    def pay(self, cell: Cell, terms: Terms) -> None:
        """Spend what the answer to a cell adds to the bill."""
        self._spent += as_money(terms.own)
        for share, fee in terms.shares(cell):
            paid = self._paid.get(share) or _NOTHING
            if fee > paid:
                self._fees -= self._open_fee(share)
                self._paid[share] = fee
                self._fees += self._open_fee(share)
                self._spent += fee - paid

    def spend(self, price: float, times: int = 1) -> None:
        """Spend a price that shares nothing, once or several times."""
        self._spent += as_money(price) * times

    def to_plain(self) -> dict[str, Any]:
        """Return the account as arrays and JSON, without the cells that are out."""
        sums = [self._spent, self._own, self._fees]
        return {"sums": [_shortest(each) for each in sums], "paid": self._paid.to_plain()}

    def restore(self, plain: dict[str, Any], out: Iterable[Due]) -> None:
        """Restore what `to_plain` returned, given the cells that were out, in order."""
        self._paid.restore(plain["paid"])
        for terms, cell in out:
            for share, fee in terms.shares(cell):
                self._out.setdefault(share, {})[cell] = fee
        self._spent, self._own, self._fees = (Money.of_units(*map(int, each)) for each in plain["sums"])

    def charges(self, terms: Sequence[Terms], cells: Sequence[Cell]) -> Iterator[float]:
        """Yield what each answer would add to what is owed, one after the other; each rounded once."""
        if not any(each.is_shared for each in set(terms)):
            return map(itemgetter(0), terms)
        return self._shared_charges(terms, cells)

    def _shared_charges(self, terms: Sequence[Terms], cells: Sequence[Cell]) -> Iterator[float]:
        paid: dict[Share, Money] = {}
        for due, cell in zip(terms, cells, strict=True):
            amount = as_money(due.own)
            for share, fee in due.shares(cell):
                before = paid.get(share) or self._paid.get(share) or _NOTHING
                if fee > before:
                    amount += fee - before
                    paid[share] = fee
            yield float(amount)

    def reserved(self, ended: Iterable[Due] = ()) -> float:
        """Return what the cells that are out would cost, without those that have ``ended``; rounded once."""
        return float(self._reserved(ended))

    def committed(self, ended: Iterable[Due] = ()) -> float:
        """Return what is spent and reserved, without the cells that have ``ended``; rounded once."""
        return float(self._spent + self._reserved(ended))

    def left(self, budget: float, ended: Iterable[Due] = ()) -> float:
        """Return what is left of a budget, with the money of cells that have ``ended``; rounded once."""
        return float(self._left(budget, ended))

    def spendable(self, budget: float, ended: Iterable[Due] = ()) -> float:
        """Return what is left, or 0 if negative; rounded down, so that all of it can be spent."""
        return max(self._left(budget, ended), Money()).rounded_down()

    def price_now(self, cell: Cell, terms: Terms, ended: Container[Cell] = ()) -> float:
        """Return what a cell that is out adds to those asked for before it; rounded once.

        Cells that have ``ended`` add nothing. These prices add up to the money reserved.
        """
        amount = as_money(terms.own)
        for share, fee in terms.shares(cell):
            most = self._paid.get(share) or _NOTHING
            for other, due in self._out[share].items():
                if other == cell:
                    amount += max(fee - most, _NOTHING)
                    break
                if other not in ended:
                    most = max(most, due)
        return float(amount)

    def _left(self, budget: float, ended: Iterable[Due]) -> Money:
        return as_money(budget) - self._spent - self._reserved(ended)

    def _reserved(self, ended: Iterable[Due]) -> Money:
        reserved = self._own + self._fees
        gone: dict[Share, set[Cell]] = {}
        for terms, cell in ended:
            reserved -= as_money(terms.own)
            for share, _ in terms.shares(cell):
                gone.setdefault(share, set()).add(cell)
        for share, cells in gone.items():
            reserved -= self._open_fee(share) - self._open_fee(share, cells)
        return reserved

    def _open_fee(self, share: Share, without: Collection[Cell] = ()) -> Money:
        """Return what the cells that are out would add to a fee if all of them were answered."""
        fees = [fee for cell, fee in self._out.get(share, {}).items() if cell not in without]
        return max(max(fees, default=_NOTHING) - (self._paid.get(share) or _NOTHING), _NOTHING)


@lru_cache(maxsize=10_000)
def as_money(amount: float) -> Money:
    """Return an amount as exact money; the same few prices are read again and again."""
    return Money(amount)


def terms_map() -> ColumnarDict[Cell, Terms]:
    """Return an empty map of cells to their terms."""
    return ColumnarDict((int, int), TERMS, encode=tuple, decode=Terms)


def _shortest(money: Money) -> list[int]:
    """Return the units and decimals of an amount, without trailing zeros."""
    units, decimals = money.units, money.decimals
    while decimals and units % 10 == 0:
        units, decimals = units // 10, decimals - 1
    return [units, decimals]
