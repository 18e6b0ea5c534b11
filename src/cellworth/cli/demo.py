"""``python -m cellworth demo``."""

from __future__ import annotations

import argparse
from pathlib import Path

from cellworth.demo import describe, draw, run_demo
from cellworth.errors import MissingDependencyError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "demo",
        help="hide cells of a real table, fill them, and show what came out",
        epilog="example: python -m cellworth demo --hidden 0.5 --picture holes.png",
    )
    parser.add_argument("--hidden", type=_share, default=0.7, help="share of the cells to hide (default 0.7)")
    parser.add_argument("--seed", type=int, default=0, help="of the holes and the split (default 0)")
    parser.add_argument(
        "--picture", type=Path, default=Path("cellworth-demo.png"), help="where the picture goes"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the demonstration and print it."""
    demo = run_demo(arguments.hidden, arguments.seed)
    print(describe(demo))
    try:
        draw(demo, arguments.picture)
    except MissingDependencyError as error:
        print(f"\nNo picture: {error}")
    else:
        print(f"\nThe picture is in {arguments.picture}")


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share < 0.95:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and below 0.95; got {text!r}")
    return share
