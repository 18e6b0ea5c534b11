"""The next command: which cell of new rows to measure next, and when to stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellworth.cli import completion, options
from cellworth.cli.options import opened, usage
from cellworth.cli.output import count, print_json, print_table, working
from cellworth.cli.reading import PLAIN_TABLE, Reading, reads

if TYPE_CHECKING:
    from cellworth.policy import NextStep, Policy
    from cellworth.table import Table

NEXT_EXAMPLE = "Example: cellworth next new.csv --table clinic.csv --target outcome --error-cost 500"
MOST_CELLS = 5
"""Cells listed for a single row."""


@reads
def next_cell(
    rows: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ROWFILE]",
            help="New rows, with what is known of them. By default, the campaign's rows without a label.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The table to learn from. By default, the campaign's table."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column to predict; needed with --table.",
            autocompletion=completion.columns_of_table,
        ),
    ] = None,
    prices: options.PricesPath = None,
    error_cost: Annotated[
        float | None,
        typer.Option(min=0, help="What a wrong class, or a squared error of 1, costs in money."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Stop once a class has this probability, such as 0.95.")
    ] = None,
    deviation: Annotated[
        float | None, typer.Option(min=0, help="Stop once further cells would move a number by no more.")
    ] = None,
    budget: Annotated[float | None, typer.Option(min=0, help="The most to spend on one row.")] = None,
    free: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column that costs nothing; repeatable.")
    ] = None,
    model: options.Candidate = None,
    seed: options.FoldSeed = 0,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    reading: Reading = PLAIN_TABLE,
    as_json: options.Json = False,
) -> None:
    """Say what to measure next in new rows, and when it is enough.

    Each missing cell is worth what its possible values would do to the prediction. Say when to stop with at
    least one of --error-cost, --confidence (for a number, --deviation) and --budget. Nothing is recorded.
    """
    settings: dict[str, Any] = {
        "error_cost": error_cost,
        "confidence": confidence,
        "deviation": deviation,
        "budget": budget,
        "free": tuple(free or ()),
    }
    if table is None:
        with opened(store, name) as campaign, usage(), working("Training the model"):
            if rows is None:
                found = campaign.undecided(model=model, **settings)
            else:
                policy = campaign.policy(model=model, **settings)
                found = _of_file(policy, campaign.table, reading, rows)
    else:
        if target is None or rows is None:
            raise typer.BadParameter("--table needs --target COLUMN and a ROWFILE.")
        with usage(), working("Training the model"):
            from cellworth.model import model_of
            from cellworth.policy import Policy

            known = reading.table(table, target)
            fitted = model_of(known, model=model or "auto", random_state=seed)
            policy = Policy(known, fitted, prices=reading.prices(prices), seed=seed, **settings)
            found = _of_file(policy, known, reading, rows)
    print_json([step.to_json() for step in found]) if as_json else _describe(found)


def _of_file(policy: Policy, known: Table, reading: Reading, rows: Path) -> list[NextStep]:
    from cellworth.campaign.new_rows import conform, read_rows

    read = read_rows(reading.file(rows), known, missing=list(reading.missing or ()))
    return policy.next_cells(conform(read, known))


def _describe(found: list[NextStep]) -> None:
    for step in found:
        print(step)
    if len(found) == 1 and not found[0].stop:
        shown = [
            (cell.column, f"{cell.gain:.3g}", f"{cell.price:.2f}", f"{cell.per_money:.3g}")
            for cell in found[0].cells[:MOST_CELLS]
        ]
        print_table(("column", "gain", "price", "gain per money"), shown)
    going = [step for step in found if not step.stop]
    total = sum(step.price for step in going)
    print(f"{count(len(going), 'row')} of {len(found)} to go on with, for {total:.2f}")
