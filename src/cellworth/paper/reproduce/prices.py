"""Figure 2: accuracy against money on HTRU2, each column at a random price from 1 to 10."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from typing import Any

from cellworth.paper.protocol import one_to_ten
from cellworth.paper.reproduce.buying import FIGURES, OBSERVED, play_run, table_of
from cellworth.paper.reproduce.experiment import Experiment, Row, Run
from cellworth.paper.reproduce.names import STRATEGIES_OF_OURS
from cellworth.paper.reproduce.settings import Settings

DATASET = "HTRU2"
PAPER = ("afasmc", "afasmc-ratio", "afasmc-poss")
METHODS = (*PAPER, "afasmc-knapsack", *STRATEGIES_OF_OURS)

MONEY_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4)
"""Of the price of all missing cells: where the curves are compared."""


def _runs(settings: Settings) -> list[Run]:
    return [Run(*each) for each in product((DATASET,), (OBSERVED,), METHODS, settings.seeds)]


def _perform(run: Run, settings: Settings) -> list[Row]:
    drawn = one_to_ten(table_of(run.dataset, settings.rows), run.seed)
    return play_run(run, run.method, settings.prices, settings.rows, drawn)


def _relevant(settings: Settings) -> dict[str, Any]:
    return asdict(settings.prices) | {"rows": settings.rows}


PRICES = Experiment("prices", FIGURES, _runs, _perform, _relevant)
"""A row per run and round; the prices are drawn anew for each seed."""
