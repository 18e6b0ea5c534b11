"""A campaign on a large table: how long ask, tell and open take, compared with one warm completion."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.isolate import run_isolated
from benchmarks.problem import make_problem
from benchmarks.report import Section, at_most, number
from benchmarks.settings import Settings, progress, size_name

SIZE = (100_000, 50)
QUICK_SIZE = (5_000, 20)
ANSWERS = 1_000
ROUNDS = 3

HEADER = ["what", "seconds", "in warm completions"]


def run(settings: Settings) -> Section:
    """Run some rounds of ask and tell in a SQLite store."""
    size = QUICK_SIZE if settings.quick else SIZE
    progress(f"{size_name(*size)}, campaign")
    found = run_isolated("benchmarks.parts.campaign:measure_here", size=size, seed=settings.seed)
    warm = found.pop("warm completion")
    rows = [["warm completion", number(warm), "1.00"]]
    rows += [[name, number(s), number(s / warm, ".2f")] for name, s in found.items()]
    aims = [
        at_most(f"{size_name(*size)}: an ask, in warm completions", found["ask"] / warm, 3.0),
        at_most(f"{size_name(*size)}: a tell of {ANSWERS:,}", found["tell"], 1.0, ".3f", " s"),
        at_most(f"{size_name(*size)}: opening the campaign", found["open"], 2.0, ".2f", " s"),
    ]
    notes = [
        f"{size_name(*size)}, 60 % observed, one thread, strategy `recommended`, SQLite with full "
        f"synchronisation. Wall seconds, medians of {ROUNDS} rounds after the first: an ask for {ANSWERS:,} "
        f"cells after {ANSWERS:,} answers have come, a tell of {ANSWERS:,} answers. The warm completion is a "
        "fit of the strategy's completer on the same tables, started from the last. The first ask after "
        "opening starts from the cache and runs the rounds since."
    ]
    return Section("Campaigns", HEADER, rows, notes, aims)


def measure_here(size: tuple[int, int], seed: int) -> dict[str, Any]:
    """Return the median wall seconds of a warm completion, ask, tell and open."""
    from cellworth import Campaign, GaussianCompleter, Table

    values, labels, hidden = make_problem(*size, seed)
    truth = values.copy()
    truth[np.isnan(values)] = hidden
    table = Table.from_arrays(values, labels > 0)
    completer = GaussianCompleter(label_trust=0.0, warm_start=True)
    clocks: dict[str, list[float]] = {"warm completion": [], "ask": [], "tell": []}

    def timed(name: str, work: Any) -> Any:
        begin = time.perf_counter()
        result = work()
        clocks[name].append(time.perf_counter() - begin)
        return result

    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'study.db'}"
        with Campaign.create(table, store=store, budget=1e9) as campaign:
            for _ in range(ROUNDS + 1):
                batch = timed("ask", lambda: campaign.ask(count=ANSWERS))
                timed("warm completion", lambda: completer.fit(values, labels))
                cells = [(table.row_index(p.row), table.column_index(p.column)) for p in batch]
                answers = {(p.row, p.column): truth[c] for p, c in zip(batch, cells, strict=True)}
                timed("tell", lambda answers=answers: campaign.tell(answers))
                for cell in cells:
                    values[cell] = truth[cell]
        medians = {name: float(np.median(seconds[1:])) for name, seconds in clocks.items()}
        begin = time.perf_counter()
        again = Campaign.open(store)
        medians["open"] = time.perf_counter() - begin
        begin = time.perf_counter()
        again.ask(count=ANSWERS)
        medians["first ask after opening"] = time.perf_counter() - begin
        again.close()
    return medians
