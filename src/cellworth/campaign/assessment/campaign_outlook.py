"""What more money would bring a campaign: the forecast from its known cells, weighed with its own past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.curve_forecast import Forecast
from cellworth.campaign.state import HAS_VALUE, MAY_COME, State
from cellworth.errors import DataError
from cellworth.forecasting.outlook import Outlook
from cellworth.model.cross_validation import sample_rows, scorable
from cellworth.prices import Prices
from cellworth.progress import Steps
from cellworth.table import Target

if TYPE_CHECKING:
    from cellworth.model.candidates import Candidate

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
    p = state.index.features  # labels are not forecast
    known, wanted = state.has(*HAS_VALUE)[:, :p], state.has(*MAY_COME)[:, :p]
    listed = prices.on(state.table()).of_cells()
    if listed.additive:
        cost = float(listed.own[wanted].sum())
    else:
        cost = listed.cost(np.argwhere(wanted), known) if wanted.any() else 0.0
    share = float(known.mean())
    return Present(share, min(1.0, share + float(wanted.mean())), cost)


def quick_outlook(
    state: State,
    prices: Prices,
    past: Forecast,
    model: str,
    *,
    seed: int,
    cache: AssessmentCache | None = None,
) -> Outlook | None:
    """Return the forecast for a status, with the model of its score; None where there can be none.

    ``model`` is the name of a candidate. Costs nine fits of the completer and of it, unless it is cached.
    """
    target = state.table().target
    if target is None or not _can_forecast(state, target):
        return None
    kept = AssessmentCache() if cache is None else cache
    key = f"{state.table_number}, {model}, {seed}"
    if key not in kept.outlooks:
        kept.keep_known(key, _quick(state, target, prices, model, seed))
    found = kept.outlooks[key]
    return None if found is None else _weighed(found.moved(**vars(present(state, prices))), past, seed)


def _quick(state: State, target: Target, prices: Prices, model: str, seed: int) -> Outlook | None:
    from cellworth.model.candidates import candidate_named

    candidate = candidate_named(model, is_number=target.label_kind == "number")
    try:
        return _outlook(state, target, prices, candidate, seed, depths=STATUS_DEPTHS, folds=STATUS_FOLDS)
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
    from cellworth.forecasting.table_forecast import chosen_candidate

    target = state.table().target
    if target is None:
        raise DataError("the table has no target, so there is no score to forecast.")
    if not _can_forecast(state, target):
        raise DataError("there is nothing to forecast: too few rows are labelled, or nothing is left to buy.")
    rows = sample_rows(target.values, seed)
    X, y = state.table().encode(prior=True).X[rows], target.values[rows]
    candidate = chosen_candidate(
        model, X, y, is_number=target.label_kind == "number", seconds=seconds, seed=seed, n_jobs=n_jobs
    )
    found = _outlook(state, target, prices, candidate, seed, n_jobs=n_jobs, progress=progress)
    return _weighed(found, past, seed)


def _outlook(
    state: State, target: Target, prices: Prices, candidate: Candidate, seed: int, **settings: Any
) -> Outlook:
    from cellworth.forecasting.table_forecast import outlook_of

    rows = sample_rows(target.values, seed)
    now = present(state, prices)
    return outlook_of(
        state.table().encode(prior=True).X[rows],
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


def _weighed(found: Outlook, past: Forecast, seed: int) -> Outlook:
    if past.gain is None or past.money is None:
        return found
    return found.weighed(past.money, past.gain, seed)


def _can_forecast(state: State, target: Target) -> bool:
    labels = target.values[~np.isnan(target.values)]
    left = state.has(*MAY_COME)[:, : state.index.features].any()
    return bool(left and scorable(labels, classes=target.label_kind == "classes"))
