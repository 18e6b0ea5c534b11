"""Get one file over HTTP: resumed where it broke off, tried again after a pause, refused in words.

Only the standard library is used. Whether the bytes are the right ones is for the caller to check.
"""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

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
