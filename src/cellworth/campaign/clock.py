"""A campaign's time: notice a clock that is wrong, and set the time right.

Events are dated by the clock of whoever writes them, or of the database server, and never before the last
one. So a single event dated by a fast clock holds the time of the whole campaign until then.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from cellworth.campaign.campaign_events import ClockSet
from cellworth.messages import shorten


class Times(NamedTuple):
    """The time of a campaign's last event, that of the clock, and what is wrong; None if nothing is."""

    last: datetime
    clock: datetime
    problem: str | None


BEHIND = timedelta(minutes=10)
"""How far a clock may be behind the last event before that is reported."""
FAR_BEHIND = timedelta(days=1)
"""How far a clock may be behind before it may not date leases."""
IDLE = timedelta(days=366)
"""How far a clock may be ahead of the last event: nothing happens in most campaigns for weeks at times."""
HOW_TO_SET = "set the campaign's time by it: cellworth clock --set, or campaign.set_clock()"


def clock_problem(name: str, last: datetime, time: datetime) -> str | None:
    """Return what is wrong if a clock and the last event are too far apart; None if nothing is.

    >>> from datetime import UTC
    >>> monday = datetime(2024, 5, 6, tzinfo=UTC)
    >>> clock_problem("study", monday, monday + timedelta(days=90))
    >>> print(clock_problem("study", monday + timedelta(days=9), monday))  # doctest: +ELLIPSIS
    the last event of campaign 'study' is dated 2024-05-15 00:00 UTC, but the clock says 2024-05-06 ...
    """
    dated, says = (f"{each:%Y-%m-%d %H:%M} UTC" for each in (last, time))
    said = f"the last event of campaign {shorten(name)} is dated {dated}, but the clock says {says}: "
    if last - time > BEHIND:
        return (
            f"{said}one of the two clocks was wrong. Until then new events get the time of the last one, and "
            f"no lease can begin or end. Correct the clock if it is wrong; if it is right, {HOW_TO_SET}."
        )
    if time - last > IDLE:
        return (
            f"{said}more than a year later. Correct the clock if it is wrong; if it is right, {HOW_TO_SET}."
        )
    return None


def may_lease(last: datetime, time: datetime, *, ends_leases: bool) -> bool:
    """Return whether leases may begin by this clock, given the time of the last event.

    A clock that is far behind may date none: a lease of a week would end in years. A clock that is far ahead
    is refused only if leases that still ran at the last event would end by it (``ends_leases``): were it
    wrong, their cells would be asked for, and paid for, a second time. With nothing out, a campaign that
    rested for more than a year simply goes on, with a warning: rests are common, clocks that are years ahead
    are rare, and events that one has dated can be set right.
    """
    return last - time <= FAR_BEHIND and not (ends_leases and time - last > IDLE)


def late_leases(ends: list[datetime], time: datetime) -> str | None:
    """Return a note if leases end more than a year from now; None if none do."""
    late = sum(end - time > IDLE for end in ends)
    if not late:
        return None
    some = "1 lease ends" if late == 1 else f"{late} leases end"
    return f"{some} more than a year from now. Cancel or release these cells if that is not meant."


def new_time(last: datetime, time: datetime, reason: str | None) -> ClockSet | None:
    """Return the event that sets a campaign's time by the clock; None if they agree."""
    if clock_problem("", last, time) is None:
        return None
    return ClockSet((last - time).total_seconds(), reason)
