"""The command line of the study: play the purchases and write the page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from studies.money.development_tables import NAMES, PricesKind
from studies.money.money_ratios import cases_of
from studies.money.purchases import FULL, PAPER, RANDOM, Run, play
from studies.money.purchases_page import draw_one, purchases_part

DESCRIPTION = (
    "What money buys on the development tables; PROTOCOL.md says how. Writes money.md and its pictures."
)
STRATEGIES = ("recommended", "linear-impact")
README_TABLE, README_OBSERVED = "image", 0.2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    kinds = get_args(PricesKind)
    parser = argparse.ArgumentParser(prog="python -m studies.money", description=DESCRIPTION)
    parser.add_argument("--seeds", type=int, default=10, help="seeds (10)")
    parser.add_argument(
        "--tables", nargs="+", default=list(NAMES), choices=NAMES, metavar="TABLE", help="tables (all)"
    )
    parser.add_argument(
        "--observed", nargs="+", type=float, default=[0.1, 0.2], help="shares known (0.1 0.2)"
    )
    parser.add_argument(
        "--prices", nargs="+", default=["same", "unequal"], choices=kinds, help="(same unequal)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--runs", type=Path, default=Path("runs/money"), help="finished runs (runs/money)")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder (docs/results)")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    runs = [
        Run(table, observed, kind, strategy, seed)
        for seed in range(options.seeds)
        for kind in options.prices
        for observed in options.observed
        for table in options.tables
        for strategy in (FULL, RANDOM.name, *STRATEGIES)
    ]
    cases = cases_of(play(runs, options.runs, jobs=options.jobs))
    page = [_opening(options), purchases_part(cases, STRATEGIES, options.out)]
    if README_TABLE in options.tables and README_OBSERVED in options.observed and "same" in options.prices:
        _draw_readme(options)
    (options.out / "money.md").write_text("\n\n".join(page) + "\n")


def _draw_readme(options: argparse.Namespace) -> None:
    """Draw money against AUC: ours, random cells, and the paper."""
    runs = [
        Run(README_TABLE, README_OBSERVED, "same", strategy, seed)
        for seed in range(options.seeds)
        for strategy in (FULL, RANDOM.name, "recommended", PAPER)
    ]
    (case,) = cases_of(play(runs, options.runs, jobs=options.jobs))
    draw_one(case, ("recommended", RANDOM.name, PAPER), options.out / "money.png")


def _opening(options: argparse.Namespace) -> str:
    shares, kinds = " ".join(f"{share:g}" for share in options.observed), " ".join(options.prices)
    command = f"python -m studies.money --seeds {options.seeds} --observed {shares} --prices {kinds}"
    if options.seeds == 1:
        seeds = "One seed only: single tables say little, and the intervals are over tables."
    else:
        seeds = f"{options.seeds} seeds."
    return f"""# What money buys

Made by `{command}`. The protocol, written before the runs, is `studies/money/PROTOCOL.md`. {seeds}
Ratios below 1 are money saved: 0.5 means that half of the money that random cells need reaches the same
score, with the same completer and the same model.

![AUC against money: cellworth, random cells with the same model, and the paper](money.png)

*The table {README_TABLE}, {README_OBSERVED:.0%} of its cells known at the start.*"""


if __name__ == "__main__":
    main()
