"""The archive on the web: from the home of a file to its checked content."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from cellworth.errors import DownloadError
from cellworth.paper.fetching.contents import Fingerprint
from cellworth.paper.fetching.download import LIMIT, Downloaded, Patience, check_address, download
from cellworth.paper.sources import PaperFile

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
            # An old beginning and a new end do not make a file: what was resumed is got anew, once.
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
