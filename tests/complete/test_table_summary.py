import numpy as np
import pytest
from hypothesis import given, settings

from cellworth import GaussianCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.complete.scaling import Scaling
from cellworth.complete.table_summary import summarise
from cellworth.errors import DataError
from tests.blocks.tables import make_table, tables


@given(table=tables())
@settings(max_examples=40)
def test_scalings_and_counts_are_those_of_the_whole_table(table):
    X, _, block_rows = table
    with ThreadEngine(n_jobs=1, block_rows=block_rows) as engine:
        summary = summarise(open_blocks(X * 1000 + 7, engine=engine))
    assert (summary.counts == (~np.isnan(X)).sum(axis=0)).all()
    assert (summary.first == (~np.isnan(X)).argmax(axis=0)).all()
    for how in ("minmax", "standard", None):
        of_blocks, whole = summary.scaling(how, X.dtype), Scaling.of(X * 1000 + 7, how)
        np.testing.assert_allclose(of_blocks.offset, whole.offset, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(of_blocks.width, whole.width, rtol=1e-10)


def test_what_cannot_be_completed_is_refused_by_name():
    X, y = make_table(40, 3, 0)
    infinite, empty = X.copy(), X.copy()
    infinite[30, 1] = np.inf
    empty[:, 2] = np.nan
    names = ["age", "weight", "dose"]
    with pytest.raises(DataError, match="'weight', row number 30"):
        GaussianCompleter().fit(open_blocks(infinite, columns=names))
    with pytest.raises(DataError, match="'dose'"):
        GaussianCompleter().fit(open_blocks(empty, columns=names))
    with pytest.raises(DataError, match=r"1 class, 1\.0"):
        GaussianCompleter().fit(open_blocks(X, target=np.ones(40)))
    with pytest.raises(DataError, match=r"mixes labels of the types int, str"):
        GaussianCompleter().fit(open_blocks(X, target=np.array([1, "a"] * 20, dtype=object)))
    with pytest.raises(DataError, match="one label for each of the 40 rows"):
        open_blocks(X, target=y[:3])
