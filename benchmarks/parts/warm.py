"""What a warm start saves when a few hidden cells become known."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.isolate import run_isolated
from benchmarks.objective import LABEL_WEIGHT, RIDGE, TRACE_PENALTY
from benchmarks.problem import make_problem
from benchmarks.report import Section, at_most, number
from benchmarks.settings import Settings, progress, size_name

SIZE = (20_000, 20)
ANSWERS = 200
ROUNDS = 7

HEADER = [
    "round",
    "cold: iterations",
    "CPU s",
    "warm: iterations",
    "CPU s",
    "CPU cold / warm",
    "objective warm - cold",
]


def run(settings: Settings) -> Section:
    """Reveal cells round by round; fit each time from scratch and from the last round."""
    progress(f"{size_name(*SIZE)}, warm start")
    rounds = run_isolated("benchmarks.parts.warm:measure_here", seed=settings.seed)
    rows = [
        [
            str(i + 1),
            str(r["cold"]["iterations"]),
            number(r["cold"]["seconds"]),
            str(r["warm"]["iterations"]),
            number(r["warm"]["seconds"]),
            number(r["cold"]["seconds"] / r["warm"]["seconds"], ".1f"),
            number(r["warm"]["objective"] - r["cold"]["objective"], ".1e"),
        ]
        for i, r in enumerate(rounds)
    ]
    cold, warm = (np.median([r[which]["seconds"] for r in rounds]) for which in ("cold", "warm"))
    notes = [
        f"{size_name(*SIZE)}, one thread, {ANSWERS} hidden cells revealed per round, default tolerance, the "
        f"same stopping rule. Median: cold {cold:.3f} s, warm {warm:.4f} s: {cold / warm:.1f} times less CPU."
    ]
    what = f"{size_name(*SIZE)}: a warm completion after {ANSWERS} answers anywhere over a cold one"
    return Section("Warm start", HEADER, rows, notes, [at_most(what, float(warm / cold), 0.1, ".3f")])


def measure_here(seed: int) -> list[dict[str, dict[str, Any]]]:
    """Return the cost and objective of the cold and the warm fit, for each round."""
    from cellworth import SupervisedCompleter

    def completer(**options: Any) -> Any:
        return SupervisedCompleter(
            trace_penalty=TRACE_PENALTY, label_weight=LABEL_WEIGHT, ridge=RIDGE, scale=None, **options
        )

    def fit(which: Any) -> dict[str, Any]:
        begin = time.process_time()
        which.fit(table, labels)
        seconds = time.process_time() - begin
        return {"seconds": seconds, "iterations": which.n_iter_, "objective": float(which.objective_[-1])}

    table, labels, hidden = make_problem(*SIZE, seed)
    holes = np.flatnonzero(np.isnan(table))
    order = np.random.default_rng(seed).permutation(len(holes))
    warm = completer(warm_start=True)
    fit(warm)  # nothing to start from yet
    rounds = []
    for i in range(ROUNDS):
        answered = order[i * ANSWERS : (i + 1) * ANSWERS]
        table.flat[holes[answered]] = hidden[answered]
        rounds.append({"cold": fit(completer()), "warm": fit(warm)})
    return rounds
