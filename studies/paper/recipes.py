"""Table 1 with the paper's rivals by their authors' recipes alone: ``python -m studies.paper.recipes``.

A quick look beside ``python -m studies.paper table1``, which also runs the rivals with what serves them
better, and all completers of ours. Here: `SupervisedCompleter`, and `PUBLISHED_RIVALS` on columns scaled to
[0, 1] like its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product

import numpy as np

from cellworth.progress import ProgressLine
from studies.completion.study import SHARES
from studies.paper.claims_on_completion import claims_by_recipe
from studies.paper.experiments import COMPLETION, PUBLISHED_RIVALS, Row, Run
from studies.paper.settings import Settings
from studies.protocol import DATASETS

METHODS = ("Supervised", *PUBLISHED_RIVALS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line: print mean errors, and the verdict on each claim."""
    parser = argparse.ArgumentParser(prog="python -m studies.paper.recipes", description=__doc__)
    parser.add_argument("--repeats", type=int, default=10, help="random splits (10)")
    parser.add_argument("--rows", type=int, default=None, help="of each table, at most (all)")
    options = parser.parse_args(arguments)
    settings = Settings(repeats=options.repeats, rows=options.rows)
    runs = [Run(*each) for each in product(DATASETS, SHARES, METHODS, settings.seeds)]
    line, rows = ProgressLine("completing", len(runs)), []
    for k, run in enumerate(runs):
        rows += COMPLETION.perform(run, settings)
        line.show(k + 1)
    print("\n".join(described(rows)))


def described(rows: Sequence[Row]) -> list[str]:
    """Return a line for each table and share, mean errors of all methods, and one for each claim."""
    lines = ["reconstruction error      " + "  ".join(f"{method:>19}" for method in METHODS)]
    for dataset, share in dict.fromkeys((row["dataset"], row["observed"]) for row in rows):
        means = (
            np.mean(
                [
                    row["reconstruction_error"]
                    for row in rows
                    if (row["dataset"], row["observed"], row["method"]) == (dataset, share, method)
                ]
            )
            for method in METHODS
        )
        lines.append(f"{dataset:12} at {share:.0%}       " + "  ".join(f"{mean:19.3f}" for mean in means))
    verdicts = (f"{claim.outcome:<16}{claim.text} ({claim.counts})" for claim in claims_by_recipe(rows))
    return [*lines, *verdicts]


if __name__ == "__main__":
    main()
