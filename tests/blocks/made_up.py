"""A table of any length that is made up as it is read, and the memory that completing it takes."""

import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cellworth import SupervisedCompleter
from cellworth.blocks import DaskEngine, open_blocks
from cellworth.blocks.row_source import Part

COLUMNS = 20
FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class MadeUpBlock:
    start: int
    stop: int

    def read(self):
        rng = np.random.default_rng(self.start)
        common = rng.normal(size=(self.stop - self.start, 1))
        X = common + rng.normal(size=(self.stop - self.start, COLUMNS))
        X[::2, ::3] = np.nan
        return Part(X, (common[:, 0] > 0).astype(float), None, self.start)


@dataclass(frozen=True)
class MadeUpTable:
    n_rows: int
    columns: tuple = tuple(map(str, range(COLUMNS)))
    dtype: np.dtype = FLOAT64
    target: str = "label"
    row_id: None = None
    named: bool = False

    def blocks(self, most_rows):
        starts = range(0, self.n_rows, most_rows)
        return [MadeUpBlock(start, min(start + most_rows, self.n_rows)) for start in starts]

    def identity(self):
        return {"rows": self.n_rows}


def peak():
    """Return the most bytes that this process has had in memory."""
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main(n_rows, memory, folder):
    """Complete a table on one worker and print the peaks of the worker and of this process, in bytes."""
    warnings.simplefilter("ignore")
    with DaskEngine(n_jobs=1, memory=memory, folder=folder) as engine:
        pid = engine.client.run(lambda: __import__("os").getpid())
        source = open_blocks(MadeUpTable(n_rows), engine=engine)
        SupervisedCompleter(max_iter=1, tol=0).fit(source)
        spilled = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        peaks = list(engine.client.run(peak).values())
        assert engine.client.run(lambda: __import__("os").getpid()) == pid, "the worker was killed"
    table = n_rows * COLUMNS * 8
    blocks = len(source.blocks)
    peaks = {"worker": max(peaks), "here": peak()}
    print(json.dumps({**peaks, "table": table, "blocks": blocks, "spilled": spilled}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
