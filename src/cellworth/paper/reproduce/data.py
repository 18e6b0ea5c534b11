"""The paper's tables, or some rows of them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from sklearn.model_selection import train_test_split

from cellworth.paper.datasets import DataSet, load


@lru_cache(maxsize=8)
def some_rows(name: str, rows: int | None) -> DataSet:
    """Return a table of the paper, or at most so many of its rows, drawn at random by class, always the same.

    The seven tables take 6 MB together; they are kept, since a process plays many runs.
    """
    data = load(name)
    if rows is None or rows >= len(data.y):
        return data
    kept, _ = train_test_split(np.arange(len(data.y)), train_size=rows, stratify=data.y, random_state=0)
    kept.sort()
    return DataSet(name, data.X[kept], data.y[kept])
