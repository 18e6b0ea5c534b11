"""``cellworth refuse``."""

from __future__ import annotations

from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import chosen_cells, opened
from cellworth.cli.terminal import count, money, money_plain, print_json

EXAMPLE = "Example: cellworth refuse P017:culture P021:culture --reason 'the sample is lost'"


def refuse(
    cells: options.Cells = None,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why they cannot be had, for the log.")],
    path: options.CellsFrom = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Record that cells cannot be had: they are never asked for again, and their money is free."""
    with opened(store, name) as campaign:
        new = campaign.refuse(chosen_cells(campaign, cells, path), reason, who=who)
        if as_json:
            print_json({"refused": new, **money_plain(campaign)})
        else:
            print(f"{count(new, 'cell')} refused; {money(campaign)}")
