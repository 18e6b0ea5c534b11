"""Files that are read and written in a process of their own: nobody who reads or answers waits for them.

For files of answers, pages and REST call `FileJobs.check` and `FileJobs.tell`. A file has at most
`MOST_LINES` lines; checking it ends when the client has gone, with `while_connected`.

Files for people to take away go the other way, through the disk, so that they need not fit in memory: the
worker writes one, and `sent_file` sends it.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from cellworth import errors
from cellworth.campaign import Campaign
from cellworth.campaign.answer_file import FileAnswer, FileResult
from cellworth.errors import DataError, WrongLine, WrongLinesError
from cellworth.table.files import FileBytes, read_bytes
from cellworth.web.jobs import JobQueue
from cellworth.web.worker_tasks import MEDIA

MOST_LINES = 500_000
"""Lines of a file: about 10 s and 0.5 GB in the worker."""
MOST_LISTED = 200
"""New answers that a check lists."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class CheckedFile:
    """What saving a file of answers would do.

    Attributes
    ----------
    new, known, blank : int
        Answers that would be recorded; that are known already; and lines without a value.
    listed : list of FileAnswer
        The first new answers, at most `MOST_LISTED`.
    questioned : list of WrongLine
        New answers far outside what was seen, at most `errors.MOST_WRONG_LINES`; ``doubts`` counts all.
    """

    new: int
    known: int
    blank: int
    listed: list[FileAnswer]
    questioned: list[WrongLine]
    doubts: int


class _Wrong(NamedTuple):
    """A `WrongLinesError` on its way from the worker."""

    kind: str
    file: str
    places: tuple[WrongLine, ...]


class FileJobs:
    """Checks and records files of answers in a worker process that does nothing else."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue

    async def check(self, name: str, file: FileBytes) -> CheckedFile:
        """Return what `tell` would do, or raise what it would raise; cancelling it ends the worker's work.

        Raises
        ------
        WrongLinesError
            With the wrong lines.
        DataError
            If the file cannot be read at all, or has too many lines.
        """
        found: CheckedFile = _given(await self._queue.run_while_wanted(name, check_file, file))
        return found

    async def tell(
        self, name: str, file: FileBytes, *, who: str | None, key: str | None = None, insist: bool = False
    ) -> FileResult:
        """Record a file, all of it or nothing; see `Campaign.tell_file`. It is carried out in any case."""
        told: FileResult = _given(
            await self._queue.run(name, tell_file, file, who=who, key=key, insist=insist)
        )
        return told


async def while_connected(request: Request, work: Awaitable[Result]) -> Result:
    """Wait for work on behalf of a client whose request was read; cancel it if the client goes away."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(503, "The client has gone, so the work was given up.")
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()


def check_file(campaign: Campaign, file: FileBytes) -> CheckedFile | _Wrong:
    """Check a file, in the worker."""
    try:
        check_lines(file)
        found = campaign.check_file(file)
    except WrongLinesError as error:
        return _Wrong(type(error).__name__, file.name, error.places)
    doubts = len(found.questioned)
    most = errors.MOST_WRONG_LINES
    return CheckedFile(
        len(found.new), found.known, found.blank, found.new[:MOST_LISTED], found.questioned[:most], doubts
    )


def tell_file(campaign: Campaign, file: FileBytes, **settings: Any) -> FileResult | _Wrong:
    """Record a file, in the worker."""
    try:
        check_lines(file)
        return campaign.tell_file(file, **settings)
    except WrongLinesError as error:
        return _Wrong(type(error).__name__, file.name, error.places)


def check_lines(file: FileBytes, most: int = MOST_LINES) -> None:
    """Raise DataError if a text file has too many lines; O(bytes)."""
    content = read_bytes(file)
    lines = max(content.count(b"\n"), content.count(b"\r"))
    if lines > most + 1:
        raise DataError(f"{file.name} has {lines:,} lines; a file may have {most:,}. Split it.")


def _given(found: Any) -> Any:
    if isinstance(found, _Wrong):
        raise getattr(errors, found.kind)(found.file, found.places)
    return found


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def sent_file(
    jobs: JobQueue, name: str, file: str, job: Callable[..., None], *arguments: Any, **keywords: Any
) -> FileResponse:
    """Run ``job(campaign, path, *arguments, **keywords)`` in the worker, and return the file to be saved.

    It is called ``file``, whose ending says what is in it, and is removed once it is sent.
    """
    folder = Path(tempfile.mkdtemp(prefix="cellworth-"))
    path = folder / file
    try:
        await jobs.run(name, job, str(path), *arguments, **keywords)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return SentOnce(path, filename=file, media_type=MEDIA[path.suffix[1:]])


class SentOnce(FileResponse):
    """Sends a file, and removes its folder whether that succeeds or not."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            shutil.rmtree(Path(self.path).parent, ignore_errors=True)
