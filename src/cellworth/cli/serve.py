"""``cellworth serve``."""

from __future__ import annotations

from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import usage

EXAMPLE = "Example: cellworth serve --store sqlite:///study.db"


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
        from cellworth.web import Access
        from cellworth.web import serve as serve_web

        serve_web(
            store,
            host=host,
            port=port,
            access=None if tokens is None else Access.from_file(tokens),
            largest_upload=largest_upload * 1_000_000,
            log_level="info" if verbose else "warning",
        )
