"""Play strategies against a known truth, and save each run when it finishes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.row_sample import in_memory
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete import GaussianCompleter
from cellworth.errors import DataError, ParameterError
from cellworth.optional_packages import require
from cellworth.prices import AnyPrices, Prices
from cellworth.progress import ProgressLine
from cellworth.select import Selection
from cellworth.select.selector import check_limits
from cellworth.simulation.evaluate import check_model, choose_judge, judge, name_of
from cellworth.simulation.hidden_truth import World, make_world
from cellworth.strategy import Strategy, get
from cellworth.strategy.auto_choice import BuyingTask
from cellworth.strategy.choose_batch import Adviser
from cellworth.table import Table
from cellworth.table.any_table import AnyTable
from cellworth.table.frames import library_of
from cellworth.table.write_table import LIBRARIES, Library

Record = dict[str, Any]
COMPARED = ("recommended", "random-gaussian")
"""What is played by default. Both complete alike, so that they differ in what they buy alone."""


@dataclass(frozen=True)
class Settings:
    """The settings shared by all runs of a simulation; see `simulate`.

    ``model`` is what `judge` trains; None chooses it in the world of each seed.
    """

    prices: Prices
    budget_per_round: float | None
    count_per_round: int | None
    rounds: int
    observed: float
    train: float
    model: Any
    labelled: float = field(default=1.0, repr=False)  # runs without hidden labels keep their digest


@dataclass(frozen=True)
class PlayedRound:
    """The result of one round.

    Attributes
    ----------
    record : dict
        One row of the frame that `simulate` returns.
    selection : Selection or None
        What was bought at the end of the round, by row and column number in the world, a label as the column
        after the last; None in the last round.
    """

    record: Record
    selection: Selection | None


def play(table: Table, strategy: Strategy, seed: int, settings: Settings) -> Iterator[PlayedRound]:
    """Play one strategy in the world of one seed; yield each round, including the start.

    The run ends early when a round's budget cannot buy anything more.
    """
    world = make_world(
        table, observed=settings.observed, train=settings.train, seed=seed, labelled=settings.labelled
    )
    prices = settings.prices.on(table).of_rows(world.rows)
    X, y = world.start, world.y_at_start
    task = BuyingTask(X, y, world.layout, world.target, prices.of_cells(), seed)
    adviser = Adviser.of(strategy.settled(task), table, seed=seed)
    available, known = world.hidden.copy(), world.known_at_start
    if prices.labels:
        available = np.column_stack([available, world.hidden_labels])
        known = np.column_stack([known, ~world.hidden_labels])
    model = _model_in(world, settings.model, seed)
    cells, labels, spent = 0, 0, 0.0
    for number in range(settings.rounds + 1):
        selection = None
        with worker_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            begun = time.perf_counter()
            completed = adviser.complete(X, y)
            seconds = time.perf_counter() - begun
            judged = judge(world, X, completed, adviser.completer, model, y)
            if number < settings.rounds:
                begun = time.perf_counter()
                adviser.score(prices)
                selection = adviser.choose(
                    prices,
                    available=available,
                    before=known,
                    budget=settings.budget_per_round,
                    count=settings.count_per_round,
                )
                seconds += time.perf_counter() - begun
        so_far: Record = {"strategy": strategy.name, "seed": seed, "round": number, "cells": cells}
        if prices.labels:
            so_far["labels"] = labels
        so_far["money"] = spent
        yield PlayedRound(so_far | judged | {"model": name_of(model), "seconds": seconds}, selection)
        if selection is None or len(selection.cells) == 0:
            return
        rows, columns = selection.cells[:, 0], selection.cells[:, 1]
        of_label = columns == world.hidden.shape[1]
        X = world.reveal(X, selection.cells[~of_label])
        y = y.copy()
        y[rows[of_label]] = world.y[rows[of_label]]
        available[rows, columns], known[rows, columns] = False, True
        labels += int(of_label.sum())
        cells, spent = cells + int((~of_label).sum()), spent + selection.cost


class FinishedRuns:
    """One small JSON file per run, named by the strategy, the seed and a digest of all settings.

    Runs with another table, other prices or other settings have a different digest and are left alone.

    Parameters
    ----------
    folder : path or None
        Created if needed; None saves nothing.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, table: Table, settings: Settings) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"cannot save finished runs in {folder}: {error.strerror}") from None
            self._mark = _mark_of(table, settings)

    def load(self, strategy: Strategy, seed: int) -> list[Record] | None:
        """Return the records of a finished run, or None."""
        if self._folder is None:
            return None
        try:
            records: list[Record] = json.loads(self._file(strategy, seed).read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return records

    def save(self, strategy: Strategy, seed: int, records: list[Record]) -> None:
        """Save a run, atomically: its file is either complete or absent."""
        if self._folder is not None:
            file = self._file(strategy, seed)
            part = file.with_suffix(f".{os.getpid()}.part")
            part.write_text(json.dumps(records))
            part.replace(file)

    def _file(self, strategy: Strategy, seed: int) -> Path:
        assert self._folder is not None
        parts = (self._mark, strategy.completer, strategy.scorer, strategy.selector)
        mark = hashlib.sha256("\n".join(map(_words, parts)).encode()).hexdigest()[:16]
        name = re.sub(r"[^A-Za-z0-9_-]", "_", strategy.name)
        return self._folder / f"{name}-{seed}-{mark}.json"


def _mark_of(table: Table, settings: Settings) -> str:
    """Return a digest of the table and the settings."""
    from cellworth import __version__

    digest = hashlib.sha256(table.values.tobytes())
    digest.update(b"" if table.y is None else table.y.tobytes())
    said = (__version__, table.columns, settings, *([settings.labelled] if settings.labelled < 1 else []))
    digest.update("\n".join(map(_words, said)).encode())
    return digest.hexdigest()


def _words(thing: object) -> str:
    """Return a description of an object with all its settings, defaults included."""
    if hasattr(thing, "get_params"):
        return f"{type(thing).__name__}({sorted((k, repr(v)) for k, v in thing.get_params().items())})"
    return repr(thing)


def simulate(
    table: AnyTable,
    strategy: str | Strategy | Sequence[str | Strategy] = COMPARED,
    *,
    target: str | None = None,
    prices: AnyPrices | None = None,
    budget_per_round: float | None = None,
    count_per_round: int | None = None,
    rounds: int = 20,
    observed: float = 0.6,
    labelled: float = 1.0,
    classifier: Any | None = None,
    train: float = 0.7,
    seed: int | Iterable[int] = 0,
    n_jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool = False,
    frame: Library | None = None,
) -> Any:
    """Hide cells of a table, let strategies buy them back, and return what the money bought.

    Each run splits the rows, hides cells of the training rows, and plays the rounds: fill the table, train
    a model on it, evaluate it on the test rows, buy a batch. All strategies with the same seed play in the
    same world and are judged by the same model, so their results can be compared in pairs.

    Parameters
    ----------
    table : Table, pandas or polars DataFrame, pyarrow Table, or path of a file
        With a target. Cells missing from the table itself are never bought, and no error includes them.
    target : str, optional
        The column of a frame or file to predict. A `Table` has its own.
    strategy : str, Strategy, or several, default=("recommended", "random-gaussian")
        See `cellworth.strategy.names`. By default, is choosing better than random cells here?
    prices : Prices, float, mapping or path, optional
        See `Prices.of`. By default every cell costs 1. If they name the target, hidden labels can be bought.
    budget_per_round : float, optional
        Money for one batch: the ``budget`` of `advise`, spent anew in each round. Give this,
        `count_per_round` or both; with both, both limits apply.
    count_per_round : int, optional
        The most cells in one batch.
    rounds : int, default=20
        The most batches to buy; a run ends early when its budget buys nothing more.
    observed : float, default=0.6
        Share of the cells of the training rows that are known at the start.
    labelled : float, default=1.0
        Share of the training rows whose label is known at the start; at least one row of each class keeps
        it. Labels are hidden at random, and bought back if they have a price.
    classifier : estimator, optional
        Any scikit-learn classifier, or regressor if the target is a number, trained on the filled rows with
        columns scaled to [0, 1]. By default a model is chosen for each seed, by three-fold cross-validation
        on the training rows as they are at the start: logistic regression (ridge regression for a number),
        extra trees or boosted trees. The paper used ``LinearSVC()``.
    train : float, default=0.7
        Share of the rows used for training; the others are test rows.
    seed : int or several, default=0
        One run per strategy and seed.
    n_jobs : int, optional
        Number of processes; it does not affect the result.
    resume : path, optional
        A folder in which finished runs are saved, so that they are not repeated.
    progress : bool, default=False
        Show a progress bar with the time left on standard error.
    frame : {"pandas", "polars", "pyarrow"}, optional
        The library of the result; by default that of the frame given, or pandas.

    Returns
    -------
    frame
        One row per run and round, including the start (round 0), sorted: ``strategy``, ``seed``, ``round``,
        ``cells`` bought, ``labels`` bought if they have a price, and ``money`` spent so far,
        ``reconstruction_error`` (norm of the error over the norm of the training table, with columns scaled
        to [0, 1]), and on the test rows ``accuracy``, ``auc`` and ``log_loss`` (``r2`` and ``rmse`` for a
        number); the name of the ``model``; finally ``seconds`` spent completing, scoring and choosing.

    Notes
    -----
    Each round costs one completion, one scoring, one selection and one fit of the model; a chosen model, once
    per seed and process, three completions and three fits of each candidate. Memory: a few arrays of the
    table's size per process, some 25 while a model is chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cellworth import Table, simulate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> table = Table.from_arrays(X[:150, :4], y[:150])
    >>> curves = simulate(table, budget_per_round=50, rounds=2, observed=0.3)  # 2 x 50, for 100 in all
    >>> curves.groupby("strategy", sort=False)["money"].max().to_dict()
    {'recommended': 100.0, 'random-gaussian': 100.0}
    """
    frame = frame or library_of(table) or "pandas"
    if frame not in LIBRARIES:
        raise ParameterError(f"frame must be one of {', '.join(LIBRARIES)}; got {frame!r}")
    require(frame)
    table = in_memory(table, "the simulation", target=target)[0]
    check_model(table, classifier)
    strategies = [get(s) for s in ([strategy] if isinstance(strategy, str | Strategy) else strategy)]
    seeds = [seed] if isinstance(seed, int) else [int(s) for s in seed]
    limits = budget_per_round, count_per_round
    settings = _settings(table, prices, *limits, rounds, observed, classifier, train, strategies, labelled)
    finished = FinishedRuns(resume, table, settings)
    runs: dict[tuple[int, int], list[Record]] = {}
    todo = []
    # All strategies of a seed are judged by the model that is chosen for it: one after another.
    for run_seed, place in product(seeds, range(len(strategies))):
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
    table: Table,
    *,
    classifier: Any | None = None,
    observed: float = 0.6,
    labelled: float = 1.0,
    train: float = 0.7,
    seed: int = 0,
) -> dict[str, float]:
    """Return the model's scores in the world of a seed when no cell and no label is hidden.

    The metrics and the arguments are those of `simulate`, and so is the model: without a classifier, it is
    the one chosen when ``observed`` of the cells and ``labelled`` of the labels are known, trained on all.
    `GaussianCompleter` fills cells missing from the table itself.
    """
    check_model(table, classifier)
    start = make_world(table, observed=observed, train=train, seed=seed, labelled=labelled)
    model = _model_in(start, classifier, seed)
    world = make_world(table, observed=1.0, train=train, seed=seed)
    with worker_threads(1):
        completer = (
            GaussianCompleter() if np.isnan(world.truth).any() or np.isnan(world.X_test).any() else None
        )
        completed = world.truth if completer is None else completer.fit_transform(world.truth)
        return judge(world, world.truth, completed, completer, model)


def _model_in(world: World, model: Any | None, seed: int) -> Any:
    if model is not None:
        return model
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return choose_judge(world, seed)


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
    prices: AnyPrices | None,
    budget: float | None,
    count: int | None,
    rounds: int,
    observed: float,
    classifier: Any | None,
    train: float,
    strategies: Sequence[Strategy],
    labelled: float,
) -> Settings:
    if budget is None and count is None:
        raise ParameterError(
            "give budget_per_round (money per batch), count_per_round (cells per batch), or both"
        )
    if check_limits(budget, count)[0] == 0:
        raise ParameterError("budget_per_round must be above 0: nothing costs nothing")
    if rounds < 1:
        raise ParameterError(f"rounds must be at least 1; got {rounds}")
    names = [s.name for s in strategies]
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"give at least one strategy, each with its own name; got {names}")
    return Settings(Prices.of(prices), budget, count, rounds, observed, train, classifier, labelled)


def frame_of(records: Sequence[Record], library: Library) -> Any:
    """Return a frame with one row per record; values absent from a record are missing."""
    names = list(dict.fromkeys(name for record in records for name in record))
    data = {name: [record.get(name) for record in records] for name in names}
    return nw.from_dict(data, backend=library).to_native()
