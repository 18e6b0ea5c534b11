"""A group of columns that are cheaper together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cellworth.errors import ParameterError
from cellworth.messages import listing, not_there, shorten
from cellworth.prices.cell_prices import check_name, check_price, check_prices


@dataclass(frozen=True, init=False, repr=False)
class Group:
    """Columns that are cheaper together, such as tests that share one blood draw.

    In each row, the first column bought costs its first price, and every other column its follow-up price.
    The difference is the fee that opens the group. If fees differ, a batch pays the largest fee among its
    columns, in any order.

    Parameters
    ----------
    name : str
        The name of the group.
    columns : sequence of str
        The names of its columns.
    first : float, or mapping of column name to float
        The price of a column bought alone, in money: one for all columns, or one each. Positive and finite.
    then : float, or mapping of column name to float
        The price once the group is open. Positive, and not above ``first``.
    lasting : bool, default=False
        Whether the group stays open in rows where any of its columns was known before the batch (the blood
        is kept). If not, each batch pays the fee again (the patient comes back).

    Attributes
    ----------
    columns : tuple of str
    first, then : tuple of float
        In the order of ``columns``.

    Examples
    --------
    >>> Group("blood", ["chol", "fbs"], first={"chol": 7.27, "fbs": 5.20}, then={"chol": 5.17, "fbs": 3.10})
    Group('blood', ['chol', 'fbs'], first={'chol': 7.27, 'fbs': 5.2}, then={'chol': 5.17, 'fbs': 3.1})
    >>> Group("exercise", ["exang", "oldpeak", "slope"], first=87.30, then=1, lasting=True)
    Group('exercise', ['exang', 'oldpeak', 'slope'], first=87.3, then=1.0, lasting=True)
    """

    name: str
    columns: tuple[str, ...]
    first: tuple[float, ...]
    then: tuple[float, ...]
    lasting: bool

    def __init__(
        self,
        name: str,
        columns: Iterable[str],
        *,
        first: float | Mapping[str, float],
        then: float | Mapping[str, float],
        lasting: bool = False,
    ) -> None:
        where = f"group {shorten(check_name(name, 'group'))}"
        members = _check_columns(columns, where)
        if not isinstance(lasting, bool):
            raise ParameterError(f"{where}: lasting must be True or False; got {shorten(lasting)}.")
        _set(self, name=name, columns=members, lasting=lasting)
        _set(self, first=_one_each(first, members, f"{where}: the first price"))
        _set(self, then=_one_each(then, members, f"{where}: the follow-up price"))
        for column, dear, cheap in zip(members, self.first, self.then, strict=True):
            if cheap > dear:
                raise ParameterError(
                    f"{where}: the follow-up price of column {shorten(column)} must not be above its first "
                    f"price {dear}; got {cheap}. Are the two swapped?"
                )

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON-compatible data."""
        return {
            "name": self.name,
            "columns": list(self.columns),
            "first": list(self.first),
            "then": list(self.then),
            "lasting": self.lasting,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Group:
        """Restore a group from `to_dict`."""
        columns = stored["columns"]
        first, then = (dict(zip(columns, stored[which], strict=True)) for which in ("first", "then"))
        return cls(stored["name"], columns, first=first, then=then, lasting=stored["lasting"])

    def __repr__(self) -> str:
        lasting = ", lasting=True" if self.lasting else ""
        return (
            f"Group({self.name!r}, {list(self.columns)}, first={self._stated(self.first)}, "
            f"then={self._stated(self.then)}{lasting})"
        )

    def _stated(self, prices: tuple[float, ...]) -> float | dict[str, float]:
        return prices[0] if len(set(prices)) == 1 else dict(zip(self.columns, prices, strict=True))


def _set(group: Group, **fields: object) -> None:
    for name, value in fields.items():
        object.__setattr__(group, name, value)


def _check_columns(columns: Iterable[str], where: str) -> tuple[str, ...]:
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ParameterError(f"{where}: columns must be a list of column names; got {shorten(columns)}.")
    members = tuple(check_name(column) for column in columns)
    if not members:
        raise ParameterError(f"{where}: expected at least one column, got none.")
    twice = [name for name, count in Counter(members).items() if count > 1]
    if twice:
        raise ParameterError(f"{where}: each column must appear once; got {listing(twice)} more than once.")
    return members


def _one_each(price: float | Mapping[str, float], columns: tuple[str, ...], what: str) -> tuple[float, ...]:
    """Return one checked price per column, in order."""
    if not isinstance(price, Mapping):
        return (check_price(price, what),) * len(columns)
    prices = check_prices(price, what)
    for name in prices:
        if name not in columns:
            raise ParameterError(f"{what}: {not_there('column', name, columns)}")
    without = [column for column in columns if column not in prices]
    if without:
        raise ParameterError(
            f"{what} must be given for each column of the group; got none for {listing(without)}."
        )
    return tuple(prices[column] for column in columns)
