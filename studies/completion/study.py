"""Completes every table with every method, at every share of observed cells and with every seed."""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete import (
    GaussianCompleter,
    LMaFitCompleter,
    NNLSCompleter,
    OptSpaceCompleter,
    SoftImputeCompleter,
    SupervisedCompleter,
)
from cellworth.complete.auto_completer import AutoCompleter
from cellworth.datasets import load
from cellworth.errors import DataError, ParameterError
from cellworth.progress import ProgressLine
from studies.protocol import DATASETS, Trial, make_trial, reconstruction_error, svm_accuracy
from studies.published import WITHOUT_NOISE

STUDIED = (*DATASETS, WITHOUT_NOISE)
SHARES = (0.6, 0.8)
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
FAST_ROWS = 400  # rows of each table with --fast

COMPLETERS: dict[str, Callable[[], Any]] = {
    "Supervised": SupervisedCompleter,
    "OptSpace": OptSpaceCompleter,
    "LMaFit": LMaFitCompleter,
    "NNLS": NNLSCompleter,
    "SoftImpute": SoftImputeCompleter,
    "Gaussian": GaussianCompleter,
    "Auto": AutoCompleter,
}
"""The methods compared, with their defaults; those of `SupervisedCompleter` are the paper's settings."""


@dataclass(frozen=True)
class Case:
    """One table with one share of observed cells and one seed."""

    dataset: str
    share: float
    seed: int


def run_case(case: Case, *, fast: bool = False) -> tuple[list[Outcome], list[Coverage]]:
    """Complete the table of one case with every method; with ``fast``, only some of its rows."""
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
    """Run all cases on ``jobs`` processes and return their results, sorted.

    Results other than the timings do not depend on ``jobs``. A line on standard error shows progress.
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


class Outcome(NamedTuple):
    """The result of one method in one case; ``coverage`` is that of its 90 % intervals, if it has any."""

    dataset: str
    share: float
    method: str
    seed: int
    error: float
    accuracy: float
    coverage: float | None
    seconds: float


class Coverage(NamedTuple):
    """The share of hidden cells covered by the intervals of one level, in one case."""

    dataset: str
    share: float
    seed: int
    level: float
    covered: float


def write_results(outcomes: Sequence[Outcome], coverages: Sequence[Coverage], folder: Path) -> None:
    """Write ``completion.csv`` and ``coverage.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        (*o[:4], f"{o.error:.6f}", f"{o.accuracy:.6f}", _blank(o.coverage), f"{o.seconds:.3f}")
        for o in outcomes
    ]
    _write(folder / "completion.csv", Outcome._fields, rows)
    _write(folder / "coverage.csv", Coverage._fields, [(*c[:4], f"{c.covered:.6f}") for c in coverages])


def read_results(folder: Path) -> tuple[list[Outcome], list[Coverage]]:
    """Read what `write_results` wrote."""
    outcomes = [
        Outcome(d, float(s), m, int(k), float(e), float(a), float(c) if c else None, float(t))
        for d, s, m, k, e, a, c, t in _read(folder / "completion.csv")
    ]
    coverages = [
        Coverage(d, float(s), int(k), float(v), float(c)) for d, s, k, v, c in _read(folder / "coverage.csv")
    ]
    return outcomes, coverages


def _blank(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _read(path: Path) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))[1:]
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; run the study first") from None
