"""What to measure next in a row, as plain data for pages and REST."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cellworth.campaign import Campaign
from cellworth.table.column import UserValue


def next_step(
    campaign: Campaign,
    values: Mapping[str, Any],
    row: str | None = None,
    *,
    spent: float = 0.0,
    refused: Iterable[str] = (),
    **settings: Any,
) -> dict[str, Any]:
    """Return the next step of a new row, or of a row of the table, as `NextStep.to_json` has it.

    Parameters
    ----------
    campaign : Campaign
    values : mapping of column name to value
        What is known; of a row of the table, what is known beyond it.
    row : str, optional
        The id of a row of the table.
    spent : float
        What was spent on the row, for the budget of a row.
    refused : iterable of str
        Columns that cannot be measured in this row.
    settings
        See `Campaign.policy`.
    """
    policy = campaign.policy(**settings)
    known: dict[str, Any] = {} if row is None else known_values(campaign, row)
    step = policy.next_cell({**known, **values}, spent=spent, refused=refused)
    return {**step.to_json(), "row": row, "as_of": campaign.number}


def undecided_steps(campaign: Campaign, **settings: Any) -> list[dict[str, Any]]:
    """Return the next steps of the rows without a label in which something is worth measuring."""
    return [step.to_json() for step in campaign.undecided(**settings)]


def known_values(campaign: Campaign, row: str) -> dict[str, UserValue]:
    """Return what is known of a row of the table, as the user writes it."""
    table = campaign.table
    cells = table.values[table.row_index(row)]
    found = zip(table.columns, cells.tolist(), strict=True)
    return {column.name: value for column, cell in found if (value := column.format(cell)) is not None}
