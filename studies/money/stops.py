"""Where rules stop along the purchases of the default strategy, and what a better stop would have saved.

The table is bought up with the default strategy. After each purchase the rest is forecast as in a campaign's
status: from the cells known then and from what the purchases have brought, with its depths and folds. Then
the rules are asked. The model is extra trees or a linear one, whichever is forecast to be better at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.one_core import one_core
from cellworth.campaign.assessment.campaign_outlook import DEPTHS, FOLDS
from cellworth.forecasting.outlook import Outlook, quantiles
from cellworth.forecasting.stop_rule import NEXT, StopRule
from cellworth.forecasting.table_forecast import PastPurchases, earlier_points, outlook_of
from cellworth.model.candidates import Candidate
from cellworth.model.cross_validation import score_predictions
from cellworth.model.fitted_model import fit_candidate
from cellworth.strategy import get
from studies.completion.report import markdown_table
from studies.money.development_tables import HALVES, NAMES, RunStart, half_of, start_of
from studies.money.forecasts import labels_of, models
from studies.money.kept_cases import CaseFolder, Record, Start, StartTask, start_tasks, what_was_run
from studies.money.purchases import buy_up

STEPS = (0.03, 0.06, 0.10, 0.15, 0.20, 0.30, 0.40, 0.50, 0.65, 0.80, 1.0)
"""Money spent at each purchase, as a share of the cost of all hidden cells."""
RULES = {
    "a tenth brings less than 0.005": StopRule(),
    "a tenth brings less than 0.01": StopRule(least_gain=0.01),
    "a tenth brings less than 0.02": StopRule(least_gain=0.02),
    "99 % of what is reachable": StopRule(reach=0.99),
    "98 % of what is reachable": StopRule(reach=0.98),
}
DEFAULT = next(iter(RULES))
ENOUGH = 0.98
AIM_REACHED, AIM_TIMES = 0.9, 1.5
INTRODUCTION = f"""## When to stop

The table is bought up with `recommended`. After each purchase the rest is forecast as in a campaign's status,
and the rules are asked. *Enough* is {ENOUGH:.0%} of the reachable score, that with all cells, or of
the best score on the way; the best possible stop is the cheapest purchase that reaches it. Aim: enough in
{AIM_REACHED:.0%} of the runs, for at most {AIM_TIMES} times the money of the best stop, in the median."""


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


def stops_part(starts: Sequence[Start], folder: CaseFolder) -> str:
    """Return the section of the page."""
    found = folder.records("stops", start_tasks("stops", starts), _points)
    runs = [[point_of(record) for record in records] for records in found.values()]
    run = what_was_run(starts, {task.start for task in found})
    if not runs:
        return f"{INTRODUCTION}\n\n{run}"
    return "\n\n".join([INTRODUCTION, run, _summary_table(runs), _verdict(runs), _run_table(runs)])


def _points(task: StartTask, folder: Path) -> list[Record]:
    return [asdict(point) for point in run_table(*task.start)]


def point_of(record: Record) -> StopPoint:
    """Return a point that was kept."""
    return StopPoint(**record | {"reached": tuple(record["reached"]), "gain": tuple(record["gain"])})


StopRun = Sequence[StopPoint]


@dataclass(frozen=True)
class StopFigures:
    """Where a rule stopped, over some runs.

    Attributes
    ----------
    spent : float
        Median share of the cost of all cells.
    reached : float
        Share of the runs with enough.
    times : float
        Median of the money spent over that of the best stop; at least the first purchase counts.
    """

    spent: float
    reached: float
    times: float


def stop_figures(words: str, runs: Sequence[StopRun], *, of_best: bool) -> StopFigures:
    """Return the figures of a rule, measured by the best score on the way or by that with all cells."""
    stops = [_stop(words, run) for run in runs]
    most = [max(point.score for point in run) if of_best else run[-1].score for run in runs]
    reached = [stop.score >= ENOUGH * score for stop, score in zip(stops, most, strict=True)]
    times = [
        max(stop.share, STEPS[0]) / max(_cheapest(run, score), STEPS[0])
        for run, stop, score in zip(runs, stops, most, strict=True)
    ]
    spent = [stop.share for stop in stops]
    return StopFigures(float(np.median(spent)), float(np.mean(reached)), float(np.median(times)))


def _stop(words: str, run: StopRun) -> StopPoint:
    return next(point for point in run if words in point.stops)


def _cheapest(run: StopRun, most: float) -> float:
    """Return the least money that comes near enough to a score."""
    return next(point.share for point in run if point.score >= ENOUGH * most)


def _summary_table(runs: Sequence[StopRun]) -> str:
    rows = []
    for words in RULES:
        for half, names in (*HALVES.items(), ("both", NAMES)):
            some = [run for run in runs if run[0].table in names]
            if some:
                of_all = stop_figures(words, some, of_best=False)
                of_best = stop_figures(words, some, of_best=True)
                texts = [f"{each.reached:.0%}, {each.times:.1f} times" for each in (of_all, of_best)]
                rows.append([words, half, str(len(some)), f"{of_all.spent:.0%}", *texts])
    header = ["stop when", "half", "runs", "money spent, median"]
    wanted = [f"{ENOUGH:.0%} of {what}, and its cost" for what in ("the reachable score", "the best score")]
    return markdown_table([*header, *wanted], rows)


def _verdict(runs: Sequence[StopRun]) -> str:
    """Return whether the default rule meets the aim, and why it cannot save where nothing was to gain."""
    figures = stop_figures(DEFAULT, runs, of_best=False)
    reached = "met" if figures.reached >= AIM_REACHED else "missed"
    saved = "met" if figures.times <= AIM_TIMES else "missed"
    enough = [run[0].table for run in runs if run[0].score >= ENOUGH * run[-1].score]
    short = [run for run in runs if _stop(DEFAULT, run).score < ENOUGH * run[-1].score]
    fallen = [run[0].table for run in short if _stop(DEFAULT, run).score < run[0].score]
    early = [run[0].table for run in short if run[0].table not in fallen]
    return (
        f"With the default rule, the first, the aim for the score is {reached} ({figures.reached:.0%} of the "
        f"runs), that for the money {saved} ({figures.times:.1f} times). It stopped too early on "
        f"{', '.join(early) or 'no table'}; on {', '.join(fallen) or 'none'} the score had fallen since the "
        f"start, which more money does not mend. Where it does not pay: in {len(enough)} of {len(runs)} runs "
        f"the cells known at the start were enough, and any purchase is money lost: "
        f"{', '.join(enough) or 'none'}."
    )


def _run_table(runs: Sequence[StopRun]) -> str:
    rows = []
    for run in runs:
        first, stop = run[0], _stop(DEFAULT, run)
        scores = [f"{value:.3f}" for value in (first.score, run[-1].score, max(p.score for p in run))]
        least = f"{_cheapest(run, run[-1].score):.0%}"
        known = f"{first.observed:.0%}"
        rows.append(
            [
                first.table,
                half_of(first.table),
                known,
                *scores,
                f"{stop.share:.0%}",
                f"{stop.score:.3f}",
                least,
            ]
        )
    header = ["table", "half", "known", "start", "all cells", "best", "stopped at", "score there"]
    return f"By the default rule:\n\n{markdown_table([*header, 'best possible stop'], rows)}"
