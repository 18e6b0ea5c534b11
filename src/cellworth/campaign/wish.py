"""What somebody asks for: how much money, how many cells, and for how long to reserve them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from cellworth.errors import ParameterError
from cellworth.select.selector import check_limits
from cellworth.settings_language import named


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
