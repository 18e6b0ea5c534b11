"""Commands to share out the work on cells that are out: take, give-back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.options import opened
from cellworth.cli.out_files import Force, make_way
from cellworth.cli.output import count, print_json, print_table
from cellworth.cli.reading import NO_CELLS, NamedCells, reads

TAKE_EXAMPLE = "Example: cellworth take --count 10 --who Ann --out mine.csv"
GIVE_BACK_EXAMPLE = "Example: cellworth give-back P017:culture --who Ann"


@reads
def take(
    *,
    who: Annotated[str, typer.Option(metavar="NAME", help="Who takes the cells, for the log.")],
    most: Annotated[
        int | None, typer.Option("--count", min=1, help="Take this many free cells, oldest asks first.")
    ] = None,
    lease: Annotated[str, typer.Option(help="How long to keep them: 8h, 30m, 2d.")] = "8h",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the list to this CSV file, to fill in.")
    ] = None,
    force: Force = False,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    chosen: NamedCells = NO_CELLS,
    as_json: options.Json = False,
) -> None:
    """Take cells that are out, so that nobody else works on them.

    Cells are out while they are asked for and not yet answered. Answers from others still count.
    """
    from cellworth.campaign.answer_file import check_asks_path, write_asks
    from cellworth.prices.currency import money_text

    if most is not None and chosen:
        raise typer.BadParameter("--count takes any free cells; do not name cells as well.")
    with opened(store, name) as campaign:
        if out is not None:
            check_asks_path(out)
            make_way(out, force=force)
        wanted = chosen.of(campaign) if most is None else most
        mine = campaign.take(wanted, who=who, lease=lease)
        if out is not None:
            write_asks(out, mine)
        if as_json:
            print_json({"cells": mine})
            return
        if mine and out is None:
            rows = [(p.row, p.column, p.group or "", money_text(p.price), p.why) for p in mine]
            print_table(("row", "column", "group", "price", "why"), rows, right=("price",))
        until = f" until {mine[0].held_until:%Y-%m-%d %H:%M} UTC" if mine else ""
        listed = f"; the list is in {out}" if mine and out is not None else ""
        print(f"{count(len(mine), 'cell')} taken by {who}{until}{listed}")


@reads
def give_back(
    *,
    who: Annotated[str, typer.Option(metavar="NAME", help="Who has the cells.")],
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    chosen: NamedCells = NO_CELLS,
    as_json: options.Json = False,
) -> None:
    """Give back cells that you have taken, for others to take. They stay out, with their money reserved."""
    with opened(store, name) as campaign:
        given = campaign.give_back(chosen.of(campaign), who=who)
        if as_json:
            print_json({"given_back": given})
        else:
            print(f"{count(given, 'cell')} given back by {who}")
