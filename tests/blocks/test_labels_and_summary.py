import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import GaussianCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.blocks.column_sums import ColumnSums
from cellworth.blocks.protocol import suitable_rows
from cellworth.complete.labels import LabelSummary, code_labels, label_code
from cellworth.complete.scaling import Scaling
from cellworth.complete.summary import summarise
from cellworth.errors import DataError, ParameterError
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


LABELS = [
    [0.0, 1.0, np.nan, 1.0, 0.0],
    [0.5, 1.0, 2.25, np.nan, 3.0],
    [1, 2, 3, 1, 2],
    ["a", None, "b", "c", "a"],
    [True, False, True, True, False],
    list(np.arange(25.0)),
]


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("kind", ["auto", "classes", "number"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_labels_are_coded_as_in_memory(labels, kind, loss):
    y = np.array(labels, dtype=object if None in labels else None)
    summary = LabelSummary.of(y[:2]).merged(LabelSummary.of(y[2:]))
    try:
        whole = code_labels(y, len(y), loss, kind)
    except (DataError, ParameterError) as error:
        with pytest.raises(type(error)):
            label_code(summary, loss, kind, "outcome")
        return
    code = label_code(summary, loss, kind, "outcome")
    targets, labelled = code.targets(y, len(y))
    np.testing.assert_allclose(targets, whole.targets, atol=1e-12)
    assert (labelled == whole.labelled).all()
    assert type(code.loss) is type(whole.loss)
    assert (code.classes is None) == (whole.classes is None)
    known = whole.targets[whole.labelled]
    np.testing.assert_allclose(code.mean, known.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(code.spread, known.std(axis=0), rtol=1e-12)


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


@given(n=st.integers(1, 10**9), bytes_of_row=st.integers(4, 10**5), workers=st.integers(1, 200))
def test_a_block_leaves_room_for_the_work_on_it(n, bytes_of_row, workers):
    memory = 10**9
    rows = suitable_rows(n, bytes_of_row, memory, workers)
    assert 1 <= rows <= n
    assert rows == 1 or rows * bytes_of_row * 32 <= memory - 250 * 10**6
