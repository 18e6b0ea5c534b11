"""What a buyer could reach who sees test rows: the best of eight batches at each purchase.

No strategy can do that. It shows how much there is to gain for one that would choose better among batches
like those of the default strategy. Every other test row chooses; all are judged by the rest, since the best
of eight by some rows looks better on these than it is. ``--on-the-same`` does both by all test rows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import numpy as np
from joblib import Parallel, delayed

from cellworth.complete import GaussianCompleter
from cellworth.select import Draw
from cellworth.strategy import get
from cellworth.strategy.choose_batch import Adviser
from studies.money.development_tables import MOST_TEST_ROWS, TUNING, PricesKind, start_of
from studies.money.kept_cases import Record
from studies.money.money_ratios import MARKS, cases_of, geometric_mean
from studies.money.purchases import FULL, RANDOM, STEPS, TESTED, Run, judge_of, records_of, score_of

PEEKING = "best of eight"
SEEN, JUDGED = slice(0, MOST_TEST_ROWS, 2), slice(1, MOST_TEST_ROWS, 2)
DRAWS = (
    *(Draw(per="price", by="auto"), Draw(per="price", by="auto"), Draw(per="price", by="cell")),
    *(Draw(per="price", by="row"), Draw(per="price", by="auto", power=2.0)),
    *(Draw(per="price", by="auto", power=2.0), Draw(per="price", by="cell", power=0.5)),
    Draw(per="price", by="auto", power=4.0),
)


def peek(run: Run, folder: Path, seen: slice, judged: slice) -> Iterator[Record]:
    """Yield the records of one run of the buyer who sees some test rows, and is judged by some."""
    start = start_of(run.table, run.observed, run.seed, run.prices)
    world, judge = start.world, judge_of(run, folder)
    advisers = [
        Adviser.of(replace(get("recommended"), selector=draw), start.table, seed=run.seed + 100 * number)
        for number, draw in enumerate(DRAWS)
    ]
    X, available, known, spent = world.start, world.hidden.copy(), world.known_at_start.copy(), 0.0
    completer = GaussianCompleter(label_trust=0.0).fit(X)
    for step in (0.0, *STEPS):
        if step:
            best = -np.inf
            for adviser in advisers:
                adviser.complete(X, world.y)
                adviser.score(start.prices)
                batch = adviser.choose(
                    start.prices, available=available, before=known, budget=step * start.total - spent
                )
                filled = world.reveal(X, batch.cells)
                fitted = GaussianCompleter(label_trust=0.0).fit(filled)
                if (score := score_of(start, judge, fitted, filled, seen)) > best:
                    best, bought, revealed, completer = score, batch, filled, fitted
            X, spent = revealed, spent + bought.cost
            places = bought.cells[:, 0], bought.cells[:, 1]
            available[places], known[places] = False, True
        yield {"share": spent / start.total, "score": score_of(start, judge, completer, X, judged)}


def records(
    table: str, observed: float, seed: int, prices: PricesKind, folder: Path, seen: slice, judged: slice
) -> list[Record]:
    """Return the records of one start: all cells, random ones, the default strategy and the peeking buyer."""
    start = start_of(table, observed, seed, prices)
    runs = {
        name: Run(table, observed, prices, name, seed) for name in (FULL, RANDOM.name, "recommended", PEEKING)
    }
    known = GaussianCompleter(label_trust=0.0).fit(start.world.truth)
    full = score_of(start, judge_of(runs[FULL], folder), known, start.world.truth, judged)
    found: dict[str, list[Record]] = {
        FULL: [{"share": 1.0, "score": full}],
        RANDOM.name: records_of(runs[RANDOM.name], folder, RANDOM, judged),
        "recommended": records_of(runs["recommended"], folder, get("recommended"), judged),
        PEEKING: list(peek(runs[PEEKING], folder, seen, judged)),
    }
    return [vars(runs[name]) | record for name, each in found.items() for record in each]


def main(arguments: list[str] | None = None) -> None:
    """Print the mean ratios of both to random cells, on the tuning half."""
    parser = argparse.ArgumentParser(prog="python -m studies.money.peeking_bound", description=__doc__)
    parser.add_argument("--prices", choices=get_args(PricesKind), default="unequal")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--observed", type=float, nargs="+", default=[0.1, 0.2])
    parser.add_argument("--tables", nargs="+", default=TUNING, metavar="TABLE")
    parser.add_argument("--on-the-same", action="store_true", help="judge by the rows that choose")
    parser.add_argument("--jobs", type=int, default=2)
    said = parser.parse_args(arguments)
    kind = cast(PricesKind, said.prices)
    rows = (TESTED, TESTED) if said.on_the_same else (SEEN, JUDGED)
    with tempfile.TemporaryDirectory() as folder:
        starts = [(t, o, s) for t in said.tables for o in said.observed for s in range(said.seeds)]
        found = Parallel(said.jobs)(delayed(records)(*start, kind, Path(folder), *rows) for start in starts)
    cases = [case for case in cases_of([each for some in found for each in some]) if case.counts]
    print(f"{len(cases)} cases with enough to gain; money for 50, 80 and 95 % of the way over random cells")
    for name in ("recommended", PEEKING):
        means = [geometric_mean(cases, name, mark) for mark in MARKS]
        print(f"{name:14}", *(f"{mean.value:.2f}" for mean in means if mean is not None))


if __name__ == "__main__":
    main()
