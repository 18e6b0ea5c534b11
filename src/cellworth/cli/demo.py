"""``cellworth demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: cellworth demo --hidden 0.5 --picture holes.png"


def _share(value: float) -> float:
    if not 0 < value < 0.95:
        raise typer.BadParameter(f"expected a share above 0 and below 0.95; got {value}.")
    return value


def demo(
    hidden: Annotated[float, typer.Option(callback=_share, help="Share of the cells to hide.")] = 0.7,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the holes and of the split.")] = 0,
    picture: Annotated[Path, typer.Option(help="PNG file for the picture.")] = Path("cellworth-demo.png"),
) -> None:
    """Hide cells of a real table, fill them, and show what came out."""
    from cellworth.demo import describe, draw, run_demo
    from cellworth.errors import MissingDependencyError

    result = run_demo(hidden, seed)
    print(describe(result))
    try:
        draw(result, picture)
    except MissingDependencyError as error:
        print(f"\nNo picture: {error}")
    else:
        print(f"\nThe picture is in {picture}")
