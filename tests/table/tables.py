"""Hypothesis strategies: tables of all kinds with holes, and texts that a cell may hold."""

from datetime import datetime
from functools import cache

import numpy as np
from hypothesis import strategies as st

from cellworth.table import Table
from cellworth.table.missing_marks import BLANKS
from cellworth.table.parse_values import LARGEST_INTEGER

texts = (
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda text: text not in BLANKS)
)
# A lone column whose name has a semicolon is taken for a file with another separator, on purpose.
names = texts.map(lambda name: name.replace("\ufeff", "").strip()).filter(
    lambda name: name not in BLANKS and not set(name) & set(";|\t")
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
integers = st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
moments = st.datetimes(max_value=datetime(9999, 12, 31, 23))


KINDS = {
    "number": numbers,
    "integer": integers,
    "boolean": st.booleans(),
    "date": moments,
    "day": st.dates(),
}
kinds = st.sampled_from([*KINDS, "ordered", "category"])
categories_of_a_column = st.lists(texts, min_size=1, max_size=4, unique=True)
labels = st.sampled_from(["boolean", "integer", "number", "text"])
units = st.sampled_from(["years", "mmol/l"])
descriptions = st.sampled_from(["", 'Fasting; "sober", ä', "<b>=1,2"])


# What depends on a few numbers only is made once: to make a strategy takes longer than to draw from it.
@cache
def lists_of(value, n, **options):
    return st.lists(value, min_size=n, max_size=n, **options)


@cache
def up_to(last):
    return st.integers(0, last)


@cache
def with_holes(value, n):
    return st.lists(st.none() | value, min_size=n, max_size=n)


@cache
def targets(label, n):
    value = texts if label == "text" else KINDS[label]
    return st.none() | with_holes(value, n).filter(_has_two_labels)


@st.composite
def columns(draw, n):
    """Draw (cells, kind, categories, bounds) of a column with n cells, one of them at least observed."""
    kind = draw(kinds)
    categories, bounds = None, None
    if kind in ("ordered", "category"):
        categories = draw(categories_of_a_column)
    value = KINDS[kind] if categories is None else up_to(len(categories) - 1)
    cells = draw(with_holes(value, n))
    cells[draw(up_to(n - 1))] = draw(value)
    if categories is not None:
        cells = [cell if cell is None else categories[cell] for cell in cells]
    elif kind != "boolean" and draw(st.booleans()):
        observed = [cell for cell in cells if cell is not None]
        bounds = (min(observed) if draw(st.booleans()) else None, max(observed))
    return cells, "date" if kind == "day" else kind, categories, bounds


COLUMNS = {n: st.lists(columns(n), min_size=1, max_size=4) for n in range(2, 6)}
ROW_IDS = {n: st.none() | lists_of(texts, n, unique=True) for n in COLUMNS}
sizes = st.sampled_from(sorted(COLUMNS))


@st.composite
def tables(draw, holes=True):
    """Draw a table of 2 to 5 rows and 1 to 4 columns, with or without row ids and target."""
    n = draw(sizes)
    drawn = draw(COLUMNS[n])
    if not holes:
        for cells, *_ in drawn:
            filler = next(cell for cell in cells if cell is not None)
            cells[:] = [filler if cell is None else cell for cell in cells]
    *header, target = draw(lists_of(names, len(drawn) + 1, unique=True))
    row_ids = draw(ROW_IDS[n])
    y = draw(targets(draw(labels), n))
    kinds = {name: kind for name, (_, kind, _, _) in zip(header, drawn, strict=True)}
    if y is not None and any(isinstance(value, str) for value in y):
        kinds[target] = "category"
    X = np.empty((n, len(drawn)), dtype=object)
    for place, (cells, *_) in enumerate(drawn):
        X[:, place] = cells
    return Table.from_arrays(
        X,
        y,
        columns=header,
        row_ids=row_ids,
        target=target,
        kinds=kinds,
        categories={name: c for name, (_, _, c, _) in zip(header, drawn, strict=True) if c},
        bounds={name: b for name, (_, _, _, b) in zip(header, drawn, strict=True) if b},
        units={header[0]: draw(units)},
        descriptions=dict.fromkeys(header[-1:], draw(descriptions)),
    )


def _has_two_labels(labels):
    return len({float(x) if isinstance(x, bool | int) else x for x in labels if x is not None}) >= 2


def read(tmp_path, text, name="t.csv", **keywords):
    """Return the table that a text is read as, from a file of this name."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Table.read(path, **keywords)
