"""The twenty-seven development tables, their halves and their prices; see PROTOCOL.md."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cellworth.datasets import load
from cellworth.datasets.tables import TURNEY_NAMES
from cellworth.errors import DataError
from cellworth.prices import PriceList, Prices
from cellworth.simulation.hidden_truth import World, make_world
from cellworth.table import Table
from studies.protocol import DATASETS, TRAIN_SHARE

MORE_NAMES = (
    *("ada", "airfoil", "car", "contraceptive", "dermatology", "ionosphere", "mammographic", "medical_cost"),
    *("phoneme", "ring", "saheart", "sonar", "splice", "twonorm", "vehicle", "winequality_white"),
)
NAMES = (*DATASETS, *TURNEY_NAMES, *MORE_NAMES)
TUNING = NAMES[::2]
REPORT = NAMES[1::2]
HALVES = {"tuning": TUNING, "report": REPORT}

PricesKind = Literal["same", "unequal", "visits"]
MOST_ROWS = 1000  # for training
MOST_TEST_ROWS = 3000
VISIT = 5.0

_KEYWORDS: dict[str, dict[str, Any]] = {
    "car": {"kinds": {"Doors": "category", "Persons": "category"}},
    "winequality_white": {"target_kind": "number"},
}


def half_of(name: str) -> str:
    """Return "tuning" or "report"."""
    return next(half for half, names in HALVES.items() if name in names)


@lru_cache(maxsize=4)
def table_of(name: str) -> Table:
    """Return a development table."""
    if name not in MORE_NAMES:
        return load(name).table
    root = os.environ.get("CELLWORTH_DATA")
    if not root:
        raise DataError("the tables are not found; set CELLWORTH_DATA to the folder that holds more/")
    return Table.read(Path(root) / "more" / f"{name}.csv.gz", target="target", **_KEYWORDS.get(name, {}))


def prices_of(name: str, kind: PricesKind) -> Prices:
    """Return the prices of a table's cells: all 1, unequal (real fees if there are any), or 1 with visits."""
    if kind == "same":
        return Prices.same(1.0)
    if kind == "visits":
        return Prices.same(1.0, visit=VISIT)
    if name in TURNEY_NAMES:
        return load(name).prices
    columns = table_of(name).column_names
    drawn = np.random.default_rng(0).integers(1, 11, len(columns))
    return Prices.per_column(dict(zip(columns, drawn.astype(float).tolist(), strict=True)))


@dataclass(frozen=True, eq=False)
class RunStart:
    """A table at the start of its purchases.

    Attributes
    ----------
    table : Table
    world : World
    prices : PriceList
        Of the training rows.
    total : float
        What all hidden cells cost, bought together.
    """

    table: Table
    world: World
    prices: PriceList
    total: float


def start_of(name: str, observed: float, seed: int, kind: PricesKind = "same") -> RunStart:
    """Return the start of a run: the rows and cells drawn by the seed."""
    table = table_of(name)
    world = make_world(
        table, observed=observed, train=min(TRAIN_SHARE, MOST_ROWS / table.shape[0]), seed=seed
    )
    prices = prices_of(name, kind).on(table).of_rows(world.rows)
    return RunStart(table, world, prices, prices.cost(np.argwhere(world.hidden), world.known_at_start))
