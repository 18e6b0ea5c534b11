"""``cellworth paper``: the commands of the paper's experiments."""

from __future__ import annotations

import typer

from cellworth.cli.paper import fetch

app = typer.Typer(
    help="The paper's tables and experiments.",
    epilog="Example: cellworth paper fetch",
)
app.command("fetch", epilog=fetch.EXAMPLE)(fetch.fetch)


@app.callback()
def _group() -> None:
    """Keep ``fetch`` a command of its own, even while it is the only one."""
