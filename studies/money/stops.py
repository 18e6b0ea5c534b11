"""Where rules stop along the purchases of the default strategy, and what a better stop would have saved.

The table is bought up with the default strategy. After each purchase the rest is forecast from the cells
known then, with the depths and folds of a campaign's status, and the rules are asked. The model is extra
trees or a linear one, whichever is forecast to be better at the start. No learning curve is weighed in.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from cellworth.campaign.prospects import STATUS_DEPTHS, STATUS_FOLDS
from cellworth.model.candidates import Candidate
from cellworth.model.cross_validation import score_predictions
from cellworth.model.fitted_model import fit_candidate, one_core
from cellworth.outlook.day_zero import outlook_of
from cellworth.outlook.forecast_result import Outlook
from cellworth.outlook.stop_rule import StopRule, decide
from cellworth.strategy import get
from studies.money.development_tables import NAMES, TUNING, RunStart, start_of
from studies.money.forecasts import labels_of, models
from studies.money.purchases import STEPS as PURCHASES
from studies.money.purchases import buy_up

STEPS = (*PURCHASES, 1.0)
RULES = {
    "a tenth brings less than 0.005": StopRule(),
    "a tenth brings less than 0.01": StopRule(least_gain=0.01),
    "a tenth brings less than 0.02": StopRule(least_gain=0.02),
    "99 % of what is reachable": StopRule(reach=0.99),
    "98 % of what is reachable": StopRule(reach=0.98),
}
ENOUGH = 0.98


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
    stops : tuple of str
        The rules that say stop here.
    high, reached : float
        The upper end of the gain of the next tenth, and the median share of what is reachable.
    """

    table: str
    observed: float
    seed: int
    share: float
    score: float
    stops: tuple[str, ...]
    high: float
    reached: float


def run_table(name: str, observed: float, seed: int) -> Iterator[StopPoint]:
    """Yield the points of one run, the last with all cells bought."""
    start = start_of(name, observed, seed)
    model: Candidate | None = None
    for bought in buy_up(get("recommended"), start, seed, STEPS):
        X, known = bought.X, bought.known
        if model is None:
            both = models(is_number=start.world.target == "number")
            model = max(both, key=lambda each: _outlook(start, X, known, each, 1.0, seed).now.value)
        share = bought.spent / start.total
        left = 1 - share
        score = _score(start, X, model, bought.completer)
        if left < 1e-9 or not (start.world.hidden & ~known).any():
            yield StopPoint(name, observed, seed, 1.0, score, tuple(RULES), 0.0, 1.0)
            return
        outlook = _outlook(start, X, known, model, left * start.total, seed)
        verdicts = {words: decide(outlook, rule) for words, rule in RULES.items()}
        stops = tuple(words for words, advice in verdicts.items() if advice.stop)
        reached = float(np.median(outlook.of_reachable()))
        high = outlook.gain(0.1 * outlook.cost).high
        yield StopPoint(name, observed, seed, share, score, stops, high, reached)


def _outlook(
    start: RunStart, X: np.ndarray, known: np.ndarray, model: Candidate, cost: float, seed: int
) -> Outlook:
    world = start.world
    y, _, _ = labels_of(start)
    columns = ~np.isnan(world.start).all(axis=0)
    _, owner = np.unique(world.layout.owner[columns], return_inverse=True)
    return outlook_of(
        X[:, columns],
        y,
        owner,
        model,
        is_number=world.target == "number",
        known=float(known.mean()),
        reachable=1.0,
        cost=cost,
        depths=STATUS_DEPTHS,
        folds=STATUS_FOLDS,
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


def describe(points: Sequence[StopPoint]) -> str:
    """Return, for each rule and half, what was reached and spent where it stopped."""
    runs: dict[tuple[str, float, int], list[StopPoint]] = {}
    for point in points:
        runs.setdefault((point.table, point.observed, point.seed), []).append(point)
    lines = []
    for words in RULES:
        lines.append(f"stop when {words}:")
        for half in ("tune", "report"):
            some = [run for (table, *_), run in runs.items() if (table in TUNING) == (half == "tune")]
            if some:
                lines.append(f"    {half}: {_summary(words, some)}")
    return "\n".join(lines)


def _summary(words: str, runs: Sequence[Sequence[StopPoint]]) -> str:
    stops = [next(point for point in run if words in point.stops) for run in runs]
    spent = np.median([stop.share for stop in stops])
    parts = [f"{len(runs)} runs, {spent:.0%} of the cost spent in the median"]
    of_best = [max(point.score for point in run) for run in runs]
    of_all = [run[-1].score for run in runs]
    for what, wanted in (("the best score", of_best), ("that of all cells", of_all)):
        reached = np.mean([stop.score >= ENOUGH * most for stop, most in zip(stops, wanted, strict=True)])
        ratios = [
            max(stop.share, STEPS[0]) / max(_cheapest(run, most), STEPS[0])
            for run, stop, most in zip(runs, stops, wanted, strict=True)
        ]
        parts.append(f"{reached:.0%} reach {ENOUGH:.0%} of {what}, at {np.median(ratios):.1f} times its cost")
    return "; ".join(parts)


def _cheapest(run: Sequence[StopPoint], most: float) -> float:
    """Return the least money that comes near enough to a score."""
    return next(point.share for point in run if point.score >= ENOUGH * most)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.money.stops", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="seeds per table (1)")
    parser.add_argument("--observed", type=float, nargs="+", default=[0.2], help="shares known at the start")
    parser.add_argument("--tables", nargs="+", default=list(NAMES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a file to append the points to, as lines of JSON")
    parser.add_argument("--quick", action="store_true", help="the first table of each half")
    options = parser.parse_args(arguments)
    names = NAMES[:2] if options.quick else options.tables
    tasks = [(n, o, s) for s in range(options.seeds) for n in names for o in options.observed]
    points: list[StopPoint] = []
    for found in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(
        delayed(_listed)(*task) for task in tasks
    ):
        points += found
        if options.keep is not None:
            with options.keep.open("a") as file:
                file.writelines(json.dumps(asdict(point)) + "\n" for point in found)
    print(describe(points))


def _listed(name: str, observed: float, seed: int) -> list[StopPoint]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(run_table(name, observed, seed))


if __name__ == "__main__":
    main()
