"""Commands that run a campaign: init, ask, tell, refuse, cancel, correct, extend, take, give-back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellworth.cli import options
from cellworth.cli.options import chosen_cells, opened, read_table, usage
from cellworth.cli.output import count, money, money_json, print_json, print_table, told_warnings, working

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.strategy import Purchase


INIT_EXAMPLE = "Example: cellworth init clinic.csv --target outcome --row-id id --missing '?' --budget 500"
MOST_SHOWN = 40  # columns
ASK_EXAMPLE = "Example: cellworth ask --budget 60 --who Ann --out asks.csv"
TELL_EXAMPLE = "Example: cellworth tell asks.csv --who laboratory"
REFUSE_EXAMPLE = "Example: cellworth refuse P017:culture P021:culture --reason 'the sample is lost'"
CANCEL_EXAMPLE = "Example: cellworth cancel --from asks.csv --who Ann"
CORRECT_EXAMPLE = "Example: cellworth correct P068 stage III --reason 'samples were swapped'"
EXTEND_EXAMPLE = "Example: cellworth extend january.csv --missing '?'"


def init(
    table: options.TablePath,
    target: options.Target,
    row_id: options.RowId = None,
    missing: options.Missing = None,
    kinds: options.Kinds = None,
    orders: options.Orders = None,
    prices: options.PricesPath = None,
    budget: Annotated[
        float | None, typer.Option(min=0, help="The most to spend in the whole campaign.")
    ] = None,
    strategy: options.Strategy = "recommended",
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the strategy.")] = 0,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: Annotated[str, typer.Option(help="The name of the campaign in its store.")] = "study",
    as_json: options.Json = False,
) -> None:
    """Start a campaign on a table with missing cells.

    The table, prices, budget, strategy and seed are recorded once and never change.
    """
    with usage():
        from cellworth.campaign import Campaign
        from cellworth.prices import Prices

        read = read_table(
            table,
            target=target,
            row_id=row_id,
            missing=missing,
            kinds=kinds,
            orders=orders,
            encoding=encoding,
            delimiter=delimiter,
        )
        stated = None if prices is None else Prices.read(prices)
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
            print_json(_begun_json(campaign)) if as_json else _describe_begun(campaign)


def _begun_json(campaign: Campaign) -> dict[str, Any]:
    table = campaign.table
    columns = [
        {"name": column.name, "kind": column.kind, "holes": int(table.holes[:, place].sum())}
        for place, column in enumerate(table.columns)
    ]
    target = table.target
    return {
        "name": campaign.name,
        "rows": table.shape[0],
        "columns": columns,
        "holes": int(table.holes.sum()),
        "target": None if target is None else {"name": target.name, "kind": target.kind},
        "strategy": campaign.strategy,
        "budget": campaign.budget,
    }


def _describe_begun(campaign: Campaign) -> None:
    table = campaign.table
    print(table)
    print()
    rows = [
        (column.name, column.kind, holes, column.expected)
        for column, holes in zip(table.columns, table.holes.sum(axis=0), strict=True)
    ]
    print_table(("column", "kind", "holes", "holds"), rows[:MOST_SHOWN], right=("holes",))
    if len(rows) > MOST_SHOWN:
        print(f"... and {len(rows) - MOST_SHOWN} more columns")
    limit = "no limit" if campaign.budget is None else campaign.totals().text(campaign.budget)
    some = 100 if campaign.budget is None else round(campaign.budget / 10) or 1
    print(f"\nCampaign {campaign.name!r} has started. Strategy: {campaign.strategy}. Budget: {limit}.")
    print("If a kind is wrong, start again with another --name and --kind COLUMN=KIND. Next steps:")
    steps = {
        f"cellworth ask --budget {some} --out asks.csv": "choose the cells to buy now",
        "cellworth tell asks.csv": 'record the answers once the "value" column is filled in',
        "cellworth status": "see how the campaign is doing",
    }
    width = max(map(len, steps))
    for command, what in steps.items():
        print(f"  {command:<{width}}    {what}")


def ask(
    budget: Annotated[float | None, typer.Option(min=0, help="The most money to ask for.")] = None,
    most: Annotated[int | None, typer.Option("--count", min=0, help="The most cells to ask for.")] = None,
    lease: Annotated[
        str, typer.Option(help="How long to reserve the cells: 7d, 12h, 30m, or never for no time limit.")
    ] = "7d",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the list to this CSV file, to fill in.")
    ] = None,
    only_open: Annotated[
        bool,
        typer.Option("--open", help="Only list the cells that are out: asked for and not yet answered."),
    ] = False,
    until_gain: Annotated[
        float | None,
        typer.Option(metavar="GAIN", help="Ask for nothing if the next tenth of the cost brings less."),
    ] = None,
    until_reach: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Ask for nothing at this share of the reachable score, as 0.99."),
    ] = None,
    point_worth: Annotated[
        float | None,
        typer.Option(metavar="MONEY", help="Ask for nothing if 0.01 of the score costs more than this."),
    ] = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Ask for the cells that are most worth buying now.

    Their cost is reserved until they are answered, refused or cancelled, or the lease ends. Without --budget
    and --count, the whole remaining budget is used. With one of --until-gain, --until-reach and --point-worth
    nothing is asked for once a forecast says that it is not worth it.
    """
    from cellworth.campaign.answer_file import check_asks_path, write_asks
    from cellworth.strategy import Batch

    with opened(store, name) as campaign:
        if out is not None:
            check_asks_path(out)
        told: list[str] = []
        if only_open:
            batch = Batch(campaign.open_purchases())
        else:
            rule = options.stop_rule(until_gain, until_reach, point_worth)
            with working("Completing the table and choosing cells"), told_warnings() as told:
                until_when = None if lease == "never" else lease
                batch = campaign.ask(budget, most, who=who, lease=until_when, until=rule)
        if out is not None:
            write_asks(out, batch)
        if as_json:
            print_json({"cells": list(batch), **money_json(campaign)})
        else:
            if batch or not told:  # else the reason is told already
                _describe_batch(batch, out)
            print(f"{count(len(batch), 'cell')}; {money(campaign)}")


