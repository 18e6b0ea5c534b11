"""Places on this machine that may hold the files: a folder, an installed package; and the cache."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cellworth.paper.fetching.contents import unpack


def cache_folder(platform: str = sys.platform) -> Path:
    """Return the folder in which the platform expects this program's cache; it need not exist.

    That is $XDG_CACHE_HOME or ~/.cache on Linux, ~/Library/Caches on macOS, %LOCALAPPDATA% on Windows, and
    in it the folder cellworth.
    """
    if platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "cellworth" / "Cache"
    if platform == "darwin":
        return Path.home() / "Library" / "Caches" / "cellworth"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says that a path that is not absolute is to be ignored.
    return (given if given.is_absolute() else Path.home() / ".cache") / "cellworth"


def from_folder(folder: Path, name: str) -> bytes | None:
    """Return the content of a file in a folder, unpacked; None if it is absent or damaged."""
    path = folder / name
    return unpack(name, path.read_bytes()) if path.is_file() else None


def parts_from_folder(folder: Path, names: Sequence[str]) -> bytes | None:
    """Return several files of a folder in one piece, each begun on a new line; None if one is absent."""
    paths = [folder / name for name in names]
    if not all(path.is_file() for path in paths):
        return None
    return b"\n".join(path.read_bytes() for path in paths)


def from_package(package: str, path: str) -> bytes | None:
    """Return a data file of an installed package, without importing it; None if there is none."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder, path)
        if file.is_file():
            return file.read_bytes()
    return None
