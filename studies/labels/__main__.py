"""Carry out PROTOCOL.md and write docs/results/labels.md: ``python -m studies.labels --runs runs/labels``."""

from __future__ import annotations

import argparse
from pathlib import Path

from studies.labels.report import Record, write_page
from studies.labels.runs import NAMES, RATIOS, SEEDS, TABLES, Case, play

PAGE = Path(__file__).parents[2] / "docs" / "results" / "labels.md"


def main() -> None:
    """Play what is not in the folder of runs yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.labels", description=__doc__)
    parser.add_argument("--runs", type=Path, help="a folder in which finished runs are kept")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many seeds, from 0")
    parser.add_argument("--strategies", nargs="+", default=NAMES, help="the strategies to play")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--only-kept", action="store_true", help="play nothing: use the runs that are kept")
    said = parser.parse_args()
    records: list[Record] = []
    for half, tables in TABLES.items():
        for ratio in RATIOS:
            for name in tables:
                case, seeds = Case(name, ratio), range(said.seeds)
                played = play([case], said.runs, said.strategies, seeds, only_kept=said.only_kept)
                records.extend({"half": half, **record} for record in played)
                print(half, ratio, name, flush=True)
    write_page(records, said.page)


if __name__ == "__main__":
    main()
