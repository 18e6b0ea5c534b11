"""One run: a strategy plays its rounds in one world."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.threads import worker_threads
from cellworth.prices import Prices
from cellworth.simulation.judge import judge
from cellworth.simulation.world import make_world
from cellworth.strategy import Adviser, Strategy
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


def play(table: Table, strategy: Strategy, seed: int, settings: Settings) -> list[Record]:
    """Play one strategy in the world of one seed and return a record per round, the start included.

    The run ends early when nothing more can be bought with the budget of a round.
    """
    world = make_world(table, observed=settings.observed, train=settings.train, seed=seed)
    prices = settings.prices.on(table).of_rows(world.rows)
    adviser = Adviser(strategy, owner=world.owner, target=world.target, seed=seed)
    X, available = world.start, world.hidden.copy()
    known = ~np.isnan(X)[:, np.searchsorted(world.owner, np.arange(world.hidden.shape[1]))]
    cells, money, records = 0, 0.0, []
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(settings.rounds + 1):
            begun = time.perf_counter()
            completed = adviser.complete(X, world.y)
            seconds = time.perf_counter() - begun
            record = {
                "strategy": strategy.name,
                "seed": seed,
                "round": number,
                "cells": cells,
                "money": money,
                **judge(world, completed, adviser.completer, settings.model),
            }
            records.append(record)
            if number < settings.rounds:
                begun = time.perf_counter()
                batch = adviser.choose(
                    adviser.score(),
                    prices,
                    available=available,
                    before=known,
                    budget=settings.budget_per_round,
                    count=settings.count_per_round,
                )
                seconds += time.perf_counter() - begun
            record["seconds"] = seconds
            if number == settings.rounds or len(batch.cells) == 0:
                break
            X = world.reveal(X, batch.cells)
            places = batch.cells[:, 0], batch.cells[:, 1]
            available[places], known[places] = False, True
            cells, money = cells + len(batch.cells), money + batch.cost
    return records
