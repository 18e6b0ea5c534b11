"""Tables that do not fit in the memory of their workers: an iteration against reading the table once."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.isolate import run_isolated
from benchmarks.report import Aim, Section, at_most, number
from benchmarks.settings import Settings, progress, size_name
from cellworth.complete.solver.unread_blocks import cell_bytes

COLUMNS, FACTORS, HOLES = 20, 5, 0.3
ROWS = (1_000_000, 10_000_000, 30_000_000, 100_000_000)
QUICK_ROWS = (100_000, 300_000)
MEMORY = 4 * 10**9  # bytes for both workers together
FILE_ROWS, GROUP_ROWS = 1_000_000, 250_000
STEPS = 2

COMPLETERS: dict[str, tuple[dict[str, Any], float]] = {  # settings, and bytes kept for a cell
    "GaussianCompleter": (
        {"margins": "normal", "label_trust": 0.0, "shrinkage": 3.0, "calibrate": False},
        4,
    ),
    "SupervisedCompleter": ({"trace_penalty": 0.05, "penalty_unit": "relative"}, cell_bytes(4)),
}

HEADER = [
    "completer",
    "rows",
    "table, GB",
    "kept or read again",
    "CPU s of reading it once",
    "CPU s of an iteration",
    "iteration / reading, CPU",
    "iteration / reading, wall",
    "iteration / decoding, CPU",
    "µs per row and iteration",
    "peak of a worker, MB",
]


def run(settings: Settings) -> Section:
    """Fit two completers to float32 Parquet tables of growing length, on two workers with 4 GB in all."""
    section = Section("Out of core", HEADER, [], [])
    place = os.environ.get("CELLWORTH_BIG_TABLES")
    with tempfile.TemporaryDirectory() as temporary:
        found: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in COMPLETERS}
        for n in QUICK_ROWS if settings.quick else ROWS:
            folder = Path(place or temporary) / f"rows-{n}"
            progress(f"{size_name(n, COLUMNS)}: writing")
            make_table(folder, n, settings.seed)
            for name, of_name in found.items():
                progress(f"{size_name(n, COLUMNS)}: fitting {name}")
                given = {"folder": str(folder), "name": name}
                of_name[n] = run_isolated("benchmarks.parts.out_of_core:measure_here", **given)
                section.rows.append([name, *_row(n, of_name[n])])
            if place is None:
                shutil.rmtree(folder)
    for name, of_name in found.items():
        section.aims += _growth(name, of_name)
        section.notes += _step_between(name, of_name)
        last = max(of_name)
        ratio = of_name[last]["step_wall"] / of_name[last]["read_wall"]
        what = f"an iteration of {name} at {last:,} rows, against reading it once"
        section.aims.append(at_most(what, ratio, 1.3, ".2f", " times"))
    section.notes.append(_width_note(run_isolated("benchmarks.parts.out_of_core:measure_widths")))
    section.notes.append(
        f"{COLUMNS} columns of single precision, uncompressed Parquet, {FACTORS} factors plus noise, "
        f"{100 * HOLES:.0f} % holes at random; longer tables are copies of a file of a million rows. Two "
        f"workers with "
        f"{MEMORY / 1e9:.0f} GB in all. CPU seconds of both workers together, so that other processes on the "
        "machine do not count, and wall time beside them, which the aims are about. Reading: decoding the "
        "files, writing columns into rows, and counting the holes, as what works on rows does. An iteration "
        "that reads the table again works on the decoded columns, without such rows; decoding alone, where "
        "no cell is looked at, is the least that it could take. Kept: the rows, or the iterates of "
        "SupervisedCompleter, stay in memory between iterations. Read again: they do not fit, so every "
        "iteration reads the table and forgets it. CELLWORTH_BIG_TABLES names a folder where tables are kept."
    )
    return section


def _growth(name: str, found: dict[int, dict[str, Any]]) -> list[Aim]:
    """Return by how much the cost of a row grows with the table, among runs that keep it, or read it again.

    The two are not compared: what is kept needs no reading, which is a step and no growth.
    """
    aims = []
    for again, words in ((False, "kept in memory"), (True, "read again")):
        sizes = sorted(n for n, m in found.items() if m["again"] == again)
        if len(sizes) > 1:
            first, last = sizes[0], sizes[-1]
            growth = _per_row(found, last) / _per_row(found, first)
            what = f"an iteration of {name} {words}, per row, at {last:,} rows against {first:,}"
            aims.append(at_most(what, growth, 1.3, ".2f", " times"))
    return aims


def _step_between(name: str, found: dict[int, dict[str, Any]]) -> list[str]:
    """Say what reading again costs a row, where both kinds of runs are there."""
    kept = [n for n, m in found.items() if not m["again"]]
    again = [n for n, m in found.items() if m["again"]]
    if not (kept and again):
        return []
    largest, smallest = max(kept), min(again)
    ratio = _per_row(found, smallest) / _per_row(found, largest)
    return [
        f"{name}: the first table that is read again, of {smallest:,} rows, takes {ratio:.2f} times the CPU "
        f"per row and iteration of the last that is kept, of {largest:,}."
    ]


def _per_row(found: dict[int, dict[str, Any]], n: int) -> float:
    return float(found[n]["step"]) / n


def _width_note(found: dict[str, list[float]]) -> str:
    """Say what a pass of SupervisedCompleter without iterates takes for a row, by the number of columns."""
    rows = [
        f"{what}: {solved:.2f} µs beside {read:.2f} for reading it" for what, (read, solved) in found.items()
    ]
    return (
        "Without iterates, a row of SupervisedCompleter is a system of its observed cells. CPU time of "
        f"solving a row in a pass on one thread, {100 * HOLES:.0f} % holes: {'; '.join(rows)}."
    )


def _row(n: int, m: dict[str, float]) -> list[str]:
    return [
        f"{n:,}",
        number(n * COLUMNS * 4e-9),
        "read again" if m["again"] else "kept",
        number(m["read"]),
        number(m["step"]),
        number(m["step"] / m["read"], ".2f"),
        number(m["step_wall"] / m["read_wall"], ".2f"),
        number(m["step"] / m["decode"], ".2f"),
        number(1e6 * m["step"] / n, ".2f"),
        f"{m['peak'] / 1e6:.0f}",
    ]


def make_table(folder: Path, n: int, seed: int, d: int = COLUMNS) -> None:
    """Write a table of n rows, unless it is there: a file of `FILE_ROWS`, and copies of it."""
    import pyarrow as pa
    from pyarrow import parquet

    if folder.exists():
        return
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    loadings = np.random.default_rng(seed).normal(size=(FACTORS, d)).astype(np.float32)
    schema = pa.schema([(f"c{j}", pa.float32()) for j in range(d)])
    first = partial / "part-0000.parquet"
    with parquet.ParquetWriter(first, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, min(n, FILE_ROWS), GROUP_ROWS):
            rng, m = np.random.default_rng([seed, start]), min(GROUP_ROWS, n - start)
            X = rng.standard_normal((m, FACTORS), dtype=np.float32) @ loadings
            X += np.float32(0.5) * rng.standard_normal((m, d), dtype=np.float32)
            holes = rng.random((m, d), dtype=np.float32) < HOLES
            arrays = [pa.array(X[:, j], mask=holes[:, j]) for j in range(d)]
            writer.write_table(pa.table(arrays, schema=schema), row_group_size=GROUP_ROWS)
    for copy in range(1, n // FILE_ROWS):
        shutil.copyfile(first, partial / f"part-{copy:04d}.parquet")
    partial.rename(folder)


def measure_here(folder: str, name: str) -> dict[str, Any]:
    """Return the CPU seconds of both workers for reading, decoding and an iteration, and their peak."""
    import cellworth
    from cellworth.blocks import DaskEngine, open_blocks
    from cellworth.blocks.engine_protocol import add

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as spilled, DaskEngine(2, MEMORY, folder=spilled) as engine:
        source = open_blocks(folder, engine=engine)

        def cpu() -> float:
            return sum(engine.client.run(time.process_time).values())

        source.reduce(_known, add)  # starts the workers' libraries

        def clock() -> tuple[float, float]:
            return cpu(), time.perf_counter()

        before = clock()
        source.reduce(_known, add)
        between = clock()
        source.reduce(_decoded, add)
        (read, read_wall), (decode, _) = np.diff([before, between, clock()], axis=0)
        clocks: list[tuple[float, float]] = []

        def note(_: Any) -> None:
            clocks.append(clock())

        settings, kept_bytes = COMPLETERS[name]
        getattr(cellworth, name)(**settings, tol=0, max_iter=STEPS + 1, callback=note).fit(source)
        peak = max(engine.client.run(memory.peak).values())
        room = engine.room()
        again = room is not None and kept_bytes * source.n_rows * COLUMNS > room
    step, step_wall = np.median(np.diff(clocks, axis=0), axis=0).tolist()
    walls = {"read_wall": float(read_wall), "step_wall": step_wall}
    return {"read": float(read), "decode": float(decode), "step": step, "peak": peak, "again": again, **walls}


def measure_widths() -> dict[str, list[float]]:
    """Return the CPU microseconds of reading a row of tables of several widths, and of solving it."""
    from cellworth.blocks import ThreadEngine, open_blocks
    from cellworth.blocks.engine_protocol import add
    from cellworth.complete.labels import LabelSummary, label_code
    from cellworth.complete.proximal_without_iterate import Weights, pass_sums
    from cellworth.complete.scaling import Scaling
    from cellworth.complete.solver.linear_part import LinearPart

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for d, loss in (
            (20, "squared"),
            (20, "logistic"),
            (63, "squared"),
            (100, "squared"),
            (200, "squared"),
        ):
            n = 2_000_000 // d
            path = Path(folder) / f"wide-{d}"
            make_table(path, n, 0, d)
            rng, S = np.random.default_rng(0), np.eye(d) + np.ones((d, d))
            source = open_blocks(path, engine=ThreadEngine(1))
            parts = [block.read() for block in source.blocks.items]
            y = rng.integers(0, 2, n).astype(float)
            code = label_code(LabelSummary.of(y), loss, "classes")
            model = LinearPart(code.loss, 1 / n, 1e-3, rng.normal(size=(d, 1)), np.zeros(1))
            given = Weights(S, model, n), Scaling(np.zeros(d), np.ones(d)), code
            labelled = [replace(part, y=y[part.start :][: len(part.X)]) for part in parts]
            pass_sums(labelled[0].some(slice(100)), *given)  # imports and first calls do not count
            begun = time.process_time()
            source.reduce(_known, add)
            read = time.process_time()
            for part in labelled:
                pass_sums(part, *given)
            solved = time.process_time()
            found[f"{d} columns, {loss} loss"] = [1e6 * (read - begun) / n, 1e6 * (solved - read) / n]
    return found


def _known(part: Any) -> tuple[int]:
    return (int(part.X.size - np.isnan(part.X).sum()),)


def _decoded(part: Any) -> tuple[int]:
    return (part.n_rows,)
