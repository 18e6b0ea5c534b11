"""The six tables of the paper, from a folder of files.

The folder is the subfolder ``paper`` of the environment variable CELLWORTH_DATA, or the one that
``cellworth paper fetch`` filled. All tables are complete: the experiments make the holes.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cellworth.errors import DataError
from cellworth.paper.fetch import paper_folder

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DataSet:
    """A complete table of the paper with its two classes.

    Attributes
    ----------
    name : str
    X : (n, d) float64 array
        In the units of its source.
    y : (n,) int array
        0 or 1.
    """

    name: str
    X: Array
    y: NDArray[np.int64]


def load(name: str, folder: Path | str | None = None) -> DataSet:
    """Load one of the six tables by name.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    folder : path, optional
        Where the files are; by default the subfolder ``paper`` of ``$CELLWORTH_DATA``, or what
        ``cellworth paper fetch`` fetched.
    """
    if name not in _READERS:
        raise DataError(f"no data set {name!r}; expected one of {', '.join(NAMES)}")
    X, y = _READERS[name](Path(folder) if folder is not None else paper_folder())
    return DataSet(name, X, y)


def data_folder(name: str) -> Path:
    """Return the subfolder ``name`` of ``$CELLWORTH_DATA``; DataError if the variable is not set."""
    root = os.environ.get("CELLWORTH_DATA")
    if not root:
        raise DataError(
            f"the folder of the data is not known; set CELLWORTH_DATA to the folder that holds {name}/"
        )
    return Path(root) / name


def read_text(path: Path) -> str:
    """Return the text of a file, packed or not."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; is CELLWORTH_DATA right?") from None
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("ascii")


def read_fields(path: Path, delimiter: str = ",") -> list[list[str]]:
    """Return the fields of a text file, packed or not, without empty lines."""
    return [row for row in csv.reader(io.StringIO(read_text(path)), delimiter=delimiter) if row]


def _abalone(folder: Path) -> tuple[Array, NDArray[np.int64]]:
    rows = [r for r in read_fields(folder / "abalone.data") if r[0] in "MI"]
    return np.array([r[1:] for r in rows], dtype=float), np.array([int(r[0] == "M") for r in rows])


def _letter(folder: Path) -> tuple[Array, NDArray[np.int64]]:
    rows = [r for r in read_fields(folder / "letter-recognition.data.gz") if r[0] in "AB"]
    return np.array([r[1:] for r in rows], dtype=float), np.array([int(r[0] == "A") for r in rows])


def _image(folder: Path) -> tuple[Array, NDArray[np.int64]]:
    header, *rows = read_fields(folder / "image_2086x18.csv.gz")
    label = header.index("y")
    return np.array([r[:18] for r in rows], dtype=float), np.array([int(float(r[label]) > 0) for r in rows])


def _chess(folder: Path) -> tuple[Array, NDArray[np.int64]]:
    rows = np.array(read_fields(folder / "kr-vs-kp.data"))
    codes = [np.unique(column, return_inverse=True)[1] for column in rows[:, :-1].T]
    return np.array(codes, dtype=float).T, (rows[:, -1] == "won").astype(np.int64)


def _hill_valley(version: str) -> Callable[[Path], tuple[Array, NDArray[np.int64]]]:
    def read(folder: Path) -> tuple[Array, NDArray[np.int64]]:
        files = [f"Hill_Valley_{version}_noise_{part}.data.gz" for part in ("Training", "Testing")]
        rows = [r for file in files for r in read_fields(folder / file)[1:]]
        return np.array([r[:-1] for r in rows], dtype=float), np.array([int(r[-1]) for r in rows])

    return read


def _htru2(folder: Path) -> tuple[Array, NDArray[np.int64]]:
    rows = np.array(read_fields(folder / "HTRU_2.csv.gz"), dtype=float)
    return rows[:, :-1], rows[:, -1].astype(np.int64)


_READERS: dict[str, Callable[[Path], tuple[Array, NDArray[np.int64]]]] = {
    "abalone": _abalone,
    "letter": _letter,
    "image": _image,
    "chess": _chess,
    "HillValley": _hill_valley("with"),
    "HTRU2": _htru2,
    "HillValley-without-noise": _hill_valley("without"),
}

NAMES = tuple(_READERS)
"""The paper's six tables; HillValley exists in two versions, and the paper does not say which it took."""
