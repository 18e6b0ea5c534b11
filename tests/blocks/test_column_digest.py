"""The digest of a column does not depend on how it is cut, and has the cells that tell its kind."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cellworth.blocks.block_cells import cells_of_array
from cellworth.blocks.column_digest import ColumnDigest
from cellworth.table.column import Column
from cellworth.table.missing_marks import missing_marks

NUMBERS = st.lists(st.sampled_from([0.0, 1.0, 2.5, -3.25, np.inf, np.nan, -9.0]), min_size=1, max_size=12)
TEXTS = st.lists(st.sampled_from(["a", "b", None, "?"]), min_size=1, max_size=12)


def digest(values, start=0, *, labels=False):
    cells = cells_of_array(values)
    names = lambda rows: [f"r{start + row}" for row in rows.tolist()]  # noqa: E731
    return ColumnDigest.of(cells, missing_marks([-9]), start, names, labels=labels)


def parts(digested):
    return (
        digested.values.tolist(),
        digested.times.tolist(),
        digested.rows.tolist(),
        digested.names,
        digested.known,
        digested.fineness,
    )


@given(values=NUMBERS, cut=st.integers(0, 12), labels=st.booleans())
def test_numbers(values, cut, labels):
    values, cut = np.array(values), min(cut, len(values))
    whole = digest(values, labels=labels)
    known = values[~np.isnan(values) & (values != -9)]
    assert whole.known == len(known)
    if labels:
        assert sorted(whole.values) == sorted(set(known.tolist()))
    elif len(known):
        assert {known.min(), known.max()} <= set(whole.values.tolist())
        assert np.isinf(known).any() == np.isinf(whole.values).any()
        finite = known[np.isfinite(known)]
        assert (finite != np.rint(finite)).any() == any(v % 1 for v in whole.values if np.isfinite(v))
        assert whole.fineness == Column("c", "number").fineness(finite)
    assert all(values[row] == value for row, value in zip(whole.rows, whole.values, strict=True))
    if 0 < cut < len(values):
        both = digest(values[:cut], labels=labels).merged(digest(values[cut:], cut, labels=labels))
        if labels:
            assert parts(both) == parts(whole)
        else:
            assert (both.known, both.fineness) == (whole.known, whole.fineness)
            assert set(whole.values.tolist()) <= set(both.values.tolist()) | set(known.tolist())
            assert {min(whole.values, default=0), max(whole.values, default=0)} <= {0, *both.values.tolist()}


@given(texts=TEXTS, cut=st.integers(1, 11))
def test_texts(texts, cut):
    values = np.array(texts, dtype=object)
    whole = digest(values)
    seen = [text for text in texts if text is not None]
    assert whole.values.tolist() == list(dict.fromkeys(seen))
    assert whole.times.tolist() == [seen.count(text) for text in dict.fromkeys(seen)]
    if cut < len(values):
        assert parts(digest(values[:cut]).merged(digest(values[cut:], cut))) == parts(whole)
