"""Tables larger than memory, in row blocks: rows per second, memory, and the overhead of a cluster."""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.isolate import run_isolated
from benchmarks.report import Section, at_least, at_most, number
from benchmarks.settings import Settings, progress, size_name

COLUMNS = 20
ROWS = (100_000, 300_000, 1_000_000, 3_000_000)  # more are in out_of_core.py
QUICK_ROWS = (50_000, 100_000, 200_000)
ROW_BYTES = COLUMNS * 8
ROW_GROUP = 50_000
LIMIT = 512 * 10**6  # bytes for the single worker of the out-of-core run
EMPTY_BLOCKS, PASSES = 256, 10
TIMES = 8  # size of that run's table, in units of the limit
STEPS = {"SupervisedCompleter": 8, "GaussianCompleter": 4}
STEPS_OUTSIDE = 2  # each reads and writes everything on disk
ENOUGH = 8 * 10**9  # bytes for all workers if nothing should go to disk

HEADER = [
    "what",
    "completer",
    "size",
    "s per iteration",
    "rows per s and iteration",
    "peak of a worker, MB",
    "moved per iteration, kB",
]


def run(settings: Settings) -> Section:
    """Time both completers on growing tables, with threads and workers, and one table far above memory."""
    rows = QUICK_ROWS if settings.quick else ROWS
    compared = rows[-1] if settings.quick else 1_000_000
    section = Section("Engines", HEADER, [], [])
    with tempfile.TemporaryDirectory() as place:
        for completer in STEPS:
            scaling = {
                n: _measure(section, place, "2 workers", completer, n, settings, workers=2) for n in rows
            }
            alone = _measure(section, place, "1 worker", completer, compared, settings, workers=1)
            local = _measure(section, place, "2 threads", completer, compared, settings, engine_threads=2)
            _judge(section, completer, scaling, alone, local, compared)
        shutil.rmtree(Path(place) / "tables", ignore_errors=True)
        n = (LIMIT if settings.quick else TIMES * LIMIT) // ROW_BYTES
        outside = _measure(
            section,
            place,
            "1 worker, out of core",
            "SupervisedCompleter",
            n,
            settings,
            workers=1,
            limit=LIMIT,
            steps=STEPS_OUTSIDE,
        )
    section.notes.append(
        f"Out of core: a table of {n * ROW_BYTES / 1e6:,.0f} MB, {n * ROW_BYTES / LIMIT:.1f} times the "
        f"{LIMIT / 1e6:.0f} MB of the worker, whose memory never went above {outside['peak'] / 1e6:.0f} MB; "
        f"the process that leads it took {outside['here'] / 1e6:.0f} MB."
    )
    what = f"a table of {n * ROW_BYTES / LIMIT:.0f} times the memory of its worker: peak"
    section.aims.append(at_most(what, outside["peak"] / 1e6, LIMIT / 1e6, ".0f", " MB"))
    progress("empty blocks")
    per_block = run_isolated("benchmarks.parts.engine:overhead_here")
    section.notes.append(
        f"A block that does nothing takes Dask {1e3 * per_block:.1f} ms, in a pass over {EMPTY_BLOCKS} "
        "blocks on 2 workers."
    )
    section.notes.append(
        f"Wall time, median iteration, from Parquet files; {ENOUGH / 1e9:.0f} GB for all workers but out of "
        "core. Moved: between workers, as Dask counts it. Some 230 MB of a peak are Python and its libraries."
    )
    return section


def _measure(
    section: Section, place: str, what: str, completer: str, n: int, settings: Settings, **options: Any
) -> dict[str, float]:
    """Measure in a fresh process, and add a row to the table."""
    progress(f"{size_name(n, COLUMNS)}, {completer}, {what}")
    found: dict[str, float] = run_isolated(
        "benchmarks.parts.engine:measure_here",
        place=place,
        completer=completer,
        n=n,
        seed=settings.seed,
        **options,
    )
    peak = found.get("peak")
    section.rows.append(
        [
            what,
            completer,
            size_name(n, COLUMNS),
            number(found["seconds"]),
            number(n / found["seconds"]),
            "-" if peak is None else f"{peak / 1e6:.0f}",
            "-" if peak is None else f"{found['moved'] / 1e3:.0f}",
        ]
    )
    return found


