"""Eleven public tables: the six of Huang et al. (KDD 2018), and five of Turney's with real prices.

The paper's tables are complete; experiments make the holes, and every cell costs 1. Turney's tables (JAIR 2,
1995) are medical and already have holes. Their prices are fees in Canadian dollars, which Peter Turney took
from the fee schedule of the Ontario Health Insurance Program. Tests come in groups: the first test of a group
costs its full fee and the others less, because the patient is already there and the blood is drawn. The heart
data were collected by A. Janosi, W. Steinbrunn, M. Pfisterer and R. Detrano.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.datasets.fetch_paper import paper_folder
from cellworth.errors import DataError
from cellworth.prices import Group, Prices
from cellworth.table import Kind, Table


class Dataset(NamedTuple):
    """A table and what its cells cost."""

    table: Table
    prices: Prices


def load(name: str, folder: Path | str | None = None) -> Dataset:
    """Load one of the eleven tables, with its prices.

    Parameters
    ----------
    name : str
        One of the paper's tables: abalone, letter, image, chess, HillValley (with noise),
        HillValley-without-noise or HTRU2; or one of Turney's: heart, hepatitis, pima, bupa or thyroid.
    folder : path, optional
        Where its files are. By default, for the paper's tables, the subfolder ``paper`` of
        ``$CELLWORTH_DATA``, or the cache that `fetch` fills; for Turney's, the subfolder ``costs`` of
        ``$CELLWORTH_DATA``.

    Returns
    -------
    table : Table
        The paper's tables have two classes, 0 and 1, and columns in the units of their source. Turney's have
        the target "class", coded as in the source, with two exceptions: in heart, 1 is any disease (1 to 4 in
        the source) and 0 is none; in bupa, 1 is three drinks a day or more and 0 is fewer, as in Turney's
        work. Columns with two codes are boolean, True for the higher code. Holes are those of the source;
        in pima, also the zeros in five columns where a living person cannot have a zero.
    prices : Prices
        1 for every cell of the paper's tables. Turney's are in Canadian dollars, from the files ``.expense``
        and ``.group``. Groups are lasting: once a test of a group is known for a patient, the others have
        their lower price. Information about delayed results is not used.

    Raises
    ------
    DataError
        If there is no such table, or its files are missing; the message says how to get them.

    Notes
    -----
    The paper does not say which version of HillValley it used. Thyroid combines its training and test rows;
    its column FTI is left out, because it is computed from TT4 and T4U and has no price.

    Examples
    --------
    >>> from cellworth import datasets
    >>> table, prices = datasets.load("heart")  # doctest: +SKIP
    """
    if name in _PAPER:
        X, y = _PAPER[name](Path(folder) if folder is not None else paper_folder())
        return Dataset(Table.from_arrays(X, y), Prices.same(1.0))
    if name in _TURNEY:
        return _turney(_TURNEY[name], Path(folder) if folder is not None else _costs_folder())
    raise DataError(f"no data set {name!r}; expected one of {', '.join(PAPER_NAMES + TURNEY_NAMES)}")


def _costs_folder() -> Path:
    root = os.environ.get("CELLWORTH_DATA")
    if not root:
        raise DataError(
            "the folder of Turney's tables is unknown; set CELLWORTH_DATA to the folder that contains costs/"
        )
    return Path(root) / "costs"


def _read_text(path: Path) -> str:
    """Return the text of a file, compressed or not."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; is CELLWORTH_DATA right?") from None
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("ascii")


def _read_fields(path: Path, delimiter: str = ",") -> list[list[str]]:
    """Return the fields of a text file, compressed or not, without empty lines."""
    return [row for row in csv.reader(io.StringIO(_read_text(path)), delimiter=delimiter) if row]


# --- the paper's tables ----------------------------------------------------------------------------------


def _abalone(folder: Path) -> tuple[Float64Array, IntArray]:
    rows = [r for r in _read_fields(folder / "abalone.data") if r[0] in "MI"]
    return np.array([r[1:] for r in rows], dtype=float), np.array([int(r[0] == "M") for r in rows])


def _letter(folder: Path) -> tuple[Float64Array, IntArray]:
    rows = [r for r in _read_fields(folder / "letter-recognition.data.gz") if r[0] in "AB"]
    return np.array([r[1:] for r in rows], dtype=float), np.array([int(r[0] == "A") for r in rows])


def _image(folder: Path) -> tuple[Float64Array, IntArray]:
    header, *rows = _read_fields(folder / "image_2086x18.csv.gz")
    label = header.index("y")
    return np.array([r[:18] for r in rows], dtype=float), np.array([int(float(r[label]) > 0) for r in rows])


def _chess(folder: Path) -> tuple[Float64Array, IntArray]:
    rows = np.array(_read_fields(folder / "kr-vs-kp.data"))
    codes = [np.unique(column, return_inverse=True)[1] for column in rows[:, :-1].T]
    return np.array(codes, dtype=float).T, (rows[:, -1] == "won").astype(np.int64)


def _hill_valley(version: str) -> Callable[[Path], tuple[Float64Array, IntArray]]:
    def read(folder: Path) -> tuple[Float64Array, IntArray]:
        files = [f"Hill_Valley_{version}_noise_{part}.data.gz" for part in ("Training", "Testing")]
        rows = [r for file in files for r in _read_fields(folder / file)[1:]]
        return np.array([r[:-1] for r in rows], dtype=float), np.array([int(r[-1]) for r in rows])

    return read


