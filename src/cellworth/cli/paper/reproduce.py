"""``cellworth paper table1 | table2 | figure1 | figure2 | figure3 | all``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

HELP = {
    "table1": "Run Table 1 again: errors and accuracies of completers at 60 % and 80 % observed.",
    "table2": "Run Table 2 again: AUC while the missing cells are bought.",
    "figure1": "Run Figure 1 again: accuracy while the missing cells are bought.",
    "figure2": "Run Figure 2 again: accuracy against money at prices from 1 to 10, on HTRU2.",
    "figure3": "Run Figure 3 again: the variance over 2, 4, 8, 16 and all completions, on HTRU2.",
    "all": "Run all tables and figures of the paper again and write one report.",
}
"""The first line of the help of each command."""

EXAMPLES = {name: f"Example: cellworth paper {name} --fast" for name in HELP}

_REST = """

Writes an HTML page, pictures, tables (CSV, LaTeX) and a Parquet file with every figure of every seed.

Runs that the file has are not done again, so a broken command goes on where it stopped.
"""

Datasets = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,...", help="Data sets, with commas or one by one. By default all six."),
]
Repeats = Annotated[int | None, typer.Option(min=1, help="Random splits. By default 10, or 2 with --fast.")]
Jobs = Annotated[int, typer.Option(min=1, help="Processes. No figure depends on it.")]
Fast = Annotated[bool, typer.Option("--fast", help="A quick look: 300 rows of each table, few rounds.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for page, pictures, tables and results.")]
Rounds = Annotated[
    int | None,
    typer.Option(min=1, help="Batches bought. By default 20; 30 in Figure 3."),
]
Batch = Annotated[
    float | None,
    typer.Option(
        help="A batch, as a share of the missing cells, in Figure 2 of their price. By default 0.05; 0.025 "
        "in Figure 2, 0.02 in Figure 3."
    ),
]
Committee = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Members of the committee of QBC and Stability, of LMaFit, NNLS, Gaussian, SoftImpute and "
        "OptSpace. By default the first three.",
    ),
]


def command(name: str) -> Callable[..., None]:
    """Return the function of one command; in Table 1 nothing is bought, so it has fewer options."""

    def complete(
        datasets: Datasets = None,
        repeats: Repeats = None,
        jobs: Jobs = 2,
        fast: Fast = False,
        out: Out = Path("paper-results"),
    ) -> None:
        _run(name, jobs, fast, out, datasets=datasets, repeats=repeats)

    def buy(
        datasets: Datasets = None,
        repeats: Repeats = None,
        jobs: Jobs = 2,
        fast: Fast = False,
        out: Out = Path("paper-results"),
        rounds: Rounds = None,
        batch: Batch = None,
        committee: Committee = None,
    ) -> None:
        given = {"rounds": rounds, "batch": batch, "committee": committee}
        _run(name, jobs, fast, out, datasets=datasets, repeats=repeats, **given)

    function = complete if name == "table1" else buy
    function.__doc__ = HELP[name] + _REST
    return function


def _run(name: str, jobs: int, fast: bool, out: Path, **given: Any) -> None:
    from cellworth.paper.reproduce import PARTS, Settings, describe, reproduce

    given = {option: _names(value) for option, value in given.items() if value is not None}
    done = reproduce(
        PARTS if name == "all" else (name,),
        (Settings.quick() if fast else Settings()).but(**given),
        out,
        jobs=jobs,
        progress=sys.stderr.isatty(),
        command=_command_line(name, fast, given),
    )
    print(describe(done))


def _names(value: Any) -> Any:
    """Return the names of a list in which some hold commas; other values as they are."""
    return [name for each in value for name in each.split(",")] if isinstance(value, list) else value


def _command_line(name: str, fast: bool, given: dict[str, Any]) -> str:
    """Return the command that makes the same results; folder and processes change nothing in them."""
    words = ["cellworth", "paper", name, *["--fast"] * fast]
    for option, value in given.items():
        words += [f"--{option}", ",".join(value) if isinstance(value, list) else str(value)]
    return shlex.join(words)
