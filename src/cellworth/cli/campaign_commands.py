"""Commands that run a campaign: ask, tell, refuse, cancel, correct, extend."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cellworth.cli import options, shell_completion
from cellworth.cli.build_command import Argument, Option, WrongUsage
from cellworth.cli.file_options import (
    NamedCells,
    RememberedFileOptions,
)
from cellworth.cli.output import (
    Force,
    count,
    make_way,
    money,
    money_json,
    nothing_to_buy,
    print_batch,
    print_json,
    told_warnings,
    working,
)

if TYPE_CHECKING:
    from cellworth.strategy import Batch


NO_FORECAST = "No forecast yet: run cellworth status to see whether it is worth spending more."


def ask(
    *,
    budget: Annotated[float | None, Option(min=0, help="The most money to ask for.")] = None,
    most: Annotated[int | None, Option("--count", min=1, help="The most cells to ask for.")] = None,
    lease: Annotated[
        str, Option(help="How long to reserve the cells: 7d, 12h, 30m, or never for no time limit.")
    ] = "7d",
    out: options.ListToFillIn = None,
    force: Force = False,
    only_open: Annotated[
        bool,
        Option("--open", help="Only list the cells that are out: asked for and not yet answered."),
    ] = False,
    until_gain: Annotated[
        float | None,
        Option(metavar="GAIN", help="Ask for nothing if the next tenth of the cost brings less."),
    ] = None,
    until_reach: Annotated[
        float | None,
        Option(metavar="SHARE", help="Ask for nothing at this share of the reachable score, as 0.99."),
    ] = None,
    point_worth: Annotated[
        float | None,
        Option(metavar="MONEY", help="Ask for nothing if 0.01 of the score costs more than this."),
    ] = None,
    on: options.RecordOptions,
    as_json: options.Json = False,
) -> None:
    """Ask for the cells that are most worth buying now.

    Their cost is reserved until they are answered, refused or cancelled, or the lease ends. Without --budget
    and --count, the whole remaining budget is used. With one of --until-gain, --until-reach and --point-worth
    nothing is asked for once a forecast says that it is not worth it.

    Example: cellworth ask --budget 60 --who Ann --out asks.csv
    """
    from cellworth.campaign.answer_file import check_asks_path, write_asks
    from cellworth.strategy import Batch

    with on.campaign(reading=only_open) as campaign:
        if out is not None:
            check_asks_path(out)
            make_way(out, force=force)
        told: list[str] = []
        rule = None
        if only_open:
            batch = Batch(campaign.open_purchases())
        else:
            rule = options.stop_rule(until_gain, until_reach, point_worth)
            with working("Completing the table and choosing cells"), told_warnings() as told:
                until_when = None if lease == "never" else lease
                batch = campaign.ask(budget, most, who=on.who, lease=until_when, until=rule)
        if out is not None:
            write_asks(out, batch, **campaign.read_options.written)
        if as_json:
            print_json({"cells": list(batch), **money_json(campaign)})
        else:
            if only_open and not batch:
                print("No cell is out.")
            elif batch or rule is None or not told:  # else the rule's reason is told already
                _describe_batch(batch, out, on.repeated)
                if not (only_open or campaign.assessment.has_forecast):
                    print(NO_FORECAST, file=sys.stderr)
            print(f"{count(len(batch), 'cell')}; {money(campaign)}")


def _describe_batch(batch: Batch, out: Path | None, same: str) -> None:
    if not batch:
        print(nothing_to_buy(batch))
    elif out is not None:
        where = shlex.quote(str(out))
        print(f'The list is in {out}. Fill in its "value" column, then run: cellworth tell {where}{same}')
    else:
        print_batch(batch)


def tell(
    *,
    answers: Annotated[
        Path,
        Argument(
            metavar="ANSWERS",
            help="A .csv or .xlsx file with row,column,value, such as a filled-in list from ask.",
        ),
    ],
    unsolicited: Annotated[
        bool, Option("--unsolicited", help="Also accept values for cells that were never asked for.")
    ] = False,
    insist: options.Insist = False,
    key: Annotated[
        str | None, Option(help="A unique key for this request; sent again, it is recorded only once.")
    ] = None,
    on: options.RecordOptions,
    writing: RememberedFileOptions,
    as_json: options.Json = False,
) -> None:
    """Record the answers in a file: all of them or, if any line is wrong, none.

    Lines without a value are skipped. Sending the same file twice does no harm. A number far outside those
    seen in its column is questioned: nothing is recorded without --yes. Without --decimal, --date-format and
    --delimiter, the file is read as the table of init was.

    Example: cellworth tell asks.csv --who laboratory
    """
    with on.campaign() as campaign:
        with told_warnings():
            told = campaign.tell_file(
                writing.file_like(campaign, answers),
                who=on.who,
                key=key,
                unsolicited=unsolicited,
                insist=insist,
            )
        if as_json:
            plain = {"new": told.new, "known": told.known, "blank": told.blank}
            print_json({**plain, **money_json(campaign)})
        else:
            print(
                f"{count(told.new, 'answer')} recorded, {told.known} already known, "
                f"{count(told.blank, 'line')} without a value; {money(campaign)}"
            )


def refuse(
    *,
    reason: Annotated[str, Option(metavar="TEXT", help="Why the cells cannot be obtained, for the log.")],
    on: options.RecordOptions,
    chosen: NamedCells,
    as_json: options.Json = False,
) -> None:
    """Record that cells cannot be obtained. They are never asked for again, and their money is released.

    Example: cellworth refuse P017:culture P021:culture --reason 'the sample is lost'
    """
    with on.campaign() as campaign:
        new = campaign.refuse(chosen.of(campaign), reason, who=on.who)
        if as_json:
            print_json({"refused": new, **money_json(campaign)})
        else:
            print(f"{count(new, 'cell')} refused; {money(campaign)}")


def cancel(
    *,
    every: Annotated[bool, Option("--all", help="Cancel all cells that are out.")] = False,
    on: options.RecordOptions,
    chosen: NamedCells,
    as_json: options.Json = False,
) -> None:
    """Cancel the request for cells and release their money. They may be asked for again.

    Example: cellworth cancel --from asks.csv --who Ann
    """
    if every and chosen:
        raise WrongUsage("--all means every cell that is out; do not name cells as well.")
    with on.campaign() as campaign:
        new = campaign.cancel(campaign.open_purchases() if every else chosen.of(campaign), who=on.who)
        if as_json:
            print_json({"cancelled": new, **money_json(campaign)})
        else:
            print(f"{count(new, 'cell')} cancelled; {money(campaign)}")


def correct(
    *,
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="ROW:COLUMN VALUE",
            help="The cell, and the correct value. ROW COLUMN VALUE will do, too.",
            autocompletion=shell_completion.cell_to_correct,
        ),
    ] = None,
    reason: Annotated[str | None, Option(metavar="TEXT", help="What was wrong, for the log.")] = None,
    insist: options.Insist = False,
    on: options.RecordOptions,
    as_json: options.Json = False,
) -> None:
    """Replace a value that turned out to be wrong. The old one stays in the log.

    Example: cellworth correct P068:stage III --reason 'samples were swapped'
    """
    if not words or len(words) not in (2, 3) or (len(words) == 2 and ":" not in words[0]):
        raise WrongUsage("expected a cell as ROW:COLUMN and its VALUE, such as P068:stage III.")
    *cell, value = words
    with on.campaign() as campaign:
        ((row, column),) = campaign.cells_named(cell) if len(cell) == 1 else (cell,)
        changed = campaign.correct(
            row, column, campaign.read_options.value(value), reason=reason, who=on.who, insist=insist
        )
        if as_json:
            print_json({"changed": changed})
        else:
            print("1 value corrected" if changed else "This value is already known: nothing to correct")


def extend(
    *,
    table: options.TablePath,
    missing: options.Missing = None,
    on: options.RecordOptions,
    writing: RememberedFileOptions,
    as_json: options.Json = False,
) -> None:
    """Add rows to the end of the table. Their row ids must be new.

    Columns missing from a CSV file, including the target, are left blank. Without --decimal, --date-format
    and --delimiter, the file is read as the table of init was; its --missing marks are known, too.

    Example: cellworth extend january.csv --missing '?'
    """
    with on.campaign() as campaign:
        new = campaign.extend(writing.rows(campaign, table, missing or ()), who=on.who)
        if as_json:
            print_json({"added": new, "rows": campaign.totals().rows})
        else:
            print(f"{count(new, 'row')} added; the table has {count(campaign.totals().rows, 'row')} now")
