"""Every table at every share of observed cells and with every seed, completed by every method."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.threads import worker_threads
from cellworth.complete import (
    GaussianCompleter,
    LMaFitCompleter,
    NNLSCompleter,
    OptSpaceCompleter,
    SoftImputeCompleter,
    SupervisedCompleter,
)
from cellworth.complete.auto import AutoCompleter
from cellworth.errors import ParameterError
from cellworth.paper.completion.results import Coverage, Outcome
from cellworth.paper.completion.table1 import WITHOUT_NOISE
from cellworth.paper.datasets import load
from cellworth.paper.protocol import Trial, make_trial, reconstruction_error, svm_accuracy
from cellworth.progress import ProgressLine

DATASETS = ("abalone", "letter", "image", "chess", "HillValley", "HTRU2")
STUDIED = (*DATASETS, WITHOUT_NOISE)
SHARES = (0.6, 0.8)
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
FAST_ROWS = 400  # of each table, with --fast

COMPLETERS: dict[str, Callable[[], Any]] = {
    "Supervised": SupervisedCompleter,
    "OptSpace": OptSpaceCompleter,
    "LMaFit": LMaFitCompleter,
    "NNLS": NNLSCompleter,
    "SoftImpute": SoftImputeCompleter,
    "Gaussian": GaussianCompleter,
    "Auto": AutoCompleter,
}
"""The methods compared, as they come; `SupervisedCompleter` has the paper's settings then."""


@dataclass(frozen=True)
class Case:
    """One table with one share of observed cells and one seed."""

    dataset: str
    share: float
    seed: int


def run_case(case: Case, *, fast: bool = False) -> tuple[list[Outcome], list[Coverage]]:
    """Complete the table of one case by every method; with ``fast``, some rows of it."""
    trial = make_trial(load(case.dataset), case.share, case.seed)
    trial = _shortened(trial) if fast else trial
    outcomes, coverages = [], []
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for method, make in COMPLETERS.items():
            begun = time.perf_counter()
            completer = make().fit(trial.holed, trial.y)
            seconds = time.perf_counter() - begun
            covered = list(_coverages(case, completer, trial)) if method == "Gaussian" else []
            outcomes.append(
                Outcome(
                    case.dataset,
                    case.share,
                    method,
                    case.seed,
                    reconstruction_error(completer.completed_, trial.truth),
                    svm_accuracy(completer.completed_, trial),
                    next((c.covered for c in covered if c.level == 0.9), None),
                    seconds,
                )
            )
            coverages += covered
    return outcomes, coverages


def _shortened(trial: Trial) -> Trial:
    some = slice(FAST_ROWS)
    return Trial(trial.truth[some], trial.holed[some], trial.y[some], trial.X_test, trial.y_test)


def _coverages(case: Case, completer: Any, trial: Trial) -> Iterator[Coverage]:
    """Yield the share of hidden cells within the intervals of each level."""
    hidden = np.isnan(trial.holed)
    for level in LEVELS:
        lower, upper = completer.predict_interval(level)
        inside = (lower <= trial.truth) & (trial.truth <= upper)
        yield Coverage(case.dataset, case.share, case.seed, level, float(inside[hidden].mean()))


def run_study(
    datasets: Sequence[str] = STUDIED, repeats: int = 10, *, jobs: int = 1, fast: bool = False
) -> tuple[list[Outcome], list[Coverage]]:
    """Run all cases, on so many processes, and return their results, sorted.

    All but the seconds are the same for any number of jobs. A line on the standard error shows how it goes.
    """
    unknown = [name for name in datasets if name not in STUDIED]
    if unknown or repeats < 1:
        raise ParameterError(
            f"datasets must be among {', '.join(STUDIED)}, and repeats at least 1; got "
            f"{', '.join(datasets)} and {repeats}"
        )
    cases = [Case(d, share, seed) for seed, d, share in product(range(repeats), datasets, SHARES)]
    line = ProgressLine("completing", len(cases))
    tasks = (delayed(run_case)(case, fast=fast) for case in cases)
    outcomes: list[Outcome] = []
    coverages: list[Coverage] = []
    for done, (some, covered) in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), 1):
        outcomes += some
        coverages += covered
        line.show(done)
    order = {method: i for i, method in enumerate(COMPLETERS)}
    place = {name: i for i, name in enumerate(STUDIED)}
    outcomes.sort(key=lambda o: (place[o.dataset], o.share, order[o.method], o.seed))
    coverages.sort(key=lambda c: (place[c.dataset], c.share, c.seed, c.level))
    return outcomes, coverages
