"""The events about cells: asked for, taken, told, refused, corrected, ...; one class for each kind.

See `cellworth.campaign.event_codec.Content` for what a class says about its kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from cellworth.campaign.event_codec import Content, Event, EventLine, Json, Value, version_of
from cellworth.campaign.spending import Terms
from cellworth.errors import ParameterError
from cellworth.select.selector import check_limits
from cellworth.setting_names import named

if TYPE_CHECKING:
    from cellworth.campaign.state import State


class CellName(NamedTuple):
    """A cell, by the user's row and column names."""

    row: str
    column: str


class AskedCell(NamedTuple):
    """A cell that was asked for; see `cellworth.Purchase` for the fields."""

    row: str
    column: str
    price: float
    worth: float
    why: str


class ToldCell(NamedTuple):
    """An answer, and what it cost."""

    row: str
    column: str
    value: Value
    price: float


class ContradictingCell(NamedTuple):
    """An answer that differs from the value that is known."""

    row: str
    column: str
    value: Value
    known: Value


@dataclass(frozen=True)
class Wish:
    """The limits of an ask: the most money, the most cells, and how long to reserve them.

    >>> Wish.from_json(Wish(2.5, None, timedelta(days=7)).to_json())
    Wish(budget=2.5, count=None, lease=datetime.timedelta(days=7))
    """

    budget: float | None
    count: int | None
    lease: timedelta | None

    def __post_init__(self) -> None:
        if self.budget is not None or self.count is not None:
            money, _ = check_limits(self.budget, self.count)
            if self.budget is not None and not math.isfinite(money):
                raise ParameterError(
                    f"{named('budget')} must be a finite amount of money; got {self.budget!r}."
                )

    def to_json(self) -> dict[str, object]:
        """Return it as plain data; the lease in seconds."""
        return {
            "budget": None if self.budget is None else float(self.budget),
            "count": None if self.count is None else int(self.count),
            "lease": None if self.lease is None else self.lease.total_seconds(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        lease = None if data["lease"] is None else timedelta(seconds=data["lease"])
        return cls(data["budget"], data["count"], lease)


@dataclass(frozen=True)
class Asked(Content):
    """Cells were asked for.

    Attributes
    ----------
    round : int
        The round (1, 2, ...) whose scores they were chosen by.
    based_on : int
        The number of the last event that had changed the table when the round was completed; 0 for the
        original table.
    until : datetime or None
        When the lease expires; None for never.
    cells : tuple of AskedCell
        Best first; empty if the request had a key and nothing could be bought.
    wish : Wish or None
        What was wished for; None in version 1.
    terms : tuple of Terms or None
        What each cell owes, without ``number``; None if each costs its price and shares nothing.
    """

    kind = "asked"
    words = "asked for"
    version = 2
    round: int
    based_on: int
    until: datetime | None
    cells: tuple[AskedCell, ...]
    wish: Wish | None = None
    terms: tuple[Terms, ...] | None = None

    def to_json(self) -> Json:
        """Return it as plain data."""
        terms = None if self.terms is None else [list(each[:5]) for each in self.terms]
        return {**super().to_json(), "terms": terms}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        asked = super().from_json(data if version_of(data) > 1 else {**data, "wish": None, "terms": None})
        if asked.terms is not None and len(asked.terms) != len(asked.cells):
            raise ValueError(f"{len(asked.cells)} cells have {len(asked.terms)} terms")
        return asked

    def apply(self, state: State, event: Event) -> None:
        """Reserve the cells and their money."""
        state.ask(self, event)

    def owed(self, number: int) -> Iterator[Terms]:
        """Yield the terms of each cell, given the number of the event; cells with equal terms share them."""
        made: dict[object, Terms] = {}
        for each in (cell.price for cell in self.cells) if self.terms is None else self.terms:
            found = made.get(each)
            if found is None:
                whole = Terms(each) if isinstance(each, float | int) else each
                found = made[each] = whole._replace(number=number)
            yield found

    def lines(self) -> Iterator[EventLine]:
        """Yield the cells with their prices and worths."""
        return (EventLine(*cell[:2], price=cell.price, worth=cell.worth) for cell in self.cells)

    def shown(self) -> Json:
        """Return it without terms, and without a wish that was not recorded."""
        hidden = {"terms"} if self.wish is not None else {"terms", "wish"}
        return {name: value for name, value in super().shown().items() if name not in hidden}


@dataclass(frozen=True)
class Taken(Content):
    """Cells that are out were taken, until a given time, by the event's ``who``."""

    kind = words = "taken"
    until: datetime
    cells: tuple[CellName, ...]

    def apply(self, state: State, event: Event) -> None:
        """Keep the cells for this person."""
        state.hold(self.cells, str(event.who), self.until)


@dataclass(frozen=True)
class GivenBack(Content):
    """Taken cells were given back; others may take them."""

    kind = words = "given back"
    cells: tuple[CellName, ...]

    def apply(self, state: State, event: Event) -> None:
        """Let others take the cells."""
        state.let_go(self.cells)


@dataclass(frozen=True)
class Told(Content):
    """Answers were recorded.

    Attributes
    ----------
    cells : tuple of ToldCell
    stated : bool
        Whether the prices were stated with the answers. If not, they follow from the terms of the asks.
    reason : str or None
        A comment on the answers.
    """

    kind = "told"
    words = "bought"
    version = 2
    changes_table = True
    cells: tuple[ToldCell, ...]
    stated: bool
    reason: str | None = None

    def to_json(self) -> Json:
        """Return it as plain data."""
        data = super().to_json()
        if self.reason is None:
            del data["reason"]
        return data

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote; in version 1 each answer cost the price recorded with it."""
        stated = version_of(data) == 1 or bool(data["stated"])
        return super().from_json({**data, "stated": stated, "reason": data.get("reason")})

    def apply(self, state: State, event: Event) -> None:
        """Fill in the values, and pay for them."""
        state.tell(self)

    def lines(self) -> Iterator[EventLine]:
        """Yield the values with their prices."""
        return (EventLine(*cell[:3], price=cell.price) for cell in self.cells)

    def shown(self) -> Json:
        """Return it without ``stated``, which only matters for money."""
        return {name: value for name, value in super().shown().items() if name != "stated"}


@dataclass(frozen=True)
class Refused(Content):
    """Cells were refused: they cannot be obtained."""

    kind = words = "refused"
    cells: tuple[CellName, ...]
    reason: str

    def apply(self, state: State, event: Event) -> None:
        """Never ask for the cells again."""
        state.refuse(self.cells)


@dataclass(frozen=True)
class Cancelled(Content):
    """Cells that had been asked for were returned to the pool."""

    kind = "cancelled"
    words = "withdrawn"
    cells: tuple[CellName, ...]

    def apply(self, state: State, event: Event) -> None:
        """Release the cells and their money."""
        state.cancel(self.cells)


@dataclass(frozen=True)
class Corrected(Content):
    """A known value was replaced."""

    kind = words = "corrected"
    changes_table = True
    row: str
    column: str
    old: Value
    new: Value
    reason: str | None

    def apply(self, state: State, event: Event) -> None:
        """Replace the value."""
        state.correct(self.row, self.column, self.new)

    @property
    def size(self) -> int:
        """One cell."""
        return 1

    def lines(self) -> Iterator[EventLine]:
        """Yield the new value and the old one."""
        yield EventLine(self.row, self.column, self.new, self.old)


@dataclass(frozen=True)
class Contradicted(Content):
    """Answers came that differ from known values, and changed nothing.

    ``cells`` has the value that came and the one that was known.
    """

    kind = words = "contradicted"
    cells: tuple[ContradictingCell, ...]

    def apply(self, state: State, event: Event) -> None:
        """Remember the answers, so that each is recorded once."""
        state.contradictions.update(cell[:3] for cell in self.cells)


@dataclass(frozen=True)
class Released(Content):
    """Cells that people had taken were taken from them; others may take them."""

    kind = "released"
    words = "taken back"
    cells: tuple[CellName, ...]
    reason: str | None

    def apply(self, state: State, event: Event) -> None:
        """Let others take the cells."""
        state.let_go(self.cells)
