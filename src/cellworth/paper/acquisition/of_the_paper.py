"""The paper's own experiments on buying, from 60 % observed, as `cellworth.paper.reproduce` runs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellworth.paper.reproduce.settings import Settings
from cellworth.paper.reproduce.work import carry_out

Record = dict[str, Any]
Row = dict[str, Any]


def run(repeats: int, *, jobs: int, folder: Path) -> dict[str, dict[str, list[Record]]]:
    """Return the records of the curves, prices and windows, by experiment and table.

    Runs that the folder of ``cellworth paper`` has are not done again. Records are those of
    `cellworth.paper.acquisition.experiments.run`.
    """
    names = ("curves", "prices", "windows")
    found = carry_out(names, Settings(repeats=repeats), folder, jobs=jobs, progress=True)
    full = full_information(found["curves"])
    return {name: _by_table(found[name], full) for name in names}


def full_information(rows: list[Row]) -> dict[tuple[str, int], dict[str, float]]:
    """Return AUC and accuracy by table and seed where every cell is bought: the last round of any run."""
    return {
        (row["dataset"], row["seed"]): {"full_auc": row["auc"], "full_accuracy": row["accuracy"]}
        for row in rows
        if row["cells"] == row["hidden"]
    }


def _by_table(rows: list[Row], full: dict[tuple[str, int], dict[str, float]]) -> dict[str, list[Record]]:
    """Return records by table, the strategies under their name."""
    records: dict[str, list[Record]] = {}
    for row in rows:
        known = full[row["dataset"], row["seed"]]
        records.setdefault(row["dataset"], []).append(row | known | {"strategy": row["method"]})
    return records