def _judge(
    section: Section,
    completer: str,
    scaling: dict[int, dict[str, float]],
    alone: dict[str, float],
    local: dict[str, float],
    n: int,
) -> None:
    """Add the aims of one completer."""
    seconds = [found["seconds"] for found in scaling.values()]
    slope = np.polyfit(np.log(list(scaling)), np.log(seconds), 1)[0]
    efficiency = alone["seconds"] / (2 * scaling[n]["seconds"])
    overhead = scaling[n]["seconds"] / local["seconds"]
    section.aims += [
        at_most(f"{completer} on Dask: log-log slope of wall time", float(slope), 1.1),
        at_least(f"{completer}, {n:,} rows: efficiency of 2 workers against 1", efficiency, 0.7),
        at_most(f"{completer}, {n:,} rows: wall time on Dask over threads", overhead, 1.3),
    ]


def measure_here(
    place: str,
    completer: str,
    n: int,
    seed: int,
    workers: int = 0,
    engine_threads: int = 0,
    limit: int = ENOUGH,
    steps: int | None = None,
) -> dict[str, float]:
    """Return the median wall seconds of an iteration, the peak bytes, and the bytes moved per iteration."""
    import cellworth
    from cellworth.blocks import DaskEngine, ThreadEngine, open_blocks

    warnings.simplefilter("ignore")
    folder = make_table(Path(place) / "tables", n, seed)
    memory.reset_peak()  # writing the table does not count
    times: list[float] = []
    settings = {
        "tol": 0,
        "max_iter": steps or STEPS[completer],
        "callback": lambda _: times.append(time.perf_counter()),
    }
    if completer == "GaussianCompleter":
        settings |= {"margins": "normal", "label_trust": 0, "calibrate": False}
    else:  # a weaker penalty is approached in steps that call nothing back
        settings |= {"trace_penalty": 0.05, "penalty_unit": "relative"}
    with ExitStack() as stack:
        engine: Any = (
            ThreadEngine(engine_threads) if engine_threads else DaskEngine(workers, limit, folder=place)
        )
        stack.enter_context(engine)
        source = open_blocks(folder, target="label", engine=engine)
        fitted = getattr(cellworth, completer)(**settings).fit(source)
        found = {"seconds": float(np.median(np.diff(times))), "here": float(memory.peak())}
        if workers:
            found["peak"] = float(max(engine.client.run(memory.peak).values()))
            moved = sum(engine.client.run(_sent).values())
            found["moved"] = moved / fitted.n_iter_
    return found


def overhead_here() -> float:
    """Return the wall seconds per block of a pass over empty blocks."""
    from cellworth.blocks import DaskEngine
    from cellworth.blocks.engine_protocol import Blocks, add

    with DaskEngine(2) as engine:
        states = engine.map(_same, Blocks(range(EMPTY_BLOCKS)), shared=(np.zeros((COLUMNS, COLUMNS)),))
        engine.reduce(_nothing, add, states)
        begin = time.perf_counter()
        for _ in range(PASSES):
            states = engine.map(_same, states, shared=(np.zeros((COLUMNS, COLUMNS)),))
            engine.reduce(_nothing, add, states)
        return (time.perf_counter() - begin) / (PASSES * EMPTY_BLOCKS)


def _same(state: int, small: Any) -> int:
    return state


def _nothing(state: int) -> tuple[Any]:
    return (np.zeros((COLUMNS, COLUMNS)),)


def _sent(dask_worker: Any) -> float:
    return float(dask_worker.transfer_outgoing_bytes_total)


def make_table(folder: Path, n: int, seed: int) -> Path:
    """Write a noisy rank-5 table of n rows, 60 % observed, as a Parquet folder, unless it exists."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / str(n)
    if path.exists():
        return path
    path.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(5, COLUMNS))
    for number_of_file, start in enumerate(range(0, n, 10 * ROW_GROUP)):
        m = min(10 * ROW_GROUP, n - start)
        X = rng.normal(size=(m, 5)) @ mixing + 0.3 * rng.normal(size=(m, COLUMNS))
        label = np.where(X[:, 0] > 0, 1.0, 0.0)
        X[rng.random(X.shape) > 0.6] = np.nan
        columns = {f"c{j}": pa.array(X[:, j], from_pandas=True) for j in range(COLUMNS)}
        table = pa.table({**columns, "label": label})
        pq.write_table(table, path / f"part-{number_of_file:05d}.parquet", row_group_size=ROW_GROUP)
    return path
