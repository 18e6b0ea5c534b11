"""What more money would bring a campaign: the forecast from its known cells and from what it has bought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.learning_curve import Snapshot
from cellworth.campaign.cell_values import HAS_VALUE, MAY_COME
from cellworth.campaign.state import State
from cellworth.errors import DataError
from cellworth.forecasting.outlook import Outlook
from cellworth.model.cross_validation import rows_to_score, scorable
from cellworth.prices import Prices
from cellworth.progress import Steps
from cellworth.table import Target
from cellworth.table.more_categories import answerable, with_columns

if TYPE_CHECKING:
    from cellworth.arrays import Float64Array, IntArray
    from cellworth.forecasting.table_forecast import PastPurchases

DEPTHS = (0.4, 0.65)
FOLDS = 3
"""Fewer depths and folds than in `cellworth.forecast`, so that a status stays quick. All that a campaign says
of its future has these, so that a status and a forecast never contradict each other."""


@dataclass(frozen=True)
class Present:
    """Where a campaign is: the share of cells known, the share that can be known, and what the rest costs."""

    known: float
    reachable: float
    cost: float
    currency: str | None = None


def present(state: State, prices: Prices) -> Present:
    """Return where it is; cells that are out count as not yet bought, refused ones as lost; O(n p)."""
    p = state.index.features  # labels are not forecast
    known, wanted = state.has(*HAS_VALUE)[:, :p], state.has(*MAY_COME)[:, :p]
    listed, whole = prices.on(state.table()).of_cells(), state.stands_for
    if whole is not None:
        cost = whole.cost(listed, wanted, known)
    elif listed.additive:
        cost = float(listed.own[wanted].sum())
    else:
        cost = listed.cost(np.argwhere(wanted), known) if wanted.any() else 0.0
    share = float(known.mean())
    return Present(share, min(1.0, share + float(wanted.mean())), cost, prices.currency)


def outlook_ahead(
    state: State,
    prices: Prices,
    past: Callable[[], Sequence[Snapshot]],
    model: Any,
    *,
    seed: int,
    cache: AssessmentCache | None = None,
    n_jobs: int | None = None,
    progress: Steps | None = None,
) -> Outlook:
    """Return the forecast of a model; DataError where nothing can be forecast.

    ``past`` returns snapshots, the last of the table now; ``model`` is the name of a candidate, a Candidate
    or an estimator. Costs nine fits of the completer and of it, and three for each of at most four
    tables of the past, unless it is a name and its forecast is in the cache.
    """
    target = state.table().target
    if target is None:
        raise DataError("the table has no target, so there is no score to forecast.")
    if not _can_forecast(state, target):
        raise DataError("there is nothing to forecast: too few rows are labelled, or nothing is left to buy.")
    settings: dict[str, Any] = {"seed": seed, "n_jobs": n_jobs, "progress": progress}
    if isinstance(model, str):
        kept = AssessmentCache() if cache is None else cache
        key = f"{state.table_number}, {model}, {seed}"
        if key not in kept.outlooks:
            kept.keep_known(key, _outlook(state, target, prices, past(), model, **settings))
        found = kept.outlooks[key]
    else:
        found = _outlook(state, target, prices, past(), model, **settings)
    if found is None:
        raise DataError("too few cells are known to forecast from. Fill in more cells.")
    return found.moved(**vars(present(state, prices)))


def _outlook(
    state: State,
    target: Target,
    prices: Prices,
    snapshots: Sequence[Snapshot],
    model: Any,
    *,
    seed: int,
    n_jobs: int | None,
    progress: Steps | None,
) -> Outlook | None:
    """Return the forecast; None where next to no cell is known."""
    from cellworth.forecasting.table_forecast import chosen_candidate, outlook_of

    rows = rows_to_score(target.values, seed)
    X, y = state.table().encode(prior=True).X[rows], target.values[rows]
    is_number = target.is_number
    candidate = chosen_candidate(model, state.table(), seconds=None, seed=seed, n_jobs=n_jobs)
    try:
        return outlook_of(
            X,
            y,
            state.table().layout.owner,
            candidate,
            is_number=is_number,
            **vars(present(state, prices)),
            purchases=past_purchases(snapshots, rows),
            depths=DEPTHS,
            folds=FOLDS,
            seed=seed,
            n_jobs=n_jobs,
            progress=progress,
        )
    except DataError:
        return None


def past_purchases(snapshots: Sequence[Snapshot], rows: IntArray) -> PastPurchases:
    """Return some rows as they were at points of the past; see `earlier_points`.

    Rows that were not there yet have neither cells nor a label. O(n d) per table.
    """
    from cellworth.forecasting.table_forecast import PastPurchases, earlier_points

    spent = [shot.spent for shot in snapshots]
    chosen = earlier_points(spent)
    tables = [_rows_of(snapshots[k], rows, snapshots[-1]) for k in chosen]
    return PastPurchases([spent[k] for k in (*chosen, -1)] if chosen else [], tables)


def _rows_of(shot: Snapshot, rows: IntArray, now: Snapshot) -> tuple[Float64Array, Float64Array]:
    there = rows < shot.table.shape[0]
    X = np.full((len(rows), now.table.encode(prior=True).X.shape[1]), np.nan)
    y = np.full(len(rows), np.nan)
    table = with_columns(shot.table, answerable(now.table))
    X[there] = table.encode(prior=True).X[rows[there]]
    assert table.target is not None
    assert now.table.target is not None
    y[there] = now.table.target.codes_of(table.target.cells)[rows[there]]
    return X, y


def _can_forecast(state: State, target: Target) -> bool:
    labels = target.values[~np.isnan(target.values)]
    left = state.has(*MAY_COME)[:, : state.index.features].any()
    return bool(left and scorable(labels, classes=not target.is_number))
