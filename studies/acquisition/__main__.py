"""The command line of the study."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from studies.acquisition.experiments import Record, experiments, run, run_paper
from studies.acquisition.report import Results, write_report

DESCRIPTION = "Run every strategy on the paper's tables and on Turney's; write a page with tables and plots."
PAPER = "paper"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    known = [PAPER, *(experiment.name for experiment in experiments())]
    parser = argparse.ArgumentParser(prog="python -m studies.acquisition", description=DESCRIPTION)
    parser.add_argument("--repeats", type=int, default=10, help="seeds (10)")
    parser.add_argument(
        "--only", nargs="+", default=known, choices=known, metavar="EXPERIMENT", help=", ".join(known)
    )
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder (docs/results)")
    parser.add_argument(
        "--runs",
        type=Path,
        default=Path("runs"),
        help="folder of finished runs, which are not repeated (runs)",
    )
    parser.add_argument(
        "--paper-runs",
        type=Path,
        default=Path("paper-results"),
        help="folder of finished runs of `python -m studies.paper`, which are not repeated (paper-results)",
    )
    parser.add_argument("--rounds", type=int, help="fewer rounds than planned, for a quick look")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args(arguments)
    write_report(_results(options), options.out, _command(options, known), options.repeats)


def _results(options: argparse.Namespace) -> Results:
    """Return the records of all requested experiments."""
    fees: dict[str, list[Record]] = {}
    cells: dict[str, list[Record]] = {}
    for experiment in experiments():
        if experiment.name in options.only:
            print(experiment.name, file=sys.stderr)
            shorter = experiment if options.rounds is None else replace(experiment, rounds=options.rounds)
            folder = options.runs / experiment.name
            records = run(shorter, range(options.repeats), jobs=options.jobs, resume=folder)
            (fees if experiment.has_fees else cells)[experiment.table] = records
    paper: dict[str, dict[str, list[Record]]] = {"prices": {}, "windows": {}, "curves": {}}
    if PAPER in options.only:
        print("the paper's experiments, from 60 % observed", file=sys.stderr)
        paper = run_paper(options.repeats, jobs=options.jobs, folder=options.paper_runs)
    return Results(
        prices=paper["prices"].get("HTRU2", []),
        windows=paper["windows"].get("HTRU2", []),
        fees=fees,
        from_20=cells,
        from_60=paper["curves"],
    )


def _command(options: argparse.Namespace, known: Sequence[str]) -> str:
    """Return the command that gives the same results."""
    words = ["python -m studies.acquisition", f"--repeats {options.repeats}"]
    if options.only != list(known):
        words.append("--only " + " ".join(options.only))
    if options.rounds is not None:
        words.append(f"--rounds {options.rounds}")
    return " ".join(words)


if __name__ == "__main__":
    main()
