"""One run of an experiment on buying: a strategy plays its rounds by the paper's protocol."""

from __future__ import annotations

import math
from typing import Any

from cellworth.paper.protocol import TRAIN_SHARE
from cellworth.paper.reproduce.data import some_rows
from cellworth.paper.reproduce.experiment import Row, Run, steady
from cellworth.paper.reproduce.settings import Schedule
from cellworth.prices import Prices
from cellworth.simulation import simulate
from cellworth.simulation.world import make_world
from cellworth.strategy import Strategy
from cellworth.table import Table

OBSERVED = 0.6
"""The share of the cells that is known at the start, in all of the paper's experiments on buying."""

FIGURES: dict[str, type] = {
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
"""What a row holds: as in `cellworth.simulation`, how many cells were hidden and what they cost in all."""


def table_of(dataset: str, rows: int | None) -> Table:
    """Return a table of the paper with its classes."""
    data = some_rows(dataset, rows)
    return Table.from_arrays(data.X, data.y)


def play_run(
    run: Run,
    strategy: str | Strategy,
    schedule: Schedule,
    rows: int | None,
    prices: Prices | None = None,
) -> list[Row]:
    """Play one run and return a row per round, the start included.

    Without prices a batch is a number of cells, rounded up, so that batches which make up the whole buy
    every cell.
    """
    table = table_of(run.dataset, rows)
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
        strategy,
        prices=prices,
        rounds=schedule.rounds,
        observed=run.observed,
        train=TRAIN_SHARE,
        seed=run.seed,
        frame="pyarrow",
        **purse,
    )
    common = run._asdict() | {"hidden": hidden, "total": total}
    return [
        common | {name: _figure(record[name]) for name in FIGURES if name in record}
        for record in frame.to_pylist()
    ]


def _figure(value: float) -> float:
    return value if isinstance(value, int) else steady(value)
