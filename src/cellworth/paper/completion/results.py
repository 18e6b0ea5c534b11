"""The figures of the completion study, in memory and in files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cellworth.errors import DataError


class Outcome(NamedTuple):
    """What one method gave in one case; ``coverage`` is that of 90 % intervals, where there are any."""

    dataset: str
    share: float
    method: str
    seed: int
    error: float
    accuracy: float
    coverage: float | None
    seconds: float


class Coverage(NamedTuple):
    """The share of hidden cells that the intervals of one level cover, in one case."""

    dataset: str
    share: float
    seed: int
    level: float
    covered: float


def write_results(outcomes: Sequence[Outcome], coverages: Sequence[Coverage], folder: Path) -> None:
    """Write ``completion.csv`` and ``coverage.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        (*o[:4], f"{o.error:.6f}", f"{o.accuracy:.6f}", _blank(o.coverage), f"{o.seconds:.3f}")
        for o in outcomes
    ]
    _write(folder / "completion.csv", Outcome._fields, rows)
    _write(folder / "coverage.csv", Coverage._fields, [(*c[:4], f"{c.covered:.6f}") for c in coverages])


def read_results(folder: Path) -> tuple[list[Outcome], list[Coverage]]:
    """Read what `write_results` wrote."""
    outcomes = [
        Outcome(d, float(s), m, int(k), float(e), float(a), float(c) if c else None, float(t))
        for d, s, m, k, e, a, c, t in _read(folder / "completion.csv")
    ]
    coverages = [
        Coverage(d, float(s), int(k), float(v), float(c)) for d, s, k, v, c in _read(folder / "coverage.csv")
    ]
    return outcomes, coverages


def _blank(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _read(path: Path) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))[1:]
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; run the study first") from None
