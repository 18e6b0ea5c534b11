"""Money and cells of a campaign at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cellworth.campaign.places import Cell
from cellworth.campaign.state import State, Status


@dataclass(frozen=True)
class Tally:
    """Money and cells. Money is in that of the prices.

    Attributes
    ----------
    number : int
        Of the last event.
    rows, columns : int
    budget, left : float or None
        None without a budget.
    spent, reserved : float
    known : int
        Cells known without buying.
    bought, refused, open : int
        Cells told, cells that cannot be had, cells that are out now.
    missing : int
        Cells without a value, those refused or out included.
    """

    number: int
    rows: int
    columns: int
    budget: float | None
    spent: float
    reserved: float
    left: float | None
    known: int
    bought: int
    refused: int
    open: int
    missing: int


def tally_of(state: State, budget: float | None, expired: Sequence[Cell]) -> Tally:
    """Return money and cells of a state; ``expired`` are the asked cells whose lease has run out."""
    prices = [state.asked[cell].price for cell in expired]
    known, bought, refused = map(state.count, (Status.KNOWN, Status.TOLD, Status.REFUSED))
    return Tally(
        number=state.number,
        rows=len(state.places.row_ids),
        columns=len(state.places.columns),
        budget=budget,
        spent=state.money.spent,
        reserved=state.money.reserved(prices),
        left=None if budget is None else state.money.left(budget, prices),
        known=known,
        bought=bought,
        refused=refused,
        open=len(state.asked) - len(expired),
        missing=state.status.size - known - bought,
    )
