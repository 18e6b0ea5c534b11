"""Commands for people who share the work: take cells, and give them back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.options import chosen_cells, opened
from cellworth.cli.output import count, print_json, print_table

TAKE_EXAMPLE = "Example: cellworth take --count 10 --who Ann --out mine.csv"
GIVE_BACK_EXAMPLE = "Example: cellworth give-back P017:culture --who Ann"


def take(
    cells: options.Cells = None,
    *,
    who: Annotated[str, typer.Option(metavar="NAME", help="Who takes them.")],
    path: options.CellsFrom = None,
    most: Annotated[
        int | None, typer.Option("--count", min=0, help="So many that nobody has, those asked for first.")
    ] = None,
    lease: Annotated[str, typer.Option(help="For how long: 8h, 30m, 2d.")] = "8h",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file for the list, to be filled in.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Take cells that are out, so that nobody else works on them meanwhile. Answers of others still count."""
    from cellworth.campaign.answer_file import check_asks_path, write_asks

    if most is not None and (cells or path):
        raise typer.BadParameter("--count takes cells that nobody has; name no others with it.")
    with opened(store, name) as campaign:
        if out is not None:
            check_asks_path(out)
        wanted = chosen_cells(campaign, cells, path) if most is None else most
        mine = campaign.take(wanted, who=who, lease=lease)
        if out is not None:
            write_asks(out, mine)
        if as_json:
            print_json({"cells": mine})
            return
        if mine and out is None:
            rows = [(p.row, p.column, p.group or "", f"{p.price:.2f}", p.why) for p in mine]
            print_table(("row", "column", "group", "price", "why"), rows, right=("price",))
        until = f" until {mine[0].held_until:%Y-%m-%d %H:%M} UTC" if mine else ""
        listed = f"; the list is in {out}" if mine and out is not None else ""
        print(f"{count(len(mine), 'cell')} taken by {who}{until}{listed}")


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
