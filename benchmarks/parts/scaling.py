"""Time and memory as the table grows, at a fixed number of iterations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.measure import Measurement, measure
from benchmarks.report import Section, at_least, at_most, number
from benchmarks.settings import Settings, progress, size_name

COLUMNS = 20
TWO_THREADS = (200_000, 100)  # rows and columns
ITERATIONS = 21  # odd: parity decides which buffer holds the result, and so the peak

HEADER = ["size", "CPU s", "wall s", "us per row and iteration", "peak / table"]


def run(settings: Settings) -> Section:
    """Fit increasingly long tables and report the slope of time against rows, on logarithmic scales."""
    measured: dict[int, Measurement] = {}
    for n in settings.rows:
        progress(f"{size_name(n, COLUMNS)}, {ITERATIONS} iterations")
        measured[n] = measure(
            "cellworth", n, COLUMNS, seed=settings.seed, judge=False, tol=0, max_iter=ITERATIONS
        )
    if settings.plot:
        _plot(measured, Path(settings.plot))
    rows = [
        [
            size_name(n, COLUMNS),
            number(m.cpu_seconds),
            number(m.wall_seconds),
            number(1e6 * m.cpu_seconds / (n * ITERATIONS)),
            number(m.peak_per_table, ".2f"),
        ]
        for n, m in measured.items()
    ]
    worst = max(m.peak_per_table for m in measured.values())
    notes = [
        f"{ITERATIONS} iterations on one thread. Slope of log CPU s against log rows: {slope(measured):.2f}. "
        f"Highest peak memory: {worst:.2f} tables beside the table itself."
    ]
    span = f"{min(measured):,} to {max(measured):,} rows of {COLUMNS}"
    aims = [
        at_most(f"{span}: log-log slope of CPU time", slope(measured), 1.1),
        at_most(f"{span}: peak memory beside the table, in tables", worst, 4.0),
    ]
    progress(f"{size_name(*TWO_THREADS)}, one and two threads")
    walls = [
        measure(
            solver, *TWO_THREADS, seed=settings.seed, judge=False, repeats=3, tol=0, max_iter=ITERATIONS
        ).wall_seconds
        for solver in ("cellworth", "cellworth, 2 threads")
    ]
    notes.append(
        f"{size_name(*TWO_THREADS)}, {ITERATIONS} iterations: {walls[0]:.2f} s of wall time on one thread, "
        f"{walls[1]:.2f} on two. Wall time, so other programs on the machine count."
    )
    what = f"{size_name(*TWO_THREADS)}: wall time of one thread over that of two"
    aims.append(at_least(what, walls[0] / walls[1], 1.6))
    return Section("Scaling", HEADER, rows, notes, aims)


def slope(measured: dict[int, Measurement]) -> float:
    """Return the exponent of time as a power of the number of rows, fitted by least squares."""
    log_rows = np.log(list(measured))
    return float(np.polyfit(log_rows, np.log([m.cpu_seconds for m in measured.values()]), 1)[0])


def _plot(measured: dict[int, Measurement], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    n = np.array(list(measured), dtype=float)
    seconds = np.array([m.cpu_seconds for m in measured.values()])
    left.loglog(n, seconds, "o-", label=f"measured, slope {slope(measured):.2f}")
    left.loglog(n, seconds[0] * n / n[0], ":", color="grey", label="slope 1")
    left.set(xlabel="rows", ylabel="CPU seconds", title=f"{ITERATIONS} iterations, {COLUMNS} columns")
    left.legend()
    right.semilogx(n, [m.peak_per_table for m in measured.values()], "o-", label="measured")
    right.axhline(4, linestyle=":", color="grey", label="target")
    right.set(xlabel="rows", ylabel="tables", title="Peak memory beside the table", ylim=(0, None))
    right.legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)