def _htru2(folder: Path) -> tuple[Float64Array, IntArray]:
    rows = np.array(_read_fields(folder / "HTRU_2.csv.gz"), dtype=float)
    return rows[:, :-1], rows[:, -1].astype(np.int64)


_PAPER: dict[str, Callable[[Path], tuple[Float64Array, IntArray]]] = {
    "abalone": _abalone,
    "letter": _letter,
    "image": _image,
    "chess": _chess,
    "HillValley": _hill_valley("with"),
    "HTRU2": _htru2,
    "HillValley-without-noise": _hill_valley("without"),
}

# --- Turney's tables -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """Where a table is and how to read it.

    ``prices`` is the stem of the price files. ``first`` and ``label`` are the positions of the first feature
    and of the label in a line of data. A label of ``threshold`` or more is class 1, otherwise class 0;
    without a threshold, the labels are the classes. Columns not named in ``kinds`` are integers. ``order``
    gives the codes of ordered columns from low to high.
    """

    files: tuple[str, ...]
    prices: str
    label: int
    kinds: Mapping[Kind, str]
    first: int = 0
    threshold: float | None = None
    zero_is_hole: str = ""
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    delimiter: str = ","


def _turney(source: _Source, folder: Path) -> Dataset:
    expenses = _expenses(folder / f"{source.prices}.expense")
    prices = _prices(expenses, _groups(folder / f"{source.prices}.group"))
    lines = [line for file in source.files for line in _read_fields(folder / file, source.delimiter)]
    return Dataset(_table(source, lines, list(expenses)), prices)


def _table(source: _Source, lines: list[list[str]], columns: list[str]) -> Table:
    """Return the table; ``columns`` are those with prices, in the order of the data."""
    width = max(source.first + len(columns), source.label + 1)
    cells = np.array([[np.nan if text == "?" else float(text) for text in line[:width]] for line in lines])
    X = cells[:, source.first : source.first + len(columns)]
    label = cells[:, source.label]
    y = label if source.threshold is None else label >= source.threshold
    kinds = {column: kind for kind, names in source.kinds.items() for column in names.split()}
    for column in source.zero_is_hole.split():
        values = X[:, columns.index(column)]
        values[values == 0] = np.nan
    for j, column in enumerate(columns):
        if kinds.get(column) == "boolean":
            X[:, j] -= np.nanmin(X[:, j])
    return Table.from_arrays(
        X,
        y.astype(np.int64),
        columns=columns,
        target="class",
        kinds={column: kinds.get(column, "integer") for column in columns},
        categories=source.order,
    )


def _expenses(path: Path) -> dict[str, tuple[float, float]]:
    """Return, for each column, its price alone and its price after another column of its group."""
    expenses = {}
    for column, text in _entries(path):
        first, then = text.split(",")
        expenses[column] = float(first), float(then)
    return expenses


def _groups(path: Path) -> dict[str, list[str]]:
    """Return the columns of each group."""
    groups: dict[str, list[str]] = {}
    for column, group in _entries(path):
        groups.setdefault(group.rstrip("."), []).append(column)
    return groups


def _entries(path: Path) -> list[tuple[str, str]]:
    """Return the lines "name: text" of a file as pairs; skip others, such as a list of groups."""
    pairs = (line.partition(":") for line in _read_text(path).splitlines())
    return [(name.strip(), text.strip()) for name, colon, text in pairs if colon]


def _prices(expenses: Mapping[str, tuple[float, float]], groups: Mapping[str, list[str]]) -> Prices:
    grouped = {column for columns in groups.values() for column in columns}
    return Prices.per_column(
        {column: first for column, (first, _) in expenses.items() if column not in grouped},
        groups=[
            Group(
                name,
                columns,
                first={column: expenses[column][0] for column in columns},
                then={column: expenses[column][1] for column in columns},
                lasting=True,
            )
            for name, columns in groups.items()
        ],
    )


_TURNEY: dict[str, _Source] = {
    "heart": _Source(
        files=("processed.cleveland.data",),
        prices="heart-disease",
        label=13,
        threshold=1,
        kinds={
            "boolean": "sex fbs exang",
            "category": "cp restecg thal",
            "ordered": "slope",
            "number": "oldpeak",
        },
        order={"slope": ("1", "2", "3")},
    ),
    "hepatitis": _Source(
        files=("hepatitis.data",),
        prices="hepatitis",
        label=0,
        first=1,
        kinds={
            "boolean": "sex steroid antviral fatigue malaise anorexia liver_big liver_firm spleen_palpable "
            "spiders ascites varices histology",
            "number": "bilirubin albumin",
        },
    ),
    "pima": _Source(
        files=("pima-indians-diabetes.data",),
        prices="pima-indians-diabetes",
        label=8,
        kinds={"number": "mass_index pedigree"},
        zero_is_hole="glucose_tol diastolic_pb triceps insulin mass_index",
    ),
    "bupa": _Source(files=("bupa.data",), prices="bupa-liver", label=5, threshold=3, kinds={}),
    "thyroid": _Source(
        files=("ann-train.data", "ann-test.data"),
        prices="ann-thyroid",
        label=21,
        delimiter=" ",
        kinds={
            "boolean": "sex on_thyroxine query_on_thyroxine on_antithyroid_medication sick pregnant "
            "thyroid_surgery I131_treatment query_hypothyroid query_hyperthyroid lithium goitre tumor "
            "hypopituitary psych",
            "number": "age TSH T3 TT4 T4U",
        },
    ),
}

PAPER_NAMES = tuple(_PAPER)
"""The paper's six tables, with both versions of HillValley."""

TURNEY_NAMES = tuple(_TURNEY)
"""Turney's five tables."""
