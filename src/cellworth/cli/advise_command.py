"""The advise command: a shopping list for a table, without a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.options import usage
from cellworth.cli.out_files import Force, make_way
from cellworth.cli.output import count, print_batch, print_json, working
from cellworth.cli.reading import PLAIN_TABLE, Reading, reads

ADVISE_EXAMPLE = "Example: cellworth advise clinic.csv --target outcome --row-id id --missing '?' --budget 50"


@reads
def advise(
    table: options.TablePath,
    target: options.OptionalTarget = None,
    budget: Annotated[float | None, typer.Option(min=0, help="The most money to spend.")] = None,
    most: Annotated[int | None, typer.Option("--count", min=1, help="The most cells to buy.")] = None,
    prices: options.PricesPath = None,
    strategy: options.Strategy = "recommended",
    seed: options.StrategySeed = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the list to this .csv or .xlsx file.")
    ] = None,
    force: Force = False,
    reading: Reading = PLAIN_TABLE,
    as_json: options.Json = False,
) -> None:
    """List the missing cells of a table that are most worth buying. Nothing is recorded."""
    if budget is None and most is None:
        raise typer.BadParameter("say how much to buy, with --budget, --count or both.")
    with usage():
        from cellworth.campaign.answer_file import check_asks_path, write_asks
        from cellworth.strategy import advise as choose

        if out is not None:
            check_asks_path(out)
            make_way(out, force=force)
        read = reading.table(table, target)
        stated = reading.prices(prices)
        with working("Completing the table and choosing cells"):
            batch = choose(read, prices=stated, budget=budget, count=most, strategy=strategy, seed=seed)
    if out is not None:
        write_asks(out, batch)
    if as_json:
        print_json({"cells": list(batch), "cost": batch.cost})
        return
    if out is None and batch:
        print_batch(batch)
    listed = f"; the list is in {out}" if out is not None else ""
    print(f"{count(len(batch), 'cell')} for {batch.cost:.2f}{listed}")
