"""The experiments on buying cells: table, prices, strategies and number of rounds.

Those that start at 60 % observed are the paper's own, as run by `studies.paper`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.datasets import load
from cellworth.datasets.tables import TURNEY_NAMES
from cellworth.prices import Prices
from cellworth.simulation import full_information, simulate
from cellworth.simulation.hidden_truth import make_world
from cellworth.table import Table
from studies.paper.runs import carry_out
from studies.paper.settings import Settings
from studies.protocol import DATASETS, TRAIN_SHARE, as_published, paper_classifier

Record = dict[str, Any]

ALL = (
    "random",
    "afasmc",
    "afasmc-window4",
    "qbc",
    "stability",
    "em-inference",
    "random-gaussian",
    "posterior",
    "posterior-impact",
    "linear-impact",
)
WITH_PRICES = (*ALL[:3], "afasmc-ratio", "afasmc-poss", "afasmc-knapsack", *ALL[3:])


@dataclass(frozen=True)
class Experiment:
    """One table, bought back starting from 20 % of its cells.

    Attributes
    ----------
    name : str
        Name of its folder of runs.
    table : str
        One of the paper's tables, where every cell costs 1, or of Turney's, with their fees.
    strategies : names
    rounds : int
        Most rounds: a run ends when everything is bought.
    share : float, default=0.05
        The budget of a round, as a share of the cost of all hidden cells.
    observed : float, default=0.2
        Share of cells known at the start.
    """

    name: str
    table: str
    strategies: tuple[str, ...]
    rounds: int
    share: float = 0.05
    observed: float = 0.2

    @property
    def has_fees(self) -> bool:
        """Whether the table has real prices."""
        return self.table in TURNEY_NAMES


def experiments() -> tuple[Experiment, ...]:
    """Return the experiments that start at 20 % observed, in the order of the page."""
    return (
        *(Experiment(f"fees-{name}", name, WITH_PRICES, rounds=24) for name in TURNEY_NAMES),
        *(Experiment(f"cells-{name}-20", name, ALL, rounds=11, share=0.1) for name in DATASETS),
    )


def run(experiment: Experiment, seeds: Sequence[int], *, jobs: int, resume: Path) -> list[Record]:
    """Run an experiment and return its records, each with the scores under full information.

    In addition to what `simulate` records, ``hidden`` is the number of hidden cells and ``total`` their cost;
    ``full_auc`` and ``full_accuracy`` are the scores of the classifier that knows all cells.
    """
    table, prices = load(experiment.table)
    hidden_of = {s: _hidden(table, prices, experiment.observed, s) for s in seeds}
    frame = simulate(
        table,
        list(map(as_published, experiment.strategies)),
        prices=prices,
        budget_per_round=experiment.share * hidden_of[seeds[0]]["total"],
        rounds=experiment.rounds,
        observed=experiment.observed,
        classifier=paper_classifier(),
        train=TRAIN_SHARE,
        seed=seeds,
        n_jobs=jobs,
        resume=resume,
        progress=True,
        frame="pandas",
    )
    full = {
        s: full_information(table, classifier=paper_classifier(), train=TRAIN_SHARE, seed=s) for s in seeds
    }
    return [
        record
        | hidden_of[record["seed"]]
        | {f"full_{metric}": full[record["seed"]][metric] for metric in ("auc", "accuracy")}
        for record in frame.to_dict("records")
    ]


def _hidden(table: Table, prices: Prices, observed: float, seed: int) -> Record:
    """Return the number of cells hidden at the start, and their cost if bought at once."""
    world = make_world(table, observed=observed, train=TRAIN_SHARE, seed=seed)
    cells = np.zeros(table.shape, dtype=bool)
    cells[world.rows] = world.hidden
    before = ~table.holes & ~cells
    return {
        "hidden": int(world.hidden.sum()),
        "total": prices.on(table).cost(np.argwhere(cells), before),
    }


def run_paper(repeats: int, *, jobs: int, folder: Path) -> dict[str, dict[str, list[Record]]]:
    """Return the records of the curves, prices and windows, by experiment and table.

    Runs already in the folder of ``python -m studies.paper`` are not repeated. Records are as in `run`.
    """
    names = ("curves", "prices", "windows")
    found = carry_out(names, Settings(repeats=repeats), folder, jobs=jobs, progress=True)
    full = known_in_full(found["curves"])
    return {name: _by_table(found[name], full) for name in names}


def known_in_full(rows: list[Record]) -> dict[tuple[str, int], dict[str, float]]:
    """Return AUC and accuracy by table and seed once every cell is bought: the last round of any run."""
    return {
        (row["dataset"], row["seed"]): {"full_auc": row["auc"], "full_accuracy": row["accuracy"]}
        for row in rows
        if row["cells"] == row["hidden"]
    }


def _by_table(rows: list[Record], full: dict[tuple[str, int], dict[str, float]]) -> dict[str, list[Record]]:
    """Return records by table, with the method as the strategy."""
    records: dict[str, list[Record]] = {}
    for row in rows:
        known = full[row["dataset"], row["seed"]]
        records.setdefault(row["dataset"], []).append(row | known | {"strategy": row["method"]})
    return records
