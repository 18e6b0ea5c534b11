"""What a label tells over row blocks is what it tells in memory, and what retraining says."""

import numpy as np
import pytest

from cellworth import GaussianCompleter
from cellworth.blocks import open_blocks
from cellworth.complete.row_finders import RowsAt
from cellworth.complete.scaling import Scaling
from cellworth.score.label_information import LabelInformation, TableProducts, standardised
from tests.blocks.tables import make_table

NORMAL = GaussianCompleter(margins="normal", label_trust=0)


@pytest.fixture
def both(local):
    """A completed table in row blocks and in memory, with columns far from 0, and its labels."""
    local.block_rows = 77
    X, y = make_table(300, 4, 0, labelled=0.4)
    X = X * [1.0, 1e3, 1e-3, 1.0] + [0.0, 1e6, 5.0, -1e4]
    done = NORMAL.fit(open_blocks(X, target=y, engine=local)).completed_
    return done, np.asarray(done.gather()[0], dtype=np.float64), np.isnan(y)


def test_products_of_blocks_are_those_of_the_standardised_table(both):
    done, completed, unlabelled = both
    found = TableProducts.of_blocks(done)
    scaling = Scaling.of(completed, "standard")
    np.testing.assert_allclose(found.scaling.width, scaling.width, rtol=1e-12)
    X = standardised(completed, scaling)
    np.testing.assert_allclose(found.every, X.T @ X, atol=1e-8)
    np.testing.assert_allclose(found.labelled, X[~unlabelled].T @ X[~unlabelled], atol=1e-8)


def test_leverages_of_blocks_are_those_in_memory(both):
    done, completed, unlabelled = both
    some = np.flatnonzero(unlabelled)[::2]
    find = [RowsAt(np.arange(50)), RowsAt(some)]
    numbers, rows, products = TableProducts.with_rows(done, find)
    assert numbers[0].tolist() == list(range(50))
    assert numbers[1].tolist() == some.tolist()
    np.testing.assert_allclose(rows.completed, completed[np.union1d(np.arange(50), some)])
    np.testing.assert_allclose(products.every, TableProducts.of_blocks(done).every)
    one = LabelInformation.of_products(products, completed[some])
    other = LabelInformation.of(completed, unlabelled, some)
    assert one.mean == pytest.approx(other.mean)
    found = one.leverages(completed, unlabelled)
    np.testing.assert_allclose(found, other.leverages(completed, unlabelled), rtol=1e-8)
    assert (found[~unlabelled] == 1).all()
    assert ((found > 0) & (found < 2)).all()


def test_a_label_reduces_the_variance_by_what_retraining_says(both):
    _, completed, unlabelled = both
    information = LabelInformation.of(completed, unlabelled, np.flatnonzero(unlabelled))
    X = standardised(completed, information.scaling)

    def variance(rows):
        return np.trace(X @ np.linalg.inv(X[rows].T @ X[rows] + np.eye(X.shape[1])) @ X.T)

    found = information.reduction.by(X)
    for i in np.flatnonzero(unlabelled)[:20]:
        after = ~unlabelled
        after[i] = True
        assert found[i] == pytest.approx(variance(~unlabelled) - variance(after))


def test_where_all_rows_have_a_label_none_tells_more_than_another(both):
    _, completed, unlabelled = both
    none = np.zeros_like(unlabelled)
    information = LabelInformation.of(completed, none, np.zeros(0, dtype=int))
    assert (information.leverages(completed, none) == 1).all()
