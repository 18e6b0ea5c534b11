"""``cellworth report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import print_json, working

EXAMPLE = "Example: cellworth report --out report.html"


def report(
    out: Annotated[Path, typer.Option(metavar="FILE", help="HTML file for the report.")] = Path(
        "report.html"
    ),
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Write one HTML page about a campaign: money, cells, curves, and what is still out."""
    with opened(store, name) as campaign:
        from cellworth.report import write_report

        with working("Writing the report") as progress:
            write_report(campaign, out, progress=progress)
        if as_json:
            print_json({"out": str(out)})
        else:
            print(f"The report is in {out}")
