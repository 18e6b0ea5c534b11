"""``cellworth paper``: the commands of the paper's experiments."""

from __future__ import annotations

import typer

from cellworth.cli.paper import fetch, reproduce

app = typer.Typer(
    help="The paper's tables and experiments.",
    epilog="Example: cellworth paper fetch",
)
app.command("fetch", epilog=fetch.EXAMPLE)(fetch.fetch)
for _name in reproduce.HELP:
    app.command(_name, epilog=reproduce.EXAMPLES[_name])(reproduce.command(_name))
