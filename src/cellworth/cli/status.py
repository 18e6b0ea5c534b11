"""``cellworth status``."""

from __future__ import annotations

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import print_json, working

EXAMPLE = "Example: cellworth status"


def status(
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Say where a campaign stands: money, cells, and what a model reaches now."""
    with opened(store, name) as campaign:
        with working("Completing the table and judging a model") as progress:
            found = campaign.status(progress=progress)
        if as_json:
            print_json(found.to_json())
        else:
            print(found.describe())
