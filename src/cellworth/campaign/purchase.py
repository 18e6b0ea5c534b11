"""What a campaign asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Purchase:
    """One cell that a campaign has asked for.

    Attributes
    ----------
    row : str
        The user's id of the row.
    column : str
    group : str or None
        The price group of the column, such as one blood draw; cells of a row and group are had together.
    price : float
        What it adds to the bill when the batch is bought in its order; this much money is reserved.
    worth : float
        As the strategy scores it: comparable within one round, not between rounds or strategies.
    why : str
        One sentence for people.
    until : datetime or None
        When the lease runs out and the cell may be asked for again, in UTC; None for never.
    asked_by : str or None
        Who asked.
    holder : str or None
        Who has taken it, to find out its value; None if nobody has.
    held_until : datetime or None
        When others may take it, in UTC; None if nobody has it.
    """

    row: str
    column: str
    group: str | None
    price: float
    worth: float
    why: str
    until: datetime | None
    asked_by: str | None = None
    holder: str | None = None
    held_until: datetime | None = None
