"""``cellworth ask``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import count, money, money_plain, print_json, print_table, working

if TYPE_CHECKING:
    from cellworth.strategy import Purchase

EXAMPLE = "Example: cellworth ask --budget 60 --who Ann --out asks.csv"


def ask(
    budget: Annotated[float | None, typer.Option(min=0, help="Most money to ask for.")] = None,
    most: Annotated[int | None, typer.Option("--count", min=0, help="Most cells to ask for.")] = None,
    lease: Annotated[
        str, typer.Option(help="How long the cells are reserved: 7d, 12h, 30m, or never to release them.")
    ] = "7d",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file for the list, to be filled in.")
    ] = None,
    only_open: Annotated[
        bool, typer.Option("--open", help="Ask for nothing new: list the cells that are out now.")
    ] = False,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Ask for the cells that are most worth buying now.

    Their money is reserved. Without a limit, all that is left of the budget is spent.
    """
    from cellworth.campaign.answer_file import check_asks_path, write_asks

    with opened(store, name) as campaign:
        if out is not None:
            check_asks_path(out)
        if only_open:
            batch = campaign.open_purchases()
        else:
            with working("Completing the table and choosing cells"):
                batch = campaign.ask(budget, most, who=who, lease=None if lease == "never" else lease)
        if out is not None:
            write_asks(out, batch)
        if as_json:
            print_json({"cells": list(batch), **money_plain(campaign)})
        else:
            _describe(batch, out)
            print(f"{count(len(batch), 'cell')}; {money(campaign)}")


def _describe(batch: Sequence[Purchase], out: Path | None) -> None:
    if not batch:
        print("There is nothing that can be had for the money.")
    elif out is not None:
        print(f'The list is in {out}. Fill in its column "value", then: cellworth tell {out}')
    else:
        header = ("row", "column", "group", "price", "worth", "why", "until")
        rows = [
            (
                each.row,
                each.column,
                each.group or "",
                f"{each.price:.2f}",
                f"{each.worth:.3g}",
                each.why,
                "" if each.until is None else f"{each.until:%Y-%m-%d %H:%M} UTC",
            )
            for each in batch
        ]
        print_table(header, rows, right=("price", "worth"))
