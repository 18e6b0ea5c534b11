"""What a shell offers after Tab: campaigns of a store, columns of a table, rows and cells of a campaign.

Nothing here may fail or print: where nothing can be read, nothing is offered. Nothing is written, and no
module that fits anything is imported.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cellworth.cli.build_command import WrongUsage

if TYPE_CHECKING:
    from cellworth.campaign import Campaign

DEFAULT_STORE = "sqlite:///study.db"
MOST = 500
"""Offer at most this many; a shell lists them all."""
_TEXT = (".csv", ".tsv", ".txt")
_SEPARATORS = ",;\t|"
_LONGEST_LINE = 1_000_000
_PLACES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/completions/cellworth.fish"}


def strategies(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the names of strategies."""
    from cellworth import strategy

    return _begun(strategy.names(), incomplete)


def names_of_store(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the names of the campaigns in the store."""

    def found() -> list[str]:
        from cellworth.campaign.stores import open_store

        place = open_store(_store(ctx), reading=True)
        try:
            return place.names()
        finally:
            place.close()

    return _begun(_tried(found), incomplete)


def cell_to_correct(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the ids of the campaign's rows and, behind a row, the names of its columns."""
    before = [str(word) for word in ctx.params.get("words") or ()]
    if before[1:] not in ([], [":"]):
        return []  # the value
    row, colon, start = incomplete.rpartition(":")
    if not (before or colon):
        return _begun(_tried(lambda: _names_in(ctx)[0]), incomplete)
    return [f"{row}{colon}{name}" for name in _begun(_tried(lambda: _names_in(ctx)[1]), start)]


def _names_in(ctx: click.Context) -> tuple[list[str], list[str]]:
    """Return the ids of rows and the names of columns."""
    with _campaign(ctx) as campaign:
        return campaign.some_rows(), [column.name for column in campaign.columns]


def open_cells(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the cells that are out, as ROW:COLUMN.

    Bash takes a colon for a word of its own: after one, only what follows it is offered.
    """

    def found() -> list[str]:
        with _campaign(ctx) as campaign:
            return [f"{cell.row}:{cell.column}" for cell in campaign.open_purchases()]

    before = [str(word) for word in ctx.params.get("cells") or ()]
    kept = ""
    if incomplete == ":" and before:
        kept = before[-1]
    elif before and before[-1] == ":":
        kept = "".join(before[-2:])
    return [each.removeprefix(kept) for each in _begun(_tried(found), kept + incomplete)]


def columns_of_table(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the columns in the first line of the table that the command reads."""
    return _begun(_tried(lambda: _header(ctx)), incomplete)


def settings_of_columns(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the same as the start of COLUMN=VALUE."""
    return _begun([f"{name}=" for name in _tried(lambda: _header(ctx))], incomplete)


def _header(ctx: click.Context) -> list[str]:
    """Return the column names of a text file, from its first line; of another file, by reading it."""
    # After an option that still lacks its value, the table is among the words that were not parsed.
    path = Path(ctx.params.get("table") or ctx.args[0])
    if path.suffix.lower() not in _TEXT:
        from cellworth.table import Table

        return list(Table.read(path).column_names)
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        line = file.readline(_LONGEST_LINE)
    separator = ctx.params.get("delimiter") or max(_SEPARATORS, key=line.count)
    return [name.strip() for name in next(csv.reader([line], delimiter=separator))]


@contextmanager
def _campaign(ctx: click.Context) -> Iterator[Campaign]:
    from cellworth.campaign import Campaign
    from cellworth.campaign.stores import open_store

    name = ctx.params.get("name")
    with closing(open_store(_store(ctx), reading=True)) as place, Campaign.open(place, name) as campaign:
        yield campaign


def _store(ctx: click.Context) -> str:
    return str(ctx.params.get("store") or os.environ.get("CELLWORTH_STORE") or DEFAULT_STORE)


def _tried(read: Callable[[], list[str]]) -> list[str]:
    try:
        return read()
    except Exception:  # whatever it is, the command itself will say so
        return []


def _begun(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)][:MOST]


def install(app: click.Group) -> str:
    """Set up completion in the user's shell; return a sentence that says what was done."""
    from click.shell_completion import get_completion_class

    shell = Path(os.environ.get("SHELL") or "bash").name
    found = get_completion_class(shell)
    if found is None:
        raise WrongUsage(f"Completion works in bash, zsh and fish; your shell is {shell}.")
    place = Path.home() / _PLACES[shell]
    if shell == "fish":  # it reads one file for each program
        text = found(app, {}, "cellworth", "_CELLWORTH_COMPLETE").source()
    else:
        before = place.read_text("utf-8") if place.exists() else ""
        line = f'eval "$(_CELLWORTH_COMPLETE={shell}_source cellworth)"\n'
        if line in before:
            return f"Completion is set up already, in {place}"
        text = before + ("\n" if before and not before.endswith("\n") else "") + line
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")
    return f"Completion is set up in {place}: open a new shell"
