"""Fetch the files of the paper's six tables, and find them later.

Files come from a folder, from installed packages, or from the archive on the web, in that order. Each is
accepted only if its content has the known size and SHA-256.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cellworth.datasets.http_download import Archive, Patience
from cellworth.datasets.paper_files import ARCHIVE, FILES, Fingerprint, PaperFile, pack, unpack
from cellworth.errors import DataError, DownloadError
from cellworth.progress import ProgressLine
from cellworth.table.files import replace_file

_ALREADY = "already there"


@dataclass(frozen=True)
class Fetched:
    """One file that is now in place.

    Attributes
    ----------
    path : Path
    n_bytes : int
        Size of the file, compressed if its name ends in .gz.
    source : str
        Where it came from, for display: a folder, a package, an address, or "already there".
    """

    path: Path
    n_bytes: int
    source: str


def fetch(
    to: Path | str | None = None,
    *,
    data: Path | str | None = None,
    archive: str | None = None,
    patience: Patience | None = None,
    progress: bool = False,
) -> list[Fetched]:
    """Fetch the nine files of the paper's six tables.

    Existing files are kept if their content is right, and replaced if not. A file appears under its name only
    once it is complete and checked. The next call resumes an interrupted download.

    Parameters
    ----------
    to : path, optional
        Folder for the files; by default, the subfolder ``paper`` of this program's cache.
    data : path, optional
        A folder that already has some of the files, as written by this function or as the archive provides
        them, directly or in its subfolder ``paper``; by default, ``$CELLWORTH_DATA``.
    archive : str, optional
        The address of the archive; by default, ``$CELLWORTH_ARCHIVE`` or, if that is not set, UCI's. Use it
        if the archive moves; a mirror needs the same paths below its address.
    patience : Patience, optional
        Timeout and number of attempts for downloads.
    progress : bool, default=False
        Whether to show a progress bar on standard error.

    Returns
    -------
    list of Fetched
        One per file: its ``path``, its size ``n_bytes`` and its ``source``, for display.

    Raises
    ------
    DataError
        If a file cannot be fetched; the message says why. The other files are fetched anyway.

    Notes
    -----
    Takes 2 MB on disk. Downloads, a few MB, are held in memory until all files are done.
    """
    target = Path(to) if to is not None else paper_cache()
    folders = _folders(data)
    address = archive or os.environ.get("CELLWORTH_ARCHIVE") or ARCHIVE
    bar = _Bar(shown=progress)
    web = Archive(address, target, patience, bar.note)
    target.mkdir(parents=True, exist_ok=True)
    fetched: list[Fetched] = []
    failures: dict[str, list[str]] = {}  # names by reason: one server outage explains many
    for file in FILES:
        try:
            content, source = _found_here(file, target, folders) or (web.content(file), web.address)
        except DownloadError as error:
            failures.setdefault(str(error), []).append(file.name)
        else:
            fetched.append(_kept(file, content, target, source))
        bar.step(file.name)
    if failures:
        raise DataError(_what_failed(failures, target))
    return fetched


def paper_cache() -> Path:
    """Return the folder in the platform's cache that files are fetched to; it may not exist.

    Examples
    --------
    >>> paper_cache().name
    'paper'
    """
    return cache_folder() / "paper"


def paper_folder() -> Path:
    """Return the folder that holds the files of the paper's tables.

    That is ``$CELLWORTH_DATA/paper``, or ``$CELLWORTH_DATA`` itself if the files are there. If the variable
    is not set, it is the cache, once complete. Files enter the cache only after being checked, so it is
    enough that they exist.

    Raises
    ------
    DataError
        If there is no such folder; the message says how to get the files.
    """
    root = os.environ.get("CELLWORTH_DATA")
    if root:
        for folder in (Path(root, "paper"), Path(root)):
            if any((folder / file.name).is_file() for file in FILES):
                return folder
        raise DataError(
            f"CELLWORTH_DATA is {root}: expected the files of the paper's tables there or in its subfolder "
            f"paper, got none of them. Run `cellworth fetch-data --to {Path(root, 'paper')}`, or unset the "
            "variable."
        )
    missing = [file.name for file in FILES if not (paper_cache() / file.name).is_file()]
    if missing:
        raise DataError(
            f"the paper's tables are not here yet: expected {len(FILES)} files in {paper_cache()}, "
            f"{len(missing)} are missing. Run `cellworth fetch-data`, or set CELLWORTH_DATA to the folder "
            "that holds paper/."
        )
    return paper_cache()


def cache_folder(platform: str = sys.platform) -> Path:
    """Return the platform's standard cache folder for this program; it may not exist.

    That is cellworth in $XDG_CACHE_HOME or ~/.cache on Linux, cellworth in ~/Library/Caches on macOS, and
    cellworth/Cache in %LOCALAPPDATA% on Windows.
    """
    if platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "cellworth" / "Cache"
    if platform == "darwin":
        return Path.home() / "Library" / "Caches" / "cellworth"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says to ignore a relative path.
    return (given if given.is_absolute() else Path.home() / ".cache") / "cellworth"


def _from_folder(folder: Path, name: str) -> bytes | None:
    """Return the uncompressed content of a file in a folder; None if it is missing or damaged."""
    path = folder / name
    return unpack(name, path.read_bytes()) if path.is_file() else None


def _parts_from_folder(folder: Path, names: Sequence[str]) -> bytes | None:
    """Return several files of a folder joined by newlines; None if one is missing."""
    paths = [folder / name for name in names]
    if not all(path.is_file() for path in paths):
        return None
    return b"\n".join(path.read_bytes() for path in paths)


def _from_package(package: str, path: str) -> bytes | None:
    """Return a data file of an installed package without importing the package; None if there is none."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder, path)
        if file.is_file():
            return file.read_bytes()
    return None


