"""Figure 1 and Table 2: accuracy and AUC while the missing cells are bought, from the same runs."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import product
from typing import Any

from cellworth.paper.reproduce.buying import FIGURES, OBSERVED, play_run
from cellworth.paper.reproduce.committee import committee_of
from cellworth.paper.reproduce.experiment import Experiment, Row, Run
from cellworth.paper.reproduce.names import STRATEGIES_OF_OURS
from cellworth.paper.reproduce.settings import Settings
from cellworth.strategy import get

PAPER = ("random", "qbc", "stability", "afasmc", "em-inference")
"""The paper's strategies, in the order of its Table 2, which lacks the last."""

FURTHER = ("afasmc-window4", "posterior")
"""Strategies that are worth seeing here beside those of ours that are in every experiment."""

COMMITTEES = ("qbc", "stability")


def _runs(settings: Settings) -> list[Run]:
    methods = (*PAPER, *FURTHER, *STRATEGIES_OF_OURS)
    return [Run(*each) for each in product(settings.datasets, (OBSERVED,), methods, settings.seeds)]


def _perform(run: Run, settings: Settings) -> list[Row]:
    strategy = get(run.method)
    if run.method in COMMITTEES:
        strategy = replace(strategy, completer=committee_of(settings.committee))
    return play_run(run, strategy, settings.curves, settings.rows)


def _relevant(settings: Settings) -> dict[str, Any]:
    return asdict(settings.curves) | {"committee": settings.committee, "rows": settings.rows}


CURVES = Experiment("curves", FIGURES, _runs, _perform, _relevant)
"""A row per run and round."""
