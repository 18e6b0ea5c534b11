"""Commands that say what to buy or measure, and what it would bring: advise, forecast, next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import options
from cellworth.cli.build_command import Argument, Option, WrongUsage
from cellworth.cli.file_options import LearningOptions, TableOptions, warnings_shown
from cellworth.cli.options import usage
from cellworth.cli.output import (
    Force,
    count,
    make_way,
    nothing_to_buy,
    print_batch,
    print_json,
    print_table,
    working,
)
from cellworth.shown_numbers import shown

if TYPE_CHECKING:
    from cellworth.policy import NextStep, Policy
    from cellworth.table import Table
    from cellworth.table.text_file import TextFile


def advise(
    *,
    table: options.TablePath,
    target: options.OptionalTarget = None,
    budget: Annotated[float | None, Option(min=0, help="The most money to spend.")] = None,
    most: Annotated[int | None, Option("--count", min=1, help="The most cells to buy.")] = None,
    prices: options.PricesPath = None,
    strategy: options.Strategy = "recommended",
    seed: options.StrategySeed = 0,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="Write the list to this .csv or .xlsx file.")
    ] = None,
    force: Force = False,
    reading: TableOptions,
    as_json: options.Json = False,
) -> None:
    """List the missing cells of a table that are most worth buying. Nothing is recorded.

    A folder of Parquet files, or a .zarr array, is read in blocks of rows and may be larger than memory. So
    is a sparse matrix, such as one of ratings: a .npz file of scipy.sparse.save_npz, or a folder of them.

    Example: cellworth advise clinic.csv --target outcome --row-id id --missing '?' --budget 50
    """
    if budget is None and most is None:
        raise WrongUsage("say how much to buy, with --budget, --count or both.")
    with usage():
        from cellworth.campaign.answer_file import check_asks_path, write_asks
        from cellworth.prices.currency import money_text
        from cellworth.strategy import advise as choose

        if out is not None:
            check_asks_path(out)
            make_way(out, force=force)
        read = reading.table_blocks_or_matrix(table, target)
        stated = reading.prices(prices)
        with working("Completing the table and choosing cells"):
            batch = choose(read, prices=stated, budget=budget, count=most, strategy=strategy, seed=seed)
    if out is not None:
        write_asks(out, batch, **reading.written)
    if as_json:
        why = None if batch.choice is None else batch.choice.sentence
        print_json({"cells": list(batch), "cost": batch.cost, "choice": why})
        return
    if not batch:
        print(nothing_to_buy(batch))
    elif out is None:
        print_batch(batch)
    if batch.choice is not None:
        print(batch.choice.sentence)
    listed = f"; the list is in {out}" if out is not None else ""
    cost = money_text(batch.cost, None if stated is None else stated.currency)
    print(f"{count(len(batch), 'cell')} for {cost}{listed}")


def forecast(
    *,
    table: Annotated[
        Path | None,
        Argument(metavar="[TABLE]", help="A table with holes. By default, the campaign's table."),
    ] = None,
    score: Annotated[
        float | None, Option(metavar="SCORE", help="Say what this AUC or R2 would cost.")
    ] = None,
    seconds: options.Seconds = None,
    plot: Annotated[
        Path | None, Option(metavar="FILE", help="Draw the forecast into this .png, .svg or .pdf file.")
    ] = None,
    force: Force = False,
    learning: LearningOptions,
    on: options.CampaignOptions,
    as_json: options.Json = False,
) -> None:
    """Forecast what more cells would bring, from those that are known.

    Known cells are hidden again at several depths, a model is scored at each, and the curve of its scores is
    extrapolated. No purchase is needed. The score is AUC or R2 on complete rows, with 90 % intervals.

    Of a table, the model is the one that the command model would train. Of a campaign, it is the forecast
    that status shows, quickly and often: its model is chosen among two candidates, where model tries all.

    Example: cellworth forecast clinic.csv --target outcome --prices prices.csv --score 0.9
    """
    make_way(plot, force=force, option="--plot")
    settings: dict[str, Any] = {"model": learning.model or "auto", "seed": learning.seed}
    if table is None:
        if seconds is not None:
            raise WrongUsage(
                "--seconds needs a TABLE. The forecast of a campaign is that of its status, and no model is "
                "searched for; give --model for another one."
            )
        with on.campaign() as campaign, working("Forecasting"):
            found, left = campaign.forecast(**settings), campaign.left
    else:
        with usage():
            from cellworth.forecasting import forecast as forecast_table

            read, stated = learning.table_and_prices(table)
            with working("Forecasting"), warnings_shown():
                found, left = forecast_table(read, prices=stated, seconds=seconds, **settings), None
    if plot is not None:
        found.plot().figure.savefig(plot)
    from cellworth.forecasting import decide

    advice = decide(found, left=left)
    if as_json:
        costs = None if score is None else {"score": score, **vars(found.cost_of(score))}
        print_json({**found.to_json(), "costs": costs, "advice": advice.to_json()})
        return
    print(found.describe(score))
    print(advice.sentence)
    if plot is not None:
        print(f"The forecast is drawn in {plot}")


MOST_CELLS = 5
"""Cells listed for a single row."""


def next_cell(
    *,
    rows: Annotated[
        Path | None,
        Argument(
            metavar="[ROWFILE]",
            help="New rows, with what is known of them. By default, the campaign's rows without a label.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        Option(metavar="FILE", help="The table to learn from. By default, the campaign's table."),
    ] = None,
    error_cost: Annotated[
        float | None,
        Option(min=0, help="What a wrong class, or a squared error of 1, costs in money."),
    ] = None,
    confidence: Annotated[
        float | None, Option(help="Stop once a class has this probability, such as 0.95.")
    ] = None,
    deviation: Annotated[
        float | None, Option(min=0, help="Stop once further cells would move a number by no more.")
    ] = None,
    budget: Annotated[float | None, Option(min=0, help="The most to spend on one row.")] = None,
    mean_budget: Annotated[
        float | None, Option(min=0, help="What to spend on a row on average; rows share it.")
    ] = None,
    free: Annotated[
        list[str] | None, Option(metavar="COLUMN", help="A column that costs nothing; repeatable.")
    ] = None,
    learning: LearningOptions,
    on: options.CampaignOptions,
    as_json: options.Json = False,
) -> None:
    """Say what to measure next in new rows, and when it is enough.

    Each missing cell is worth what its possible values would do to the prediction. Say when to stop with at
    least one of --error-cost, --confidence (for a number, --deviation), --budget and --mean-budget. Nothing
    is recorded.

    Example: cellworth next new.csv --table clinic.csv --target outcome --error-cost 500
    """
    settings: dict[str, Any] = {
        "error_cost": error_cost,
        "confidence": confidence,
        "deviation": deviation,
        "budget": budget,
        "mean_budget": mean_budget,
        "free": tuple(free or ()),
    }
    if table is None:
        with on.campaign() as campaign, usage(), working("Training the model"), warnings_shown():
            if rows is None:
                found = campaign.undecided(model=learning.model, **settings)
            else:
                policy = campaign.policy(model=learning.model, **settings)
                found = _of_file(
                    policy,
                    campaign.table,
                    learning.file_like(campaign, rows),
                    learning.marks_like(campaign),
                )
    else:
        if rows is None:
            raise WrongUsage("--table needs a ROWFILE with new rows.")
        with usage(), working("Training the model"):
            from cellworth.model import model_of
            from cellworth.policy import Policy

            known, prices = learning.rows_and_prices(table, "the policy")
            fitted = model_of(known, model=learning.model or "auto", random_state=learning.seed)
            policy = Policy(known, fitted, prices=prices, seed=learning.seed, **settings)
            found = _of_file(policy, known, learning.file(rows), list(learning.missing or ()))
    print_json([step.to_json() for step in found]) if as_json else _describe_steps(found)


def _of_file(policy: Policy, known: Table, rows: TextFile, missing: Any) -> list[NextStep]:
    from cellworth.campaign.new_rows import conform, read_rows

    return policy.next_cells(conform(read_rows(rows, known, missing=missing), known))


def _describe_steps(found: list[NextStep]) -> None:
    if not found:
        print(
            "Nothing to decide: all rows have a label, or none of their cells is worth its price. "
            "For new rows, give a ROWFILE."
        )
        return
    from cellworth.prices.currency import money_text
    from cellworth.prices.money import Money

    for step in found:
        print(step)
    currency = found[0].currency
    if len(found) == 1 and not found[0].stop:
        best = [
            (
                cell.column,
                shown(cell.gain, ".3g"),
                money_text(cell.price, currency),
                shown(cell.per_money, ".3g"),
            )
            for cell in found[0].cells[:MOST_CELLS]
        ]
        print_table(("column", "gain", "price", "gain per unit of money"), best)
    going = [step for step in found if not step.stop]
    total = money_text(float(sum((Money(step.price) for step in going), Money(0.0))), currency)
    print(f"{count(len(going), 'row')} of {len(found)} to go on with, for {total}")
