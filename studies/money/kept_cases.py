"""Finished tasks of the study, kept in a folder: nothing is run twice, an interrupted study goes on."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

from cellworth.blocks.thread_engine import worker_threads
from cellworth.progress import ProgressLine
from studies.money.development_tables import HALVES, NAMES

Record = dict[str, Any]


class Task(Protocol):
    """What can be run on its own, and has a file for its records."""

    def file(self, folder: Path) -> Path:
        """Return where the records are kept."""
        ...


AnyTask = TypeVar("AnyTask", bound=Task)
Start = tuple[str, float, int]
"""A table, the share of its cells known at the start, and a seed."""


@dataclass(frozen=True)
class StartTask:
    """A part of the study at one start.

    Attributes
    ----------
    part : str
        For instance "stops".
    table : str
    observed : float
        Share of cells known at the start.
    seed : int
    """

    part: str
    table: str
    observed: float
    seed: int

    def file(self, folder: Path) -> Path:
        """Return where the records are kept."""
        return folder / f"{self.table}-{self.observed:g}-{self.seed}.{self.part}.json"

    @property
    def start(self) -> Start:
        """The table, the share known, and the seed."""
        return self.table, self.observed, self.seed

    def __str__(self) -> str:
        """Return the start in words."""
        return f"{self.table}, {self.observed:.0%} known, seed {self.seed}"


@dataclass(frozen=True)
class CaseFolder:
    """A folder of finished tasks.

    Attributes
    ----------
    path : Path
    jobs : int
        Processes; each runs one task at a time, on one thread.
    only_kept : bool
        Leave out the tasks that are not in the folder instead of running them.
    """

    path: Path
    jobs: int = 1
    only_kept: bool = False

    def records(
        self, title: str, tasks: Sequence[AnyTask], work: Callable[[AnyTask, Path], list[Record]]
    ) -> dict[AnyTask, list[Record]]:
        """Return the records of the tasks, in their order; those not in the folder are run and kept there.

        Parameters
        ----------
        title : str
            Of the progress bar.
        tasks : sequence
        work : callable
            Returns the records of a task, given the folder.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        todo = [] if self.only_kept else [task for task in tasks if not task.file(self.path).exists()]
        line = ProgressLine(title, len(todo))
        jobs = (delayed(_keep)(task, self.path, work) for task in todo)
        for done, task in enumerate(Parallel(n_jobs=self.jobs, return_as="generator_unordered")(jobs), 1):
            line.show(done, str(task))
        files = {task: task.file(self.path) for task in tasks}
        return {task: json.loads(file.read_text()) for task, file in files.items() if file.exists()}


def start_tasks(part: str, starts: Sequence[Start]) -> list[StartTask]:
    """Return the tasks of a part."""
    return [StartTask(part, *start) for start in starts]


def what_was_run(wanted: Sequence[Start], found: Collection[Start]) -> str:
    """Return in a sentence or two which tables, shares and seeds figures are from, and what is missing."""
    if not found:
        return f"**Not run yet**: none of the {len(wanted)} starts."
    tables = {table for table, *_ in found}
    halves = ", ".join(f"{len(tables & {*names})} {half}" for half, names in HALVES.items())
    shares = " and ".join(f"{share:.0%}" for share in sorted({share for _, share, _ in found}))
    seeds = len({seed for *_, seed in found})
    text = (
        f"From {len(tables)} of the {len(NAMES)} tables ({halves}), {shares} of the cells known, "
        f"{seeds} seed{'' if seeds == 1 else 's'}: {len(found)} starts."
    )
    missing = [start for start in wanted if start not in found]
    if not missing:
        return text
    lists = []
    for share, seed in sorted({(share, seed) for _, share, seed in missing}):
        names = [table for table, *at in missing if at == [share, seed]]
        everything = len(names) == sum(at == [share, seed] for _, *at in wanted)
        lists.append(f"with {share:.0%} known, seed {seed}: {'all' if everything else ', '.join(names)}")
    return f"{text} **Not run yet, {len(missing)} of {len(wanted)} starts:** {'; '.join(lists)}."


def _keep(task: AnyTask, folder: Path, work: Callable[[AnyTask, Path], list[Record]]) -> AnyTask:
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = work(task, folder)
    file = task.file(folder)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(records))
    part.replace(file)
    return task
