import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.blocks.column_sums import ColumnSums


@given(
    cells=st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=2, max_size=30), cut=st.integers(1, 29)
)
def test_sums_of_columns_merge(cells, cut):
    X = np.array(cells)[:, None] + 1e8
    cut = min(cut, len(X) - 1)
    merged = ColumnSums.of(X[:cut]).merged(ColumnSums.of(X[cut:]))
    known = X[~np.isnan(X)]
    assert merged.count[0] == len(known)
    if len(known):
        assert merged.mean[0] == pytest.approx(known.mean(), rel=1e-14)
        assert merged.deviation()[0] == pytest.approx(known.std(), rel=1e-6, abs=1e-6)
