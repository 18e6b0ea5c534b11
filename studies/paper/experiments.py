"""The paper's four experiments: Table 1, the curves of Figure 1 and Table 2, prices, and windows.

An experiment is a list of runs, each of which gives rows of results.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
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
from cellworth.complete.committee_completer import CommitteeCompleter, default_members
from cellworth.complete.completer import Completer
from cellworth.prices import Prices
from cellworth.score import Variance
from cellworth.select import Poss, Top
from cellworth.simulation import simulate
from cellworth.simulation.hidden_truth import make_world
from cellworth.strategy import Strategy, get
from cellworth.table import Table
from studies.completion.study import COMPLETERS, SHARES
from studies.paper.settings import DEFAULT_COMMITTEE, Schedule, Settings
from studies.protocol import (
    TRAIN_SHARE,
    as_published,
    make_trial,
    paper_classifier,
    reconstruction_error,
    some_rows,
    svm_accuracy,
)
from studies.published import WINDOWS, WITHOUT_NOISE

Row = dict[str, Any]


class Run(NamedTuple):
    """One method on one table with one share of observed cells and one seed."""

    dataset: str
    observed: float
    method: str
    seed: int


@dataclass(frozen=True)
class Experiment:
    """One experiment; its results are stored in one file.

    Attributes
    ----------
    name : str
        Name of its file.
    figures : dict of str to type
        The results in a row, in addition to the fields of its `Run`: int or float.
    runs : callable
        Returns the runs for given settings.
    perform : callable
        Returns the rows of one run, which depend only on the run and the settings.
    relevant : callable
        Returns the settings that the rows depend on, to store in the file.
    """

    name: str
    figures: dict[str, type]
    runs: Callable[[Settings], list[Run]]
    perform: Callable[[Run, Settings], list[Row]]
    relevant: Callable[[Settings], dict[str, Any]]


def _rounded(value: float) -> float:
    """Round to nine digits: BLAS may round the last ones differently from process to process."""
    return float(f"{value:.9g}")


# --- Table 1: error and accuracy of every completer at 60 % and 80 % observed ------------------------------


PUBLISHED_RIVALS: dict[str, Callable[[], Any]] = {
    "OptSpace, published": lambda: OptSpaceCompleter(rank="spectrum", ridge=0.0, scale="minmax"),
    "LMaFit, published": lambda: LMaFitCompleter(rank_strategy="decrease", ridge=0.0, scale="minmax"),
    "NNLS, published": lambda: NNLSCompleter(trace_penalty=1e-4, penalty_unit="relative", scale="minmax"),
}
"""The rivals by their authors' recipes, on columns scaled to [0, 1] like AFASMC's.

OptSpace takes the rank from the spectrum, LMaFit decreases it from the largest, NNLS goes down to a penalty
of 1e-4 of the largest singular value; nothing is chosen on hidden cells, and rows are not re-estimated with a
ridge. In `COMPLETERS` they have what serves them better: standardised columns, a rank or penalty chosen on
hidden cells, and the ridge.
"""


def _completion_runs(settings: Settings) -> list[Run]:
    # HillValley is followed by its other version: the paper does not say which it used.
    datasets = [
        name
        for each in settings.datasets
        for name in ((each, WITHOUT_NOISE) if each == "HillValley" else (each,))
    ]
    methods = [name for name in (*COMPLETERS, *PUBLISHED_RIVALS) if settings.with_auto or name != "Auto"]
    return [Run(*each) for each in product(datasets, SHARES, methods, settings.seeds)]


def _complete(run: Run, settings: Settings) -> list[Row]:
    trial = make_trial(some_rows(run.dataset, settings.rows), run.observed, run.seed)
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        completed = (COMPLETERS | PUBLISHED_RIVALS)[run.method]().fit(trial.holed, trial.y).completed_
        figures = {
            "reconstruction_error": _rounded(reconstruction_error(completed, trial.truth)),
            "accuracy": _rounded(svm_accuracy(completed, trial)),
        }
    return [run._asdict() | figures]


COMPLETION = Experiment(
    "table1",
    {"reconstruction_error": float, "accuracy": float},
    _completion_runs,
    _complete,
    lambda settings: {"rows": settings.rows},
)
"""Table 1: a row per run."""


# --- buying: a strategy runs its rounds under the paper's protocol -----------------------------------------

OBSERVED = 0.6
"""The share of cells known at the start, in all of the paper's experiments on buying."""

