"""How near the estimated score on complete rows comes to the truth, on 27 development tables.

A model is trained on rows with holes. Its score on complete rows is estimated from these rows alone, and
measured on test rows in which nothing is hidden. Beside it stands what cross-validation would say if the
held-out rows were complete: the best that any estimate from these rows could do.

The method was chosen on the half "tune"; the half "report" was looked at once, at the end. Two things were
changed after that, again on the half "tune": drawn cells of a category now hold one category each, and the
interval is wider; the report half was then looked at a second time.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete import GaussianCompleter
from cellworth.errors import DataError
from cellworth.model.candidates import Candidate, candidate_named
from cellworth.model.complete_rows import complete_rows_score
from cellworth.model.cross_validation import Score, scorable, score_predictions, widened
from cellworth.model.fitted_model import fit_candidate
from cellworth.model.held_out_folds import make_folds
from cellworth.model.model_search import choose_model
from cellworth.simulation.hidden_truth import World
from studies.money.development_tables import NAMES, TUNING, start_of

FOLDS = 5
MANY_TEST_ROWS = 500  # with fewer, the truth is off by more than 0.02 itself
NEAR = 0.02


@dataclass(frozen=True)
class Case:
    """One model on one table and seed.

    Attributes
    ----------
    table, model : str
    half : {"tune", "report"}
    is_number : bool
    test_rows : int
    at_hand, estimate, if_known, truth : float
        AUC or R2: on held-out rows as they are; on complete rows, estimated; on the held-out rows if they
        were complete; on complete test rows.
    inside : bool
        Whether the 95 % interval of the estimate, widened by the error of the truth, contains the truth.
    """

    table: str
    model: str
    half: str
    is_number: bool
    test_rows: int
    at_hand: float
    estimate: float
    if_known: float
    truth: float
    inside: bool


def models(*, is_number: bool) -> list[Candidate]:
    """Return the models whose scores are estimated: one of trees and a linear one."""
    names = ("extra trees", "ridge regression" if is_number else "logistic regression")
    return [candidate_named(name, is_number=is_number) for name in names]


def run_table(name: str, seed: int, observed: float, *, chosen: bool = False) -> Iterator[Case]:
    """Yield the cases of a table: hide cells, estimate, and measure; of the chosen model alone, or of two."""
    world = start_of(name, observed, seed).world
    is_number = world.target == "number"
    kept = _scorable(world, is_number=is_number)
    columns = ~np.isnan(world.start[kept]).all(axis=0)
    X, whole, y = world.start[kept][:, columns], world.truth[kept][:, columns], world.y[kept]
    cell_of = world.layout.owner[columns]
    tested = np.isin(world.y_test, np.unique(y)) | is_number
    X_test, y_test = world.X_test[tested][:, columns], world.y_test[tested]
    if not is_number:
        classes = np.unique(y)
        y, y_test = (np.searchsorted(classes, each).astype(np.float64) for each in (y, y_test))
    n_classes = 1 if is_number else len(classes)
    deals, folds = make_folds(
        X, y, None, is_number=is_number, folds=FOLDS, repeats=1, seed=seed, cell_of=cell_of
    )
    completer = GaussianCompleter(label_trust=0.0).fit(X)
    tried = models(is_number=is_number)
    if chosen:
        tried = [choose_model(X, y, is_number=is_number, seed=seed, cell_of=cell_of).candidate]
    for model in tried:
        shape = (len(y), n_classes)
        at_hand, if_known = np.zeros(shape), np.zeros(shape)
        drawn: list[tuple[BoolArray, Float64Array]] = []
        for fold in folds[0]:
            at_hand[fold.held], draws = fold.predict(model, n_classes)
            drawn.append((fold.held, draws))
            fitted = fold.train(model, n_classes)
            if_known[fold.held] = fitted.predict(whole[fold.held][:, fold.columns])
        together = np.zeros((len(drawn[0][1]), *shape))
        for held, draws in drawn:
            together[:, held] = draws
        here = score_predictions(y, at_hand, deals[0], classes=not is_number)
        estimate = complete_rows_score(y, together, deals[0], here, classes=not is_number)
        oracle = score_predictions(y, if_known, deals[0], classes=not is_number)
        final = fit_candidate(model, completer, X, y, is_number=is_number, n_classes=n_classes)
        one_fold = np.zeros(len(y_test), dtype=np.intp)
        truth = score_predictions(y_test, final.predict(X_test), one_fold, classes=not is_number)
        inside = _inside(widened(estimate, X.shape[1], len(y) * (1 - 1 / FOLDS)), truth)
        values = here.value, estimate.value, oracle.value, truth.value
        half = "tune" if name in TUNING else "report"
        label = f"average of {len(model.members)}" if model.members else model.name
        yield Case(name, label, half, is_number, len(y_test), *values, inside)


def _scorable(world: World, *, is_number: bool) -> BoolArray:
    """Return the rows of classes that occur often enough, at least ten times."""
    if is_number:
        return np.ones(len(world.y), dtype=bool)
    found, counts = np.unique(world.y, return_counts=True)
    kept = np.isin(world.y, found[counts >= 10])
    if not scorable(world.y[kept], classes=True):
        raise DataError("too few rows of each class")
    return kept


def _inside(estimate: Score, truth: Score) -> bool:
    ends, own = estimate.estimate(), 1.96 * truth.error
    low, high = ends.value - ends.low, ends.high - ends.value
    return bool(-np.hypot(low, own) <= truth.value - ends.value <= np.hypot(high, own))


def describe(cases: Sequence[Case]) -> str:
    """Return the cases and, for each half, bias, errors, and how many are near, as text."""
    lines = [f"{'table':22}{'model':22}{'half':8}{'at hand':>8}{'estimate':>9}{'if known':>9}{'truth':>7}"]
    lines += [
        f"{c.table[:21]:22}{c.model:22}{c.half:8}{c.at_hand:8.3f}{c.estimate:9.3f}{c.if_known:9.3f}{c.truth:7.3f}"
        for c in cases
    ]
    for half in ("tune", "report"):
        for is_number in (False, True):
            some = [c for c in cases if c.half == half and c.is_number is is_number]
            many = [c for c in some if c.test_rows >= MANY_TEST_ROWS]
            what = "R2" if is_number else "AUC"
            for words, part in ((f"{half}, {what}", some), (f"  {MANY_TEST_ROWS}+ test rows", many)):
                if part:
                    lines.append(f"{words} ({len(part)} cases)")
                    lines += [f"    {line}" for line in _summary(part)]
    return "\n".join(lines)


def _summary(cases: Sequence[Case]) -> list[str]:
    truth = np.array([c.truth for c in cases])
    found = []
    for words, values in (
        ("at hand", [c.at_hand for c in cases]),
        ("estimate", [c.estimate for c in cases]),
        ("if known", [c.if_known for c in cases]),
    ):
        off = np.array(values) - truth
        found.append(
            f"{words:9} bias {off.mean():+.3f}, mean error {np.abs(off).mean():.3f}, 80 % within "
            f"{np.quantile(np.abs(off), 0.8):.3f}, within {NEAR}: {np.mean(np.abs(off) <= NEAR):.0%}"
        )
    found.append(f"95 % intervals of the estimate cover {np.mean([c.inside for c in cases]):.0%}")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.money.complete_rows", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="seeds per table (2)")
    parser.add_argument("--observed", type=float, default=0.2, help="share of cells known (0.2)")
    parser.add_argument("--halves", nargs="+", default=["tune", "report"], choices=["tune", "report"])
    parser.add_argument("--chosen", action="store_true", help="judge the model that is chosen for each table")
    parser.add_argument("--quick", action="store_true", help="one seed, the first table of each half")
    options = parser.parse_args(arguments)
    cases: list[Case] = []
    for name in NAMES[: 2 if options.quick else None]:
        if ("tune" if name in TUNING else "report") in options.halves:
            for seed in range(1 if options.quick else options.seeds):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    cases += run_table(name, seed, options.observed, chosen=options.chosen)
    print(describe(cases))


if __name__ == "__main__":
    main()
