"""Commands to manage a running campaign: budget, prices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellworth.cli import options
from cellworth.cli.options import opened
from cellworth.cli.output import money, money_json, print_json
from cellworth.cli.reading import PLAIN_FILE, Writing, reads

if TYPE_CHECKING:
    from cellworth.campaign import Campaign

BUDGET_EXAMPLE = "Example: cellworth budget 800 --reason 'a second grant'"
PRICES_EXAMPLE = "Example: cellworth prices prices-2025.csv --who Ann"
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
