"""What more money would bring a campaign: the forecast from its known cells, weighed with its own past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from cellworth.arrays import BoolArray, Float64Array
from cellworth.campaign.forecast import Forecast
from cellworth.campaign.state import CellStatus, State
from cellworth.complete.linear_model import LinearModel
from cellworth.errors import DataError
from cellworth.model.candidates import Candidate
from cellworth.model.cross_validation import scorable
from cellworth.model.row_views import View
from cellworth.outlook.day_zero import chosen_candidate, outlook_of, sample_rows
from cellworth.outlook.forecast_result import Outlook
from cellworth.prices import Prices
from cellworth.progress import Steps
from cellworth.table import Target

STATUS_DEPTHS = (0.4, 0.65)
STATUS_FOLDS = 3
"""Fewer depths and folds than in `cellworth.forecast`, so that a status stays quick."""


@dataclass(frozen=True)
class Present:
    """Where a campaign is: the share of cells known, the share that can be known, and what the rest costs."""

    known: float
    reachable: float
    cost: float


def present(state: State, prices: Prices) -> Present:
    """Return where it is; cells that are out count as not yet bought, refused ones as lost; O(n p)."""
    known = _has(state, CellStatus.KNOWN, CellStatus.TOLD)
    wanted = _has(state, CellStatus.HOLE, CellStatus.ASKED)
    listed = prices.on(state.table())
    if listed.additive:
        cost = float(listed.own[wanted].sum())
    else:
        cost = listed.cost(np.argwhere(wanted), known) if wanted.any() else 0.0
    share = float(known.mean())
    return Present(share, min(1.0, share + float(wanted.mean())), cost)


def quick_outlook(state: State, prices: Prices, past: Forecast, *, seed: int) -> Outlook | None:
    """Return the forecast for a status, with the model of its score; None where there can be none."""
    target = state.table().target
    if target is None or not _can_forecast(state, target):
        return None
    is_number = target.label_kind == "number"
    model = Candidate(
        "ridge regression" if is_number else "logistic regression", View(), StatusModel(is_number=is_number)
    )
    try:
        return _outlook(state, target, prices, past, model, seed, depths=STATUS_DEPTHS, folds=STATUS_FOLDS)
    except DataError:  # next to no cell is known
        return None


def full_outlook(
    state: State,
    prices: Prices,
    past: Forecast,
    *,
    model: Any,
    seconds: float | None,
    seed: int,
    n_jobs: int | None,
    progress: Steps | None,
) -> Outlook:
    """Return the forecast of a model, by default the best one; DataError where there can be none."""
    target = state.table().target
    if target is None:
        raise DataError("the table has no target, so there is no score to forecast.")
    if not _can_forecast(state, target):
        raise DataError("there is nothing to forecast: too few rows are labelled, or nothing is left to buy.")
    rows = sample_rows(target.values, seed)
    X, y = state.table().encode().X[rows], target.values[rows]
    candidate = chosen_candidate(
        model, X, y, is_number=target.label_kind == "number", seconds=seconds, seed=seed, n_jobs=n_jobs
    )
    return _outlook(state, target, prices, past, candidate, seed, n_jobs=n_jobs, progress=progress)


def _outlook(
    state: State,
    target: Target,
    prices: Prices,
    past: Forecast,
    candidate: Candidate,
    seed: int,
    **settings: Any,
) -> Outlook:
    rows = sample_rows(target.values, seed)
    now = present(state, prices)
    found = outlook_of(
        state.table().encode().X[rows],
        target.values[rows],
        state.table().layout.owner,
        candidate,
        is_number=target.label_kind == "number",
        known=now.known,
        reachable=now.reachable,
        cost=now.cost,
        seed=seed,
        **settings,
    )
    if past.gain is None or past.money is None:
        return found
    return found.weighed(past.money, past.gain, seed)


def _can_forecast(state: State, target: Target) -> bool:
    labels = target.values[~np.isnan(target.values)]
    left = _has(state, CellStatus.HOLE, CellStatus.ASKED).any()
    return bool(left and scorable(labels, classes=target.label_kind == "classes"))


def _has(state: State, *kinds: CellStatus) -> BoolArray:
    return np.isin(state.status, kinds)


class StatusModel(BaseEstimator):  # type: ignore[misc]
    """The model of the learning curve, as an estimator: logistic or ridge regression, fixed penalty."""

    def __init__(self, *, is_number: bool) -> None:
        self.is_number = is_number

    def fit(self, X: Float64Array, y: Any) -> Self:
        """Fit to complete rows X (n, d) and their labels y (n,)."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels = np.asarray(y if self.is_number else codes, dtype=np.float64)
        self._model = LinearModel.fit(X, labels, is_number=self.is_number)
        return self

    def predict(self, X: Float64Array) -> Float64Array:
        """Return the numbers (m,) of rows X (m, d)."""
        return np.asarray(self._model.predict(X)[:, 0])

    def predict_proba(self, X: Float64Array) -> Float64Array:
        """Return the probabilities (m, K) of rows X (m, d)."""
        return self._model.probabilities(X)
