"""Spending a budget: the speed and memory of the selectors, and the worth of their batches."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.isolate import run_isolated
from benchmarks.report import Section, at_least, at_most, number
from benchmarks.settings import Settings, progress

PAPER = (3000, 19)  # 57,000 candidates
LARGE = (50_000, 20)  # 1,000,000
BUDGETS = (100, 5_000, 250_000, 2_500_000)
SPEND = 500.0
ITERATIONS = (100_000, 1_000_000, 10_000_000)

HEADER = ["what", "candidates", "budget", "seconds", "in relation", "score / best"]


def run(settings: Settings) -> Section:
    """Measure Poss, Knapsack and the others in separate processes."""
    progress("selectors, 57,000 candidates")
    paper = run_isolated("benchmarks.parts.select:measure_paper", seed=settings.seed, quick=settings.quick)
    progress("selectors, memory of the archive")
    memory = [
        run_isolated("benchmarks.parts.select:measure_archive", seed=settings.seed, rows=rows)
        for rows in (PAPER[0], 10 * PAPER[0])
    ]
    progress("selectors, 1,000,000 candidates")
    large = run_isolated("benchmarks.parts.select:measure_large", seed=settings.seed)
    rows = [_row(each) for each in (*paper["rows"], *large["rows"])]
    small, tenfold = memory
    notes = [
        f"Poss, compiled: {paper['compiled']:,.0f} iterations a second; plain Python {paper['plain']:,.0f}, "
        f"{paper['compiled'] / paper['plain']:.0f} times fewer. In relation: to Knapsack's time.",
        f"An archived set of Poss takes {small['bytes_per_cell']:.1f} bytes per cell of its own at "
        f"{small['candidates']:,} candidates and {tenfold['bytes_per_cell']:.1f} at "
        f"{tenfold['candidates']:,}: {small['sets']} sets of {small['cells']:.0f} cells and "
        f"{tenfold['sets']} of {tenfold['cells']:.0f} on average.",
        "At 1,000,000 candidates, in relation: to sorting their scores (numpy.sort) in the same process, "
        f"{large['sort']:.3f} s. Prices are whole numbers from 1 to 10; scores are skewed (squares of "
        "exponential numbers). CPU seconds, one thread, the best of three.",
    ]
    exact = [each["seconds"] for each in large["rows"] if each["name"] == "Knapsack"]
    aims = [
        at_least("POSS at 57,000 candidates: iterations a second", paper["compiled"], 500_000, ",.0f"),
        at_most("an exact knapsack at 1,000,000 candidates, CPU time", max(exact), 1.0, ".2f", " s"),
    ]
    return Section("Spending a budget", HEADER, rows, notes, aims)


def _row(row: dict[str, Any]) -> list[str]:
    return [
        row["name"],
        f"{row['candidates']:,}",
        f"{row['budget']:,}",
        number(row["seconds"], ".3f"),
        number(row["relation"], ".1f"),
        number(row["share"], ".4f"),
    ]


def make_offer(rows: int, columns: int, seed: int) -> Any:
    """Return an offer with integer prices from 1 to 10 by column, and skewed scores."""
    import numpy as np

    from cellworth.prices import PriceList
    from cellworth.select import Offer

    rng = np.random.default_rng(seed)
    own = np.tile(rng.integers(1, 11, size=columns).astype(float), (rows, 1))
    prices = PriceList(own, np.full(columns, -1), np.zeros(columns), np.zeros(0, dtype=bool))
    holes = np.ones(own.shape, dtype=bool)
    return Offer(rng.exponential(size=own.shape) ** 2, holes, prices, ~holes)


def timed(selector: Any, offer: Any, budget: float, repeats: int = 3) -> tuple[float, Any]:
    """Return the minimum CPU seconds over the runs, and the batch."""
    import numpy as np

    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        batch = selector.select(offer, budget=budget, rng=np.random.default_rng(0))
        seconds.append(time.process_time() - begin)
    return min(seconds), batch


def measure_paper(seed: int, quick: bool) -> dict[str, Any]:
    """Return times and scores at the paper's size, and the iterations per second."""
    from cellworth.select import Draw, Knapsack, Poss, Ratio, Top

    offer = make_offer(*PAPER, seed)
    Poss(1).select(offer, budget=SPEND, rng=_generator())  # compiles
    iterations = ITERATIONS[: 2 if quick else None]
    selectors = {"Knapsack": Knapsack(), "Ratio": Ratio(), "Top": Top(), "Draw per price": Draw("price")}
    selectors |= {f"Poss, {n:,} iterations": Poss(n) for n in iterations}
    results = {
        name: timed(each, offer, SPEND, 3 if name[:4] != "Poss" else 1) for name, each in selectors.items()
    }
    base, best = results["Knapsack"]
    rows = [
        {
            "name": name,
            "candidates": offer.scores.size,
            "budget": int(SPEND),
            "seconds": seconds,
            "relation": seconds / base,
            "share": batch.score / best.score,
        }
        for name, (seconds, batch) in results.items()
    ]
    return {
        "rows": rows,
        "compiled": _iterations_a_second(offer, 1_000_000, True),
        "plain": _iterations_a_second(offer, 20_000, False),
    }


def measure_archive(seed: int, rows: int) -> dict[str, float]:
    """Return the size of the archive after many iterations."""
    archive = _search(make_offer(rows, PAPER[1], seed), 500_000, True)
    sets = int(archive.used[0])
    cells = int(archive.length[:sets].sum())
    taken = sum(array.nbytes for array in archive)
    return {
        "candidates": rows * PAPER[1],
        "sets": sets,
        "cells": cells / sets,
        "bytes_per_cell": taken / cells,
    }


def measure_large(seed: int) -> dict[str, Any]:
    """Return the time of the selectors for a million cells, compared with sorting them."""
    import numpy as np

    from cellworth.select import Draw, Knapsack, Ratio, Top

    offer = make_offer(*LARGE, seed)
    sort = min(_seconds(lambda: np.sort(offer.scores, axis=None)) for _ in range(3))
    rows = []
    for budget in BUDGETS:
        selectors = [Knapsack()] if budget != 5_000 else [Knapsack(), Ratio(), Top(), Draw("price")]
        best = None
        for selector in selectors:
            seconds, batch = timed(selector, offer, budget)
            best = batch.score if best is None else best
            rows.append(
                {
                    "name": type(selector).__name__,
                    "candidates": offer.scores.size,
                    "budget": budget,
                    "seconds": seconds,
                    "relation": seconds / sort,
                    "share": batch.score / best,
                }
            )
    return {"rows": rows, "sort": sort}


def _seconds(function: Any) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def _iterations_a_second(offer: Any, iterations: int, fast: bool) -> float:
    return iterations / _seconds(lambda: _search(offer, iterations, fast))


def _search(offer: Any, iterations: int, fast: bool) -> Any:
    import numpy as np

    from cellworth.select.poss import CountedCells, search, whole_scores
    from cellworth.select.row_spread import Spread

    places = np.flatnonzero(offer.available)
    units, cells = CountedCells.of(offer, places, SPEND)
    score, _ = whole_scores(offer.scores.ravel())
    problem = cells.problem(score, units.double, np.inf, Spread())
    return search(problem, iterations, _generator(), fast=fast)


def _generator() -> Any:
    import numpy as np

    return np.random.default_rng(0)
