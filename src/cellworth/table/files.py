"""Files as bytes: checked by name, read whole, and replaced atomically."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, TypeAlias

from cellworth.errors import DataError
from cellworth.messages import did_you_mean, shorten
from cellworth.setting_names import by_door

if TYPE_CHECKING:
    from cellworth.table.text_file import TextFile

Format = Literal["csv", "parquet", "xlsx"]
_DELIMITED = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class FileBytes:
    r"""A file in memory, such as an upload; accepted wherever a path is.

    Parameters
    ----------
    name : str
        The file name, used in messages; its suffix gives the format. Nothing is read from disk.
    content : bytes
    most : int, optional
        The largest size allowed in bytes, uncompressed; DataError beyond that.

    Examples
    --------
    >>> from cellworth import Table
    >>> Table.read(FileBytes("sizes.csv", b"size,hue\n1.5,red\n,blue\n")).shape
    (2, 2)
    """

    name: str
    content: bytes
    most: int | None = None

    @property
    def suffixes(self) -> list[str]:
        """All suffixes of the name, as for a path."""
        return PurePath(self.name).suffixes

    @property
    def suffix(self) -> str:
        """The last suffix of the name."""
        return PurePath(self.name).suffix

    def __str__(self) -> str:
        return self.name


File: TypeAlias = "Path | FileBytes | TextFile"
AnyFile: TypeAlias = "str | os.PathLike[str] | FileBytes | TextFile"


def file_of(file: AnyFile) -> File:
    """Return a path as a Path, and anything else unchanged."""
    return Path(file) if isinstance(file, str | os.PathLike) else file


def place_of(file: File) -> Path | FileBytes:
    """Return the file itself, without how its text is written."""
    return file if isinstance(file, Path | FileBytes) else file.file


def format_of(path: File, remedy: str) -> Format:
    """Return the format for the path's suffix; DataError with the remedy if it is unknown."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".parquet"]:
        return "parquet"
    if suffixes[-1:] == [".xlsx"]:
        return "xlsx"
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    if suffixes and suffixes[-1] in _DELIMITED:
        return "csv"
    raise DataError(
        f"{path}: expected a file that ends in .csv, .tsv, .txt (each also with .gz), .xlsx or .parquet, got "
        f"{shorten(path.name)}. {remedy}"
    )


def other_files() -> str:
    """Return what to do with a table in a file of another format."""
    return by_door(
        python="For other files load a DataFrame and use Table.from_frame; for a folder of .parquet files, "
        "Table.open.",
        command_line="Save other files as .csv or .xlsx.",
    )


def check_csv_name(path: File, remedy: str) -> None:
    """Raise DataError with the remedy unless the suffix is that of delimited text or a workbook."""
    if format_of(path, remedy) == "parquet":
        raise DataError(f"{path}: expected a file that ends in .csv, got {shorten(path.name)}.")


def check_readable(path: File) -> None:
    """Raise DataError if there is no file at the path."""
    path = place_of(path)
    if isinstance(path, FileBytes):
        return
    if path.is_dir():
        raise DataError(f"{path}: expected a file, got a directory. Give the path of a file in it.")
    if not path.exists():
        neighbours = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, neighbours)
        raise DataError(f"{path}: no such file in {path.parent.absolute()}.{hint} Check the path.")


def read_bytes(path: File) -> bytes:
    """Read a whole file, decompressing it if its name ends in .gz."""
    path = place_of(path)
    try:
        if path.suffix.lower() == ".gz":
            return _unpacked(path)
        return path.content if isinstance(path, FileBytes) else path.read_bytes()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}: expected a complete gzip file, got a damaged one ({error}). Get a new copy."
        ) from None
    except OSError as error:
        raise DataError(
            f"{path}: the file cannot be read ({error.strerror}). Check its permissions."
        ) from None


def _unpacked(path: Path | FileBytes) -> bytes:
    most = path.most if isinstance(path, FileBytes) else None
    with gzip.open(io.BytesIO(path.content) if isinstance(path, FileBytes) else path) as file:
        content = file.read() if most is None else file.read(most + 1)
    if most is not None and len(content) > most:
        raise DataError(f"{path}: the file is larger than {most / 1e6:g} MB uncompressed. Split it.")
    return content


def check_folder(path: Path) -> None:
    """Raise DataError if a file has no folder to be written into: call it before long work."""
    if not path.parent.is_dir():
        raise DataError(f"{path}: there is no folder {path.parent}. Create it, or choose another place.")


def replace_file(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file atomically: to a temporary file next to the path, then moved into place."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
    except OSError as error:
        raise DataError(
            f"{path}: the file cannot be written ({error.strerror}). Check its directory."
        ) from None
    part = Path(name)
    try:
        write(part)
        part.chmod(path.stat().st_mode & 0o777 if path.is_file() else 0o666 & ~_umask())
        os.replace(part, path)
    except OSError as error:
        raise DataError(f"{path}: the file cannot be written ({error.strerror}).") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


def _umask() -> int:
    # The only way to read the mask is to set it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
