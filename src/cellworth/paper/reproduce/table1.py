"""Table 1: reconstruction error and test accuracy of every completer at 60 % and 80 % observed."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.threads import worker_threads
from cellworth.paper.completion.study import COMPLETERS, SHARES
from cellworth.paper.completion.table1 import WITHOUT_NOISE
from cellworth.paper.protocol import make_trial, reconstruction_error, svm_accuracy
from cellworth.paper.reproduce.data import some_rows
from cellworth.paper.reproduce.experiment import Experiment, Row, Run, steady
from cellworth.paper.reproduce.settings import Settings


def with_versions(datasets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the data sets, HillValley followed by its other version: the paper does not name its own."""
    return tuple(
        name for each in datasets for name in ((each, WITHOUT_NOISE) if each == "HillValley" else (each,))
    )


def _runs(settings: Settings) -> list[Run]:
    datasets = with_versions(settings.datasets)
    methods = [name for name in COMPLETERS if settings.with_auto or name != "Auto"]
    return [Run(*each) for each in product(datasets, SHARES, methods, settings.seeds)]


def _perform(run: Run, settings: Settings) -> list[Row]:
    trial = make_trial(some_rows(run.dataset, settings.rows), run.observed, run.seed)
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        completed = COMPLETERS[run.method]().fit(trial.holed, trial.y).completed_
        figures = {
            "reconstruction_error": steady(reconstruction_error(completed, trial.truth)),
            "accuracy": steady(svm_accuracy(completed, trial)),
        }
    return [run._asdict() | figures]


def _relevant(settings: Settings) -> dict[str, Any]:
    return {"rows": settings.rows}


TABLE_1_AGAIN = Experiment(
    "table1", {"reconstruction_error": float, "accuracy": float}, _runs, _perform, _relevant
)
"""A row per run."""
