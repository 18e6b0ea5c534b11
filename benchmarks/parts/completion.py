"""Completion against peers: time, memory, objective and error, by size."""

from __future__ import annotations

from benchmarks.isolate import FailedError, TimeLimitError
from benchmarks.measure import Measurement, measure
from benchmarks.report import Aim, Section, at_least, number
from benchmarks.settings import Settings, progress, size_name
from benchmarks.solvers import SOLVERS

OURS, PEER = "cellworth", "ALiPy AFASMC"
LEAST = {(2_000, 20): 30.0, (20_000, 20): 100.0, (20_000, 100): 30.0}  # times less CPU than the peer

HEADER = [
    "size",
    "solver",
    "CPU s",
    "wall s",
    f"CPU / {OURS}",
    "peak / table",
    "objective (1)",
    "error in holes",
    "iterations",
]

NOTES = [
    "CPU: user and system time of the fit, all threads; the median of up to 5 fits where they are short.",
    "Peak: resident memory above that before the fit, in units of the table's bytes.",
    "Objective: Eq. (1) with lambda1 = lambda2 = 1 and ridge 0.001 of the solver's own estimate, by one "
    "function for all, with the best linear model for that estimate. The imputers do not minimise it.",
    f"Against {PEER}: {OURS} with `single_start=True`, stopped at the first objective as low.",
    "Error in holes: root mean square, as a fraction of that of the column means.",
]


def run(settings: Settings) -> Section:
    """Measure all solvers at all sizes; drop a solver once it times out or fails."""
    section = Section("Completion", HEADER, [], list(NOTES))
    given_up: set[str] = set()
    for n, d in settings.sizes:
        measured: dict[str, Measurement] = {}
        for solver in SOLVERS:
            cells = ["not run"]
            if solver not in given_up:
                cells = _measure(section, measured, given_up, solver, n, d, settings)
            section.rows.append([size_name(n, d), solver, *cells, *["-"] * (len(HEADER) - 2 - len(cells))])
        if PEER in measured:
            note, aim = _race(measured[PEER], n, d, settings)
            section.notes.append(note)
            section.aims.append(aim)
    return section


def _measure(
    section: Section,
    measured: dict[str, Measurement],
    given_up: set[str],
    solver: str,
    n: int,
    d: int,
    settings: Settings,
) -> list[str]:
    """Measure one solver, note any failure, and return the cells of its row."""
    progress(f"{size_name(n, d)}, {solver}")
    try:
        m = measured[solver] = measure(solver, n, d, seed=settings.seed, cpu_limit=settings.cpu_limit)
    except TimeLimitError:
        given_up.add(solver)
        over = settings.cpu_limit
        ratio = f"> {over / measured[OURS].cpu_seconds:.0f}" if OURS in measured else "-"
        return [f"> {over:g}", "-", ratio]
    except FailedError as failure:
        given_up.add(solver)
        section.notes.append(f"{solver} failed at {size_name(n, d)}: {failure}")
        return ["failed"]
    ratio = number(m.cpu_seconds / measured[OURS].cpu_seconds if OURS in measured else None)
    return [
        number(m.cpu_seconds),
        number(m.wall_seconds),
        ratio,
        number(m.peak_per_table, ".1f"),
        number(m.objective, ".3f"),
        number(m.error, ".3f"),
        number(m.iterations, "d"),
    ]


def _race(peer: Measurement, n: int, d: int, settings: Settings) -> tuple[str, Aim]:
    """Return how long we take to reach an objective at least as low as the peer's, as a note and an aim."""
    assert peer.objective is not None
    begin = (
        f"{size_name(n, d)}: {PEER} reaches {peer.objective:.3f} in {peer.cpu_seconds:.3g} CPU s "
        f"({peer.objective_filled:.3f} with observed cells put back, as it returns them); {OURS}"
    )
    what = f"{size_name(n, d)}: CPU time of {PEER} over ours for an objective at least as low"
    progress(f"{size_name(n, d)}, {OURS} against {PEER}")
    options = {"until": peer.objective, "single_start": True}
    m = measure(OURS, n, d, seed=settings.seed, cpu_limit=settings.cpu_limit, **options)
    assert m.objective is not None
    if m.objective <= peer.objective:
        ratio = peer.cpu_seconds / m.cpu_seconds
        words = f"{begin} reaches {m.objective:.3f} in {m.cpu_seconds:.3g} CPU s, {m.iterations} iterations"
        return f"{words}: {ratio:.1f} times less.", at_least(what, ratio, LEAST.get((n, d), 1.0), ".1f")
    return f"{begin} does not get as low.", Aim(what, "not as low", met=False)
