"""Whether forecasts made from few cells come true, on the development tables; see PROTOCOL.md.

From 10 % and 20 % of the cells, the score at 30, 50 and 100 % is forecast. Then cells are bought at random
and the score is measured on complete test rows. The model is extra trees or a linear one, whichever is
forecast to be better at the start: a full search would take hours for all tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.blocks.thread_engine import one_core
from cellworth.complete import GaussianCompleter
from cellworth.forecasting.table_forecast import outlook_of
from cellworth.model.candidates import Candidate, candidate_named
from cellworth.model.cross_validation import score_predictions
from cellworth.model.fitted_model import fit_candidate
from studies.completion.report import markdown_table
from studies.money.development_tables import HALVES, RunStart, half_of, start_of
from studies.money.kept_cases import CaseFolder, Record, Start, StartTask, start_tasks, what_was_run

SHARES = (0.3, 0.5, 1.0)
Z = 1.645  # of a 90 % interval
AIM = (0.85, 0.97)
"""Least and most coverage of the 90 % intervals."""
WIDE = 0.25
INTRODUCTION = f"""## Forecasts before the first purchase

The score with 30, 50 and 100% of the cells known is forecast at the start. Then cells are bought at random,
and the score is measured on complete test rows. The model is extra trees or a linear one, whichever is
forecast to be better at the start. Aim: 90% intervals that cover {AIM[0]:.0%} to {AIM[1]:.0%} of the scores.
The errors of the level were widened after the report half had been looked at, with both halves in view, and
made skewed by the tuning half later, so the report half is no test of them any more. Numbers are forecast on
three tables only, too few to be judged by themselves."""


@dataclass(frozen=True)
class ForecastCase:
    """One forecast.

    Attributes
    ----------
    table, model : str
    observed, share : float
        Shares of the cells known at the start, and when the score was measured.
    seed : int
    is_number : bool
    low, value, high : float
        The forecast and its 90 % interval.
    truth, error : float
        The score on the test rows, and its standard error.
    """

    table: str
    model: str
    observed: float
    share: float
    seed: int
    is_number: bool
    low: float
    value: float
    high: float
    truth: float
    error: float

    @property
    def inside(self) -> bool:
        """Whether the interval, widened by the error of the truth, contains the truth."""
        below = np.hypot(self.value - self.low, Z * self.error)
        above = np.hypot(self.high - self.value, Z * self.error)
        return bool(self.value - below <= self.truth <= self.value + above)


def models(*, is_number: bool) -> list[Candidate]:
    """Return the two models that are forecast."""
    linear = "ridge regression" if is_number else "logistic regression"
    return [candidate_named(name, is_number=is_number) for name in ("extra trees", linear)]


def labels_of(start: RunStart) -> tuple[Float64Array, Float64Array, BoolArray]:
    """Return the training labels and the test labels as class numbers or numbers, and which to test on."""
    world = start.world
    if world.target == "number":
        return world.y, world.y_test, np.ones(len(world.y_test), dtype=bool)
    classes = np.unique(world.y)
    known = np.isin(world.y_test, classes)
    return (
        np.searchsorted(classes, world.y).astype(np.float64),
        np.searchsorted(classes, np.where(known, world.y_test, classes[0])).astype(np.float64),
        known,
    )


def run_table(name: str, observed: float, seed: int) -> Iterator[ForecastCase]:
    """Yield the forecasts of one table: make them, buy cells at random, and measure."""
    start = start_of(name, observed, seed)
    world, is_number = start.world, start.world.target == "number"
    y, y_test, tested = labels_of(start)
    columns = ~np.isnan(world.start).all(axis=0)
    _, owner = np.unique(world.layout.owner[columns], return_inverse=True)
    known = float(world.known_at_start.mean())
    outlooks = [
        outlook_of(
            world.start[:, columns],
            y,
            owner,
            model,
            is_number=is_number,
            known=known,
            reachable=1.0,
            cost=start.total,
            seed=seed,
        )
        for model in models(is_number=is_number)
    ]
    model, outlook = max(
        zip(models(is_number=is_number), outlooks, strict=True), key=lambda pair: pair[1].now.value
    )
    chance = np.random.default_rng(seed + 100).random(world.hidden.shape)
    for share in SHARES:
        bought = world.known_at_start | (world.hidden & (chance < (share - observed) / (1 - observed)))
        X = np.where(world.layout.by_column(bought), world.truth, np.nan)[:, columns]
        with one_core():
            completer = GaussianCompleter(label_trust=0.0).fit(X)
            fitted = fit_candidate(
                model, completer, X, y, is_number=is_number, n_classes=1 if is_number else int(y.max()) + 1
            )
            predicted = fitted.predict(world.X_test[tested][:, columns])
        one_fold = np.zeros(int(tested.sum()), dtype=np.intp)
        truth = score_predictions(y_test[tested], predicted, one_fold, classes=not is_number)
        expected = outlook.at(share=max(known, share))
        ends = expected.low, expected.value, expected.high
        yield ForecastCase(
            name, model.name, observed, share, seed, is_number, *ends, truth.value, truth.error
        )


def forecasts_part(starts: Sequence[Start], folder: CaseFolder) -> str:
    """Return the section of the page."""
    found = folder.records("forecasts", start_tasks("forecasts", starts), _cases)
    cases = [ForecastCase(**record) for records in found.values() for record in records]
    run = what_was_run(starts, {task.start for task in found})
    if not cases:
        return f"{INTRODUCTION}\n\n{run}"
    return "\n\n".join([INTRODUCTION, run, _summary_table(cases), _verdict(cases), _case_table(cases)])


def _cases(task: StartTask, folder: Path) -> list[Record]:
    return [asdict(case) for case in run_table(*task.start)]


def _summary_table(cases: Sequence[ForecastCase]) -> str:
    """Return coverage and errors by half, for all forecasts and by the shares they are from and to."""
    rows = []
    for half, names in HALVES.items():
        for is_number in (False, True):
            some = [case for case in cases if case.table in names and case.is_number is is_number]
            name = f"{half}, {'R2' if is_number else 'AUC'}"
            if some:
                rows.append([name, "all", *_figures(some)])
            for step in sorted({(case.observed, case.share) for case in some}):
                part = [case for case in some if (case.observed, case.share) == step]
                rows.append([name, f"{step[0]:.0%} to {step[1]:.0%}", *_figures(part)])
    header = ["half", "known", "forecasts", "90% intervals cover", "mean absolute error", "bias"]
    return markdown_table([*header, "mean width"], rows)


def _figures(cases: Sequence[ForecastCase]) -> list[str]:
    off = np.array([case.value - case.truth for case in cases])
    return [
        str(len(cases)),
        f"{_coverage(cases):.0%}",
        f"{np.abs(off).mean():.3f}",
        f"{off.mean():+.3f}",
        f"{np.mean([case.high - case.low for case in cases]):.2f}",
    ]


def _coverage(cases: Sequence[ForecastCase]) -> float:
    return float(np.mean([case.inside for case in cases]))


def _verdict(cases: Sequence[ForecastCase]) -> str:
    """Return whether the aim is met, and where forecasts are wrong or too wide to help."""
    least, most = AIM
    parts = []
    for half, names in HALVES.items():
        if some := [case for case in cases if case.table in names]:
            met = "met" if least <= _coverage(some) <= most else "missed"
            parts.append(f"{met} on the {half} half ({_coverage(some):.0%})")
    outside = [f"{case.table} ({case.observed:.0%} to {case.share:.0%})" for case in cases if not case.inside]
    wide = np.mean([case.high - case.low > WIDE for case in cases])
    return (
        f"The aim is {' and '.join(parts)}. Outside: {len(outside)} of {len(cases)}: "
        f"{', '.join(outside) or 'none'}. An interval wider than {WIDE} says little, and {wide:.0%} are: few "
        "cells tell little about what many would bring."
    )


def _case_table(cases: Sequence[ForecastCase]) -> str:
    """Return one row for each start; bold where the truth is outside."""
    by_start: dict[tuple[str, float, int], list[ForecastCase]] = {}
    for case in cases:
        by_start.setdefault((case.table, case.observed, case.seed), []).append(case)
    rows = [
        [table, half_of(table), f"{observed:.0%}", some[0].model, *(_in_words(case) for case in some)]
        for (table, observed, _), some in by_start.items()
    ]
    header = ["table", "half", "known", "model", *(f"at {share:.0%}" for share in SHARES)]
    note = "Forecast, 90% interval, and the score then measured; bold where it was outside."
    return f"{note}\n\n{markdown_table(header, rows)}"


def _in_words(case: ForecastCase) -> str:
    truth = f"{case.truth:.2f}" if case.inside else f"**{case.truth:.2f}**"
    return f"{case.value:.2f} ({case.low:.2f} to {case.high:.2f}): {truth}"
