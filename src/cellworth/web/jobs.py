"""Long computations in a separate process, so that reading and answering never wait for them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cellworth import errors
from cellworth.errors import CellworthError, ComputationError
from cellworth.setting_names import in_language, spoken
from cellworth.web.notifications import Notifications
from cellworth.web.worker import LENGTH, PROGRESS, pack, unpack

log = logging.getLogger("cellworth.web")

PAUSE = 3.0
"""Minimum seconds between updates of a summary."""
LONG_PAUSE = 30.0
"""Seconds before retrying a summary that could not be computed."""
WANTED = 120.0
"""Seconds for which a summary is kept up to date after someone looked at it."""
WORKER = "cellworth.web.worker"
"""The module that the worker process runs."""
URGENT, LATER = 0, 1
LEAST_DONE = 0.02
"""What is done before the time that is left is estimated from it."""
NOTHING, SAMPLED, FAILED = -3, -2, -1
"""Stand for the number of an event, before all others: of no summary, of a look at a sample, of an error."""
_SMALL = 10_000  # bytes that take less time to unpack than a thread to start
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(order=True)
class _Job:
    urgency: int
    order: int
    content: bytes = field(compare=False)
    result: asyncio.Future[tuple[Any, int]] = field(compare=False)
    ends_with_caller: bool = field(compare=False, default=False)
    heard: Callable[[float], None] | None = field(compare=False, default=None)


@dataclass
class _Kept:
    """The state of one summary of one campaign; times are from a monotonic clock."""

    newest: tuple[int, Any] | None = None
    sample: Any = None
    begun: float | None = None
    done: float = 0.0
    tried: int = -1
    error: str | None = None
    looked_at: float = 0.0
    due: float = 0.0
    running: bool = False


class WorkDone(NamedTuple):
    """How much of the work is done, from 0 to 1, and about how many seconds are left; None at first."""

    done: float
    seconds_left: float | None

    @classmethod
    def of(cls, done: float, seconds: float) -> WorkDone:
        """Return it for work that has taken so many seconds so far.

        >>> WorkDone.of(0.25, 10.0)
        WorkDone(done=0.25, seconds_left=30.0)
        """
        return cls(done, seconds * (1 - done) / done if done > LEAST_DONE else None)


class JobQueue:
    """Runs functions of a campaign in a worker process, and keeps summaries up to date.

    There is one worker, niced and single-threaded, which starts with the first job. It runs one job at a
    time, those people are waiting for first. If the worker dies, its job fails and the next job starts a new
    one.

    Parameters
    ----------
    store : str or Path
        The address of the store; the worker opens campaigns itself.
    summaries : mapping of str to function of a campaign
        The summaries that `latest` can return. The worker imports the functions by name, so they must be at
        module level; they return plain data with ``as_of``, an event number.
    notifications : Notifications, optional
        Knows the newest events, and announces updated summaries.
    first_looks : mapping of str to function of a campaign, optional
        For some summaries, what to compute before the first one: a look at a sample, or None.
    """

    def __init__(
        self,
        store: str | Path,
        summaries: Mapping[str, Callable[[Any], Any]],
        notifications: Notifications | None = None,
        first_looks: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        self._first_looks = dict(first_looks or {})
        self._store = str(store)
        self._functions = dict(summaries)
        self.notifications = Notifications() if notifications is None else notifications
        self._jobs: asyncio.PriorityQueue[_Job] = asyncio.PriorityQueue()
        self._orders = itertools.count()
        self._summaries: dict[tuple[str, str], _Kept] = {}
        self._process: Process | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def start(self) -> None:
        """Start working; call it inside the running event loop."""
        for work in (self._work(), self._renew()):
            self._keep(asyncio.create_task(work))

    async def run(self, name: str, job: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Run ``job(campaign, *arguments, **keywords)`` in the worker and return its result.

        Raises
        ------
        CellworthError
            If the job raises one, as DataError, ParameterError, ConflictError or MissingDependencyError.
        ComputationError
            If the worker died, the job failed unexpectedly, or the server is shutting down.
        """
        result, _ = await self._submit(URGENT, name, job, arguments, keywords)
        return result

    async def run_while_wanted(
        self, name: str, job: Callable[..., Any], *arguments: Any, **keywords: Any
    ) -> Any:
        """Like `run`; but if the caller is cancelled, the worker is killed, and a new one takes over."""
        result, _ = await self._submit(URGENT, name, job, arguments, keywords, ends_with_caller=True)
        return result

    def latest(self, name: str, what: str) -> tuple[int, Any] | None:
        """Return a summary and the number of the event it describes; None if there is none yet.

        Returns immediately. If there are newer events, the summary is updated soon, and announced.
        """
        kept = self._summaries.setdefault((name, what), _Kept())
        kept.looked_at = time.monotonic()
        return kept.newest

    def sample(self, name: str, what: str) -> Any:
        """Return the first look at a summary that there is not yet; None if there is none."""
        return self._summaries.get((name, what), _Kept()).sample

    def progress(self, name: str, what: str) -> WorkDone | None:
        """Return how far the worker is with the first summary; None if it has not begun, or is done."""
        kept = self._summaries.get((name, what), _Kept())
        if kept.begun is None or kept.newest is not None:
            return None
        return WorkDone.of(kept.done, time.monotonic() - kept.begun)

    def is_renewing(self, name: str, what: str) -> bool:
        """Return whether a summary is out of date, and so will be updated."""
        kept = self._summaries.get((name, what), _Kept())
        return kept.running or kept.tried < self.notifications[name].number

    def error(self, name: str, what: str) -> str | None:
        """Return why the last update of a summary failed; None if it succeeded."""
        return self._summaries.get((name, what), _Kept()).error

    @property
    def waiting(self) -> int:
        """The number of jobs that wait for the worker."""
        return self._jobs.qsize()

    @property
    def worker(self) -> int | None:
        """The process id of the worker; None if it is not running."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    async def close(self) -> None:
        """Kill the worker, even if busy, and release all waiting callers; nothing is partly recorded."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while not self._jobs.empty():
            _fail(self._jobs.get_nowait(), "The server is shutting down. Try again when it is back.")
        await self._kill()

    async def _submit(
        self,
        urgency: int,
        name: str,
        job: Callable[..., Any],
        arguments: tuple[Any, ...] = (),
        keywords: Mapping[str, Any] | None = None,
        ends_with_caller: bool = False,
        heard: Callable[[float], None] | None = None,
    ) -> tuple[Any, int]:
        if self._closed:
            raise ComputationError("The server is shutting down. Try again when it is back.")
        result: asyncio.Future[tuple[Any, int]] = asyncio.get_running_loop().create_future()
        spoken_job = partial(in_language, spoken(), job)
        content = pack((name, spoken_job, arguments, dict(keywords or {})))
        self._jobs.put_nowait(_Job(urgency, next(self._orders), content, result, ends_with_caller, heard))
        value, number = await result
        self.notifications.event(name, number)
        return value, number

    async def _work(self) -> None:
        """Run jobs one at a time."""
        while True:
            job = await self._jobs.get()
            if job.ends_with_caller and job.result.done():
                continue
            try:
                outcome = await (self._until_left(job) if job.ends_with_caller else self._exchange(job))
            except asyncio.CancelledError:
                _fail(job, "The server is shutting down. Try again when it is back.")
                raise
            except (OSError, EOFError) as error:
                log.warning("the worker process died: %s", error)
                self._process = None
                _fail(job, "The computation was interrupted; a new process takes over. Try again.")
                continue
            if outcome is not None:
                _settle(job, outcome)

    async def _until_left(self, job: _Job) -> tuple[str, Any, int] | None:
        """Exchange a job; if its caller leaves first, kill the worker and return None."""
        exchange = asyncio.ensure_future(self._exchange(job))
        try:
            both: list[asyncio.Future[Any]] = [exchange, job.result]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if exchange.done():
                return exchange.result()
        finally:
            if not exchange.done():
                exchange.cancel()
                await asyncio.gather(exchange, return_exceptions=True)
                await self._kill()
        return None

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _exchange(self, job: _Job) -> tuple[str, Any, int]:
        """Send a job to the worker, starting it if necessary, and wait for the outcome."""
        if self._process is None or self._process.returncode is not None:
            self._process = await _start_worker(self._store)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(job.content)
        await self._process.stdin.drain()
        while True:
            # Raises IncompleteReadError, an EOFError, if the worker dies.
            (length,) = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
            packed = await self._process.stdout.readexactly(length)
            is_small = length < _SMALL
            message: tuple[str, Any, int]
            message = unpack(packed) if is_small else await asyncio.to_thread(unpack, packed)
            if message[0] != PROGRESS:
                return message
            if job.heard is not None:
                job.heard(message[1])

    async def _renew(self) -> None:
        """Check periodically for summaries that are wanted and out of date."""
        while True:
            now = time.monotonic()
            for (name, what), kept in list(self._summaries.items()):
                newest = self.notifications[name]
                wanted = newest.listeners > 0 or now - kept.looked_at < WANTED
                if wanted and not kept.running and now >= kept.due and kept.tried < newest.number:
                    kept.running, kept.tried = True, newest.number
                    self._keep(asyncio.create_task(self._renew_one(name, what, kept)))
            await asyncio.sleep(0.2)

    async def _renew_one(self, name: str, what: str, kept: _Kept) -> None:
        begun = time.monotonic()
        try:
            if kept.newest is None and kept.sample is None and what in self._first_looks:
                with contextlib.suppress(CellworthError):  # the summary itself comes in any case
                    kept.sample, _ = await self._submit(LATER, name, self._first_looks[what])
                if kept.sample is not None:
                    self.notifications.summary(name, what, SAMPLED)
            kept.begun = None
            heard = partial(self._hear, name, what, kept) if kept.newest is None else None
            data, number = await self._submit(LATER, name, self._functions[what], heard=heard)
            kept.newest = int(data.get("as_of", number)), data
            kept.tried, kept.error = max(kept.tried, kept.newest[0]), None
            pause = PAUSE
        except CellworthError as error:
            log.warning("%s of campaign %r could not be computed: %s", what, name, error)
            kept.error, pause = str(error), LONG_PAUSE
            if isinstance(error, ComputationError):  # a retry may succeed
                kept.tried = -1
        finally:
            kept.running = False
            self.notifications[name].progress.pop(what, None)
        # Spend at most half of the worker's time on what nobody is waiting for.
        kept.due = time.monotonic() + max(pause, time.monotonic() - begun)
        if kept.newest is not None or kept.error is not None:
            self.notifications.summary(name, what, FAILED if kept.newest is None else kept.newest[0])

    def _hear(self, name: str, what: str, kept: _Kept, done: float) -> None:
        """Note how much of a first summary is done, and announce it."""
        now = time.monotonic()
        kept.begun, kept.done = now if kept.begun is None else kept.begun, done
        self.notifications.progress(name, what, WorkDone.of(done, now - kept.begun))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _start_worker(store: str) -> Process:
    # In its own session, so that ctrl-C in a terminal reaches only the server, which then ends the worker.
    environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1"), "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-P", "-m", WORKER]
    process = await asyncio.create_subprocess_exec(
        *words, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True
    )
    assert process.stdin is not None
    process.stdin.write(pack(store))
    return process


def _settle(job: _Job, outcome: tuple[str, Any, int]) -> None:
    if job.result.done():  # the caller has left
        return
    kind, value, number = outcome
    if kind == "done":
        job.result.set_result((value, number))
    elif kind == "failed":
        log.error("a computation failed:\n%s", value)
        job.result.set_exception(ComputationError("The computation failed; the error was logged."))
    else:
        job.result.set_exception(getattr(errors, kind)(value))


def _fail(job: _Job, words: str) -> None:
    if not job.result.done():
        job.result.set_exception(ComputationError(words))
