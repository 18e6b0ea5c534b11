"""The events about a campaign as a whole: rows were added, its budget, prices or time changed.

See `cellworth.campaign.event_codec.Content` for what a class says about its kind. `NewStage` and
`NewCategory` check a wish against the newest state and return the event, or None if it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, get_args

from cellworth.campaign.event_codec import Content, Event, EventLine, Json, check_optional_text
from cellworth.errors import ConflictError, ParameterError
from cellworth.messages import shorten
from cellworth.prices import Prices
from cellworth.prices.currency import money_text
from cellworth.setting_names import named
from cellworth.table.more_categories import with_category

if TYPE_CHECKING:
    from cellworth.campaign.state import State

Stage = Literal["open", "closed", "archived"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""Open, closed to all but readers, or archived: closed, and left out of lists."""


@dataclass(frozen=True)
class Extended(Content):
    """Rows were appended; ``table`` holds them, packed (see `cellworth.campaign.table_codec`)."""

    kind = "extended"
    words = "row added"
    changes_table = True
    rows: tuple[str, ...]
    table: bytes

    def apply(self, state: State, event: Event) -> None:
        """Append the rows."""
        state.extend(self.table)

    @property
    def size(self) -> int:
        """How many rows."""
        return len(self.rows)

    def lines(self) -> Iterator[EventLine]:
        """Yield the rows."""
        return map(EventLine, self.rows)

    def shown(self) -> Json:
        """Return the ids of the rows."""
        return {"rows": list(self.rows)}


@dataclass(frozen=True)
class ClockSet(Content):
    """The campaign's time was set; this event may be dated before the last one.

    Attributes
    ----------
    back : float
        By how many seconds the time was set back; negative if it was set forward. Leases that would end after
        the last event end so much earlier; they last as long as they would have.
    reason : str or None
    """

    kind = words = "clock set"
    whole = True
    back: float
    reason: str | None

    def apply(self, state: State, event: Event) -> None:
        """Move the ends of leases."""
        state.set_back(timedelta(seconds=self.back))

    def change(self, currency: str | None) -> str | None:
        """Return by how much."""
        direction = "back" if self.back > 0 else "forward"
        return f"{direction} by {timedelta(seconds=round(abs(self.back)))}"


@dataclass(frozen=True)
class BudgetChanged(Content):
    """The campaign has another budget from here on; None for no limit."""

    kind = words = "budget changed"
    whole = True
    old: float | None
    new: float | None
    reason: str | None

    def apply(self, state: State, event: Event) -> None:
        """Put the budget in force."""
        state.new_budget = self

    def change(self, currency: str | None) -> str | None:
        """Return both amounts."""
        both = (self.old, self.new)
        before, after = ("no limit" if each is None else money_text(each, currency) for each in both)
        return f"from {before} to {after}"


@dataclass(frozen=True)
class PricesChanged(Content):
    """Cells asked for from here on have other prices; ``prices`` is the output of `Prices.to_dict`."""

    kind = words = "prices changed"
    whole = True
    prices: Json
    reason: str | None

    def apply(self, state: State, event: Event) -> None:
        """Put the prices in force."""
        state.price_changes.append((event.number, self))

    def change(self, currency: str | None) -> str | None:
        """Return the new prices."""
        return repr(Prices.from_dict(self.prices))


@dataclass(frozen=True)
class StageChanged(Content):
    """The campaign was closed, archived or opened again; see `cellworth.campaign.campaign_events`."""

    kind = words = "stage changed"
    whole = True
    old: Stage
    new: Stage
    reason: str | None

    def __post_init__(self) -> None:
        if self.new not in get_args(Stage):
            raise ValueError(f"there is no stage {self.new!r}")

    def apply(self, state: State, event: Event) -> None:
        """Put the campaign into this stage."""
        state.stage = self.new

    def change(self, currency: str | None) -> str | None:
        """Return both stages."""
        return f"from {self.old} to {self.new}"


@dataclass(frozen=True)
class CategoryAdded(Content):
    """From here on, the cells of a column may hold one more category.

    Attributes
    ----------
    column, new : str
        The column and the category.
    before : str or None
        The category that it comes before in the order of the column; None if it comes last.
    reason : str or None
    """

    kind = words = "category added"
    changes_table = True
    whole = True
    column: str
    new: str
    before: str | None
    reason: str | None

    def apply(self, state: State, event: Event) -> None:
        """Let the column hold it."""
        state.add_category(self.column, self.new, self.before, event.number)

    def change(self, currency: str | None) -> str | None:
        """Return the column and its new category."""
        return f"{self.column}: {self.new}" + ("" if self.before is None else f", before {self.before}")


@dataclass(frozen=True)
class TableMoved(Content):
    """The founding table, which is in files of its own, is at another path from here on."""

    kind = words = "table moved"
    whole = True
    old: str
    new: str
    reason: str | None

    def apply(self, state: State, event: Event) -> None:
        """Look for the table there."""
        state.move_table(self.new, event.number)

    def change(self, currency: str | None) -> str | None:
        """Return both paths."""
        return f"from {self.old} to {self.new}"


class NewStage:
    """A stage to put a campaign into."""

    def __init__(self, stage: Stage, reason: str | None) -> None:
        if stage not in STAGES:
            raise ParameterError(
                f"{named('stage')} must be one of {', '.join(STAGES)}; got {shorten(stage)}."
            )
        self._stage: Stage = stage
        self._reason = check_optional_text("the reason", reason)

    def __call__(self, state: State, time: datetime) -> StageChanged | None:
        """Return the change; None if there is none."""
        return None if state.stage == self._stage else StageChanged(state.stage, self._stage, self._reason)


def check_open(name: str, state: State, kind: type[Content]) -> None:
    """Raise ConflictError if a campaign is not open, and so takes no event of this kind."""
    if state.stage != "open" and kind is not StageChanged:
        raise ConflictError(
            f"campaign {shorten(name)} is {state.stage}, so nothing was recorded. Open it again first."
        )


class NewCategory:
    """A category that a column is to hold from now on; it turned up in an answer."""

    def __init__(self, column: str, category: object, before: object, reason: str | None) -> None:
        self._column, self._category, self._before = column, category, before
        self._reason = check_optional_text("the reason", reason)

    def __call__(self, state: State, time: datetime) -> CategoryAdded | None:
        """Return the addition; None if the column has the category. DataError if it cannot have it."""
        old = state.index.columns[state.index.column(self._column)]
        new = with_category(old, self._category, self._before)
        if new == old:
            return None
        (added,) = set(new.categories) - set(old.categories)
        following = new.categories[new.categories.index(added) + 1 :]
        return CategoryAdded(old.name, added, following[0] if following else None, self._reason)
