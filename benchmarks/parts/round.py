"""One round of buying (new answers, completion, scores, batch) against ALiPy and a cold start."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.isolate import FailedError, TimeLimitError, run_isolated
from benchmarks.problem import make_problem
from benchmarks.report import Section, at_least, at_most, number
from benchmarks.settings import Settings, progress, size_name

SIZE = (20_000, 20)
QUICK_SIZE = (2_000, 20)
BATCH = 200
ROUNDS = 6

HEADER = ["what", "CPU s", "ALiPy / this", "this / cold start", "this / cold completion"]


def run(settings: Settings) -> Section:
    """Time the rounds of both programs after the first, on the same table."""
    size = QUICK_SIZE if settings.quick else SIZE
    progress(f"{size_name(*size)}, rounds")
    ours = run_isolated("benchmarks.parts.round:measure_here", size=size, seed=settings.seed)
    notes = [
        f"{size_name(*size)}, 60 % observed, one thread. Ours: {BATCH} answers go in, the table is completed "
        f"from where the last round left it, cells are scored by `Variance`, and `Top` chooses {BATCH}; the "
        f"median of rounds 2 to {ROUNDS}. ALiPy's `QueryFeatureAFASMC.select` in its second round, after one "
        "answer; it chooses one cell. The cold start is the same round without history: the completion from "
        "scratch, the scores by the rule of the first round (a committee of refits), the batch. The cold "
        "completion is `SupervisedCompleter().fit` alone. Both on the last table, the median of three."
    ]
    try:
        theirs = run_isolated(
            "benchmarks.parts.round:measure_alipy",
            size=size,
            seed=settings.seed,
            cpu_limit=settings.cpu_limit,
        )
    except (FailedError, TimeLimitError) as failure:
        notes.append(f"ALiPy gave no time: {failure}")
        theirs = None
    cold, completion = ours["cold start"], ours["cold completion"]
    rows = []
    if theirs is not None:
        rows.append(["ALiPy, one round", theirs])
    rows += [["one round", ours["round"]], *map(list, ours["parts"].items())]
    rows += [["cold start", cold], ["cold completion", completion]]
    for row in rows:
        seconds = row.pop()
        ratio = None if theirs is None else theirs / seconds
        row += [number(seconds), number(ratio, ".0f")]
        row += [number(seconds / whole, ".3f") for whole in (cold, completion)]
    of_round = f"{size_name(*size)}: a round of the paper's strategy"
    aims = [at_most(f"{of_round} over a cold completion", ours["round"] / completion, 0.1, ".3f")]
    if theirs is not None:
        what = f"{size_name(*size)}: CPU time of ALiPy's `select` over that of a round"
        aims.append(at_least(what, theirs / ours["round"], 200.0, ".0f"))
    return Section("One round of the paper's strategy", HEADER, rows, notes, aims)


def measure_here(size: tuple[int, int], seed: int) -> dict[str, Any]:
    """Return the median CPU seconds of rounds after the first, of their parts, and of a cold start."""
    from cellworth import SupervisedCompleter, strategy
    from cellworth.prices import PriceList
    from cellworth.strategy.choose_batch import Adviser
    from cellworth.table import ColumnLayout

    n, d = size
    table, labels, hidden = make_problem(n, d, seed)
    truth = table.copy()
    truth[np.isnan(table)] = hidden
    known = ~np.isnan(table)
    none = np.full(d, -1), np.zeros(d), np.zeros(0, dtype=bool)
    prices = PriceList(np.broadcast_to(1.0, (n, d)), *none)
    adviser = Adviser(strategy.get("afasmc"), layout=ColumnLayout.of_numbers(d), target="classes", seed=seed)
    clocks = []
    cells = np.zeros((0, 2), dtype=np.intp)
    for _ in range(ROUNDS):
        marks = [time.process_time()]
        table[cells[:, 0], cells[:, 1]] = truth[cells[:, 0], cells[:, 1]]
        known[cells[:, 0], cells[:, 1]] = True
        adviser.complete(table, labels)
        marks.append(time.process_time())
        adviser.score()
        marks.append(time.process_time())
        cells = adviser.choose(prices, available=~known, before=known, count=BATCH).cells
        marks.append(time.process_time())
        clocks.append(np.diff(marks))
    later = np.array(clocks[1:])
    parts = dict(zip(("- completion", "- scores", "- batch"), np.median(later, axis=0).tolist(), strict=True))
    cold, completion = [], []
    for _ in range(3):
        newcomer = Adviser(
            strategy.get("afasmc"), layout=ColumnLayout.of_numbers(d), target="classes", seed=seed
        )
        begin = time.process_time()
        newcomer.complete(table, labels)
        newcomer.score()
        newcomer.choose(prices, available=~known, before=known, count=BATCH)
        cold.append(time.process_time() - begin)
        begin = time.process_time()
        SupervisedCompleter().fit(table, labels)
        completion.append(time.process_time() - begin)
    return {
        "round": float(np.median(later.sum(axis=1))),
        "parts": parts,
        "cold start": float(np.median(cold)),
        "cold completion": float(np.median(completion)),
    }


def measure_alipy(size: tuple[int, int], seed: int, cpu_limit: int | None = None) -> float:
    """Return the CPU seconds of the second call to ALiPy's select."""
    from benchmarks.isolate import limit_cpu
    from benchmarks.solvers.alipy_afasmc import import_alipy

    query_features = import_alipy()
    table, labels, hidden = make_problem(*size, seed)
    holes = np.isnan(table)
    truth = table.copy()
    truth[holes] = hidden
    observed = list(map(tuple, np.argwhere(~holes).tolist()))
    unknown = list(map(tuple, np.argwhere(holes).tolist()))
    query = query_features.QueryFeatureAFASMC(truth, labels, train_idx=np.arange(size[0]))
    limit_cpu(cpu_limit)
    (first,) = query.select(observed, unknown)
    first = (int(first[0]), int(first[1]))
    observed.append(first)
    unknown.remove(first)
    begin = time.process_time()
    query.select(observed, unknown)
    return time.process_time() - begin
