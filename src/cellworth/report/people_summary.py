"""Who answered how much, and what is overdue."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from cellworth.campaign import Campaign
from cellworth.campaign.cell_events import Refused, Told
from cellworth.prices.money import add_up
from cellworth.report.summaries import Summary, SummaryInputs, inputs_of

SOON = timedelta(days=2)


@dataclass(frozen=True)
class PersonSummary:
    """What one person has answered.

    Attributes
    ----------
    who : str or None
        None if no name was given.
    answers, refused : int
        Values told, and said to be not available.
    money : float
        What their answers cost.
    held : int
        Values they have taken now.
    last : str
        Time of their last answer, as an ISO string.
    """

    who: str | None
    answers: int
    refused: int
    money: float
    held: int
    last: str


@dataclass(frozen=True)
class PeopleSummary(Summary):
    """Who answered how much, and what is overdue.

    Attributes
    ----------
    people : list of PersonSummary
        Most answers first.
    overdue : int
        Cells asked for whose lease ended without an answer.
    due_soon : int
        Open cells whose lease ends within `SOON`.
    next_due : str or None
        When the next lease ends, as an ISO string.
    """

    people: list[PersonSummary]
    overdue: int
    due_soon: int
    next_due: str | None


def people_summary(campaign: Campaign) -> PeopleSummary:
    """Summarise who answered; O(events + open cells), the events once."""
    inputs = inputs_of(campaign)
    told = inputs.once("people", inputs.number, lambda: _told(inputs))
    out = campaign.open_purchases()
    held: dict[str | None, int] = defaultdict(int)
    for each in out:
        held[each.holder] += 1
    people = [
        PersonSummary(who, len(prices), refused, float(add_up(prices)), held[who], last.isoformat())
        for who, (prices, refused, last) in told.items()
    ]
    ends = sorted(each.until for each in out if each.until is not None)
    soon = campaign.times().clock + SOON
    return PeopleSummary(
        inputs.number,
        sorted(people, key=lambda each: (-each.answers, each.who or "")),
        max(0, inputs.n_asked - len(out)),
        sum(end <= soon for end in ends),
        ends[0].isoformat() if ends else None,
    )


def _told(inputs: SummaryInputs) -> dict[str | None, tuple[list[float], int, datetime]]:
    """Return for each person the prices of their answers, how many they refused, and when the last was."""
    found: dict[str | None, tuple[list[float], int, datetime]] = {}
    for event in inputs.view.events():
        content = event.content
        if not isinstance(content, Told | Refused):
            continue
        prices, refused, _ = found.get(event.who, ([], 0, event.time))
        if isinstance(content, Told):
            prices = [*prices, *(cell.price for cell in content.cells)]
        else:
            refused += len(content.cells)
        found[event.who] = prices, refused, event.time
    return found
