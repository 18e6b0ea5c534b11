"""The command line of the study."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cellworth.paper.acquisition.experiments import Experiment, experiments, run
from cellworth.paper.acquisition.report import write_report

DESCRIPTION = "Play every strategy on the paper's tables and on Turney's; write a page with tables and plots."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    known = {experiment.name: experiment for experiment in experiments()}
    parser = argparse.ArgumentParser(prog="python -m cellworth.paper.acquisition", description=DESCRIPTION)
    parser.add_argument("--repeats", type=int, default=10, help="seeds (10)")
    parser.add_argument("--only", nargs="+", default=list(known), choices=list(known), metavar="EXPERIMENT")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder (docs/results)")
    parser.add_argument(
        "--runs", type=Path, default=Path("runs"), help="folder of finished runs, not done again (runs)"
    )
    parser.add_argument("--rounds", type=int, help="fewer rounds than planned, for a quick look")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args(arguments)
    begun = time.perf_counter()
    results: dict[Experiment, list[dict[str, object]]] = {}
    for number, name in enumerate(options.only, 1):
        print(f"{name} ({number} of {len(options.only)})", file=sys.stderr)
        experiment = known[name] if options.rounds is None else replace(known[name], rounds=options.rounds)
        seeds = range(options.repeats)
        results[experiment] = run(experiment, seeds, jobs=options.jobs, resume=options.runs / name)
    minutes = (time.perf_counter() - begun) / 60
    write_report(results, options.out, _command(options, list(known)), minutes)


def _command(options: argparse.Namespace, known: Sequence[str]) -> str:
    """Return the command line that makes the results anew."""
    words = ["python -m cellworth.paper.acquisition", f"--repeats {options.repeats}"]
    if options.only != list(known):
        words.append("--only " + " ".join(options.only))
    if options.rounds is not None:
        words.append(f"--rounds {options.rounds}")
    return " ".join(words)


if __name__ == "__main__":
    main()
