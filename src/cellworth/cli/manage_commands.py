"""Commands to manage a running campaign: budget, prices, release, clock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellworth.cli import options
from cellworth.cli.options import chosen_cells, opened
from cellworth.cli.output import count, money, money_json, print_json
from cellworth.cli.reading import PLAIN_FILE, Writing, reads

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.strategy import Purchase

BUDGET_EXAMPLE = "Example: cellworth budget 800 --reason 'a second grant'"
PRICES_EXAMPLE = "Example: cellworth prices prices-2025.csv --who Ann"
RELEASE_EXAMPLE = "Example: cellworth release --holder Ann --who Bob --reason 'Ann is ill'"
CLOCK_EXAMPLE = "Example: cellworth clock --set --who Bob"
NO_LIMIT = "none"

Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for the log.")]


def budget(
    amount: Annotated[
        str,
        typer.Argument(metavar="AMOUNT", help="The most to spend in the whole campaign; none for no limit."),
    ],
    reason: Reason = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Change the budget of a running campaign.

    It may not be below what is spent and reserved. The old budget stays in the log.
    """
    with opened(store, name) as campaign:
        changed = campaign.change_budget(_amount(amount), who=who, reason=reason)
        _told(campaign, "budget", changed=changed, as_json=as_json)


@reads
def prices(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .xlsx file with column,price.")],
    reason: Reason = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    writing: Writing = PLAIN_FILE,
    as_json: options.Json = False,
) -> None:
    """Change the prices of cells that are asked for from now on.

    Cells that are out, and answers that are late, cost what they were asked for at.
    """
    with opened(store, name) as campaign:
        changed = campaign.change_prices(writing.prices(file), who=who, reason=reason)
        _told(campaign, "prices", changed=changed, as_json=as_json)


@reads
def release(
    cells: options.Cells = None,
    path: options.CellsFrom = None,
    holder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Release all cells that this person has.")
    ] = None,
    reason: Reason = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    writing: Writing = PLAIN_FILE,
    as_json: options.Json = False,
) -> None:
    """Take back cells that somebody has taken, for others to take. They stay out, with their money reserved.

    To release the money, too, use cancel.
    """
    if holder is not None and (cells or path):
        raise typer.BadParameter("--holder means every cell that this person has; do not name cells as well.")
    with opened(store, name) as campaign:
        chosen: Sequence[Purchase | tuple[object, str]]
        if holder is None:
            chosen = chosen_cells(campaign, cells, path and writing.file(path))
        else:
            chosen = [each for each in campaign.open_purchases() if each.holder == holder]
        released = campaign.release(chosen, who=who, reason=reason)
        print_json({"released": released}) if as_json else print(f"{count(released, 'cell')} released")


def clock(
    set_it: Annotated[
        bool, typer.Option("--set", help="Set the campaign's time by the clock, if they are far apart.")
    ] = False,
    reason: Reason = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Compare the clock with the last event, and set the campaign's time after a clock was wrong.

    Leases that a fast clock gave out end as much earlier as the time is set back.
    """
    with opened(store, name) as campaign:
        changed = campaign.set_clock(who=who, reason=reason) if set_it else False
        last, now, problem = campaign.times()
        if as_json:
            print_json({"changed": changed, "last_event": last, "clock": now, "problem": problem})
        else:
            print(f"Last event: {last:%Y-%m-%d %H:%M} UTC; clock: {now:%Y-%m-%d %H:%M} UTC")
            if changed:
                print("The campaign's time is set by the clock")
            elif problem is not None:
                print(problem)


def _amount(text: str) -> float | None:
    if text == NO_LIMIT:
        return None
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"expected an amount of money, or {NO_LIMIT}; got {text!r}.") from None


def _told(campaign: Campaign, what: str, *, changed: bool, as_json: bool) -> None:
    if as_json:
        print_json({"changed": changed, **money_json(campaign)})
    else:
        print(f"New {what}" if changed else f"Same {what}: nothing to change", end="; ")
        print(money(campaign))
