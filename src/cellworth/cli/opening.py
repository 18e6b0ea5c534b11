"""From the options of a command to an open campaign, and to the table that a user names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cellworth.errors import DataError, ParameterError

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.table import Table


@contextmanager
def usage() -> Iterator[None]:
    """Turn a setting that makes no sense into an error of usage."""
    try:
        yield
    except ParameterError as error:
        raise typer.BadParameter(str(error)) from None


@contextmanager
def opened(store: str, name: str | None) -> Iterator[Campaign]:
    """Open a campaign that is there, and close it in the end. A file is not created by looking for it."""
    from cellworth.campaign import Campaign
    from cellworth.campaign.stores.address import read_address

    with usage():
        address = read_address(store)
        if address.kind == "sqlite" and not Path(address.rest).exists():
            raise DataError(
                f"{address.rest}: no campaign is kept there. Begin one with: cellworth init TABLE --target "
                "COLUMN. Or say where it is, with --store or CELLWORTH_STORE."
            )
        with Campaign.open(store, name) as campaign:
            yield campaign


def read_table(
    path: Path,
    *,
    target: str,
    row_id: str | None,
    missing: Sequence[str] | None,
    kinds: Sequence[str] | None,
    orders: Sequence[str] | None,
    encoding: str | None,
    delimiter: str | None,
) -> Table:
    """Read the table of a command's options."""
    from cellworth.table import Table

    ordered = {column: texts.split(",") for column, texts in map(_pair, orders or ())}
    return Table.read(
        path,
        target=target,
        row_id=row_id,
        missing=list(missing or ()),
        kinds={**dict(map(_pair, kinds or ())), **dict.fromkeys(ordered, "ordered")},
        categories=ordered,
        encoding=encoding or "utf-8",
        delimiter=delimiter,
    )


def chosen_cells(
    campaign: Campaign, cells: Sequence[str] | None, path: Path | None
) -> list[tuple[object, str]]:
    """Return the cells that are named one by one or in a file."""
    from cellworth.campaign.answer_file import parse_cells, read_cells

    if bool(cells) == (path is not None):
        raise typer.BadParameter("name cells as ROW:COLUMN, or give a file with --from; one of the two.")
    found = parse_cells(cells or (), campaign.table) if path is None else read_cells(path, campaign.table)
    return [(row, column) for row, column in found]


def _pair(text: str) -> tuple[str, str]:
    column, equals, said = text.partition("=")
    if not (column and equals and said):
        raise typer.BadParameter(f"expected COLUMN=..., such as stage=ordered or stage=I,II; got {text!r}.")
    return column, said
