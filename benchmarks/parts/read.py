"""Reading a file: `Table.read` against `pandas.read_csv`, in the same process and run."""

from __future__ import annotations

import csv
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.isolate import run_isolated
from benchmarks.report import Section, at_most, number
from benchmarks.settings import Settings, progress

ROWS, COLUMNS = 100_000, 50
REPEATS = 15
HEADER = ["file", "MB", "pandas", "cellworth", "in relation"]
FILES = (
    "two decimals",
    "all digits",
    "integers",
    "mixed",
    "mixed, quoted",
    "mixed, NA for holes",
    "mixed, semicolons and decimal commas",
)


def run(settings: Settings) -> Section:
    """Measure each file in its own process."""
    rows, aims = [], []
    for name in FILES:
        progress(f"reading, {name}")
        size = ROWS // 10 if settings.quick else ROWS
        found = run_isolated("benchmarks.parts.read:measure", name=name, rows=size, seed=settings.seed)
        relation = found["ours"] / found["pandas"]
        aims.append(at_most(f"reading {size:,} x {COLUMNS}, {name}: CPU time over pandas'", relation, 2.0))
        rows.append(
            [
                name,
                number(found["size"], ".0f"),
                number(found["pandas"], ".2f"),
                number(found["ours"], ".2f"),
                number(relation, ".2f"),
            ]
        )
    notes = [
        f"{ROWS:,} rows of {COLUMNS} columns, three cells in ten blank. CPU seconds over all threads, the "
        f"median of {REPEATS} readings of each, in turn. Mixed: 20 columns with two decimals, 20 of whole "
        "numbers, 5 of categories, 3 of dates and 2 of yes and no; quoted: quotes around all texts. pandas "
        "leaves dates and words as text, `Table.read` converts them."
    ]
    return Section("Reading a file", HEADER, rows, notes, aims)


def measure(name: str, rows: int, seed: int) -> dict[str, float]:
    """Write a file, and return its size in MB and the seconds to read it."""
    import pandas as pd

    from cellworth.table import Table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        quoting = csv.QUOTE_NONNUMERIC if "quoted" in name else csv.QUOTE_MINIMAL
        holes = "NA" if "NA" in name else ""
        style: dict[str, Any] = {"sep": ";", "decimal": ","} if "commas" in name else {}
        make_frame(name, rows, seed).to_csv(path, index=False, quoting=quoting, na_rep=holes, **style)
        ours = {"delimiter": ";", "decimal": ","} if style else {}
        readers: dict[str, Callable[[], object]] = {
            "pandas": lambda: pd.read_csv(path, **style),
            "ours": lambda: Table.read(path, **ours),
        }
        seconds: dict[str, list[float]] = {reader: [] for reader in readers}
        for turn in range(REPEATS + 1):
            for reader, read in readers.items():
                begin = time.process_time()
                read()
                if turn:  # the first imports, and warms up the disk's cache
                    seconds[reader].append(time.process_time() - begin)
        medians = {reader: statistics.median(each) for reader, each in seconds.items()}
        return {"size": path.stat().st_size / 1e6} | medians


def make_frame(name: str, rows: int, seed: int) -> Any:
    """Return a frame with three blank cells in ten."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(seed)
    normal = rng.normal(scale=10, size=(rows, COLUMNS))
    columns: dict[str, Any] = {f"x{j}": normal[:, j] for j in range(COLUMNS)}
    if name != "all digits":
        columns = {key: values.round(0 if name == "integers" else 2) for key, values in columns.items()}
    if "mixed" in name:
        for j in range(20, COLUMNS):
            columns[f"x{j}"] = rng.integers(0, 100, rows)
        for j in range(40, 45):
            columns[f"x{j}"] = rng.choice(["red", "green", "blue", "dark blue"], rows)
        for j in range(45, 48):
            columns[f"x{j}"] = (np.datetime64("2020-01-01") + rng.integers(0, 1000, rows)).astype(str)
        for j in range(48, COLUMNS):
            columns[f"x{j}"] = rng.choice(["yes", "no"], rows)
    frame = pd.DataFrame(columns)
    if name == "integers":
        frame = frame.astype("Int64")
    return frame.mask(rng.random(frame.shape) < 0.3)
