"""``cellworth correct``."""

from __future__ import annotations

from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import print_json

EXAMPLE = "Example: cellworth correct P068 stage III --reason 'samples were swapped'"


def correct(
    row: Annotated[str, typer.Argument(metavar="ROW", help="The id of the row.")],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="The name of the column.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The right value.")],
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="What was wrong, for the log.")] = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Replace a known value that turned out wrong. The old one stays in the log."""
    with opened(store, name) as campaign:
        changed = campaign.correct(row, column, value, reason=reason, who=who)
        if as_json:
            print_json({"changed": changed})
        else:
            print("1 value corrected" if changed else "This value is known already: nothing to correct")
