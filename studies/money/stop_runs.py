"""Runs in which a table is bought up, with the score and a forecast at each point, for rules to stop.

The table is bought up with the default strategy. After each purchase the rest is forecast as in a campaign's
status: from the cells known then and from what the purchases have brought, with its depths and folds. The
model is extra trees or a linear one, whichever is forecast to be better at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.thread_engine import one_core
from cellworth.campaign.assessment.campaign_outlook import DEPTHS, FOLDS
from cellworth.forecasting.outlook import Outlook, quantiles
from cellworth.forecasting.stop_rule import NEXT
from cellworth.forecasting.table_forecast import PastPurchases, earlier_points, outlook_of
from cellworth.model.candidates import Candidate
from cellworth.model.cross_validation import score_predictions
from cellworth.model.fitted_model import fit_candidate
from cellworth.strategy import get
from studies.money.development_tables import RunStart, start_of
from studies.money.forecasts import labels_of, models
from studies.money.kept_cases import Record
from studies.money.purchases import buy_up

STEPS = (0.03, 0.06, 0.10, 0.15, 0.20, 0.30, 0.40, 0.50, 0.65, 0.80, 1.0)
"""Money spent at each purchase, as a share of the cost of all hidden cells."""


@dataclass(frozen=True)
class StopPoint:
    """One point of a run.

    Attributes
    ----------
    table : str
    observed : float
    seed : int
    share : float
        Money spent, as a share of the cost of all hidden cells.
    score : float
        AUC or R2 on the test rows.
    reached, gain : tuple of float
        Percentiles 0 to 100 of the forecast: of the score as a share of what is reachable, and of what the
        next tenth of the remaining cost brings.
    """

    table: str
    observed: float
    seed: int
    share: float
    score: float
    reached: tuple[float, ...]
    gain: tuple[float, ...]


def run_table(name: str, observed: float, seed: int) -> Iterator[StopPoint]:
    """Yield the points of one run, the last with all cells bought."""
    start = start_of(name, observed, seed)
    model: Candidate | None = None
    tables: list[np.ndarray] = []
    spent: list[float] = []
    for bought in buy_up(get("recommended"), start, seed, STEPS):
        X, known = bought.X, bought.known
        tables, spent = [*tables, X], [*spent, bought.spent]
        if model is None:
            both = models(is_number=start.world.target == "number")
            now = [_outlook(start, tables, spent, known, each, 1.0, seed).now.value for each in both]
            model = both[int(np.argmax(now))]
        share = bought.spent / start.total
        left = 1 - share
        score = _score(start, X, model, bought.completer)
        if left < 1e-9 or not (start.world.hidden & ~known).any():
            yield StopPoint(name, observed, seed, 1.0, score, (1.0,) * 101, (0.0,) * 101)
            return
        outlook = _outlook(start, tables, spent, known, model, left * start.total, seed)
        gains = outlook.gains(NEXT * outlook.cost)
        reached, gain = _percentiles(outlook.of_reachable()), _percentiles(gains)
        yield StopPoint(name, observed, seed, share, score, reached, gain)


def _percentiles(draws: Float64Array) -> tuple[float, ...]:
    found = quantiles(draws, np.linspace(0, 1, 101).tolist())
    return tuple(round(float(value), 5) for value in found)


def _outlook(
    start: RunStart,
    tables: list[np.ndarray],
    spent: list[float],
    known: np.ndarray,
    model: Candidate,
    cost: float,
    seed: int,
) -> Outlook:
    """Return the forecast from the last of the tables, of which the others are the past."""
    world = start.world
    y, _, _ = labels_of(start)
    columns = ~np.isnan(world.start).all(axis=0)
    _, owner = np.unique(world.layout.owner[columns], return_inverse=True)
    chosen = earlier_points(spent)
    earlier = [(tables[k][:, columns], y) for k in chosen]
    return outlook_of(
        tables[-1][:, columns],
        y,
        owner,
        model,
        is_number=world.target == "number",
        known=float(known.mean()),
        reachable=1.0,
        cost=cost,
        purchases=PastPurchases([spent[k] for k in (*chosen, -1)], earlier),
        depths=DEPTHS,
        folds=FOLDS,
        seed=seed,
    )


def _score(start: RunStart, X: np.ndarray, model: Candidate, completer: Any) -> float:
    world, is_number = start.world, start.world.target == "number"
    y, y_test, tested = labels_of(start)
    with one_core():
        fitted = fit_candidate(
            model,
            completer,
            X,
            y,
            is_number=is_number,
            n_classes=1 if is_number else int(y.max()) + 1,
        )
        predicted = fitted.predict(world.X_test[tested])
    one_fold = np.zeros(int(tested.sum()), dtype=np.intp)
    return score_predictions(y_test[tested], predicted, one_fold, classes=not is_number).value


def point_of(record: Record) -> StopPoint:
    """Return a point that was kept."""
    return StopPoint(**record | {"reached": tuple(record["reached"]), "gain": tuple(record["gain"])})


StopRun = Sequence[StopPoint]
