"""Five medical tables with what their tests really cost, from Turney (JAIR 2, 1995).

The prices are fees in Canadian dollars, which Peter Turney took from the schedule of the Ontario Health
Insurance Program. Tests come in groups: the first of a group costs its full fee, the others less, for the
patient has been there and the blood is drawn. The folder is given by the environment variable
CELLWORTH_DATA; the files are in its subfolder ``costs``.

The heart data were collected by A. Janosi, W. Steinbrunn, M. Pfisterer and R. Detrano.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cellworth.errors import DataError
from cellworth.paper.datasets import data_folder, read_fields, read_text
from cellworth.prices import Group, Prices
from cellworth.table import Kind, Table

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Source:
    """Where a table is and how to read it.

    ``prices`` is the stem of the files of prices; ``first`` the place of the first feature in a line of data,
    ``label`` that of what makes the class; a label of ``threshold`` or more is class 1, else 0, and without a
    threshold the labels are the classes. Columns that ``kinds`` does not name are integers; ``order`` has the
    codes of ordered columns from low to high.
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


def load(name: str, folder: Path | str | None = None) -> tuple[Table, Prices]:
    """Load one of the five tables and its prices by name.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    folder : path, optional
        Where the files are; by default the subfolder ``costs`` of ``$CELLWORTH_DATA``.

    Returns
    -------
    table : Table
        With the target "class", in the codes of the source. Classes of heart: 1 for any disease (1 to 4
        in the source), else 0; of bupa: 1 for three drinks a day or more, else 0, as Turney did. Columns of
        two codes are boolean, True for the higher code. Holes are the source's; in pima also the zeros of
        five columns in which no living person has a zero.
    prices : Prices
        In Canadian dollars, from the files ``.expense`` and ``.group``. Groups last: once a test of a group
        is known for a patient, the others have their lower price. Which results are delayed is not used.

    Notes
    -----
    Thyroid is its training and test rows together. Its column FTI is left out: it is computed from TT4 and
    T4U, and has no price of its own.
    """
    if name not in _SOURCES:
        raise DataError(f"no data set {name!r}; expected one of {', '.join(NAMES)}")
    source = _SOURCES[name]
    place = Path(folder) if folder is not None else data_folder("costs")
    expenses = _expenses(place / f"{source.prices}.expense")
    prices = _prices(expenses, _groups(place / f"{source.prices}.group"))
    lines = [line for file in source.files for line in read_fields(place / file, source.delimiter)]
    return _table(source, lines, list(expenses)), prices


def _table(source: _Source, lines: list[list[str]], columns: list[str]) -> Table:
    """Return the table; the columns are those that have prices, in the order of the data."""
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
    """Return for each column its price alone and its price after another of its group."""
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
    """Return the lines "name: text" of a file as pairs; others, such as a list of groups, are passed over."""
    pairs = (line.partition(":") for line in read_text(path).splitlines())
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


_SOURCES: dict[str, _Source] = {
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

NAMES = tuple(_SOURCES)
"""The five tables of Turney."""
