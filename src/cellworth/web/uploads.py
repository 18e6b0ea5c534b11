"""Uploaded files that wait on the server between two requests: checked by the first, used by the second.

A page checks a file, shows what it would change, and saves it when the user says so. In between, the file
waits here under a key, which the form carries instead of the file:

- ``key = await uploads.keep(file, campaign=name, who=who)`` keeps a `FileBytes` and returns its key;
- ``file = await uploads.get(key, campaign=name, who=who)`` returns it, as often as it is asked for; DataError
  if it is gone, or is another person's or campaign's;
- ``await uploads.drop(key)`` forgets it early. Nobody has to: old files go by themselves.

Routes get the store by a parameter ``uploads: UploadsDep`` (`cellworth.web.dependencies`). With the key as
the idempotency key, too, ``campaign.tell_file(file, who=who, key=key, insist=True)`` saves a file once,
however often the form is sent.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cellworth.errors import DataError
from cellworth.table.files import FileBytes

LONGEST_WAIT = 3600.0
"""Seconds that a file waits."""
MOST_EACH = 3
"""Files that wait for one person in one campaign; a further one replaces the oldest."""
MOST_BYTES = 500_000_000
"""Bytes of all files that wait; beyond, the oldest go."""


@dataclass(frozen=True)
class _Waiting:
    name: str
    size: int
    most: int | None
    campaign: str
    who: str | None
    since: float


class Uploads:
    r"""Files on disk, in a folder that only this process's user can read; it ends with the server.

    Limited in age, in total size, and in number for each person and campaign.

    Parameters
    ----------
    most_each, most_bytes, longest_wait : numbers
        See `MOST_EACH`, `MOST_BYTES` and `LONGEST_WAIT`.
    clock : function
        Returns the time in seconds.

    Examples
    --------
    >>> async def check_and_save():
    ...     uploads = Uploads()
    ...     key = await uploads.keep(FileBytes("a.csv", b"row,column,value\n"), campaign="study", who="Ann")
    ...     found = await uploads.get(key, campaign="study", who="Ann")
    ...     await uploads.close()
    ...     return found.name, len(found.content)
    >>> asyncio.run(check_and_save())
    ('a.csv', 17)
    """

    def __init__(
        self,
        *,
        most_each: int = MOST_EACH,
        most_bytes: int = MOST_BYTES,
        longest_wait: float = LONGEST_WAIT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_each, self._most_bytes, self._longest_wait = most_each, most_bytes, longest_wait
        self._clock = clock
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()  # oldest first
        self._folder: Path | None = None

    async def keep(self, file: FileBytes, *, campaign: str, who: str | None) -> str:
        """Keep a file for a person and a campaign, and return its key: 43 letters, digits, - or _."""
        key = secrets.token_urlsafe(32)
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="cellworth-uploads-"))
        await asyncio.to_thread((self._folder / key).write_bytes, file.content)
        size = len(file.content)
        self._waiting[key] = _Waiting(file.name, size, file.most, campaign, who, self._clock())
        await self.clean()
        return key

    async def get(self, key: str, *, campaign: str, who: str | None) -> FileBytes:
        """Return a file; DataError if it is gone, or was kept for another person or campaign."""
        await self.clean()
        found = self._waiting.get(key)
        if found is None or self._folder is None or (found.campaign, found.who) != (campaign, who):
            raise DataError(
                "The file is no longer on the server: files wait for an hour, and only the newest ones. "
                "Send it again."
            )
        content = await asyncio.to_thread((self._folder / key).read_bytes)
        return FileBytes(found.name, content, found.most)

    async def drop(self, key: str) -> None:
        """Forget a file, if it is there."""
        if self._waiting.pop(key, None) is not None and self._folder is not None:
            await asyncio.to_thread((self._folder / key).unlink, missing_ok=True)

    async def clean(self) -> None:
        """Drop the files that are too old, too many or together too large."""
        for key in self._superfluous():
            await self.drop(key)

    async def close(self) -> None:
        """Remove all files and their folder."""
        self._waiting.clear()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    @property
    def size(self) -> int:
        """Bytes of all files that wait."""
        return sum(each.size for each in self._waiting.values())

    def __len__(self) -> int:
        return len(self._waiting)

    def _superfluous(self) -> list[str]:
        """Return the keys to drop; the newest file always stays."""
        now, found, total = self._clock(), [], 0
        counts: dict[tuple[str, str | None], int] = {}
        for key, each in reversed(self._waiting.items()):
            owner = (each.campaign, each.who)
            counts[owner] = counts.get(owner, 0) + 1
            total += each.size
            crowded = counts[owner] > self._most_each or (total > self._most_bytes and total > each.size)
            if crowded or now - each.since > self._longest_wait:
                found.append(key)
        return found
