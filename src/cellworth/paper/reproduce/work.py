"""All runs of all experiments on several processes, with one progress line; what is done is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from joblib import Parallel, delayed

from cellworth.paper.reproduce.curves import CURVES
from cellworth.paper.reproduce.experiment import Experiment, Row, Run
from cellworth.paper.reproduce.prices import PRICES
from cellworth.paper.reproduce.settings import Settings
from cellworth.paper.reproduce.store import ResultFile
from cellworth.paper.reproduce.table1 import TABLE_1_AGAIN
from cellworth.paper.reproduce.windows import WINDOWS
from cellworth.progress import ProgressLine

EXPERIMENTS = {experiment.name: experiment for experiment in (TABLE_1_AGAIN, CURVES, PRICES, WINDOWS)}


def carry_out(
    names: Sequence[str], settings: Settings, folder: Path, *, jobs: int = 1, progress: bool = False
) -> dict[str, list[Row]]:
    """Do all runs that the files in the folder lack, and return the rows of all runs, by experiment.

    Parameters
    ----------
    names : of `EXPERIMENTS`
    settings : Settings
    folder : path
        Of the files, one per experiment. Each run is put there as soon as it is done.
    jobs : int
        Processes; neither rows nor files depend on it.
    progress : bool
        Show a bar with the time left on the standard error.
    """
    experiments = {name: EXPERIMENTS[name] for name in names}
    files = {name: ResultFile(folder, experiment, settings) for name, experiment in experiments.items()}
    wanted = {name: experiment.runs(settings) for name, experiment in experiments.items()}
    todo = [(name, run) for name, runs in wanted.items() for run in runs if run not in files[name]]
    # Seed by seed: each seed is alike, so the time left is told well, and a broken run has whole repeats.
    todo.sort(key=lambda task: task[1].seed)
    line = ProgressLine("reproducing", len(todo)) if progress and todo else None
    tasks = (delayed(_perform)(experiments[name], run, settings) for name, run in todo)
    finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    for done, (name, run, rows) in enumerate(finished, 1):
        files[name].add(run, rows)
        if line is not None:
            line.show(done, f"{run.dataset}, {run.method}, seed {run.seed}")
    return {name: [row for run in wanted[name] for row in files[name].rows(run)] for name in names}


def _perform(experiment: Experiment, run: Run, settings: Settings) -> tuple[str, Run, list[Row]]:
    return experiment.name, run, experiment.perform(run, settings)
