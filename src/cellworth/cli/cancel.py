"""``cellworth cancel``."""

from __future__ import annotations

from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import chosen_cells, opened
from cellworth.cli.terminal import count, money, money_plain, print_json

EXAMPLE = "Example: cellworth cancel --from asks.csv --who Ann"


def cancel(
    cells: options.Cells = None,
    path: options.CellsFrom = None,
    every: Annotated[bool, typer.Option("--all", help="All cells that are out now.")] = False,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Give cells that were asked for back to the pool, and their money. They may be asked for again."""
    if every and (cells or path):
        raise typer.BadParameter("--all stands for every cell that is out; name no others with it.")
    with opened(store, name) as campaign:
        chosen = campaign.open_purchases() if every else chosen_cells(campaign, cells, path)
        new = campaign.cancel(chosen, who=who)
        if as_json:
            print_json({"cancelled": new, **money_plain(campaign)})
        else:
            print(f"{count(new, 'cell')} cancelled; {money(campaign)}")
