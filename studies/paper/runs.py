"""Carry out runs in several processes, saving each to a Parquet file as soon as it is done.

Interrupted work resumes where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from cellworth.errors import DataError
from cellworth.optional_packages import require
from cellworth.progress import ProgressLine
from studies.paper.experiments import EXPERIMENTS, Experiment, Row, Run
from studies.paper.settings import Settings

RUN_FIELDS: dict[str, type] = {"dataset": str, "observed": float, "method": str, "seed": int}
CONTEXT_FIELDS: dict[str, type] = {"version": str, "settings": str}

Key = tuple[str, str, Run]


class ResultFile:
    """The Parquet file of one experiment.

    Every row has the fields of its run, its results, the version of cellworth and, as JSON, the settings that
    the results depend on. Runs of another version or with other settings are kept unchanged. Rows are sorted
    by all of these, so that the same runs give the same file in whatever order they finish.

    Parameters
    ----------
    folder : path
        Created if necessary; the file is named after the experiment.
    experiment : Experiment
    settings : Settings

    Notes
    -----
    `add` rewrites the whole file, O(rows): a few milliseconds for the 10,000 rows of the largest
    experiment. The file is replaced atomically. Only one process at a time may write to a folder.
    """

    def __init__(self, folder: Path, experiment: Experiment, settings: Settings) -> None:
        from cellworth import __version__

        self.path = folder / f"{experiment.name}.parquet"
        self._arrow, self._parquet = require("pyarrow"), require("pyarrow.parquet")
        self._schema = self._schema_of(experiment)
        self._context = {
            "version": __version__,
            "settings": json.dumps(experiment.relevant(settings), sort_keys=True),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot write results to {folder}: {error.strerror}; choose another") from None
        self._parts: dict[Key, Any] = self._read() if self.path.exists() else {}

    def __contains__(self, run: Run) -> bool:
        """Whether the file has the run, for this version and these settings."""
        return self._key(run) in self._parts

    def rows(self, run: Run) -> list[Row]:
        """Return the rows of a run in the file."""
        found: list[Row] = self._parts[self._key(run)].to_pylist()
        return found

    def add(self, run: Run, rows: list[Row]) -> None:
        """Add the rows of a finished run to the file."""
        complete = [row | self._context for row in rows]
        self._parts[self._key(run)] = self._arrow.Table.from_pylist(complete, schema=self._schema)
        parts = [self._parts[key] for key in sorted(self._parts)]
        part = self.path.with_suffix(".parquet.part")
        with part.open("wb") as file:
            self._parquet.write_table(self._arrow.concat_tables(parts).combine_chunks(), file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)

    def _key(self, run: Run) -> Key:
        return self._context["version"], self._context["settings"], run

    def _read(self) -> dict[Key, Any]:
        try:
            table = self._parquet.read_table(self.path, partitioning=None)
        except (self._arrow.ArrowException, OSError) as error:
            raise DataError(
                f"{self.path}: expected a Parquet file of results, got {error}; move it away to start over"
            ) from None
        if not table.schema.equals(self._schema):
            raise DataError(
                f"{self.path}: expected the columns {', '.join(self._schema.names)}, got "
                f"{', '.join(table.schema.names)}; choose another folder, or move the file away"
            )
        groups: dict[Key, list[Row]] = {}
        for row in table.to_pylist():
            run = Run(*(row[name] for name in RUN_FIELDS))
            groups.setdefault((row["version"], row["settings"], run), []).append(row)
        return {key: self._arrow.Table.from_pylist(rows, schema=self._schema) for key, rows in groups.items()}

    def _schema_of(self, experiment: Experiment) -> Any:
        types = {str: self._arrow.string(), int: self._arrow.int64(), float: self._arrow.float64()}
        fields = RUN_FIELDS | experiment.figures | CONTEXT_FIELDS
        return self._arrow.schema([(name, types[kind]) for name, kind in fields.items()])


def carry_out(
    names: Sequence[str], settings: Settings, folder: Path, *, jobs: int = 1, progress: bool = False
) -> dict[str, list[Row]]:
    """Carry out all runs missing from the folder, and return the rows of all runs, by experiment.

    Parameters
    ----------
    names : names in `EXPERIMENTS`
    settings : Settings
    folder : path
        Folder with one file per experiment. Each run is saved as soon as it is done.
    jobs : int
        Processes; neither rows nor files depend on it.
    progress : bool
        Show a bar with the time left on standard error.
    """
    experiments = {name: EXPERIMENTS[name] for name in names}
    files = {name: ResultFile(folder, experiment, settings) for name, experiment in experiments.items()}
    wanted = {name: experiment.runs(settings) for name, experiment in experiments.items()}
    todo = [(name, run) for name, runs in wanted.items() for run in runs if run not in files[name]]
    # Seed by seed: seeds cost about the same, so the estimate of the time left is good, and interrupted work
    # has whole repeats.
    todo.sort(key=lambda task: task[1].seed)
    line = ProgressLine("reproducing", len(todo)) if progress and todo else None
    tasks = (delayed(_perform)(name, run, settings) for name, run in todo)
    finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    for done, (name, run, rows) in enumerate(finished, 1):
        files[name].add(run, rows)
        if line is not None:
            line.show(done, f"{run.dataset}, {run.method}, seed {run.seed}")
    return {name: [row for run in wanted[name] for row in files[name].rows(run)] for name in names}


def _perform(name: str, run: Run, settings: Settings) -> tuple[str, Run, list[Row]]:
    return name, run, EXPERIMENTS[name].perform(run, settings)
