"""The command line of the study."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from studies.completion.report import write_report
from studies.completion.study import FAST_ROWS, STUDIED, Outcome, read_results, run_study, write_results

DESCRIPTION = "Complete the paper's tables with every method; write the results, a page and two plots."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.completion", description=DESCRIPTION)
    parser.add_argument("--repeats", type=int, default=10, help="seeds per table and share (10)")
    parser.add_argument("--datasets", nargs="+", default=list(STUDIED), choices=STUDIED, metavar="NAME")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder (docs/results)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--fast", action="store_true", help=f"only {FAST_ROWS} rows of each table")
    parser.add_argument("--report-only", action="store_true", help="page and plots from the files in --out")
    options = parser.parse_args(arguments)
    if not options.report_only:
        results = run_study(options.datasets, options.repeats, jobs=options.jobs, fast=options.fast)
        write_results(*results, options.out)
    outcomes, coverages = read_results(options.out)
    write_report(outcomes, coverages, options.out, _command(outcomes, fast=options.fast))


def _command(outcomes: Sequence[Outcome], *, fast: bool) -> str:
    """Return the command that gives the same results."""
    names = list(dict.fromkeys(o.dataset for o in outcomes))
    words = ["python -m studies.completion", f"--repeats {len({o.seed for o in outcomes})}"]
    if names != list(STUDIED):
        words.append("--datasets " + " ".join(names))
    return " ".join(words + ["--fast"] * fast)


if __name__ == "__main__":
    main()
