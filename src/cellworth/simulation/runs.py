"""Strategies played against a known truth: the learning curves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from cellworth.blocks.threads import worker_threads
from cellworth.complete import GaussianCompleter
from cellworth.errors import ParameterError
from cellworth.optional import require
from cellworth.prices import Prices
from cellworth.progress import ProgressLine
from cellworth.simulation.judge import judge
from cellworth.simulation.play import FinishedRuns, Record, Settings, play
from cellworth.simulation.world import make_world
from cellworth.strategy import Strategy, get
from cellworth.table import Table

Library = Literal["pandas", "polars", "pyarrow"]


def simulate(
    table: Table,
    strategy: str | Strategy | Sequence[str | Strategy],
    *,
    prices: Prices | None = None,
    budget_per_round: float | None = None,
    count_per_round: int | None = None,
    rounds: int = 20,
    observed: float = 0.6,
    classifier: Any | None = None,
    train: float = 0.7,
    seed: int | Iterable[int] = 0,
    n_jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool = False,
    frame: Library = "pandas",
) -> Any:
    """Hide cells of a table, let strategies buy them back, and return what the money bought.

    Each run splits the rows, hides cells of the training rows, and plays the rounds: fill the table, train
    the classifier on it, judge it on the test rows, buy a batch. All strategies of one seed play in the same
    world, so that they compare in pairs.

    Parameters
    ----------
    table : Table
        With a target. Cells that the table itself lacks are never bought and count in no error.
    strategy : str, Strategy, or several
        See `cellworth.strategy.names`.
    prices : Prices, optional
        By default every cell costs 1.
    budget_per_round : float, optional
        Money for one batch. This or `count_per_round` must be given; with both, both bind.
    count_per_round : int, optional
        Most cells of one batch.
    rounds : int, default=20
        Batches bought, at most: a run ends when its budget buys nothing more.
    observed : float, default=0.6
        Share of the cells of the training rows that are known at the start.
    classifier : estimator, optional
        By default ``LinearSVC()``, as in the paper, or ``Ridge()`` where the target is a number. It sees
        columns scaled to [0, 1].
    train : float, default=0.7
        Share of the rows that train; the others judge.
    seed : int or several, default=0
        One run per strategy and seed.
    n_jobs : int, optional
        Processes; the result does not depend on it.
    resume : path, optional
        A folder. Finished runs are kept there and not done again.
    progress : bool, default=False
        Show a bar with the time left on the standard error.
    frame : {"pandas", "polars", "pyarrow"}, default="pandas"

    Returns
    -------
    frame
        One row per run and round, the start (round 0) included, sorted: ``strategy``, ``seed``, ``round``,
        ``cells`` and ``money`` spent so far, ``reconstruction_error`` (norm of the error over the norm of
        the training table, scaled to [0, 1]), and on the test rows ``accuracy``, ``auc`` and ``log_loss``
        (``r2`` and ``rmse`` for a number); last ``seconds``, of completing, scoring and choosing.

    Notes
    -----
    Costs one completion, one scoring, one selection and one fit of the classifier per round. Memory: a few
    arrays of the table's size per process.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cellworth import Table, simulate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curves = simulate(Table.from_arrays(X[:, :5], y), "random", budget_per_round=100, rounds=3)
    >>> curves[["round", "cells", "money"]].values.tolist()
    [[0.0, 0.0, 0.0], [1.0, 100.0, 100.0], [2.0, 200.0, 200.0], [3.0, 300.0, 300.0]]
    """
    if frame not in get_args(Library):
        raise ParameterError(f"frame must be one of {', '.join(get_args(Library))}; got {frame!r}")
    require(frame)
    strategies = [get(s) for s in ([strategy] if isinstance(strategy, str | Strategy) else strategy)]
    seeds = [seed] if isinstance(seed, int) else [int(s) for s in seed]
    settings = _settings(
        table, prices, budget_per_round, count_per_round, rounds, observed, classifier, train, strategies
    )
    finished = FinishedRuns(resume, table, settings)
    runs: dict[tuple[int, int], list[Record]] = {}
    todo = []
    for place, run_seed in product(range(len(strategies)), seeds):
        records = finished.load(strategies[place], run_seed)
        if records is None:
            todo.append((place, run_seed))
        else:
            runs[place, run_seed] = records
    tasks = (delayed(_play)(table, strategies[p], s, settings, (p, s)) for p, s in todo)
    line = ProgressLine("simulating", len(todo)) if progress and todo else None
    for done, (key, records) in enumerate(Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks), 1):
        runs[key] = records
        finished.save(strategies[key[0]], key[1], records)
        if line is not None:
            line.show(done, f"{strategies[key[0]].name}, seed {key[1]}")
    return frame_of([record for key in sorted(runs) for record in runs[key]], frame)


def full_information(
    table: Table, *, classifier: Any | None = None, train: float = 0.7, seed: int = 0
) -> dict[str, float]:
    """Return what the classifier reaches in the world of a seed when no cell is hidden.

    The metrics are those of `simulate`; cells that the table itself lacks are filled by `GaussianCompleter`.
    """
    world = make_world(table, observed=1.0, train=train, seed=seed)
    with worker_threads(1):
        completer = (
            GaussianCompleter() if np.isnan(world.truth).any() or np.isnan(world.X_test).any() else None
        )
        completed = world.truth if completer is None else completer.fit_transform(world.truth)
        return judge(world, completed, completer, _model(table, classifier))


def _play(
    table: Table,
    strategy: Strategy,
    seed: int,
    settings: Settings,
    key: tuple[int, int],
) -> tuple[tuple[int, int], list[Record]]:
    return key, [played.record for played in play(table, strategy, seed, settings)]


def _settings(
    table: Table,
    prices: Prices | None,
    budget: float | None,
    count: int | None,
    rounds: int,
    observed: float,
    classifier: Any | None,
    train: float,
    strategies: Sequence[Strategy],
) -> Settings:
    if budget is None and count is None:
        raise ParameterError(
            "give budget_per_round, money for one batch, or count_per_round, cells of one batch"
        )
    if rounds < 1:
        raise ParameterError(f"rounds must be at least 1; got {rounds}")
    names = [s.name for s in strategies]
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"strategies must be at least one, each with its own name; got {names}")
    model = _model(table, classifier)
    return Settings(prices or Prices.same(1.0), budget, count, rounds, observed, train, model)


def _model(table: Table, classifier: Any | None) -> Any:
    """Return the model that judges: the user's, or the default for the table's target."""
    if classifier is not None:
        return classifier
    is_number = table.target is not None and table.target.label_kind == "number"
    return Ridge() if is_number else LinearSVC(random_state=0)


def frame_of(records: Sequence[Record], library: Library) -> Any:
    """Return a frame with a row per record; a value that a record lacks is missing there."""
    names = list(dict.fromkeys(name for record in records for name in record))
    data = {name: [record.get(name) for record in records] for name in names}
    return nw.from_dict(data, backend=library).to_native()
