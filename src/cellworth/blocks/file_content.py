"""The content of the files of a stored table: to notice that a table was changed, wherever it is now."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cellworth.blocks.parquet_source import parquet_files
from cellworth.errors import DataError
from cellworth.messages import count

_PIECE = 1 << 22  # bytes read at a time


@dataclass(frozen=True)
class FileContent:
    """One file: its name within the table, its size in bytes, when it was written, and its SHA-256."""

    name: str
    size: int
    written: int
    digest: str


@dataclass(frozen=True)
class TableContent:
    """The files of a table.

    Attributes
    ----------
    files : tuple of FileContent
        By name.
    """

    files: tuple[FileContent, ...]

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read all files of a Parquet file, a Parquet folder or a Zarr array; about a second per GB."""
        return cls(tuple(_content(file, name) for name, file in _files(path).items()))

    @property
    def digest(self) -> str:
        """One SHA-256 for all of them, whenever they were written."""
        text = "".join(f"{file.name}\n{file.size}\n{file.digest}\n" for file in self.files)
        return hashlib.sha256(text.encode()).hexdigest()

    def differs_at(self, path: Path, *, thorough: bool = False) -> str | None:
        """Say in what the files at a path differ from these; None if in nothing.

        Files of the same size, written at the same time, are taken to be the same, unless ``thorough``;
        others are read.
        """
        try:
            there = _files(path)
        except DataError as error:
            return str(error)
        expected = {file.name: file for file in self.files}
        if missing := sorted(expected.keys() - there.keys()):
            return f"{count(len(missing), 'file')} missing, such as {missing[0]!r}"
        if new := sorted(there.keys() - expected.keys()):
            return f"{count(len(new), 'file')} new, such as {new[0]!r}"
        for name, file in there.items():
            before, about = expected[name], file.stat()
            if about.st_size != before.size:
                return f"{name!r} has {about.st_size:,} bytes, not {before.size:,}"
            same_time = about.st_mtime_ns == before.written
            if (thorough or not same_time) and _content(file, name).digest != before.digest:
                return f"{name!r} has another content"
        return None

    def to_json(self) -> list[list[Any]]:
        """Return it as plain data."""
        return [[file.name, file.size, file.written, file.digest] for file in self.files]

    @classmethod
    def from_json(cls, data: list[list[Any]]) -> Self:
        """Return what `to_json` wrote."""
        return cls(tuple(FileContent(*each) for each in data))


def _files(path: Path) -> dict[str, Path]:
    """Return the files of a table by their names within it, sorted."""
    if path.suffix == ".zarr" and path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
    else:
        files = parquet_files(path)
    if path.is_file():
        return {"": path}
    return {file.relative_to(path).as_posix(): file for file in files}


def _content(file: Path, name: str) -> FileContent:
    about, digest = file.stat(), hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return FileContent(name, about.st_size, about.st_mtime_ns, digest.hexdigest())
