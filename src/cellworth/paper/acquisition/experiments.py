"""The experiments on buying cells: which table, which prices, which strategies, how many rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cellworth.complete import SupervisedCompleter
from cellworth.paper import datasets, turney
from cellworth.prices import Prices
from cellworth.score import Variance
from cellworth.select import Top
from cellworth.simulation import full_information, simulate
from cellworth.simulation.world import make_world
from cellworth.strategy import Strategy
from cellworth.table import Table

PAPER_TABLES = ("abalone", "letter", "image", "chess", "HillValley", "HTRU2")
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
    "recommended",
)
WITH_PRICES = (*ALL[:3], "afasmc-ratio", "afasmc-poss", "afasmc-knapsack", *ALL[3:])
WINDOWS = (2, 4, 8, 16, None)


@dataclass(frozen=True)
class Experiment:
    """One table bought back from one start.

    Attributes
    ----------
    name : str
        Of its file.
    table : str
        One of the paper's tables or of Turney's.
    observed : float
        Share of the cells known at the start.
    priced : {"same", "one to ten", "fees"}
        Every cell costs 1; or each column a whole number from 1 to 10, drawn anew for each seed, as in the
        paper; or the fees of Turney's tables.
    strategies : names or strategies
    rounds : int
    share : float
        The budget of a round, as a share of what all the hidden cells cost.
    """

    name: str
    table: str
    observed: float
    priced: Literal["same", "one to ten", "fees"]
    strategies: tuple[str | Strategy, ...]
    rounds: int
    share: float


def windows() -> tuple[Strategy, ...]:
    """Return the paper's strategy with the variance over the last 2, 4, 8, 16 and all completions."""
    return tuple(
        Strategy(
            "all completions" if m is None else f"last {m}", SupervisedCompleter(), Variance(window=m), Top()
        )
        for m in WINDOWS
    )


def experiments() -> tuple[Experiment, ...]:
    """Return all experiments of the study, in the order of its page."""
    costs = ("afasmc", "afasmc-ratio", "afasmc-poss", "afasmc-knapsack")
    return (
        Experiment("prices", "HTRU2", 0.6, "one to ten", costs, rounds=20, share=0.025),
        Experiment("windows", "HTRU2", 0.6, "same", windows(), rounds=30, share=0.02),
        *(Experiment(f"fees-{name}", name, 0.2, "fees", WITH_PRICES, 24, 0.05) for name in turney.NAMES),
        *(
            Experiment(f"cells-{name}-{start:.0%}".rstrip("%"), name, start, "same", ALL, 21, 0.05)
            for start in (0.2, 0.6)
            for name in PAPER_TABLES
        ),
    )


def load_table(experiment: Experiment) -> tuple[Table, Prices]:
    """Return the table of an experiment, and its prices where they do not depend on the seed."""
    if experiment.priced == "fees":
        return turney.load(experiment.table)
    data = datasets.load(experiment.table)
    return Table.from_arrays(data.X, data.y), Prices.same(1.0)


def run(experiment: Experiment, seeds: Sequence[int], *, jobs: int, resume: Path) -> list[dict[str, Any]]:
    """Play an experiment and return its records; each also tells what full information gives.

    Beside what `simulate` records, ``total`` is what all hidden cells cost, in money, and ``hidden`` how many
    they are; ``full_auc`` and ``full_accuracy`` are those of the classifier that knows all cells.
    """
    table, prices = load_table(experiment)
    records: list[dict[str, Any]] = []
    for batch in [[s] for s in seeds] if experiment.priced == "one to ten" else [list(seeds)]:
        if experiment.priced == "one to ten":
            prices = one_to_ten(table, batch[0])
        price_of_all = {s: _price_of_all(table, prices, experiment.observed, s) for s in batch}
        frame = simulate(
            table,
            experiment.strategies,
            prices=prices,
            budget_per_round=experiment.share * price_of_all[batch[0]][1],
            rounds=experiment.rounds,
            observed=experiment.observed,
            seed=batch,
            n_jobs=jobs,
            resume=resume,
            progress=True,
            frame="pandas",
        )
        full = {s: full_information(table, seed=s) for s in batch}
        for record in frame.to_dict("records"):
            seed = record["seed"]
            hidden, total = price_of_all[seed]
            known = {"full_auc": full[seed]["auc"], "full_accuracy": full[seed]["accuracy"]}
            records.append(
                {"experiment": experiment.name, **record, "hidden": hidden, "total": total, **known}
            )
    return records


def one_to_ten(table: Table, seed: int) -> Prices:
    """Return a price from 1 to 10 for each column, drawn at random."""
    drawn = np.random.default_rng([seed, 1]).integers(1, 11, size=len(table.columns))
    return Prices.per_column(dict(zip(table.column_names, drawn.astype(float).tolist(), strict=True)))


def _price_of_all(table: Table, prices: Prices, observed: float, seed: int) -> tuple[int, float]:
    """Return how many cells are hidden at the start, and what they cost if bought at once."""
    world = make_world(table, observed=observed, train=0.7, seed=seed)
    cells = np.zeros(table.shape, dtype=bool)
    cells[world.rows] = world.hidden
    before = ~table.holes & ~cells
    return int(world.hidden.sum()), prices.on(table).cost(np.argwhere(cells), before)
