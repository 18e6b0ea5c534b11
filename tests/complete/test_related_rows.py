"""The votes of rows that are alike, against their formula in plain loops."""

import numpy as np
import pytest

from cellworth.complete import related_rows
from cellworth.complete.related_rows import BACKGROUND, RelatedRows

WIDTHS = (3, 2, 4)
STARTS = np.array([0, 3, 5])


def case(seed, m=12):
    """Return codes (m, 3), -1 in the holes, and the rows as 0 and 1."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(width, size=m) for width in WIDTHS])
    codes[rng.random(codes.shape) < 0.3] = -1
    blocks = [(codes[:, [j]] == np.arange(width)).astype(float) for j, width in enumerate(WIDTHS)]
    return codes, RelatedRows(np.hstack(blocks), STARTS)


def shares_of(codes, j, without=None):
    known = [c for i, c in enumerate(codes[:, j]) if c >= 0 and i != without]
    return np.array([(known.count(c) + 1 / WIDTHS[j]) / (len(known) + 1) for c in range(WIDTHS[j])])


def voted(codes, row, j, redrawn, without=None):
    """Return the chances of column j in a row of codes, by the definition."""
    total = BACKGROUND * len(codes) * shares_of(codes, j, without)
    for i, other in enumerate(codes):
        if i == without or other[j] < 0:
            continue
        weight = 1.0
        for k in range(3):
            if k != j and row[k] >= 0 and other[k] >= 0:
                share = shares_of(codes, k)[row[k]]
                weight *= ((1 - redrawn) * (row[k] == other[k]) + redrawn * share) / share
        total[other[j]] += weight
    return total / total.sum()


@pytest.mark.parametrize("redrawn", [0.1, 0.8])
@pytest.mark.parametrize("at_once", [4_000_000, 30])
def test_votes_are_those_of_the_formula(redrawn, at_once, monkeypatch):
    monkeypatch.setattr(related_rows, "AT_ONCE", at_once)
    codes, rows = case(0)
    new, others = case(1, 7)
    holes, known = rows.votes(others.cells, redrawn), rows.left_out_votes(redrawn)
    for j, start in enumerate(STARTS):
        here = slice(start, start + WIDTHS[j])
        for i, row in enumerate(new):
            if row[j] < 0:
                np.testing.assert_allclose(holes[i, here], voted(codes, row, j, redrawn), rtol=1e-9)
        for i, row in enumerate(codes):
            if row[j] >= 0:
                np.testing.assert_allclose(known[i, here], voted(codes, row, j, redrawn, i), rtol=1e-9)


def test_shares_leave_out_the_own_cell():
    codes, rows = case(2)
    for j, start in enumerate(STARTS):
        here = slice(start, start + WIDTHS[j])
        np.testing.assert_allclose(rows.shares[here], shares_of(codes, j))
        for i in range(len(codes)):
            np.testing.assert_allclose(rows.left_out_shares()[i, here], shares_of(codes, j, i))


def test_a_copy_decides_among_many_that_are_unrelated():
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=(200, 40))
    codes[0] = codes[1]
    codes[0, 0] = -1
    cells = np.hstack([(codes[:, [j]] == np.arange(4)).astype(float) for j in range(40)])
    rows = RelatedRows(cells, np.arange(0, 160, 4))
    assert rows.votes(cells[:1], 0.1)[0, codes[1, 0]] > 0.99
    assert np.isfinite(rows.votes(cells, 0.1)).all()
    assert rows.votes(cells[:0], 0.1).shape == (0, 160)
