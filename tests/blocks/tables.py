"""Tables and comparisons that the engine's tests share."""

import numpy as np
from hypothesis import strategies as st

from cellworth import GaussianCompleter, SupervisedCompleter

SAME = 1e-8  # relative to the largest value: what engines promise to agree to, in float64


def make_table(n, d, seed, *, observed=0.6, labelled=1.0, dtype=np.float64):
    """Return (X, y): rank 2 plus noise, holes at random but in the first two rows; y is 0, 1 or missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.3 * rng.normal(size=(n, d))
    y = (X[:, 0] > np.median(X[:, 0])).astype(float)
    X[2:][rng.random((n - 2, d)) > observed] = np.nan
    y[rng.random(n) > labelled] = np.nan
    y[:4] = [0, 1, 0, 1]
    return X.astype(dtype), y


@st.composite
def tables(draw, max_rows=60):
    """Draw (X, y or None, block_rows): some rows without labels, columns that are empty in some block."""
    d = draw(st.integers(2, 5))
    n = draw(st.integers(max(8, 2 * d), max_rows))
    X, y = make_table(n, d, draw(st.integers(0, 2**32 - 1)), labelled=draw(st.sampled_from([0.3, 0.7, 1.0])))
    if draw(st.booleans()):
        X[n // 2 :, 0] = np.nan
    if draw(st.booleans()):
        X[n - 3] = np.nan
    return X, draw(st.sampled_from([None, y])), draw(st.sampled_from([1, 3, 7, n]))


COMPLETERS = [
    SupervisedCompleter(),
    SupervisedCompleter(loss="logistic", scale="standard", penalty_unit="relative", trace_penalty=0.05),
    SupervisedCompleter(label_weight=0, scale=None),
    GaussianCompleter(margins="normal", label_trust=0),
    GaussianCompleter(margins="rank", label_trust=0.3),
    GaussianCompleter(factors=1, margins="normal", label_trust=1.0, calibrate=False),
]


def difference(a, b):
    """Return the largest difference, relative to the largest value of b."""
    return np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)


def write_parquet(folder, X, y=None, *, names=None, files=3, row_group=40, **extra):
    """Write a table as a folder of Parquet files; return the names of its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = names or [f"c{j}" for j in range(X.shape[1])]
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(X)), files)):
        columns = {name: X[rows, j] for j, name in enumerate(names)}
        columns |= {name: values[rows] for name, values in extra.items()}
        if y is not None:
            columns["outcome"] = y[rows]
        table = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
        pq.write_table(table, folder / f"part{k}.parquet", row_group_size=row_group)
    return names
