"""One run: a strategy plays its rounds in one world, and its records are kept once it has finished."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.threads import worker_threads
from cellworth.errors import DataError
from cellworth.prices import Prices
from cellworth.select import Selection
from cellworth.simulation.judge import judge
from cellworth.simulation.world import make_world
from cellworth.strategy import Strategy
from cellworth.strategy.adviser import Adviser
from cellworth.table import Table

Record = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What all runs of a simulation share; see `simulate`."""

    prices: Prices
    budget_per_round: float | None
    count_per_round: int | None
    rounds: int
    observed: float
    train: float
    model: Any


@dataclass(frozen=True)
class PlayedRound:
    """What came of one round.

    Attributes
    ----------
    record : dict
        A row of what `simulate` returns.
    selection : Selection or None
        What was bought at its end, by the row and column numbers of the world; None in the last round.
    """

    record: Record
    selection: Selection | None


def play(table: Table, strategy: Strategy, seed: int, settings: Settings) -> Iterator[PlayedRound]:
    """Play one strategy in the world of one seed, round by round, the start included.

    The run ends early when nothing more can be bought with the budget of a round.
    """
    world = make_world(table, observed=settings.observed, train=settings.train, seed=seed)
    prices = settings.prices.on(table).of_rows(world.rows)
    adviser = Adviser.of(strategy, table, seed=seed)
    X, available, known = world.start, world.hidden.copy(), world.known_at_start
    cells, spent = 0, 0.0
    for number in range(settings.rounds + 1):
        selection = None
        with worker_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            begun = time.perf_counter()
            completed = adviser.complete(X, world.y)
            seconds = time.perf_counter() - begun
            judged = judge(world, completed, adviser.completer, settings.model)
            if number < settings.rounds:
                begun = time.perf_counter()
                adviser.score()
                selection = adviser.choose(
                    prices,
                    available=available,
                    before=known,
                    budget=settings.budget_per_round,
                    count=settings.count_per_round,
                )
                seconds += time.perf_counter() - begun
        so_far = {"strategy": strategy.name, "seed": seed, "round": number, "cells": cells, "money": spent}
        yield PlayedRound(so_far | judged | {"seconds": seconds}, selection)
        if selection is None or len(selection.cells) == 0:
            return
        X = world.reveal(X, selection.cells)
        bought = selection.cells[:, 0], selection.cells[:, 1]
        available[bought], known[bought] = False, True
        cells, spent = cells + len(selection.cells), spent + selection.cost


class FinishedRuns:
    """One small JSON file per run; its name holds the strategy, the seed, and a digest of all settings.

    A run made with another table, other prices or other settings has another digest, and is left alone.

    Parameters
    ----------
    folder : path or None
        Made if it is not there; None keeps nothing.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, table: Table, settings: Settings) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"cannot keep finished runs in {folder}: {error.strerror}") from None
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
        """Keep a run: its file is there whole or not at all."""
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
    """Return a digest of a table and the settings of its runs."""
    from cellworth import __version__

    digest = hashlib.sha256(table.values.tobytes())
    digest.update(b"" if table.y is None else table.y.tobytes())
    digest.update("\n".join(map(_words, (__version__, table.columns, settings))).encode())
    return digest.hexdigest()


def _words(thing: object) -> str:
    """Return the text of a thing with all its settings, those at their defaults too."""
    if hasattr(thing, "get_params"):
        return f"{type(thing).__name__}({sorted((k, repr(v)) for k, v in thing.get_params().items())})"
    return repr(thing)