OUR_STRATEGIES = ("linear-impact", "random-gaussian", "posterior-impact")
"""Our strategies in every experiment on buying."""

BOUGHT: dict[str, type] = {
    "round": int,
    "cells": int,
    "money": float,
    "hidden": int,
    "total": float,
    "reconstruction_error": float,
    "accuracy": float,
    "auc": float,
    "log_loss": float,
}
"""The results in a row: those of `cellworth.simulation`, the number of hidden cells and their total cost."""


def play_run(
    run: Run,
    strategy: str | Strategy,
    schedule: Schedule,
    rows: int | None,
    prices: Prices | None = None,
) -> list[Row]:
    """Simulate one run and return a row per round, including the start.

    Without prices, a batch is a number of cells, rounded up, so that batches that add up to the whole buy
    every cell.
    """
    table = some_rows(run.dataset, rows).table
    world = make_world(table, observed=run.observed, train=TRAIN_SHARE, seed=run.seed)
    hidden = int(world.hidden.sum())
    own = (prices or Prices.same(1.0)).on(table).own
    total = float(own[world.rows][world.hidden].sum())
    purse: dict[str, Any] = (
        {"count_per_round": math.ceil(schedule.batch * hidden)}
        if prices is None
        else {"budget_per_round": schedule.batch * total}
    )
    frame = simulate(
        table,
        as_published(strategy),
        prices=prices,
        rounds=schedule.rounds,
        observed=run.observed,
        classifier=paper_classifier(),
        train=TRAIN_SHARE,
        seed=run.seed,
        frame="pyarrow",
        **purse,
    )
    common = run._asdict() | {"hidden": hidden, "total": total}
    return [
        common | {name: _figure(record[name]) for name in BOUGHT if name in record}
        for record in frame.to_pylist()
    ]


def _figure(value: float) -> float:
    return value if isinstance(value, int) else _rounded(value)


def _buying_runs(datasets: Sequence[str], methods: Sequence[str], settings: Settings) -> list[Run]:
    return [Run(*each) for each in product(datasets, (OBSERVED,), methods, settings.seeds)]


# --- Figure 1 and Table 2: accuracy and AUC while the missing cells are bought, from the same runs ---------

CURVES_OF_PAPER = ("random", "qbc", "stability", "afasmc", "em-inference")
"""The paper's strategies, in the order of its Table 2, which omits the last."""

PUBLISHED_CURVES = {f"{name}, published": name for name in ("qbc", "stability", "em-inference")}
"""The rivals that complete by recipes of others, and their names with what serves them better.

Published: the members of the committee are LMaFit and NNLS of `PUBLISHED_RIVALS` and `maximum_likelihood`,
and so is the completer of EM Inference. Else the committee's rank, penalty and ridge were chosen to do well
on tables with few known cells, and EM Inference has a Gaussian that chooses its shrinkage and margins.
"""

CURVES_METHODS = (
    *CURVES_OF_PAPER,
    *PUBLISHED_CURVES,
    "afasmc-window4",
    "posterior",
    *OUR_STRATEGIES,
)


def maximum_likelihood() -> GaussianCompleter:
    """Return EM as in textbooks: a joint normal distribution, nothing mapped by rank or chosen.

    It is shrunk by a hundredth of a row, or columns that determine each other had no likelihood.
    """
    return GaussianCompleter(margins="normal", shrinkage=0.01, label_trust=0.0, calibrate=False)


def committee_of(names: Sequence[str]) -> CommitteeCompleter:
    """Return a committee of the named members, which must be in `MEMBERS`."""
    members: dict[str, Completer] = dict(zip(DEFAULT_COMMITTEE, default_members(), strict=True))
    members |= {"SoftImpute": SoftImputeCompleter(), "OptSpace": OptSpaceCompleter()}
    return CommitteeCompleter([members[name] for name in names])


