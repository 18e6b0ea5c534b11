"""Download the files of the archive: resumed where they broke off, tried again after a pause, checked.

Only the standard library is used. `download` gets one file; `Archive` knows where the archive keeps the files
and accepts only the right content.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from cellworth.datasets.paper_files import Fingerprint, PaperFile
from cellworth.errors import DownloadError, ParameterError

LIMIT = 64 * 2**20  # bytes: no file of the paper comes near, so a bigger one is not ours
_CHUNK = 64 * 1024
_MAY_PASS = {408, 429, 500, 502, 503, 504}  # states of a server that another attempt may find changed
_NOT_SATISFIABLE = 416

Report = Callable[[int, int | None], None]
"""Called with the bytes so far and in all; the latter is None where the server does not say."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for an answer, how often to try, and how long to pause before the second attempt.

    Times are in seconds. Each further pause is twice the last.
    """

    timeout: float = 30.0
    attempts: int = 4
    pause: float = 1.0


class Downloaded(NamedTuple):
    """The bytes of a file, and whether the first of them came from an earlier call."""

    data: bytes
    resumed: bool


def download(
    url: str, part: Path, *, patience: Patience | None = None, report: Report | None = None
) -> Downloaded:
    """Return the file at an address.

    Parameters
    ----------
    url : str
        Of a file over http or https, at most `LIMIT` bytes; it is held in memory.
    part : path
        Where the bytes are kept on their way. What is there is taken as the beginning of the file, and only
        the rest is asked for. It is removed at the end, and stays if the connection fails.
    patience : Patience, optional
    report : callable, optional
        Called after each chunk.

    Raises
    ------
    DownloadError
        If the server refuses the file, or the connection fails in each attempt.
    """
    check_address(url)
    patience = patience or Patience()
    resumed = part.exists()
    reason: Exception = ConnectionError("no attempt was made")
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(patience.pause * 2 ** (attempt - 1))
        try:
            _append(url, part, patience.timeout, report)
            data = part.read_bytes()
            part.unlink()
            return Downloaded(data, resumed)
        except HTTPError as error:
            if error.code not in _MAY_PASS:
                raise DownloadError(f"{url}: expected a file, got {error.code} {error.reason}") from None
            reason = error
        except (URLError, ConnectionError, TimeoutError, http.client.HTTPException) as error:
            reason = error
    why = f"{reason.code} {reason.reason}" if isinstance(reason, HTTPError) else _in_words(reason)
    raise DownloadError(
        f"{url}: no complete answer in {patience.attempts} attempts, the last ended with: {why}",
        # Of all failures, a URLError that is no HTTPError is the one of a connection that was never made.
        reachable=isinstance(reason, HTTPError) or not isinstance(reason, URLError),
    ) from None


def check_address(url: str) -> None:
    """Raise ParameterError unless the address is one of the web."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ParameterError(
            f"expected an address that begins with http:// or https:// and names a server, got {url!r}"
        )


def _append(url: str, part: Path, timeout: float, report: Report | None) -> None:
    """Get the bytes that the part lacks; ConnectionError if the answer ends early."""
    have = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"User-Agent": "cellworth"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urlopen(request, timeout=timeout) as response:
            if have and response.status == 206 and _first_byte(response) != have:
                _begin_again(url, part, timeout, report)
                return
            # A server that knows no ranges answers 200 with the whole file.
            have = have if response.status == 206 else 0
            _write(response, part, have, report)
    except HTTPError as error:
        if not have or error.code != _NOT_SATISFIABLE:
            raise
        # Nothing is left to send: the part is complete, or it is longer than the file and not of it.
        if error.headers.get("Content-Range", "").strip() != f"bytes */{have}":
            _begin_again(url, part, timeout, report)


def _begin_again(url: str, part: Path, timeout: float, report: Report | None) -> None:
    part.unlink()
    _append(url, part, timeout, report)


