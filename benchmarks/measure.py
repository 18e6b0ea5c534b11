"""Run a solver on a problem in a fresh process, and evaluate the result."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median_low
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.isolate import limit_cpu, run_isolated
from benchmarks.objective import error_in_holes, objective
from benchmarks.problem import Array, make_problem
from benchmarks.solvers import SOLVERS, Estimate

SHORT = 1.0  # fits are repeated until they add up to this many CPU seconds


@dataclass(frozen=True)
class Measurement:
    """The cost and result of one fit.

    Attributes
    ----------
    cpu_seconds, wall_seconds : float
        Time of the fit alone, over all threads and child processes.
    peak_per_table : float
        Peak resident memory above that before the fit, in units of the table's bytes.
    objective, objective_filled : float or None
        Eq. (1) for the solver's own estimate, and for the table with observed cells put back.
    error : float or None
        Error in the holes; see `benchmarks.objective.error_in_holes`.
    iterations : int or None
    """

    cpu_seconds: float
    wall_seconds: float
    peak_per_table: float
    objective: float | None
    objective_filled: float | None
    error: float | None
    iterations: int | None


def measure(
    solver: str,
    n: int,
    d: int,
    *,
    seed: int,
    cpu_limit: int | None = None,
    judge: bool = True,
    repeats: int = 5,
    **options: Any,
) -> Measurement:
    """Measure a solver from `SOLVERS` on an n x d problem; ``options`` are passed to the solver.

    Short fits are repeated up to ``repeats`` times, and the one with the median CPU time counts.
    Raises TimeLimitError if the fits take more than ``cpu_limit`` CPU seconds.
    """
    result = run_isolated(
        "benchmarks.measure:measure_here",
        threads=SOLVERS[solver].threads,
        cpu_limit=cpu_limit,
        solver=solver,
        n=n,
        d=d,
        seed=seed,
        judge=judge,
        repeats=repeats,
        options=options,
    )
    return Measurement(**result)


def measure_here(
    solver: str,
    n: int,
    d: int,
    seed: int,
    judge: bool,
    repeats: int,
    options: dict[str, Any],
    cpu_limit: int | None = None,
) -> dict[str, Any]:
    """Measure in this process, after a small warm-up problem so that imports do not count."""
    warnings.simplefilter("ignore")
    complete = SOLVERS[solver].load()
    small = make_problem(100, d, seed)
    complete(small.table, small.labels, **options)
    problem = make_problem(n, d, seed)
    table = problem.table.copy()  # a solver that writes to its input harms only itself

    limit_cpu(cpu_limit)
    costs: list[tuple[float, float, int]] = []
    while not costs or (len(costs) < repeats and sum(cost[0] for cost in costs) < SHORT):
        estimate = Estimate(())  # free the last one, so that each fit starts with the same memory
        cost, estimate = _fit(complete, table, problem.labels, options)
        costs.append(cost)
    limit_cpu(None)
    cpu, wall, peak = median_low(costs)  # by CPU time, the first field

    judged: dict[str, float | None] = {"objective": None, "objective_filled": None, "error": None}
    if judge:
        full = estimate.full()
        filled = np.where(np.isnan(problem.table), full, problem.table)
        judged = {
            "objective": objective(full, problem),
            "objective_filled": objective(filled, problem),
            "error": error_in_holes(full, problem),
        }
    return asdict(Measurement(cpu, wall, peak / table.nbytes, iterations=estimate.iterations, **judged))


def _fit(
    complete: Callable[..., Estimate], table: Array, labels: Array, options: dict[str, Any]
) -> tuple[tuple[float, float, int], Estimate]:
    """Return CPU seconds, wall seconds and peak bytes of one fit, and its result."""
    before = memory.reset_peak()
    cpu, wall = _cpu_seconds(), time.perf_counter()
    estimate = complete(table, labels, **options)
    cost = _cpu_seconds() - cpu, time.perf_counter() - wall, memory.peak() - before
    return cost, estimate


def _cpu_seconds() -> float:
    """Return the user and system time of this process, all its threads and its children."""
    use = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in use)
