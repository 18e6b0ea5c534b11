"""``cellworth tell``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import count, money, money_plain, print_json

EXAMPLE = "Example: cellworth tell asks.csv --who laboratory"


def tell(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS", help="CSV file with row,column,value, such as a filled list of asks."
        ),
    ],
    unsolicited: Annotated[
        bool, typer.Option("--unsolicited", help="Also take values of cells that were never asked for.")
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="Of this request: with the same key it is recorded once.")
    ] = None,
    encoding: options.Encoding = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Record the answers of a file: all of them or, if one line is wrong, none.

    Lines without a value are passed over. The same file twice does no harm.
    """
    with opened(store, name) as campaign:
        told = campaign.tell_file(answers, who=who, key=key, unsolicited=unsolicited, encoding=encoding)
        if as_json:
            plain = {"new": told.new, "known": told.known, "blank": told.blank}
            print_json({**plain, **money_plain(campaign)})
        else:
            print(
                f"{count(told.new, 'answer')} recorded, {told.known} known before, "
                f"{count(told.blank, 'line')} without a value; {money(campaign)}"
            )