def published_committee() -> CommitteeCompleter:
    """Return the committee with each member by its authors' recipe."""
    members = [PUBLISHED_RIVALS[f"{name}, published"]() for name in DEFAULT_COMMITTEE[:2]]
    return CommitteeCompleter([*members, maximum_likelihood()])


def strategy_of(method: str, settings: Settings) -> Strategy:
    """Return the strategy of a method in Figure 1 and Table 2."""
    name = PUBLISHED_CURVES.get(method)
    if name is not None:
        completer: Completer = maximum_likelihood() if name == "em-inference" else published_committee()
        return replace(get(name), name=method, completer=completer)
    if method in ("qbc", "stability"):
        return replace(get(method), completer=committee_of(settings.committee))
    return get(method)


def _play_curves(run: Run, settings: Settings) -> list[Row]:
    strategy = strategy_of(run.method, settings)
    return play_run(run, strategy, settings.curves, settings.rows)


CURVES = Experiment(
    "curves",
    BOUGHT,
    lambda settings: _buying_runs(settings.datasets, CURVES_METHODS, settings),
    _play_curves,
    lambda settings: asdict(settings.curves) | {"committee": settings.committee, "rows": settings.rows},
)
"""A row per run and round."""


# --- Figure 2: accuracy against money on HTRU2, each column at a random price from 1 to 10 ----------------

ONE_TABLE = "HTRU2"
"""The table of Figures 2 and 3."""

FROM_RATIOS = "afasmc-poss-from-ratio"
"""The bi-objective search that starts from the batches of dividing by cost, as it does by default."""

PRICES_OF_PAPER = ("afasmc", "afasmc-ratio", "afasmc-poss")
PRICES_METHODS = (*PRICES_OF_PAPER, FROM_RATIOS, "afasmc-knapsack", *OUR_STRATEGIES)

MONEY_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4)
"""Shares of the price of all missing cells at which the curves are compared."""


def one_to_ten(table: Table, seed: int) -> Prices:
    """Return the prices of Figure 2: a whole number from 1 to 10 for each column, drawn at random."""
    drawn = np.random.default_rng([seed, 1]).integers(1, 11, size=len(table.columns))
    return Prices.per_column(dict(zip(table.column_names, drawn.astype(float).tolist(), strict=True)))


def _play_prices(run: Run, settings: Settings) -> list[Row]:
    drawn = one_to_ten(some_rows(run.dataset, settings.rows).table, run.seed)
    strategy: str | Strategy = run.method
    if run.method == FROM_RATIOS:
        strategy = replace(get("afasmc-poss"), name=FROM_RATIOS, selector=Poss("paper"))
    return play_run(run, strategy, settings.prices, settings.rows, drawn)


PRICES = Experiment(
    "prices",
    BOUGHT,
    lambda settings: _buying_runs((ONE_TABLE,), PRICES_METHODS, settings),
    _play_prices,
    lambda settings: asdict(settings.prices) | {"rows": settings.rows},
)
"""A row per run and round; each seed draws its own prices."""


# --- Figure 3: the variance over the last 2, 4, 8, 16 and all completions, on HTRU2 -----------------------


def windows() -> dict[str, Strategy]:
    """Return the strategies of Figure 3 by name, one per window of the variance."""
    names = ["all completions" if m is None else f"last {m}" for m in WINDOWS]
    return {
        name: Strategy(name, SupervisedCompleter(), Variance(window=m), Top())
        for name, m in zip(names, WINDOWS, strict=True)
    }


WINDOWS_OF_PAPER = tuple(windows())
WINDOWS_METHODS = (*WINDOWS_OF_PAPER, *OUR_STRATEGIES)

CELL_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Shares of the missing cells at which the curves are tabulated."""


def _play_windows(run: Run, settings: Settings) -> list[Row]:
    return play_run(run, windows().get(run.method, run.method), settings.windows, settings.rows)


WINDOWED = Experiment(
    "windows",
    BOUGHT,
    lambda settings: _buying_runs((ONE_TABLE,), WINDOWS_METHODS, settings),
    _play_windows,
    lambda settings: asdict(settings.windows) | {"rows": settings.rows},
)
"""A row per run and round."""


EXPERIMENTS = {experiment.name: experiment for experiment in (COMPLETION, CURVES, PRICES, WINDOWED)}
