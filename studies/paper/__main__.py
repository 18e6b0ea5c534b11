"""The command line: ``python -m studies.paper table1 | table2 | figure1 | figure2 | figure3 | all``."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellworth.errors import CellworthError
from studies.paper import PARTS, Settings, describe, reproduce

HELP = {
    "table1": "Table 1: errors and accuracies of completers at 60 %% and 80 %% observed",
    "table2": "Table 2: AUC while the missing cells are bought",
    "figure1": "Figure 1: accuracy while the missing cells are bought",
    "figure2": "Figure 2: accuracy against money at prices from 1 to 10, on HTRU2",
    "figure3": "Figure 3: the variance over 2, 4, 8, 16 and all completions, on HTRU2",
    "all": "all tables and figures of the paper, in one report",
}

DESCRIPTION = """Reproduce the paper's experiments: write an HTML page, figures, tables (CSV, LaTeX) and a
Parquet file with every result of every seed. Runs already in the file are not repeated, so an interrupted
command resumes where it stopped."""

BAD_DATA = 3  # exit code, the same as that of the cellworth command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error is one line on standard error."""
    options = vars(_parser().parse_args(arguments))
    part, jobs, fast, out = (options.pop(name) for name in ("part", "jobs", "fast", "out"))
    given = {name: value for name, value in options.items() if value is not None}
    try:
        done = reproduce(
            PARTS if part == "all" else (part,),
            (Settings.quick() if fast else Settings()).but(**given),
            out,
            jobs=jobs,
            progress=sys.stderr.isatty(),
            command=_command_line(part, fast, given),
        )
    except CellworthError as error:
        print(f"studies.paper: {error}", file=sys.stderr)
        return BAD_DATA
    print(describe(done))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m studies.paper", description=DESCRIPTION)
    parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
    for name, text in HELP.items():
        command = parts.add_parser(name, help=text, description=f"Reproduce {text}. {DESCRIPTION}")
        add = command.add_argument
        add("--datasets", type=_names, metavar="NAME,...", help="data sets, comma-separated (all six)")
        add("--repeats", type=int, help="random splits (10, or 2 with --fast)")
        add("--jobs", type=int, default=2, help="processes; results do not depend on it (2)")
        add("--fast", action="store_true", help="a quick look: 300 rows of each table, few rounds")
        add("--out", type=Path, default=Path("paper-results"), help="folder (paper-results)")
        if name == "table1":
            continue  # nothing is bought
        add("--rounds", type=int, help="batches bought (20; 30 in Figure 3)")
        add(
            "--batch",
            type=float,
            help="batch size, as a share of the missing cells, or in Figure 2 of their price (0.05; 0.025 in "
            "Figure 2, 0.02 in Figure 3)",
        )
        add(
            "--committee",
            type=_names,
            metavar="NAME,...",
            help="committee members of QBC and Stability, among LMaFit, NNLS, Gaussian, SoftImpute and "
            "OptSpace (the first three)",
        )
    return parser


def _names(text: str) -> list[str]:
    return text.split(",")


def _command_line(part: str, fast: bool, given: dict[str, Any]) -> str:
    """Return the command that gives the same results, which do not depend on the folder or processes."""
    words = ["python", "-m", "studies.paper", part, *["--fast"] * fast]
    for option, value in given.items():
        words += [f"--{option}", ",".join(value) if isinstance(value, list) else str(value)]
    return shlex.join(words)


if __name__ == "__main__":
    sys.exit(main())
