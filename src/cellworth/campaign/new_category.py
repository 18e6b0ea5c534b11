"""A category that turned up in an answer, and that the column did not know of."""

from __future__ import annotations

from datetime import datetime

from cellworth.campaign.campaign_events import CategoryAdded
from cellworth.campaign.event_codec import check_optional_text
from cellworth.campaign.state import State
from cellworth.table.more_categories import with_category


class NewCategory:
    """A category that a column is to hold from now on."""

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
