"""Row blocks on the workers of a Dask cluster: processes on this machine, or other machines."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import partial
from typing import Any, Self

from joblib import effective_n_jobs

from cellworth.blocks.engine_protocol import (
    ARRAYS_PER_BLOCK,
    BLOCKS_PER_WORKER,
    FAN_IN,
    Blocks,
    Function,
    Merge,
    PassProgress,
    Watch,
    in_groups,
    memory_for_blocks,
    merge_in_tree,
    suitable_rows,
)
from cellworth.blocks.thread_engine import worker_threads
from cellworth.errors import DataError, ParameterError
from cellworth.optional_packages import require

CONNECT_SECONDS = 10.0
POLL_SECONDS = 5.0
IDLE_SECONDS = 120.0  # without any worker at work: a new one starts in a few seconds, on a busy machine in 30
LEAST_MEMORY = 500 * 10**6  # bytes per worker
# Dask makes its workers return every freed page to the system at once. Our kernels constantly allocate and
# free a few megabytes, and would spend much of their time getting pages back, so workers keep freed memory of
# small arrays. Memory of larger arrays, such as whole blocks, is still returned at once.
MOST_KEPT = 16 << 20  # bytes of the largest array whose memory is kept
ENVIRONMENT = "distributed.nanny.pre-spawn-environ"  # Dask's setting of the workers' variables
_USERS_OWN: dict[str, str | None] = {}  # what these were before the first workers


class DaskEngine:
    """Run row blocks as Dask tasks, and keep results between passes on the workers.

    Dask schedules, moves and retries the work. It spills what does not fit in a worker's memory to the
    worker's disk, and recomputes what a dead worker held, from the source or from the last checkpoint.

    Parameters
    ----------
    n_jobs : int or None, default=-1
        Worker processes to start on this machine, with one thread each; None means 1, -1 one per core.
    memory : str or int, default="4GB"
        Total memory for these workers, in bytes or as a string such as "512MB". Blocks are made small enough
        for the work on them to stay within it.
    scheduler : str or None, default=None
        The address of a running cluster, such as "tcp://10.0.0.1:8786". Its workers must have cellworth
        installed and see the files under the same paths. `n_jobs` and `memory` are then ignored.
    block_rows : int or None, default=None
        Rows per block; None chooses them by the number of workers and their memory.
    folder : str or None, default=None
        Where workers on this machine spill what does not fit in memory; None leaves the choice to Dask.

    Attributes
    ----------
    client : distributed.Client
    block_rows : int or None
        May be changed between tables.
    watch : callable or None
        Called with the number of blocks done in a pass and the total, as their futures finish.

    Notes
    -----
    A pass takes one task per block, one that distributes the shared arguments, and one for every eight
    results merged. Where blocks are many and none is held by a worker, one task takes eight neighbours and
    merges their results. The order of merging does not depend on the number of workers.

    Examples
    --------
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.blocks import DaskEngine, open_blocks
    >>> with DaskEngine(n_jobs=2, memory="4GB") as engine:  # doctest: +SKIP
    ...     source = open_blocks("big/", target="died", engine=engine)
    ...     GaussianCompleter().fit(source).completed_.write("filled/")
    """

    def __init__(
        self,
        n_jobs: int | None = -1,
        memory: str | int = "4GB",
        *,
        scheduler: str | None = None,
        block_rows: int | None = None,
        folder: str | None = None,
    ) -> None:
        require("dask")
        require("distributed")
        self._stack = ExitStack()
        self.block_rows = block_rows
        self.watch: Watch | None = None
        with ExitStack() as on_failure:
            on_failure.push(self._stack)
            self.client: Any = (
                self._start(n_jobs, memory, folder) if scheduler is None else self._connect(scheduler)
            )
            on_failure.pop_all()
        self._stack.enter_context(self.client)

    def _start(self, n_jobs: int | None, memory: str | int, folder: str | None) -> Any:
        from dask.utils import parse_bytes

        distributed = require("distributed")
        n_workers = int(effective_n_jobs(n_jobs))
        try:
            limit = parse_bytes(memory)
        except ValueError:
            raise ParameterError(f"memory must be bytes, or text such as '4GB'; got {memory!r}") from None
        if limit < n_workers * LEAST_MEMORY:
            raise ParameterError(
                f"memory must be at least {LEAST_MEMORY // 10**6} MB for each of {n_workers} workers: half "
                f"of it goes to Python and its libraries. Got {memory!r}. Raise it, or use fewer workers."
            )
        with _own_environment(), require("dask").config.set(_worker_settings(limit // n_workers)):
            cluster = distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                memory_limit=limit // n_workers,
                dashboard_address="127.0.0.1:0",
                local_directory=folder,
                silence_logs=logging.CRITICAL,
                # Of its own: for a worker that is restarted the settings are read again, after this block.
                config=deepcopy(require("dask").config.config),
            )
        return distributed.Client(self._stack.enter_context(cluster))

    def _connect(self, scheduler: str) -> Any:
        try:
            return require("distributed").Client(scheduler, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise DataError(
                f"no Dask scheduler answers at {scheduler!r}: {error}. Expected an address such as "
                "'tcp://10.0.0.1:8786'; check that it is running and that this machine can connect to it."
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect from the cluster; shut it down if it was started here."""
        self._stack.close()

    def rows_per_block(self, n_rows: int, row_bytes: int) -> int:
        """Return how many rows a block of a table should have."""
        if self.block_rows is not None:
            return self.block_rows
        memory, n_threads = self._resources()
        return suitable_rows(n_rows, row_bytes, memory, n_threads)

    def room(self) -> int | None:
        """Return how many bytes of results all workers keep before they go to disk; None if unlimited."""
        memory, n_threads = self._resources()
        return None if memory is None else n_threads * (memory_for_blocks(memory) // 2)

    def _resources(self) -> tuple[int | None, int]:
        """Return the smallest memory per worker thread (None if unlimited) and the total of threads."""
        info = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if not info:
            raise DataError(
                f"the cluster at {self.client.scheduler.address} has no workers; expected at least one. "
                "Start some with: dask worker ADDRESS --nthreads 1"
            )
        limits = [w["memory_limit"] // w["nthreads"] for w in info if w["memory_limit"]]
        return min(limits, default=None), sum(w["nthreads"] for w in info)

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Submit ``function(*of_block, *shared)`` for each block; return at once."""
        return Blocks(self._submitted(_call, function, blocks, shared)[0])

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, merge the results in a tree on the workers, and wait for the final result."""
        if self._in_runs(blocks):
            runs = Blocks(in_groups(list(zip(*(each.items for each in blocks), strict=True))))
            futures, progress = self._submitted(
                partial(_call_on_run, merge), function, (runs,), shared, [len(run) for run in runs.items]
            )
        else:
            futures, progress = self._submitted(_call, function, blocks, shared)
        while len(futures) > 1:
            groups = in_groups(futures)
            futures = [self.client.submit(_merged, merge, *group, pure=False) for group in groups]
        result = self._result(futures[0])
        if progress is not None:
            progress.finish()  # callbacks run in a thread of their own, and may be late
        return result

    def _submitted(
        self,
        call: Function,
        function: Function,
        blocks: tuple[Blocks, ...],
        shared: tuple[Any, ...],
        sizes: Sequence[int] | None = None,
    ) -> tuple[list[Any], PassProgress | None]:
        """Submit a task for each item; ``sizes`` are how many blocks each stands for, 1 if not given."""
        # Shared arguments are a separate task, so each worker gets them once and they can be recomputed.
        held = self.client.submit(_hold, function, *shared, pure=False)
        futures = self.client.map(call, *(list(b.items) for b in blocks), held=held, pure=False)
        if self.watch is None:
            return futures, None
        counted = [1] * len(futures) if sizes is None else sizes
        progress = PassProgress(self.watch, sum(counted))
        for size, future in zip(counted, futures, strict=True):
            future.add_done_callback(partial(progress.count, blocks=size))
        return futures, progress

    def _in_runs(self, blocks: tuple[Blocks, ...]) -> bool:
        """Return whether a task takes a run of blocks: if no worker holds any, and there are enough runs.

        Neighbouring blocks then stay together, so a row group that was cut into several is decoded by one
        worker, and not by each; and the scheduler has an eighth of the tasks.
        """
        n_runs = len(blocks[0]) // FAN_IN
        if n_runs < BLOCKS_PER_WORKER:
            return False
        # Between two passes there may be no worker at all: one that died is being restarted.
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        future = require("distributed").Future
        held = (isinstance(item, future) for of_kind in blocks for item in of_kind.items)
        return n_runs >= BLOCKS_PER_WORKER * sum(w["nthreads"] for w in workers) and not any(held)

    def _result(self, future: Any) -> Any:
        from distributed import KilledWorker

        try:
            return self._awaited(future)
        except KilledWorker as error:
            raise ParameterError(
                f"workers kept dying on one block, most likely because they ran out of memory: {error}. "
                "Raise memory, or lower block_rows."
            ) from None

    def _awaited(self, future: Any) -> Any:
        """Wait for a result; raise DataError if no worker has worked on anything for `IDLE_SECONDS`.

        A worker that dies is restarted, and its work done again. But if none comes back, as when the machine
        has no memory left for it, or if it is paused for want of memory, Dask waits for ever.
        """
        idle_since = time.monotonic()
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if future.done():  # by now, or the block itself has raised it
                    return future.result()
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            paused = {address for address, about in workers.items() if about.get("status") == "paused"}
            if any(tasks for address, tasks in self.client.processing().items() if address not in paused):
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > IDLE_SECONDS:
                raise DataError(
                    f"the cluster at {self.client.scheduler.address} has done nothing for "
                    f"{IDLE_SECONDS:.0f} seconds and has {len(workers)} workers; expected one at work. "
                    "They may have run out of memory: free some, raise memory or lower block_rows, and run "
                    "it again; with a checkpoint it goes on where it stopped."
                )


@contextmanager
def _own_environment() -> Iterator[None]:
    """Start workers with the user's environment variables, and leave these as they are.

    Dask sets the workers' variables in this process, too, and for good. They would go on to every process
    that is started later, and before the settings of later workers: a worker with little memory that keeps as
    much of what was freed as a large one is killed for it, again and again.
    """
    if not _USERS_OWN:
        _USERS_OWN.update({name: os.environ.get(name) for name in _worker_settings(0)[ENVIRONMENT]})
    _restore_environment()
    try:
        yield
    finally:
        _restore_environment()


def _restore_environment() -> None:
    for name, value in _USERS_OWN.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _worker_settings(memory: int) -> dict[str, Any]:
    """Return the settings for a local worker with this many bytes of memory.

    Of the memory that Python leaves free, half is for results kept between passes; results beyond that are
    spilled to disk. The other half is for the current block and headroom. Pausing is disabled: by the time
    Dask would pause a worker above its limit, everything that can be spilled has been, so it would never
    resume.
    """
    room = memory_for_blocks(memory)
    kept = min(MOST_KEPT, room // (2 * ARRAYS_PER_BLOCK))
    return {
        "distributed.worker.memory.target": 0.5 * room / max(1, memory),
        "distributed.worker.memory.spill": 1 - 0.5 * room / max(1, memory),
        "distributed.worker.memory.pause": False,
        ENVIRONMENT: {
            "OMP_NUM_THREADS": 1,
            "MKL_NUM_THREADS": 1,
            "OPENBLAS_NUM_THREADS": 1,
            "MALLOC_MMAP_THRESHOLD_": kept,
            "MALLOC_TRIM_THRESHOLD_": 4 * kept,
        },
    }


def _merged(merge: Merge, *results: Any) -> Any:
    return merge_in_tree(merge, results)


def _hold(*shared: Any) -> tuple[Any, ...]:
    return shared


def _call_on_run(merge: Merge, run: Sequence[tuple[Any, ...]], held: tuple[Any, ...]) -> Any:
    return merge_in_tree(merge, (_call(*of_blocks, held=held) for of_blocks in run))


def _call(*of_blocks: Any, held: tuple[Any, ...]) -> Any:
    function, *shared = held
    with worker_threads(1):
        return function(*of_blocks, *shared)
