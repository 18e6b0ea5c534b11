"""Which columns of a numeric table belong to one category.

A category of three or more texts is encoded as a column of 0 and 1 for each text. Each of these is determined
by the others: if only one of them were hidden, it could be read off them, while in a hole of the table all
are missing. So whatever is learned from known cells that are treated as holes must treat a category as one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, FloatArray


def find_categories(X: FloatArray) -> tuple[slice, ...]:
    """Return the columns of each category of a table X (n, d), NaN in its holes; O(n d).

    They are two or more adjacent columns of 0 and 1, known in the same rows, with a single 1 in each row.

    Examples
    --------
    >>> import numpy as np
    >>> hole = [np.nan] * 3
    >>> find_categories(np.array([[5, 0, 1, 0], [1, 1, 0, 0], [0, *hole], [0, 0, 0, 1]]))
    (slice(1, 4, None),)
    """
    known = ~np.isnan(X)
    ones = X == 1
    binary = known.any(axis=0) & ~(known & ~ones & (X != 0)).any(axis=0)
    found, first = [], 0
    while first < X.shape[1]:
        end = _end_of_category(known, ones, binary, first)
        if end is not None:
            found.append(slice(first, end))
        first = first + 1 if end is None else end
    return tuple(found)


def _end_of_category(known: BoolArray, ones: BoolArray, binary: BoolArray, first: int) -> int | None:
    """Return the column after a category that begins with ``first``; None if there is none."""
    rows, total = known[:, first], np.zeros(len(known), dtype=np.int64)
    for j in range(first, known.shape[1]):
        if not binary[j] or (known[:, j] != rows).any():
            return None
        total += ones[:, j]
        if total.max() > 1:
            return None
        if (total == rows).all():
            return j + 1 if j > first else None  # a single column of ones is a constant
    return None


def as_one_cell(cells: AnyArray, categories: Sequence[slice]) -> AnyArray:
    """Return cells (n, d) in which the columns of a category have the entry of its first one."""
    out = cells.copy()
    for columns in categories:
        out[:, columns] = cells[:, columns.start, None]
    return out
