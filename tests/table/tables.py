"""Hypothesis strategies: tables of all kinds with holes, and texts that a cell may hold."""

from datetime import datetime

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


@st.composite
def columns(draw, n):
    """Draw (cells, kind, categories, bounds) of a column with n cells, one of them at least observed."""
    kind = draw(st.sampled_from(["number", "integer", "boolean", "ordered", "category", "date", "day"]))
    categories, bounds = None, None
    if kind in ("ordered", "category"):
        categories = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
        value = st.sampled_from(categories)
    else:
        value = {
            "number": numbers,
            "integer": integers,
            "boolean": st.booleans(),
            "date": moments,
            "day": st.dates(),
        }[kind]
    cells = draw(st.lists(st.none() | value, min_size=n, max_size=n))
    cells[draw(st.integers(0, n - 1))] = draw(value)
    if kind in ("number", "integer", "date", "day") and draw(st.booleans()):
        observed = [cell for cell in cells if cell is not None]
        bounds = (draw(st.sampled_from([None, min(observed)])), max(observed))
    return cells, "date" if kind == "day" else kind, categories, bounds


@st.composite
def tables(draw, holes=True):
    """Draw a table of 2 to 5 rows and 1 to 4 columns, with or without row ids and target."""
    n = draw(st.integers(2, 5))
    drawn = draw(st.lists(columns(n), min_size=1, max_size=4))
    if not holes:
        for cells, *_ in drawn:
            filler = next(cell for cell in cells if cell is not None)
            cells[:] = [filler if cell is None else cell for cell in cells]
    header = draw(st.lists(names, min_size=len(drawn) + 1, max_size=len(drawn) + 1, unique=True))
    *header, target = header
    row_ids = draw(st.none() | st.lists(texts, min_size=n, max_size=n, unique=True))
    label = draw(st.sampled_from([st.booleans(), integers, numbers, texts]))
    y = draw(st.none() | st.lists(st.none() | label, min_size=n, max_size=n).filter(_has_two_labels))
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
        units={header[0]: draw(st.sampled_from(["years", "mmol/l"]))},
        descriptions=dict.fromkeys(
            header[-1:], draw(st.sampled_from(["", 'Fasting; "sober", ä', "<b>=1,2"]))
        ),
    )


def _has_two_labels(labels):
    return len({float(x) if isinstance(x, bool | int) else x for x in labels if x is not None}) >= 2
