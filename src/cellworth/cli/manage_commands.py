"""Commands to manage a running campaign: take, give-back, release, budget, prices, category, stage, clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cellworth.cli import options
from cellworth.cli.build_command import Argument, Option, WrongUsage, comma_hint
from cellworth.cli.file_options import NamedCells, RememberedFileOptions
from cellworth.cli.output import Force, count, make_way, money, money_json, print_json, print_table

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.strategy import Purchase


NO_LIMIT = "none"

Reason = Annotated[str | None, Option(metavar="TEXT", help="Why, for the log.")]


class NamedStage(StrEnum):
    """The stages of a campaign."""

    open = "open"
    closed = "closed"
    archived = "archived"


def take(
    *,
    who: Annotated[str, Option(metavar="NAME", help="Who takes the cells, for the log.")],
    most: Annotated[
        int | None, Option("--count", min=1, help="Take this many free cells, oldest asks first.")
    ] = None,
    lease: Annotated[str, Option(help="How long to keep them: 8h, 30m, 2d.")] = "8h",
    out: options.ListToFillIn = None,
    force: Force = False,
    on: options.CampaignOptions,
    chosen: NamedCells,
    as_json: options.Json = False,
) -> None:
    """Take cells that are out, so that nobody else works on them.

    Cells are out while they are asked for and not yet answered. Answers from others still count.

    Example: cellworth take --count 10 --who Ann --out mine.csv
    """
    from cellworth.campaign.answer_file import check_asks_path, write_asks
    from cellworth.prices.currency import money_text
    from cellworth.strategy.batch import shown_reason

    if most is not None and chosen:
        raise WrongUsage("--count takes any free cells; do not name cells as well.")
    with on.campaign() as campaign:
        if out is not None:
            check_asks_path(out)
            make_way(out, force=force)
        wanted = chosen.of(campaign) if most is None else most
        mine = campaign.take(wanted, who=who, lease=lease)
        if out is not None:
            write_asks(out, mine, **campaign.read_options.written)
        if as_json:
            print_json({"cells": mine})
            return
        if not mine:
            print("No cell is out and free to take.")
            return
        if out is None:
            rows = [
                (p.row, p.column, p.group or "", money_text(p.price), shown_reason(p.why or "")) for p in mine
            ]
            print_table(("row", "column", "group", "price", "why"), rows, right=("price",))
        listed = "" if out is None else f"; the list is in {out}"
        until = f"{mine[0].held_until:%Y-%m-%d %H:%M} UTC"
        print(f"{count(len(mine), 'cell')} taken by {who} until {until}{listed}")


def give_back(
    *,
    who: Annotated[str, Option(metavar="NAME", help="Who has the cells.")],
    on: options.CampaignOptions,
    chosen: NamedCells,
    as_json: options.Json = False,
) -> None:
    """Give back cells that you have taken, for others to take. They stay out, with their money reserved.

    Example: cellworth give-back P017:culture --who Ann
    """
    with on.campaign() as campaign:
        given = campaign.give_back(chosen.of(campaign), who=who)
        if as_json:
            print_json({"given_back": given})
        else:
            print(f"{count(given, 'cell')} given back by {who}")


def budget(
    *,
    amount: Annotated[
        str,
        Argument(metavar="AMOUNT", help="The most to spend in the whole campaign; none for no limit."),
    ],
    reason: Reason = None,
    on: options.RecordOptions,
    as_json: options.Json = False,
) -> None:
    """Change the budget of a running campaign.

    It may not be below what is spent and reserved. The old budget stays in the log.

    Example: cellworth budget 800 --reason 'a second grant'
    """
    most = _amount(amount)
    with on.campaign() as campaign:
        changed = campaign.change_budget(most, who=on.who, reason=reason)
        _told(campaign, "budget", changed=changed, as_json=as_json)


def prices(
    *,
    file: Annotated[Path, Argument(metavar="FILE", help="A .csv or .xlsx file with column,price.")],
    reason: Reason = None,
    on: options.RecordOptions,
    writing: RememberedFileOptions,
    as_json: options.Json = False,
) -> None:
    """Change the prices of cells that are asked for from now on.

    Cells that are out, and answers that are late, cost what they were asked for at. Without --decimal and
    --delimiter, the file is read as the table of init was.

    Example: cellworth prices prices-2025.csv --who Ann
    """
    with on.campaign() as campaign:
        changed = campaign.change_prices(writing.prices_like(campaign, file), who=on.who, reason=reason)
        _told(campaign, "prices", changed=changed, as_json=as_json)


def category(
    *,
    column: Annotated[str, Argument(metavar="COLUMN", help="The column.")],
    new: Annotated[str, Argument(metavar="CATEGORY", help="What its cells may hold from now on, too.")],
    before: Annotated[
        str | None,
        Option(metavar="CATEGORY", help="Which one it comes before, in an ordered column; else the highest."),
    ] = None,
    reason: Reason = None,
    on: options.RecordOptions,
    as_json: options.Json = False,
) -> None:
    """Add a category to a column, for answers that no row had when the campaign began.

    Check first that it is not another spelling of one that is there. The next ask is chosen from scratch.

    Example: cellworth category stage IV --reason 'a new referral' --who Ann
    """
    with on.campaign() as campaign:
        changed = campaign.add_category(column, new, before=before, who=on.who, reason=reason)
        if as_json:
            print_json({"changed": changed, "column": column, "category": new})
        else:
            print(f"Column {column} {'may now hold' if changed else 'holds already'}: {new}")


def stage(
    wanted: Annotated[NamedStage, Argument(metavar="STAGE", help="open, closed or archived.")],
    *,
    reason: Reason = None,
    on: options.RecordOptions,
    as_json: options.Json = False,
) -> None:
    """Close a campaign, archive it, or open it again.

    A closed campaign can be read, and takes neither asks nor answers. An archived one is also left out of the
    pages' list.

    Example: cellworth stage closed --reason 'the study is over' --who Ann
    """
    with on.campaign() as campaign:
        changed = campaign.change_stage(wanted.value, who=on.who, reason=reason)
        if as_json:
            print_json({"changed": changed, "stage": wanted.value})
        else:
            print(f"The campaign is {wanted.value}" + ("" if changed else " already"))


def release(
    *,
    holder: Annotated[
        str | None, Option(metavar="NAME", help="Release all cells that this person has.")
    ] = None,
    reason: Reason = None,
    on: options.RecordOptions,
    chosen: NamedCells,
    as_json: options.Json = False,
) -> None:
    """Take back cells that somebody has taken, for others to take. They stay out, with their money reserved.

    To release the money, too, use cancel.

    Example: cellworth release --holder Ann --who Bob --reason 'Ann is ill'
    """
    if holder is not None and chosen:
        raise WrongUsage("--holder means every cell that this person has; do not name cells as well.")
    with on.campaign() as campaign:
        cells: Sequence[Purchase | tuple[object, str]]
        if holder is None:
            cells = chosen.of(campaign)
        else:
            cells = [each for each in campaign.open_purchases() if each.holder == holder]
        released = campaign.release(cells, who=on.who, reason=reason)
        print_json({"released": released}) if as_json else print(f"{count(released, 'cell')} released")


def clock(
    *,
    set_it: Annotated[
        bool, Option("--set", help="Set the campaign's time by the clock, if they are far apart.")
    ] = False,
    reason: Reason = None,
    on: options.RecordOptions,
    as_json: options.Json = False,
) -> None:
    """Compare the clock with the last event, and set the campaign's time after a clock was wrong.

    Leases that a fast clock gave out end as much earlier as the time is set back.

    Example: cellworth clock --set --who Bob
    """
    with on.campaign() as campaign:
        changed = campaign.set_clock(who=on.who, reason=reason) if set_it else False
        last, now, problem = campaign.times()
        if as_json:
            print_json({"changed": changed, "last_event": last, "clock": now, "problem": problem})
        else:
            print(f"Last event: {last:%Y-%m-%d %H:%M} UTC; clock: {now:%Y-%m-%d %H:%M} UTC")
            if changed:
                print("The campaign's time is set by the clock")
            elif problem is not None:
                print(problem)


def move_table(
    *,
    path: Annotated[Path, Argument(metavar="PATH", help="The folder, file or .zarr array, where it is now.")],
    reason: Reason = None,
    on: options.RecordOptions,
    as_json: options.Json = False,
) -> None:
    """Say where the campaign's table is now, if it is read in blocks of rows and was moved.

    Its files must be those that the campaign began with.

    Example: cellworth move-table /mnt/new/big --who Bob
    """
    with on.campaign() as campaign:
        changed = campaign.move_table(path, who=on.who, reason=reason)
        if as_json:
            print_json({"changed": changed, "path": str(path.absolute())})
        else:
            print(f"The table is at {path}" if changed else f"The table is known to be at {path} already")


def _amount(text: str) -> float | None:
    if text == NO_LIMIT:
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not amount >= 0:
        raise WrongUsage(
            f"expected an amount of money of at least 0, or {NO_LIMIT}; got {text!r}.{comma_hint(text)}"
        )
    return amount


def _told(campaign: Campaign, what: str, *, changed: bool, as_json: bool) -> None:
    if as_json:
        print_json({"changed": changed, **money_json(campaign)})
    else:
        print(f"New {what}" if changed else f"Same {what}: nothing to change", end="; ")
        print(money(campaign))