def _folders(data: Path | str | None) -> list[Path]:
    """Return the folders to search; DataError if ``data`` is given but is not a folder."""
    if data is not None and not Path(data).is_dir():
        raise DataError(f"{data}: no such folder; expected one with the paper's files. Check data (--data).")
    root = data if data is not None else os.environ.get("CELLWORTH_DATA")
    return [Path(root, "paper"), Path(root)] if root else []


def _found_here(file: PaperFile, target: Path, folders: list[Path]) -> tuple[bytes, str] | None:
    """Return the content of a local copy of a file and its source; None if there is no correct copy."""
    for content, source in _copies(file, target, folders):
        if content is not None and Fingerprint.of(content) == file.content:
            return content, source
    return None


def _copies(file: PaperFile, target: Path, folders: list[Path]) -> Iterator[tuple[bytes | None, str]]:
    yield _from_folder(target, file.name), _ALREADY
    for folder in folders:
        yield _from_folder(folder, file.name), str(folder)
        raw = _parts_from_folder(folder, file.parts)
        yield file.make(raw) if raw is not None else None, str(folder)
    for package, path in file.packages:
        raw = _from_package(package, path)
        yield file.make(raw) if raw is not None else None, f"package {package}"


def _kept(file: PaperFile, content: bytes, target: Path, source: str) -> Fetched:
    """Write the file unless it is already there."""
    path = target / file.name

    def write(part: Path) -> None:
        part.write_bytes(pack(file.name, content))

    if source != _ALREADY:
        replace_file(path, write)
    return Fetched(path, path.stat().st_size, source)


def _what_failed(failures: dict[str, list[str]], target: Path) -> str:
    count = sum(map(len, failures.values()))
    reasons = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in failures.items())
    return (
        f"{count} of {len(FILES)} files could not be fetched: {reasons}. The others are in {target}. "
        "Try again later; or get the files by hand and name their folder as data (--data DIR); or name a "
        "mirror as archive (--archive URL)."
    )


class _Bar:
    """Show files done and the current download on standard error, or do nothing."""

    def __init__(self, *, shown: bool) -> None:
        self._line = ProgressLine("fetching", len(FILES)) if shown else None
        self._done = 0

    def note(self, name: str, so_far: int, total: int | None) -> None:
        """Show the progress of a download, in bytes."""
        if self._line:
            of = f" of {total // 1000:,}" if total else ""
            self._line.show(self._done, f"{name}: {so_far // 1000:,}{of} kB")

    def step(self, name: str) -> None:
        """Show that a file is done."""
        self._done += 1
        if self._line:
            self._line.show(self._done, name)
