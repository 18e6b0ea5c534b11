"""Play purchases on the development tables, as PROTOCOL.md says; finished runs are kept in a folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete import GaussianCompleter
from cellworth.model import Candidate, choose_model, default_models, fit_candidate
from cellworth.model.candidates import candidate_named
from cellworth.model.cross_validation import score_predictions
from cellworth.score import Random
from cellworth.select import Draw
from cellworth.strategy import Strategy, get
from cellworth.strategy.choose_batch import Adviser
from studies.money.development_tables import MOST_TEST_ROWS, PricesKind, RunStart, start_of
from studies.money.kept_cases import CaseFolder, Record

STEPS = (0.05, 0.10, 0.20, 0.35, 0.55, 0.80)
"""Money spent at each purchase, as a share of the cost of all hidden cells."""
TESTED = slice(MOST_TEST_ROWS)
SVM = "linear SVM"
JUDGES = ("logistic regression", "ridge regression", "extra trees", "boosted trees")
FULL = "full information"
PAPER = "afasmc"
"""Judged by the paper's own linear SVM, on its own completion."""
RANDOM = Strategy(
    "random",
    GaussianCompleter(label_trust=0.0),
    Random(),
    Draw(power=0.0),
    "cells at random, whatever they cost",
)


@dataclass(frozen=True)
class Run:
    """One run of a strategy on one table.

    Attributes
    ----------
    table : str
    observed : float
    prices : {"same", "unequal", "visits"}
    strategy : str
        A registered name, "random", or `FULL`.
    seed : int
    """

    table: str
    observed: float
    prices: PricesKind
    strategy: str
    seed: int

    def file(self, folder: Path) -> Path:
        """Return the file of the run's records; it changes with the parts of the strategy."""
        parts = "" if self.strategy == FULL else _parts(_strategy(self.strategy))
        mark = hashlib.sha256(f"{self!r}{parts}".encode()).hexdigest()[:12]
        return (
            folder / f"{self.table}-{self.observed:g}-{self.prices}-{self.strategy}-{self.seed}-{mark}.json"
        )

    def __str__(self) -> str:
        """Return the run in words."""
        return f"{self.table}, {self.strategy}, seed {self.seed}"


def play(runs: Sequence[Run], folder: CaseFolder) -> list[Record]:
    """Return the records of all runs but those of starts at which a strategy was not played.

    A record has the fields of its run and ``share``, the money spent as a share of the cost of all hidden
    cells; ``score``, AUC or R2 on the test rows; and ``model``, the name of the judge.
    """
    found = folder.records("buying", runs, _play)
    lacking = {_start(run) for run in runs if run not in found}
    return [record for run in found if _start(run) not in lacking for record in found[run]]


def _start(run: Run) -> tuple[str, float, str, int]:
    return run.table, run.observed, run.prices, run.seed


def _play(run: Run, folder: Path) -> list[Record]:
    start = start_of(run.table, run.observed, run.seed, run.prices)
    judge = candidate_named(SVM, is_number=False) if run.strategy == PAPER else judge_of(run, folder)
    if run.strategy == FULL:
        known = GaussianCompleter(label_trust=0.0).fit(start.world.truth)
        score = score_of(start, judge, known, start.world.truth)
        found: Iterable[Record] = [{"share": 1.0, "score": score, "model": judge.name}]
    else:
        found = _purchases(run, start, judge, _strategy(run.strategy))
    return [vars(run) | record for record in found]


def records_of(run: Run, folder: Path, strategy: Strategy, tested: slice = TESTED) -> list[Record]:
    """Return the records of a run with a strategy that need not be registered; nothing is kept."""
    start = start_of(run.table, run.observed, run.seed, run.prices)
    return list(_purchases(run, start, judge_of(run, folder), strategy, tested))


def _purchases(
    run: Run, start: RunStart, judge: Candidate, strategy: Strategy, tested: slice = TESTED
) -> Iterable[Record]:
    for bought in buy_up(strategy, start, run.seed, STEPS):
        score = score_of(start, judge, bought.completer, bought.X, tested)
        yield {"share": bought.spent / start.total, "score": score, "model": judge.name}


@dataclass(frozen=True, eq=False)
class BoughtSoFar:
    """A table after some purchases.

    Attributes
    ----------
    X : (n, d) array
        The training rows, NaN in the holes.
    known : (n, p) array of bool
        Belongs to the run and changes with the next purchase.
    spent : float
    completer : estimator
        Fitted to X.
    """

    X: Float64Array
    known: BoolArray
    spent: float
    completer: Any


def buy_up(strategy: Strategy, start: RunStart, seed: int, steps: Sequence[float]) -> Iterator[BoughtSoFar]:
    """Yield the start, and the table after each step; steps are money spent, as shares of the total."""
    world = start.world
    adviser = Adviser.of(strategy, start.table, seed=seed)
    X, available, known, spent = world.start, world.hidden.copy(), world.known_at_start.copy(), 0.0
    for step in (0.0, *steps):
        if step:
            adviser.score(start.prices)
            bought = adviser.choose(
                start.prices, available=available, before=known, budget=max(0.0, step * start.total - spent)
            )
            X, spent = world.reveal(X, bought.cells), spent + bought.cost
            places = bought.cells[:, 0], bought.cells[:, 1]
            available[places], known[places] = False, True
        adviser.complete(X, world.y)
        yield BoughtSoFar(X, known, spent, adviser.completer)


def score_of(
    start: RunStart, judge: Candidate, completer: Any, X: Float64Array, tested: slice = TESTED
) -> float:
    """Train the judge on the rows X (n, d), and score it on these test rows."""
    world, is_number = start.world, start.world.target == "number"
    model = fit_candidate(judge, completer, X, world.y, is_number=is_number)
    predicted, y = model.predict(world.X_test[tested]), world.y_test[tested]
    one_fold = np.zeros(len(y), dtype=np.intp)
    return score_predictions(y, predicted, one_fold, classes=not is_number).value


def judge_of(run: Run, folder: Path) -> Candidate:
    """Return the model that cross-validation on the training rows chooses at the start; kept in a file."""
    file = folder / f"{run.table}-{run.observed:g}-{run.seed}.judge"
    world = start_of(run.table, run.observed, run.seed).world
    is_number = world.target == "number"
    candidates = {each.name: each for each in default_models(is_number=is_number) if each.name in JUDGES}
    if not file.exists():
        chosen = choose_model(
            world.start,
            world.y,
            is_number=is_number,
            candidates=list(candidates.values()),
            averages=False,
            folds=3,
            seed=run.seed,
        )
        file.write_text(chosen.name)
    return candidates[file.read_text()]


def _strategy(name: str) -> Strategy:
    return RANDOM if name == RANDOM.name else get(name)


def _parts(strategy: Strategy) -> str:
    """Return a description of the parts with their settings, the same in every process."""
    scorer, selector = strategy.scorer, strategy.selector
    described = repr((scorer, selector, type(strategy.completer).__name__, vars(scorer)))
    return re.sub(" at 0x[0-9a-f]+", "", described)
