"""Commands for a server: serve, and tokens for those who use it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.options import usage
from cellworth.cli.output import print_json, print_table

SERVE_EXAMPLE = "Example: cellworth serve --store sqlite:///study.db"
TOKEN_EXAMPLE = "Example: cellworth token --who Ann --role answer --tokens tokens.json"


def serve(
    store: options.Store = options.DEFAULT_STORE,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Beyond this machine, tokens are needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    tokens: options.TokensPath = None,
    largest_upload: Annotated[
        int, typer.Option(min=1, metavar="MB", help="The largest file that may be sent, in megabytes.")
    ] = 50,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print a line for each request.")] = False,
) -> None:
    """Serve pages and REST for the campaigns of a store, until interrupted.

    On this machine alone, everybody may do everything. With --tokens, each person has a token and a role.
    """
    with usage():
        from cellworth.web import serve as serve_web
        from cellworth.web.security.tokens import Access

        serve_web(
            store,
            host=host,
            port=port,
            access=None if tokens is None else Access.from_file(tokens),
            largest_upload=largest_upload * 1_000_000,
            log_level="info" if verbose else "warning",
        )


def token(
    tokens: Annotated[Path, typer.Option(metavar="FILE", help="The file that keeps the hashes of tokens.")],
    who: Annotated[str | None, typer.Option(metavar="NAME", help="Whose token it is, for the log.")] = None,
    role: Annotated[
        str | None,
        typer.Option(help="What it allows: read; answer, which reads too; or manage, which does all."),
    ] = None,
    remove: Annotated[
        str | None, typer.Option(metavar="ID", help="Take this token away, with all its sessions.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List whose tokens there are.")] = False,
    as_json: options.Json = False,
) -> None:
    """Make a token for somebody to use a server with. It is printed once, and kept nowhere.

    The file is made if it is not there. A server that runs takes the change over within a second.
    """
    from cellworth.web.security.tokens import add_token, list_tokens, remove_token

    if [who is not None or role is not None, remove is not None, listed].count(True) != 1:
        raise typer.BadParameter("give --who and --role for a new token, or --list, or --remove ID.")
    if remove is not None:
        remove_token(tokens, remove)
        print_json({"removed": remove}) if as_json else print(f"The token {remove} is taken away")
    elif listed:
        _list([(each.id, each.who, each.role, each.created) for each in list_tokens(tokens)], as_json)
    else:
        if who is None or role is None:
            raise typer.BadParameter("a token needs both: --who NAME and --role read, answer or manage.")
        with usage():
            made = add_token(tokens, who=who, role=role)
        print_json({"token": made, "who": who, "role": role}) if as_json else print(made)


def _list(rows: list[tuple[str, str, str, str]], as_json: bool) -> None:
    header = ("id", "who", "role", "created")
    if as_json:
        print_json({"tokens": [dict(zip(header, row, strict=True)) for row in rows]})
    else:
        print_table(header, rows)