def _first_byte(response: http.client.HTTPResponse) -> int | None:
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def _write(response: http.client.HTTPResponse, part: Path, have: int, report: Report | None) -> None:
    length = response.headers.get("Content-Length", "")
    total = have + int(length) if length.isdigit() else None
    with part.open("ab" if have else "wb") as file:
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            have += len(chunk)
            if have > LIMIT:
                break
            if report:
                report(have, total)
    if have > LIMIT:
        part.unlink()
        raise DownloadError(f"{response.url}: expected at most {LIMIT:,} bytes, got more")
    if total is not None and have < total:
        raise ConnectionError(f"the connection was closed after {have:,} of {total:,} bytes")


def _in_words(error: Exception) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    return str(getattr(reason, "strerror", None) or reason or type(error).__name__)


_BAD_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class Archive:
    """The UCI archive or a mirror of it; each of its files is got at most once.

    Parameters
    ----------
    address : str
        Begins with http:// or https://; homes are below it.
    folder : path
        Where files are kept on their way; it must exist.
    patience : Patience, optional
    report : callable, optional
        Called with the name of a file, the bytes so far and in all (None if not known).
    """

    def __init__(
        self,
        address: str,
        folder: Path,
        patience: Patience | None = None,
        report: Callable[[str, int, int | None], None] | None = None,
    ) -> None:
        check_address(address)
        self.address = address.rstrip("/")
        self._folder, self._patience, self._report = folder, patience, report
        self._got: dict[str, Downloaded] = {}
        self._down: DownloadError | None = None

    def content(self, file: PaperFile) -> bytes:
        """Return the content of a file from the first home that has it; DownloadError if none has.

        A server that could not be reached once is not tried again for other files.
        """
        failures = []
        for home in file.homes:
            try:
                return self._content_at(home, file)
            except DownloadError as error:
                if not error.reachable:
                    self._down = error
                    raise
                failures.append(str(error))
        raise DownloadError("; ".join(failures))

    def _content_at(self, home: str, file: PaperFile) -> bytes:
        try:
            return self._made(home, file)
        except DownloadError:
            # An old beginning and a new end do not make a file: what was resumed is downloaded again, once.
            stale = [
                url for url in self._urls(home, file.parts) if url in self._got and self._got[url].resumed
            ]
            if not stale:
                raise
            for url in stale:
                del self._got[url]
            return self._made(home, file)

    def _made(self, home: str, file: PaperFile) -> bytes:
        got = [self._get(url) for url in self._urls(home, file.parts)]
        parts = _members(f"{self.address}/{home}", got[0], file.parts) if _is_zip(home) else got
        content = file.make(b"\n".join(parts))
        found = Fingerprint.of(content)
        if found != file.content:
            raise DownloadError(f"{self.address}/{home}: expected {file.content}, got {found}")
        return content

    def _urls(self, home: str, parts: Sequence[str]) -> list[str]:
        paths = [home] if _is_zip(home) else [home + part for part in parts]
        return [f"{self.address}/{path}" for path in paths]

    def _get(self, url: str) -> bytes:
        if url not in self._got:
            if self._down:
                raise self._down
            name = PurePosixPath(url).name
            # The address is in the name of the part, so that parts of two servers are never mixed.
            part = self._folder / f"{name}.{hashlib.sha256(url.encode()).hexdigest()[:8]}.part"
            tell = self._report
            report = (lambda done, total: tell(name, done, total)) if tell else None
            self._got[url] = download(url, part, patience=self._patience, report=report)
        return self._got[url].data


def _is_zip(home: str) -> bool:
    return home.endswith(".zip")


def _members(url: str, packed: bytes, names: Sequence[str]) -> list[bytes]:
    """Return the members of a zip file by their names without folders."""
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            found = {PurePosixPath(info.filename).name: info for info in archive.infolist()}
            for name in names:
                if name not in found:
                    raise DownloadError(f"{url}: expected a zip file with {name}, got {sorted(found)}")
                if found[name].file_size > LIMIT:
                    raise DownloadError(f"{url}: expected {name} of at most {LIMIT:,} bytes, got more")
            return [archive.read(found[name]) for name in names]
    except _BAD_ZIP as error:
        raise DownloadError(
            f"{url}: expected a zip file, got {len(packed):,} bytes that are none ({error})"
        ) from None
