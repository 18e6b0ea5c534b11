"""Download files from the archive, with resume, retries and checks.

Uses only the standard library. `download` gets one file; `Archive` knows where the archive keeps the files
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

LIMIT = 64 * 2**20  # bytes; far above any file of the paper, so a larger file is not ours
_CHUNK = 64 * 1024
_MAY_PASS = {408, 429, 500, 502, 503, 504}  # HTTP statuses worth retrying
_NOT_SATISFIABLE = 416

Report = Callable[[int, int | None], None]
"""Called with the bytes so far and the total, which is None if the server does not give it."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for a response, how many times to try, and how long to pause before retrying.

    Times are in seconds. Each further pause is twice as long as the one before.
    """

    timeout: float = 30.0
    attempts: int = 4
    pause: float = 1.0


class Downloaded(NamedTuple):
    """The bytes of a file, and whether some of them came from an earlier call."""

    data: bytes
    resumed: bool


def download(
    url: str, part: Path, *, patience: Patience | None = None, report: Report | None = None
) -> Downloaded:
    """Download the file at a URL.

    Parameters
    ----------
    url : str
        An http or https URL of a file of at most `LIMIT` bytes, which is held in memory.
    part : path
        Where to keep a partial download. If it exists, it is taken as the beginning of the file, and only the
        rest is requested. It is removed on success and kept if the connection fails.
    patience : Patience, optional
    report : callable, optional
        Called after each chunk.

    Raises
    ------
    DownloadError
        If the server refuses the file, or every attempt fails.
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
        # A URLError that is not an HTTPError means that no connection was made.
        reachable=isinstance(reason, HTTPError) or not isinstance(reason, URLError),
    ) from None


def check_address(url: str) -> None:
    """Raise ParameterError unless the address is an http or https URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ParameterError(
            f"expected an address that begins with http:// or https:// and names a server, got {url!r}"
        )


def _append(url: str, part: Path, timeout: float, report: Report | None) -> None:
    """Get the bytes missing from the partial file; ConnectionError if the response ends early."""
    have = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"User-Agent": "cellworth"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urlopen(request, timeout=timeout) as response:
            if have and response.status == 206 and _first_byte(response) != have:
                _begin_again(url, part, timeout, report)
                return
            # A server without range support responds 200 with the whole file.
            have = have if response.status == 206 else 0
            _write(response, part, have, report)
    except HTTPError as error:
        if not have or error.code != _NOT_SATISFIABLE:
            raise
        # Nothing left to send: the part is complete, or it is longer than the file and so not part of it.
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
    """The UCI archive or a mirror of it; each file is downloaded at most once.

    Parameters
    ----------
    address : str
        Base URL, starting with http:// or https://; the files' homes are relative to it.
    folder : path
        Where partial downloads are kept; it must exist.
    patience : Patience, optional
    report : callable, optional
        Called with the file name, the bytes so far and the total (None if unknown).
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
        """Return the content of a file from the first home that has it; DownloadError if none does.

        Once the server cannot be reached, it is not tried again for other files.
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
            # The file may have changed since the partial download, so download resumed files again, once.
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
            # The part's name includes a hash of the URL, so that parts from two servers are never mixed.
            part = self._folder / f"{name}.{hashlib.sha256(url.encode()).hexdigest()[:8]}.part"
            tell = self._report
            report = (lambda done, total: tell(name, done, total)) if tell else None
            self._got[url] = download(url, part, patience=self._patience, report=report)
        return self._got[url].data


def _is_zip(home: str) -> bool:
    return home.endswith(".zip")


def _members(url: str, packed: bytes, names: Sequence[str]) -> list[bytes]:
    """Return members of a zip file, looked up by name without folders."""
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
            f"{url}: expected a zip file, got {len(packed):,} bytes that are not one ({error})"
        ) from None
