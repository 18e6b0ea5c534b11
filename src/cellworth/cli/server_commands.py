"""Server commands: serve, and token for its users."""

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
        str, typer.Option(help="The address to listen on. Beyond this machine, --tokens is required.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 picks a free one.")
    ] = 8000,
    tokens: options.TokensPath = None,
    largest_upload: Annotated[
        int, typer.Option(min=1, metavar="MB", help="The largest file that users may upload, in megabytes.")
    ] = 50,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address that browsers use, if a proxy replaces the Host."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print a line for each request.")] = False,
) -> None:
    """Serve web pages and a REST API for the campaigns in a store, until interrupted.

    By default, only this machine can connect, and everybody may do everything. With --tokens, each person
    has a token and a role.
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
            public_url=public_url,
            log_level="info" if verbose else "warning",
        )


def token(
    tokens: Annotated[Path, typer.Option(metavar="FILE", help="The file that stores the hashes of tokens.")],
    who: Annotated[str | None, typer.Option(metavar="NAME", help="Whose token it is, for the log.")] = None,
    role: Annotated[
        str | None,
        typer.Option(help="What it allows: read; answer (and read); or manage (everything)."),
    ] = None,
    remove: Annotated[
        str | None, typer.Option(metavar="ID", help="Remove this token and end its sessions.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the tokens and whose they are.")] = False,
    as_json: options.Json = False,
) -> None:
    """Create an access token for a server. It is printed only once: the file stores just its hash.

    The file is created if needed. A running server picks up the change within a second.
    """
    from cellworth.web.security.tokens import add_token, list_tokens, remove_token

    if [who is not None or role is not None, remove is not None, listed].count(True) != 1:
        raise typer.BadParameter("give --who and --role to create a token, or --list, or --remove ID.")
    if remove is not None:
        remove_token(tokens, remove)
        print_json({"removed": remove}) if as_json else print(f"Token {remove} removed")
    elif listed:
        _list([(each.id, each.who, each.role, each.created) for each in list_tokens(tokens)], as_json)
    else:
        if who is None or role is None:
            raise typer.BadParameter("a token needs both --who NAME and --role read, answer or manage.")
        with usage():
            made = add_token(tokens, who=who, role=role)
        print_json({"token": made, "who": who, "role": role}) if as_json else print(made)


def _list(rows: list[tuple[str, str, str, str]], as_json: bool) -> None:
    header = ("id", "who", "role", "created")
    if as_json:
        print_json({"tokens": [dict(zip(header, row, strict=True)) for row in rows]})
    else:
        print_table(header, rows)
