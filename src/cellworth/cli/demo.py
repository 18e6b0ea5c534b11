"""``cellworth demo``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.demo import Demo

EXAMPLE = "Example: cellworth demo --hidden 0.5 --report cellworth-demo.html"


def _share(value: float) -> float:
    if not 0 < value < 0.95:
        raise typer.BadParameter(f"expected a share above 0 and below 0.95; got {value}.")
    return value


def demo(
    hidden: Annotated[float, typer.Option(callback=_share, help="Share of the cells to hide.")] = 0.7,
    seed: Annotated[int, typer.Option(min=0, help="Of the holes, the split and the campaign.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of the campaign.")] = 6,
    picture: Annotated[Path, typer.Option(help="PNG file for the picture.")] = Path("cellworth-demo.png"),
    report: Annotated[Path, typer.Option(help="HTML file for the report.")] = Path("cellworth-demo.html"),
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep the campaign there, in demo.db. By default it is thrown away."
        ),
    ] = None,
) -> None:
    """Hide cells of a real table, fill them, and play a campaign that buys some back: about half a minute."""
    from cellworth.demo import begin_campaign, describe, run_demo

    result = run_demo(hidden, seed)
    print(describe(result))
    _draw(result, picture)
    with tempfile.TemporaryDirectory() as temporary:
        store = (folder or Path(temporary)) / "demo.db"
        with begin_campaign(result, store, rounds=rounds, seed=seed) as campaign:
            _play(campaign, result, rounds, seed)
            _report(campaign, report)
    if folder is not None:
        print(f"The campaign is in {store}: cellworth log --store {store}")


def _draw(result: Demo, picture: Path) -> None:
    from cellworth.demo import draw
    from cellworth.errors import MissingDependencyError

    try:
        draw(result, picture)
    except MissingDependencyError as error:
        print(f"No picture: {error}")
    else:
        print(f"The picture is in {picture}")


def _play(campaign: Campaign, result: Demo, rounds: int, seed: int) -> None:
    from cellworth.demo import BUDGET, HEADER, play

    print(
        f"\nNow a campaign. A mean costs 1, an error 2, a worst value 5; each round has {BUDGET:.0f} to "
        "spend.\nA few cells cannot be had. The AUC is cross-validated.\n"
    )
    print(HEADER)
    for each in play(campaign, result, rounds=rounds, seed=seed):
        print(each, flush=True)


def _report(campaign: Campaign, path: Path) -> None:
    try:
        from cellworth.report import write_report

        write_report(campaign, path)
    except ImportError as error:  # a package that the report needs is not installed
        print(f"\nNo report: {error}")
    else:
        print(f"\nThe report is in {path}")
