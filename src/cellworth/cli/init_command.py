"""The init command: starts a campaign, and says what was found in the table and what to do next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import options
from cellworth.cli.build_command import Option
from cellworth.cli.file_options import TableOptions
from cellworth.cli.options import repeated, usage
from cellworth.cli.output import print_json, print_table

if TYPE_CHECKING:
    from cellworth.campaign import Campaign

MOST_SHOWN = 40  # columns


def init(
    *,
    table: options.TablePath,
    target: options.OptionalTarget = None,
    prices: options.PricesPath = None,
    budget: Annotated[float | None, Option(min=0, help="The most to spend in the whole campaign.")] = None,
    strategy: options.Strategy = "recommended",
    seed: options.StrategySeed = 0,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: Annotated[str, Option(help="The name of the campaign in its store.")] = "study",
    reading: TableOptions,
    as_json: options.Json = False,
) -> None:
    """Start a campaign on a table with missing cells.

    The table, strategy and seed are recorded once and never change; budget and prices may. A folder of
    Parquet files, or a .zarr array, stays where it is and is read in blocks of rows: it may be larger than
    memory, must not change, and if it is moved, move-table says where to.

    Example: cellworth init clinic.csv --target outcome --row-id id --missing '?' --budget 500
    """
    with usage():
        from cellworth.campaign import Campaign

        same = repeated(store, None if name == "study" else name)
        read = reading.table_or_blocks(table, target)
        stated = reading.prices(prices)
        with Campaign.create(
            read,
            prices=stated,
            budget=budget,
            strategy=strategy,
            seed=seed,
            store=store,
            name=name,
            who=who,
        ) as campaign:
            print_json(_begun_json(campaign)) if as_json else _describe_begun(
                campaign, same, repeated(store, None)
            )


def _begun_json(campaign: Campaign) -> dict[str, Any]:
    table = campaign.table
    columns = [
        {"name": column.name, "kind": column.kind, "holes": holes}
        for column, holes in zip(table.columns, table.holes_by_column.tolist(), strict=True)
    ]
    target = table.target
    return {
        "name": campaign.name,
        "rows": table.shape[0],
        "columns": columns,
        "holes": int(table.holes_by_column.sum()),
        "target": None if target is None else {"name": target.name, "kind": target.kind},
        "strategy": campaign.strategy,
        "choice": None if campaign.settled.choice is None else campaign.settled.choice.sentence,
        "budget": campaign.budget,
    }


def _describe_begun(campaign: Campaign, same: str, where: str) -> None:
    table = campaign.table
    print(table)
    print()
    rows = [
        (column.name, column.kind, holes, column.expected + (f", in {column.unit}" if column.unit else ""))
        for column, holes in zip(table.columns, table.holes_by_column.tolist(), strict=True)
    ]
    print_table(("column", "kind", "holes", "holds"), rows[:MOST_SHOWN], right=("holes",))
    if len(rows) > MOST_SHOWN:
        print(f"... and {len(rows) - MOST_SHOWN} more columns")
    limit = "no limit" if campaign.budget is None else campaign.totals().text(campaign.budget)
    some = 100 if campaign.budget is None else round(campaign.budget / 10) or 1
    print(f"\nCampaign {campaign.name!r} has started. Strategy: {campaign.strategy}. Budget: {limit}.")
    if campaign.settled.choice is not None:
        print(campaign.settled.choice.sentence)
    again = f"cellworth delete {shlex.quote(campaign.name)}{where}"
    print(f"If a kind is wrong, run {again} and start again with --kind COLUMN=KIND. Next steps:")
    steps = {
        f"cellworth ask --budget {some} --out asks.csv{same}": "choose the cells to buy now",
        f"cellworth tell asks.csv{same}": 'record the answers once the "value" column is filled in',
        f"cellworth status{same}": "see how the campaign is doing",
    }
    width = max(map(len, steps))
    for command, what in steps.items():
        print(f"  {command:<{width}}    {what}")