def _describe_batch(batch: Sequence[Purchase], out: Path | None) -> None:
    from cellworth.prices.currency import money_text

    if not batch:
        print("There is nothing to buy for this money.")
    elif out is not None:
        print(f'The list is in {out}. Fill in its "value" column, then run: cellworth tell {out}')
    else:
        header = ("row", "column", "group", "price", "worth", "why", "until")
        rows = [
            (
                each.row,
                each.column,
                each.group or "",
                money_text(each.price),
                f"{each.worth:.3g}",
                each.why,
                "" if each.until is None else f"{each.until:%Y-%m-%d %H:%M} UTC",
            )
            for each in batch
        ]
        print_table(header, rows, right=("price", "worth"))


def tell(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS", help="CSV file with row,column,value, such as a filled-in list from ask."
        ),
    ],
    unsolicited: Annotated[
        bool, typer.Option("--unsolicited", help="Also accept values for cells that were never asked for.")
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="A unique key for this request; sent again, it is recorded only once.")
    ] = None,
    encoding: options.Encoding = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Record the answers in a file: all of them or, if any line is wrong, none.

    Lines without a value are skipped. Sending the same file twice does no harm.
    """
    with opened(store, name) as campaign:
        with told_warnings():
            told = campaign.tell_file(answers, who=who, key=key, unsolicited=unsolicited, encoding=encoding)
        if as_json:
            plain = {"new": told.new, "known": told.known, "blank": told.blank}
            print_json({**plain, **money_json(campaign)})
        else:
            print(
                f"{count(told.new, 'answer')} recorded, {told.known} already known, "
                f"{count(told.blank, 'line')} without a value; {money(campaign)}"
            )


def refuse(
    cells: options.Cells = None,
    *,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why the cells cannot be obtained, for the log.")
    ],
    path: options.CellsFrom = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Record that cells cannot be obtained. They are never asked for again, and their money is released."""
    with opened(store, name) as campaign:
        new = campaign.refuse(chosen_cells(campaign, cells, path), reason, who=who)
        if as_json:
            print_json({"refused": new, **money_json(campaign)})
        else:
            print(f"{count(new, 'cell')} refused; {money(campaign)}")


