"""Figure 3: accuracy on HTRU2 with the variance over the last 2, 4, 8, 16 and all completions."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from typing import Any

from cellworth.paper.protocol import windows
from cellworth.paper.reproduce.buying import FIGURES, OBSERVED, play_run
from cellworth.paper.reproduce.experiment import Experiment, Row, Run
from cellworth.paper.reproduce.names import STRATEGIES_OF_OURS
from cellworth.paper.reproduce.settings import Settings
from cellworth.strategy import Strategy

DATASET = "HTRU2"
PAPER = tuple(strategy.name for strategy in windows())
METHODS = (*PAPER, *STRATEGIES_OF_OURS)

CELL_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Of the missing cells: where the curves are shown as figures."""


def _runs(settings: Settings) -> list[Run]:
    return [Run(*each) for each in product((DATASET,), (OBSERVED,), METHODS, settings.seeds)]


def _perform(run: Run, settings: Settings) -> list[Row]:
    composed: dict[str, Strategy] = {strategy.name: strategy for strategy in windows()}
    return play_run(run, composed.get(run.method, run.method), settings.windows, settings.rows)


def _relevant(settings: Settings) -> dict[str, Any]:
    return asdict(settings.windows) | {"rows": settings.rows}


WINDOWS = Experiment("windows", FIGURES, _runs, _perform, _relevant)
"""A row per run and round."""
