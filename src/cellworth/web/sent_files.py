"""Files that the worker writes and a response sends, by way of the disk: they need not fit in memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from cellworth.web.jobs import JobQueue
from cellworth.web.worker_tasks import MEDIA


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
