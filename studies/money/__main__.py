"""The command line of the study: run what is missing, and write the page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from studies.money.automatic import automatic_part
from studies.money.complete_rows import complete_rows_part
from studies.money.development_tables import NAMES, PricesKind
from studies.money.forecasts import forecasts_part
from studies.money.kept_cases import CaseFolder, Start
from studies.money.purchases_page import draw_first_picture, purchases_part
from studies.money.stops import stops_part

DESCRIPTION = (
    "What money buys on the development tables; PROTOCOL.md says how. Writes money.md and its pictures. "
    "Finished runs are kept: an interrupted study goes on, and the page can be made again in seconds."
)
PARTS = ("purchases", "complete-rows", "forecasts", "stops", "automatic")
FIRST_TABLE, FIRST_OBSERVED = "image", 0.2
"""Of the picture at the top."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    options = _parser().parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    folder = CaseFolder(options.runs, jobs=options.jobs, only_kept=options.only_kept)
    starts: list[Start] = [
        (table, observed, seed)
        for seed in range(options.seeds)
        for observed in options.observed
        for table in options.tables
    ]
    sections: dict[str, Callable[[], str]] = {
        "purchases": lambda: purchases_part(starts, options.prices, folder, options.out),
        "complete-rows": lambda: complete_rows_part(starts, folder),
        "forecasts": lambda: forecasts_part(starts, folder),
        "stops": lambda: stops_part(starts, folder),
        "automatic": lambda: automatic_part(starts, folder),
    }
    page = [_opening(options), *(sections[part]() for part in PARTS if part in options.parts)]
    if "purchases" in options.parts and FIRST_TABLE in options.tables:
        file = options.out / "money.png"
        if draw_first_picture((FIRST_TABLE, FIRST_OBSERVED), range(options.seeds), folder, file):
            page.insert(1, FIRST_PICTURE)
    (options.out / "money.md").write_text("\n\n".join(page) + "\n")


FIRST_PICTURE = f"""![AUC against money: cellworth, random cells with the same model, the paper](money.png)

*The table {FIRST_TABLE}, {FIRST_OBSERVED:.0%} of its cells known at the start.*"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m studies.money", description=DESCRIPTION)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, help="sections (all)")
    parser.add_argument("--seeds", type=int, default=10, help="seeds (10)")
    parser.add_argument(
        "--tables", nargs="+", default=list(NAMES), choices=NAMES, metavar="TABLE", help="tables (all)"
    )
    parser.add_argument(
        "--observed", nargs="+", type=float, default=[0.1, 0.2], help="shares known (0.1 0.2)"
    )
    parser.add_argument(
        "--prices",
        nargs="+",
        default=["same", "unequal"],
        choices=get_args(PricesKind),
        help="of the purchases (same unequal)",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--runs", type=Path, default=Path("runs/money"), help="finished runs (runs/money)")
    parser.add_argument(
        "--only-kept", action="store_true", help="run nothing: the page says which runs are missing"
    )
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder (docs/results)")
    return parser


def _opening(options: argparse.Namespace) -> str:
    shares, kinds = " ".join(f"{share:g}" for share in options.observed), " ".join(options.prices)
    command = f"python -m studies.money --seeds {options.seeds} --observed {shares} --prices {kinds}"
    if len(options.parts) < len(PARTS):
        command += f" --parts {' '.join(part for part in PARTS if part in options.parts)}"
    if len(options.tables) < len(NAMES):
        command += f" --tables {' '.join(options.tables)}"
    if options.only_kept:
        command += " --only-kept"
    few = " One seed only: single tables say little." if options.seeds == 1 else ""
    return f"""# What money buys

Made by `{command}`. The protocol, written before the runs, is `studies/money/PROTOCOL.md`.
Choices are made on the tuning half of the tables; every figure is shown for both halves.{few}"""


if __name__ == "__main__":
    main()
