"""Sums and a sample of row blocks are those of the whole table, however it is cut."""

import numpy as np
import pytest

from cellworth import SupervisedCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.complete.labels import code_labels, labelled_first
from cellworth.complete.scaling import Scaling, scaled_cells
from cellworth.complete.solver.cell_sums import sums_and_sample
from cellworth.complete.solver.passes_over_blocks import Outline, scaled_block
from cellworth.complete.table_summary import summarise
from tests.blocks.tables import SAME, difference, make_table

LARGE = 34_000, 6  # 204,000 cells: as many as a sample pays for


@pytest.mark.parametrize("labelled", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("block_rows", [17, 100, 1000])
def test_they_are_those_of_the_whole_table(labelled, supervised, block_rows):
    X, y = make_table(300, 4, 0, labelled=labelled)
    if labelled == 0:
        y = None
    labels = code_labels(y, len(X), "squared", "classes")
    scaling = Scaling.of(X, "minmax")
    n_targets = int(labels.labelled.sum()) if supervised else 0
    order = labelled_first(labels.labelled)
    values, observed = scaled_cells(X[order], scaling)
    with ThreadEngine(1, block_rows) as engine:
        source = open_blocks(X, target=y, engine=engine)
        before = summarise(source).rows_before
        outline = Outline(X.shape, supervised, scaling, labels.code)
        data = source.map(scaled_block, type(source.blocks)(before), shared=(outline,))
        sums, rows = sums_and_sample(engine, data, n_targets, 7)
        assert sums_and_sample(engine, data, n_targets, None)[1] is None
    np.testing.assert_allclose(sums.totals, values.sum(axis=0))
    np.testing.assert_array_equal(sums.counts, observed.sum(axis=0))
    np.testing.assert_allclose(sums.gram, values.T @ values)
    assert sums.square == pytest.approx(np.sum(values**2))
    np.testing.assert_array_equal(rows.values, values[::7].astype(np.float32))
    np.testing.assert_array_equal(rows.observed, observed[::7])
    np.testing.assert_array_equal(rows.targets, labels.targets[order][:n_targets:7])


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge"])
@pytest.mark.parametrize(("n_classes", "label_weight"), [(2, 1.0), (3, 1.0), (2, 0.0)])
def test_a_fit_that_starts_from_a_sample_is_that_in_memory(loss, n_classes, label_weight):
    X, y = make_table(*LARGE, 0, labelled=0.7)
    if n_classes == 3:
        y[X[:, 1] > 0.5] = 2
    said = {"loss": loss, "label_weight": label_weight, "tol": 1e-4}
    whole = SupervisedCompleter(**said).fit(X, y)
    source = open_blocks(X, target=y, engine=ThreadEngine(1, block_rows=7001))
    blocks = SupervisedCompleter(**said).fit(source)
    assert blocks.n_iter_ == whole.n_iter_
    assert difference(blocks.completed_.gather()[0], whole.completed_) < SAME
    np.testing.assert_allclose(blocks.objective_, whole.objective_, rtol=1e-12)
