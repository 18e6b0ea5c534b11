"""Whether forecasts made from few cells come true, on the development tables; see PROTOCOL.md.

From 10 % and 20 % of the cells, the score at 30, 50 and 100 % is forecast. Then cells are bought at random
and the score is measured on complete test rows. The model is extra trees or a linear one, whichever is
forecast to be better at the start: a full search would take hours for all tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete import GaussianCompleter
from cellworth.model.candidates import Candidate, candidate_named
from cellworth.model.cross_validation import score_predictions
from cellworth.model.fitted_model import fit_candidate, one_core
from cellworth.outlook.day_zero import outlook_of
from studies.money.development_tables import NAMES, TUNING, RunStart, start_of

OBSERVED = (0.1, 0.2)
SHARES = (0.3, 0.5, 1.0)
Z = 1.645  # of a 90 % interval


@dataclass(frozen=True)
class ForecastCase:
    """One forecast.

    Attributes
    ----------
    table, half, model : str
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
    half: str
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
        half = "tune" if name in TUNING else "report"
        ends = expected.low, expected.value, expected.high
        yield ForecastCase(
            name, half, model.name, observed, share, seed, is_number, *ends, truth.value, truth.error
        )


def describe(cases: Sequence[ForecastCase]) -> str:
    """Return the cases, and coverage and mean absolute error by half, as text."""
    lines = [
        f"{'table':20}{'half':8}{'model':22}{'from':>5}{'to':>5}{'low':>8}{'value':>8}{'high':>8}{'truth':>8}"
    ]
    lines += [
        f"{c.table:20}{c.half:8}{c.model:22}{c.observed:5.0%}{c.share:5.0%}{c.low:8.3f}{c.value:8.3f}{c.high:8.3f}"
        f"{c.truth:8.3f}" + ("" if c.inside else "  outside")
        for c in cases
    ]
    for half in ("tune", "report"):
        for is_number in (False, True):
            some = [c for c in cases if c.half == half and c.is_number is is_number]
            if some:
                lines.append(f"{half}, {'R2' if is_number else 'AUC'}: {_summary(some)}")
                lines += [
                    f"    from {observed:.0%} to {share:.0%}: {_summary(part)}"
                    for observed in OBSERVED
                    for share in SHARES
                    if (part := [c for c in some if (c.observed, c.share) == (observed, share)])
                ]
    return "\n".join(lines)


def _summary(cases: Sequence[ForecastCase]) -> str:
    off = np.array([c.value - c.truth for c in cases])
    width = np.mean([c.high - c.low for c in cases])
    return (
        f"{len(cases)} forecasts, 90 % intervals cover {np.mean([c.inside for c in cases]):.0%}, "
        f"mean absolute error {np.abs(off).mean():.3f}, bias {off.mean():+.3f}, mean width {width:.3f}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.money.forecasts", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="seeds per table (2)")
    parser.add_argument(
        "--quick", action="store_true", help="one seed, the first table of each half, from 20 %%"
    )
    options = parser.parse_args(arguments)
    names = NAMES[:2] if options.quick else NAMES
    cases: list[ForecastCase] = []
    for seed in range(1 if options.quick else options.seeds):
        for name in names:
            for observed in OBSERVED[-1:] if options.quick else OBSERVED:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    cases += run_table(name, observed, seed)
    print(describe(cases))


if __name__ == "__main__":
    main()
