"""The command line of the study: run what is missing, and write the page."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from studies.money.automatic import automatic_part
from studies.money.complete_rows import complete_rows_part
from studies.money.development_tables import NAMES, PricesKind
from studies.money.forecasts import forecasts_part
from studies.money.kept_cases import CaseFolder, Start
from studies.money.model_choice import model_choice_part
from studies.money.purchases_page import INTRODUCTION, KINDS, draw_first_picture, purchases_part
from studies.money.stops import stops_part

DESCRIPTION = (
    "What money buys on the development tables; PROTOCOL.md says how. Writes money.md and its pictures, or "
    "some sections of it: the others stay as they are. Finished runs are kept: an interrupted study goes on, "
    "and the page can be made again in seconds."
)
HEADINGS: dict[str, str] = {
    "models": "## The model that is trained on the holes",
    "purchases": "## What cells to buy",
    **{str(kind): f"### {words}" for kind, words in KINDS.items()},
    "complete-rows": "## The score on complete rows, estimated from rows with holes",
    "forecasts": "## Forecasts before the first purchase",
    "stops": "## When to stop",
    "automatic": "## Strategy and completer chosen automatically",
}
PARTS = tuple(part for part in HEADINGS if part not in KINDS)
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
        "models": lambda: model_choice_part(starts, folder),
        "complete-rows": lambda: complete_rows_part(starts, folder),
        "forecasts": lambda: forecasts_part(starts, folder),
        "stops": lambda: stops_part(starts, folder),
        "automatic": lambda: automatic_part(starts, folder),
    }
    signature = _signature(options)
    made = {part: f"{sections[part]()}\n\n{signature}" for part in sections if part in options.parts}
    if "purchases" in options.parts:
        made["purchases"] = INTRODUCTION
        for kind in options.prices:
            made[kind] = f"{purchases_part(starts, kind, folder, options.out)}\n\n{signature}"
    if "purchases" in options.parts and FIRST_TABLE in options.tables and "same" in options.prices:
        draw_first_picture(
            (FIRST_TABLE, FIRST_OBSERVED), range(options.seeds), folder, options.out / "money.png"
        )
    page = options.out / "money.md"
    page.write_text(with_sections(page.read_text() if page.exists() else "", made))


OPENING = f"""# What money buys

The protocol, written before the runs, is `studies/money/PROTOCOL.md`. Choices are made on the tuning half of
the tables; every figure is shown for both halves. Each section ends with the command and the commit that
made it.

![AUC against money: cellworth, random cells with the same model, the paper](money.png)

*The table {FIRST_TABLE}, {FIRST_OBSERVED:.0%} of its cells known at the start.*"""


def with_sections(page: str, made: Mapping[str, str]) -> str:
    """Return the page with some sections made anew, in the order of `HEADINGS`; others stay as they are."""
    begins = "|".join(re.escape(heading) for heading in HEADINGS.values())
    texts = re.split(rf"^(?=(?:{begins})$)", page, flags=re.M)
    older = {text.partition("\n")[0]: text.strip() for text in texts}
    found = [made[part] if part in made else older.get(HEADINGS[part], "") for part in HEADINGS]
    return "\n\n".join([OPENING, *(text for text in found if text)]) + "\n"


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


def _signature(options: argparse.Namespace) -> str:
    """Return which command made a section, and of which commit."""
    shares, kinds = " ".join(f"{share:g}" for share in options.observed), " ".join(options.prices)
    command = f"python -m studies.money --seeds {options.seeds} --observed {shares} --prices {kinds}"
    if len(options.parts) < len(PARTS):
        command += f" --parts {' '.join(part for part in PARTS if part in options.parts)}"
    if len(options.tables) < len(NAMES):
        command += f" --tables {' '.join(options.tables)}"
    if options.only_kept:
        command += " --only-kept"
    few = " One seed only: single tables say little." if options.seeds == 1 else ""
    return f"*Made by `{command}` at commit {_commit()}.{few}*"


def _commit() -> str:
    git = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    return git.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
