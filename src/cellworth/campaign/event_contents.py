"""What happens in a campaign: a class for each kind of event, with its stored layout.

Nothing outside this module knows the stored layout. See `cellworth.campaign.events` for versions.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

from cellworth.campaign.account import Terms
from cellworth.campaign.wish import Wish

Json = dict[str, Any]
Stage = Literal["open", "closed", "archived"]
Value = float | int | bool | str
"""A cell's value as the user writes it; dates and times as ISO strings."""


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
class _Fields:
    """Stored field by field."""

    def to_json(self) -> Json:
        """Return it as plain data."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(**{name: data[name] for name in (each.name for each in fields(cls))})


@dataclass(frozen=True)
class Asked:
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

    kind: ClassVar[str] = "asked"
    round: int
    based_on: int
    until: datetime | None
    cells: tuple[AskedCell, ...]
    wish: Wish | None = None
    terms: tuple[Terms, ...] | None = None

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {
            "round": self.round,
            "based_on": self.based_on,
            "until": None if self.until is None else self.until.isoformat(),
            "cells": _lists(self.cells),
            "wish": None if self.wish is None else self.wish.to_json(),
            "terms": None if self.terms is None else [list(each[:5]) for each in self.terms],
        }

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        until = None if data["until"] is None else datetime.fromisoformat(data["until"])
        cells = tuple(itertools.starmap(AskedCell, data["cells"]))
        wish = terms = None
        if version_of(data) > 1 and data["wish"] is not None:
            wish = Wish.from_json(data["wish"])
        if version_of(data) > 1 and data["terms"] is not None:
            terms = tuple(itertools.starmap(Terms, data["terms"]))
        if terms is not None and len(terms) != len(cells):
            raise ValueError(f"{len(cells)} cells have {len(terms)} terms")
        return cls(data["round"], data["based_on"], until, cells, wish, terms)

    def owed(self, number: int) -> Iterator[Terms]:
        """Yield the terms of each cell, given the number of the event."""
        if self.terms is None:
            yield from (Terms(cell.price, number=number) for cell in self.cells)
        else:
            yield from (each._replace(number=number) for each in self.terms)


@dataclass(frozen=True)
class Taken:
    """Cells that are out were taken, until a given time, by the event's ``who``."""

    kind: ClassVar[str] = "taken"
    until: datetime
    cells: tuple[CellName, ...]

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells), "until": self.until.isoformat()}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(datetime.fromisoformat(data["until"]), _names(data))


@dataclass(frozen=True)
class _CellsOnly:
    """The layout of events that have nothing but cells."""

    cells: tuple[CellName, ...]

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells)}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(_names(data))


@dataclass(frozen=True)
class GivenBack(_CellsOnly):
    """Taken cells were given back; others may take them."""

    kind: ClassVar[str] = "given back"


@dataclass(frozen=True)
class Cancelled(_CellsOnly):
    """Cells that had been asked for were returned to the pool."""

    kind: ClassVar[str] = "cancelled"


@dataclass(frozen=True)
class Told:
    """Answers were recorded.

    Attributes
    ----------
    cells : tuple of ToldCell
    stated : bool
        Whether the prices were stated with the answers. If not, they follow from the terms of the asks.
    reason : str or None
        A comment on the answers.
    """

    kind: ClassVar[str] = "told"
    cells: tuple[ToldCell, ...]
    stated: bool
    reason: str | None = None

    def to_json(self) -> Json:
        """Return it as plain data."""
        data: Json = {"cells": _lists(self.cells), "stated": self.stated}
        return data if self.reason is None else {**data, "reason": self.reason}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote; in version 1 each answer cost the price recorded with it."""
        stated = version_of(data) == 1 or bool(data["stated"])
        return cls(tuple(itertools.starmap(ToldCell, data["cells"])), stated, data.get("reason"))


@dataclass(frozen=True)
class Refused:
    """Cells were refused: they cannot be obtained."""

    kind: ClassVar[str] = "refused"
    cells: tuple[CellName, ...]
    reason: str

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells), "reason": self.reason}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(_names(data), data["reason"])


@dataclass(frozen=True)
class Corrected(_Fields):
    """A known value was replaced."""

    kind: ClassVar[str] = "corrected"
    row: str
    column: str
    old: Value
    new: Value
    reason: str | None


@dataclass(frozen=True)
class Extended:
    """Rows were appended; ``table`` holds them, packed (see `cellworth.campaign.table_bytes`)."""

    kind: ClassVar[str] = "extended"
    rows: tuple[str, ...]
    table: bytes

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"rows": list(self.rows), "table": base64.b64encode(self.table).decode("ascii")}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(tuple(data["rows"]), base64.b64decode(data["table"], validate=True))


@dataclass(frozen=True)
class Contradicted:
    """Answers came that differ from known values, and changed nothing.

    ``cells`` has the value that came and the one that was known.
    """

    kind: ClassVar[str] = "contradicted"
    cells: tuple[ContradictingCell, ...]

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells)}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(tuple(itertools.starmap(ContradictingCell, data["cells"])))


@dataclass(frozen=True)
class Released:
    """Cells that people had taken were taken from them; others may take them."""

    kind: ClassVar[str] = "released"
    cells: tuple[CellName, ...]
    reason: str | None

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells), "reason": self.reason}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(_names(data), data["reason"])


@dataclass(frozen=True)
class ClockSet(_Fields):
    """The campaign's time was set; this event may be dated before the last one.

    Attributes
    ----------
    back : float
        By how many seconds the time was set back; negative if it was set forward. Leases that would end after
        the last event end so much earlier; they last as long as they would have.
    reason : str or None
    """

    kind: ClassVar[str] = "clock set"
    back: float
    reason: str | None

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(float(data["back"]), data["reason"])


@dataclass(frozen=True)
class BudgetChanged(_Fields):
    """The campaign has another budget from here on; None for no limit."""

    kind: ClassVar[str] = "budget changed"
    old: float | None
    new: float | None
    reason: str | None

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        old, new = (None if data[name] is None else float(data[name]) for name in ("old", "new"))
        return cls(old, new, data["reason"])


@dataclass(frozen=True)
class PricesChanged(_Fields):
    """Cells asked for from here on have other prices; ``prices`` is the output of `Prices.to_dict`."""

    kind: ClassVar[str] = "prices changed"
    prices: Json
    reason: str | None


@dataclass(frozen=True)
class StageChanged(_Fields):
    """The campaign was closed, archived or opened again; see `cellworth.campaign.stage`."""

    kind: ClassVar[str] = "stage changed"
    old: Stage
    new: Stage
    reason: str | None

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        if data["new"] not in get_args(Stage):
            raise ValueError(f"there is no stage {data['new']!r}")
        return cls(data["old"], data["new"], data["reason"])


Content = (
    Asked
    | Taken
    | GivenBack
    | Told
    | Refused
    | Cancelled
    | Corrected
    | Extended
    | BudgetChanged
    | PricesChanged
    | Contradicted
    | Released
    | ClockSet
    | StageChanged
)
"""What happened; ``content.kind`` names it."""


def version_of(data: Json) -> Any:
    """Return the version of a stored layout; data without a number are of version 1."""
    return data.get("version", 1)


def _lists(cells: tuple[tuple[Any, ...], ...]) -> list[list[Any]]:
    return list(map(list, cells))


def _names(data: Json) -> tuple[CellName, ...]:
    return tuple(itertools.starmap(CellName, data["cells"]))