def cancel(
    cells: options.Cells = None,
    path: options.CellsFrom = None,
    every: Annotated[bool, typer.Option("--all", help="Cancel all cells that are out.")] = False,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Cancel the request for cells and release their money. They may be asked for again."""
    if every and (cells or path):
        raise typer.BadParameter("--all means every cell that is out; do not name cells as well.")
    with opened(store, name) as campaign:
        chosen = campaign.open_purchases() if every else chosen_cells(campaign, cells, path)
        new = campaign.cancel(chosen, who=who)
        if as_json:
            print_json({"cancelled": new, **money_json(campaign)})
        else:
            print(f"{count(new, 'cell')} cancelled; {money(campaign)}")


def correct(
    row: Annotated[str, typer.Argument(metavar="ROW", help="The id of the row.")],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="The name of the column.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The correct value.")],
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="What was wrong, for the log.")] = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Replace a value that turned out to be wrong. The old one stays in the log."""
    with opened(store, name) as campaign:
        changed = campaign.correct(row, column, value, reason=reason, who=who)
        if as_json:
            print_json({"changed": changed})
        else:
            print("1 value corrected" if changed else "This value is already known: nothing to correct")


def extend(
    table: options.TablePath,
    missing: options.Missing = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Add rows to the end of the table. Their row ids must be new.

    Columns missing from a CSV file, including the target, are left blank.
    """
    with opened(store, name) as campaign:
        from cellworth.campaign.new_rows import read_rows

        rows = read_rows(
            table,
            campaign.table,
            missing=missing or (),
            encoding=encoding or "utf-8",
            delimiter=delimiter,
        )
        new = campaign.extend(rows, who=who)
        if as_json:
            print_json({"added": new, "rows": campaign.table.shape[0]})
        else:
            print(f"{count(new, 'row')} added; the table has {count(campaign.table.shape[0], 'row')} now")


TAKE_EXAMPLE = "Example: cellworth take --count 10 --who Ann --out mine.csv"
GIVE_BACK_EXAMPLE = "Example: cellworth give-back P017:culture --who Ann"


def take(
    cells: options.Cells = None,
    *,
    who: Annotated[str, typer.Option(metavar="NAME", help="Who takes the cells, for the log.")],
    path: options.CellsFrom = None,
    most: Annotated[
        int | None, typer.Option("--count", min=0, help="Take this many free cells, oldest asks first.")
    ] = None,
    lease: Annotated[str, typer.Option(help="How long to keep them: 8h, 30m, 2d.")] = "8h",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the list to this CSV file, to fill in.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Take cells that are out, so that nobody else works on them.

    Cells are out while they are asked for and not yet answered. Answers from others still count.
    """
    from cellworth.campaign.answer_file import check_asks_path, write_asks
    from cellworth.prices.currency import money_text

    if most is not None and (cells or path):
        raise typer.BadParameter("--count takes any free cells; do not name cells as well.")
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
            rows = [(p.row, p.column, p.group or "", money_text(p.price), p.why) for p in mine]
            print_table(("row", "column", "group", "price", "why"), rows, right=("price",))
        until = f" until {mine[0].held_until:%Y-%m-%d %H:%M} UTC" if mine else ""
        listed = f"; the list is in {out}" if mine and out is not None else ""
        print(f"{count(len(mine), 'cell')} taken by {who}{until}{listed}")


def give_back(
    cells: options.Cells = None,
    *,
    who: Annotated[str, typer.Option(metavar="NAME", help="Who has the cells.")],
    path: options.CellsFrom = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Give back cells that you have taken, for others to take. They stay out, with their money reserved."""
    with opened(store, name) as campaign:
        given = campaign.give_back(chosen_cells(campaign, cells, path), who=who)
        if as_json:
            print_json({"given_back": given})
        else:
            print(f"{count(given, 'cell')} given back by {who}")
