"""Server commands: serve, and token for its users."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

from cellworth.cli import options
from cellworth.cli.build_command import Option, WrongUsage
from cellworth.cli.options import usage
from cellworth.cli.output import print_json, print_table
from cellworth.optional_packages import require


def serve(
    *,
    store: options.Store = options.DEFAULT_STORE,
    host: Annotated[
        str, Option(help="The address to listen on. Beyond this machine, --tokens is required.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="The port to listen on; 0 picks a free one.")] = 8000,
    tokens: options.TokensPath = None,
    largest_upload: Annotated[
        int, Option(min=1, metavar="MB", help="The largest file that users may upload, in megabytes.")
    ] = 50,
    public_url: Annotated[
        str | None,
        Option(metavar="URL", help="The address that browsers use, if a proxy replaces the Host."),
    ] = None,
    webhook: Annotated[
        list[str] | None,
        Option(
            metavar="URL",
            help="Post each ask and answer there, signed with CELLWORTH_WEBHOOK_SECRET; may be repeated.",
        ),
    ] = None,
    verbose: Annotated[bool, Option("--verbose", help="Log a line for each request.")] = False,
    log: Annotated[
        str | None,
        Option(metavar="FORMAT", help="Log a line for each request, as text or as json."),
    ] = None,
) -> None:
    """Serve web pages and a REST API for the campaigns in a store, until interrupted.

    By default, only this machine can connect, and everybody may do everything. With --tokens, each person
    has a token and a role.

    Example: cellworth serve --store sqlite:///study.db
    """
    if log not in (None, "text", "json"):
        raise WrongUsage("--log must be text or json.")
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
            webhooks=webhook or (),
            webhook_secret=os.environ.get("CELLWORTH_WEBHOOK_SECRET"),
            log_level="info" if verbose or log else "warning",
            log_format=log or "text",
        )


def token(
    *,
    tokens: Annotated[Path, Option(metavar="FILE", help="The file that stores the hashes of tokens.")],
    who: Annotated[str | None, Option(metavar="NAME", help="Whose token it is, for the log.")] = None,
    role: Annotated[
        str | None,
        Option(help="What it allows: read; answer (and read); or manage (everything)."),
    ] = None,
    expires: Annotated[
        datetime | None,
        Option(metavar="DATE", help="The last day of the token, as 2031-12-31."),
    ] = None,
    url: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="The server's address: prints a link, and its QR code, that signs in once within a day.",
        ),
    ] = None,
    link: Annotated[
        str | None, Option(metavar="ID", help="Print a new link for this token; needs --url.")
    ] = None,
    remove: Annotated[
        str | None, Option(metavar="ID", help="Remove this token and end its sessions.")
    ] = None,
    listed: Annotated[bool, Option("--list", help="List the tokens and whose they are.")] = False,
    as_json: options.Json = False,
) -> None:
    """Create an access token for a server. It is printed only once: the file stores just its hash.

    The file is created if needed. A running server picks up the change within a second.

    Example: cellworth token --who Ann --role answer --tokens tokens.json
    """
    from cellworth.web.security.tokens import add_token, id_of, list_tokens, remove_token

    asked = [who is not None or role is not None, remove is not None, listed, link is not None]
    if asked.count(True) != 1:
        raise WrongUsage("give --who and --role to create a token, or --list, --remove ID or --link ID.")
    if remove is not None:
        remove_token(tokens, remove)
        print_json({"removed": remove}) if as_json else print(f"Token {remove} removed")
    elif listed:
        _list(
            [(each.id, each.who, each.role, each.created, each.expires) for each in list_tokens(tokens)],
            as_json,
        )
    elif link is not None:
        if url is None:
            raise WrongUsage("a link needs the server's address: give --url.")
        _show({}, _link(tokens, link, url), as_json)
    else:
        if who is None or role is None:
            raise WrongUsage("a token needs both --who NAME and --role read, answer or manage.")
        with usage():
            made = add_token(tokens, who=who, role=role, expires=_end_of(expires))
        shown = {"token": made, "who": who, "role": role}
        _show(shown, None if url is None else _link(tokens, id_of(made), url), as_json)


def _end_of(day: datetime | None) -> datetime | None:
    return None if day is None else (day + timedelta(days=1)).astimezone(UTC)


def _link(tokens: Path, token_id: str, url: str) -> str:
    from cellworth.web.security.tokens import add_link, link_of

    return link_of(url, add_link(tokens, token_id))


def _show(made: dict[str, str], link: str | None, as_json: bool) -> None:
    if as_json:
        print_json(made if link is None else {**made, "link": link})
        return
    if "token" in made:
        print(made["token"])
    if link is not None:
        print(link)
        if sys.stdout.isatty():
            require("segno").make(link).terminal(compact=True)


def _list(rows: list[tuple[str, str, str, str, str | None]], as_json: bool) -> None:
    header = ("id", "who", "role", "created", "expires")
    if as_json:
        print_json({"tokens": [dict(zip(header, row, strict=True)) for row in rows]})
    else:
        print_table(header, [(*row[:4], row[4] or "") for row in rows])
