"""How close one iteration is to its lower bound: the two matrix products that every iteration needs."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.isolate import run_isolated
from benchmarks.problem import Array, make_problem
from benchmarks.report import Section, at_most, number
from benchmarks.settings import Settings, progress, size_name

HEADER = [
    "size",
    "iteration ms",
    "two GEMMs ms",
    "ratio of minima",
    "of medians",
    "GEMMs in blocks ms",
    "eigen share",
]

NOTES = [
    "CPU time on one thread, minima. Iterations are those of a fit, from callback to callback, with all that "
    "they do; the products are run in the callback, so the two alternate in one process.",
    "Two GEMMs: (n x d) by (d x d) into a ready array, and A.T @ A (NumPy calls SYRK: half the flops), on "
    "the whole table at once; 'in blocks': the same over the solver's row blocks.",
    "Eigen share: the eigendecomposition within the iteration.",
]

SECONDS = 3.0  # for the repeats of one size
FEWEST, MOST = 7, 300  # repeats


def run(settings: Settings) -> Section:
    """Measure at all sizes."""
    section = Section("One iteration against its two matrix products", HEADER, [], list(NOTES))
    for n, d in settings.sizes:
        progress(f"{size_name(n, d)}, one iteration")
        t = run_isolated("benchmarks.parts.limit:measure_here", n=n, d=d, seed=settings.seed)
        low, middle = t["minimum"], t["median"]
        section.rows.append(
            [
                size_name(n, d),
                number(1e3 * low["iteration"]),
                number(1e3 * low["gemms"]),
                number(low["iteration"] / low["gemms"], ".2f"),
                number(middle["iteration"] / middle["gemms"], ".2f"),
                number(1e3 * low["gemms_in_blocks"]),
                f"{low['eigen'] / low['iteration']:.0%}",
            ]
        )
        if n >= 20_000:
            what = f"{size_name(n, d)}: an iteration over its two matrix products"
            section.aims.append(at_most(what, low["iteration"] / low["gemms"], 1.5 if d >= 100 else 2.0))
    return section


def measure_here(n: int, d: int, seed: int) -> dict[str, dict[str, float]]:
    """Return the minimum and median seconds of an iteration, its eigendecomposition and the products.

    The iterations are those of a fit; the products run between them, in its callback.
    """
    from benchmarks.solvers.cellworth_one_thread import complete

    warnings.simplefilter("ignore")  # it is not expected to converge
    problem = make_problem(n, d, seed)
    stopwatch = _Stopwatch(np.nan_to_num(problem.table))
    apg: Any = importlib.import_module("cellworth.complete.solver.proximal_gradient")
    apg.shrinkage = stopwatch.on_eigen(apg.shrinkage)
    complete(problem.table, problem.labels, tol=0, max_iter=MOST, callback=stopwatch)
    return {
        "minimum": {name: min(t) for name, t in stopwatch.times.items()},
        "median": {name: float(np.median(t)) for name, t in stopwatch.times.items()},
    }


class _Stopwatch:
    """A callback that measures the time since its last call ended, then times the bare products."""

    def __init__(self, A: Array) -> None:
        from cellworth.blocks.thread_engine import RowBlocks

        self.A, self.out = A, np.zeros_like(A)
        self.P = np.cov(A, rowvar=False)
        self.blocks = RowBlocks(A.shape, A.itemsize, None)
        self.times: dict[str, list[float]] = {
            name: [] for name in ("iteration", "eigen", "gemms", "gemms_in_blocks")
        }
        self.begun = self.resumed = 0.0
        self.eigen = 0.0

    def __call__(self, progress: Any) -> bool:
        """Record the iteration that just ended, and return whether there are enough."""
        iterated = time.process_time()
        np.matmul(self.A, self.P, out=self.out)
        _ = self.out.T @ self.out
        multiplied = time.process_time()
        self.blocks.sum(self._products)
        end = time.process_time()
        if progress.iteration == 1:  # includes the set-up
            self.begun = end
        else:
            self.times["iteration"].append(iterated - self.resumed)
            self.times["eigen"].append(self.eigen)
            self.times["gemms"].append(multiplied - iterated)
            self.times["gemms_in_blocks"].append(end - multiplied)
        self.resumed = time.process_time()
        return progress.iteration > FEWEST and end - self.begun > SECONDS

    def on_eigen(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with timing added."""

        def timed(*arguments: Any) -> Any:
            begin = time.process_time()
            result = function(*arguments)
            self.eigen = time.process_time() - begin
            return result

        return timed

    def _products(self, block: slice) -> tuple[Any]:
        product = np.matmul(self.A[block], self.P, out=self.out[block])
        return (product.T @ product,)
