"""``cellworth give-back``."""

from __future__ import annotations

from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import chosen_cells, opened
from cellworth.cli.terminal import count, print_json

EXAMPLE = "Example: cellworth give-back P017:culture --who Ann"


def give_back(
    cells: options.Cells = None,
    *,
    who: Annotated[str, typer.Option(metavar="NAME", help="Who has taken them.")],
    path: options.CellsFrom = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Let others have cells that you have taken. They stay out, and their money reserved."""
    with opened(store, name) as campaign:
        given = campaign.give_back(chosen_cells(campaign, cells, path), who=who)
        if as_json:
            print_json({"given_back": given})
        else:
            print(f"{count(given, 'cell')} given back by {who}")
