"""Forecast from known cells alone what more cells would bring, before the first purchase."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.errors import DataError, ParameterError
from cellworth.forecasting.curve_by_money import project
from cellworth.forecasting.curve_by_share import rising_curve
from cellworth.forecasting.outlook import Outlook
from cellworth.forecasting.scores_at_depths import DEPTHS, EarlierRows, scores_at_depths
from cellworth.forecasting.stop_rule import NEXT
from cellworth.model.candidates import Candidate, candidate_named, own_candidates
from cellworth.model.completing_base import class_numbers
from cellworth.model.cross_validation import Score, rows_to_score
from cellworth.model.model_search import ModelProgress, check_labels, choose_model
from cellworth.prices import AnyPrices, Prices
from cellworth.prices.price_list import CellsLeft
from cellworth.progress import ProgressLine, Steps
from cellworth.setting_names import named, setting
from cellworth.table import AnyTable, Table, Target
from cellworth.table.target import metric_of

FOLDS = 5
LEAST_EARLIER, MOST_EARLIER = 3, 4
"""Earlier tables: with fewer, purchases say too little about the next one; more cost time."""


@dataclass(frozen=True, eq=False)
class PastPurchases:
    """What was bought before.

    Attributes
    ----------
    spent : sequence of float
        Money spent when the rows were as in `earlier`, and now; non-decreasing.
    earlier : sequence of (X, y)
        See `scores_at_depths`.
    """

    spent: Sequence[float]
    earlier: Sequence[EarlierRows]


def earlier_points(spent: Sequence[float]) -> list[int]:
    """Return which points of the past to look at, given the money spent at each; the last point is now.

    At most `MOST_EARLIER`: the start, and points about equally far apart in money; none if nothing was spent.
    """
    money = np.asarray(spent, dtype=np.float64)
    before = np.flatnonzero(money < money[-1]) if len(money) else np.zeros(0, dtype=np.intp)
    if not len(before):
        return []
    wanted = np.linspace(money[0], money[-1], MOST_EARLIER + 1)[:-1]
    nearest = np.abs(money[before] - wanted[:, np.newaxis]).argmin(axis=1)
    return sorted({int(before[k]) for k in nearest})


def forecast(
    table: AnyTable,
    *,
    target: str | None = None,
    prices: AnyPrices | None = None,
    model: Any = "auto",
    seconds: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Outlook:
    """Forecast what more cells would bring, from the cells that are known.

    Known cells are hidden again at several depths, the model is scored at each, and the curve of its scores
    is extrapolated. No purchase is needed.

    Parameters
    ----------
    table : Table, DataFrame, pyarrow Table or path
        With holes and a target. Of a table in row blocks, from `Table.open`, every k-th row is looked at,
        4,000 to 8,000 in all, and money is multiplied by the rows that each stands for.
    target : str, optional
        The column to predict, unless ``table`` is a `Table`, which has one.
    prices : Prices, mapping of column name to price, or number, optional
        By default, every cell costs 1.
    model : "auto", str, Candidate or estimator
        What is forecast. "auto" chooses as `CompletingClassifier` does; or the name of a candidate, such as
        "extra trees", or an estimator of your own.
    seconds : float, optional
        No further candidate is tried after this time; the forecast of the chosen one comes on top.
    seed : int
        Same seed, same forecast.
    n_jobs : int or None
        Threads; the result does not depend on it.
    progress : bool or None
        Whether to show progress bars on standard error, for the choice of a model and for the forecast; None:
        if that is a terminal.

    Returns
    -------
    Outlook
        ``now``, ``at(money=...)``, ``at(share=...)``, ``all_known``, ``cost_of(score)``, ``describe()``,
        ``plot()``.

    Raises
    ------
    DataError
        If the table has no target, too few labels, or no holes.

    Notes
    -----
    Costs a search for a model if it is "auto", then five depths, each with five fits of the completer and of
    the model; of a longer table, 2,000 labelled rows are used, and 4,000 for the search. The mathematics is
    in `cellworth.forecasting.curve_by_share`.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import Table, forecast
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = np.where(X.sum(axis=1) > 0, "ill", "well")
    >>> X[rng.random(X.shape) < 0.7] = np.nan
    >>> found = forecast(Table.from_arrays(X, y), model="logistic regression")
    >>> found.now.value <= found.at(money=100).value <= found.all_known.value
    True
    """
    from cellworth.blocks.row_sample import in_memory  # a campaign's forecast needs no tables in blocks

    table, sample = in_memory(table, "the forecast", target=target)
    labels = _labelled(table)
    holes = table.holes
    if not holes.any():
        raise DataError("no cell is missing, so there is nothing to forecast.")
    stated = Prices.of(prices)
    listed = stated.on(table).of_cells()
    if sample is None:
        cost = listed.cost(np.argwhere(holes), ~holes)
    else:
        cost = CellsLeft(sample.holes, sample.n_rows).cost(listed, holes, ~holes)
    is_number = labels.is_number
    shown = sys.stderr.isatty() if progress is None else progress
    candidate = chosen_candidate(
        model,
        table,
        seconds=seconds,
        seed=seed,
        n_jobs=n_jobs,
        callback=_search_line() if shown else None,
    )
    rows = rows_to_score(labels.values, seed)
    X, y = table.encode(prior=True).X[rows], labels.values[rows]
    line = ProgressLine("forecasting", len(DEPTHS) + 1) if shown else None
    return outlook_of(
        X,
        y,
        table.layout.owner,
        candidate,
        is_number=is_number,
        known=float(1 - holes.mean()),
        reachable=1.0,
        cost=cost,
        currency=stated.currency,
        seed=seed,
        n_jobs=n_jobs,
        progress=None if line is None else lambda done, _: line.show(done),
    )


def outlook_of(
    X: Float64Array,
    y: Float64Array,
    owner: IntArray,
    candidate: Candidate,
    *,
    is_number: bool,
    known: float,
    reachable: float,
    cost: float,
    currency: str | None = None,
    purchases: PastPurchases | None = None,
    depths: Sequence[float] = DEPTHS,
    folds: int = FOLDS,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Steps | None = None,
) -> Outlook:
    """Return the forecast of one candidate; see `scores_at_depths` and `Outlook` for the parameters.

    If there were ``purchases``, what they brought is weighed in.
    """
    past = PastPurchases((), ()) if purchases is None else purchases
    found = scores_at_depths(
        X,
        y,
        owner,
        candidate,
        is_number=is_number,
        depths=depths,
        earlier=past.earlier,
        folds=folds,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    curve = rising_curve(
        found.shares * (known / found.shares[-1]),  # of the rows used, the share may differ a little
        np.array([score.value for score in found.complete_rows]),
        np.array([score.value for score in found.thinned]),
        covariance_of(found.complete_rows),
        unknown=found.unknown,
        pairs=found.complete_rows[-1].pairs,
        now=known,
        to=1.0,
        seed=seed,
    )
    outlook = Outlook(metric_of(is_number=is_number), candidate.name, known, reachable, cost, curve, currency)
    if len(found.earlier) < LEAST_EARLIER or cost <= 0:
        return outlook
    scores = (*found.earlier, found.complete_rows[-1])
    ahead = min(NEXT * cost, past.spent[-1] - past.spent[0])
    projection = project(
        np.array(past.spent),
        np.array([score.value for score in scores]),
        np.column_stack([score.influence for score in scores]),
        ahead,
        np.random.default_rng(seed),
    )
    return outlook.weighed(ahead, projection.last(), seed)


def covariance_of(scores: tuple[Score, ...]) -> Float64Array:
    """Return the covariance (k, k) of scores of the same rows, by the influence of the rows."""
    influence = np.column_stack([score.influence for score in scores])
    return np.asarray(influence.T @ influence / len(influence) ** 2)


def _labelled(table: Table) -> Target:
    if table.target is None:
        raise DataError(
            f"the table has no target; name it when you read the table, with {setting('target')}."
        )
    check_labels(table.target.values, is_number=table.target.is_number, folds=FOLDS)
    return table.target


def chosen_candidate(
    model: Any,
    table: Table,
    *,
    seconds: float | None,
    seed: int,
    n_jobs: int | None,
    callback: Callable[[ModelProgress], object] | None = None,
) -> Candidate:
    """Return the candidate to forecast: the one given or, for "auto", the one that `model_of` would train.

    The table has a target. ``callback`` hears of a search, as that of `choose_model` does.
    """
    assert table.target is not None
    is_number = table.target.is_number
    if isinstance(model, Candidate):
        return model
    if not isinstance(model, str):
        return own_candidates([model], is_number=is_number)[0]
    if model != "auto":
        return candidate_named(model, is_number=is_number)
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise ParameterError(f"{named('seconds')} must be a number of at least 0; got {seconds!r}")
    labels = table.target.labels
    return choose_model(
        table.encode(prior=True).X,
        labels if is_number else class_numbers(labels)[1],
        is_number=is_number,
        folds=FOLDS,
        seconds=seconds,
        seed=seed,
        n_jobs=n_jobs,
        cell_of=table.layout.owner,
        callback=callback,
    ).candidate


def _search_line() -> Callable[[ModelProgress], None]:
    """Return a callback that shows a bar for the candidates tried."""
    begun = time.perf_counter()
    lines: list[ProgressLine] = []

    def show(tried: ModelProgress) -> None:
        if not lines:
            lines.append(ProgressLine("choosing a model", tried.total, begun=begun))
        lines[0].show(tried.done, tried.name)

    return show
