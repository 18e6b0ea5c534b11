"""A user's own completer runs on arrays, threads and workers by implementing the documented methods."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from cellworth.blocks import open_blocks
from cellworth.blocks.engine_protocol import Blocks, add
from cellworth.complete.completer import BlockCompleter, fit_source
from cellworth.errors import ParameterError
from tests.blocks.tables import make_table


class RowAndColumnMeans(BlockCompleter):
    """Fills a hole with the mean of its column, moved by a share of its row's mean excess."""

    has_variance = True

    def __init__(self, share=0.5):
        self.share = share

    def fit_blocks(self, source, summary, checkpoint=None):
        self.means_, self.spread_ = summary.sums.mean, summary.sums.deviation()
        n, excess = source.reduce(count_above, add, shared=(self.means_,))
        self.above_ = excess / n
        return source.map(row_excess, shared=(self.means_,))

    def complete_rows(self, part, state):
        holes = np.isnan(part.X)
        completed = np.where(holes, self.means_ + self.share * state[:, None], part.X)
        return completed, np.where(holes, self.spread_**2, 0.0)


def row_excess(part, means):
    return np.nan_to_num(np.nanmean(part.X - means, axis=1))


def count_above(part, means):
    return np.sum(~np.isnan(part.X)), np.nansum(means < part.X)


class WithoutBase(BaseEstimator):
    """Does not inherit from `BlockCompleter`."""

    has_variance = False

    def fit(self, source):
        return fit_source(self, source)

    def fit_blocks(self, source, summary, checkpoint=None):
        self.low_ = summary.low

    def complete_rows(self, part, state=None):
        return np.where(np.isnan(part.X), self.low_, part.X), None


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("where", ["local", "dask"])
def test_it_gives_the_same_on_arrays_and_on_blocks(where, request, tmp_path, files):
    engine = request.getfixturevalue(where)
    engine.block_rows = 37
    X, _ = make_table(200, 4, 0)
    whole = RowAndColumnMeans().fit(X)
    assert whole.completed_.shape == whole.variance_.shape == X.shape
    source = open_blocks(X, columns=list("abcd"), engine=engine)
    on_blocks = RowAndColumnMeans().fit(source)
    completed, variance = on_blocks.completed_.gather()
    np.testing.assert_allclose(completed, whole.completed_, rtol=1e-12)
    np.testing.assert_allclose(variance, whole.variance_, rtol=1e-12)
    assert on_blocks.above_ == pytest.approx(whole.above_)
    assert on_blocks.feature_names_in_.tolist() == list("abcd")
    on_blocks.completed_.write(tmp_path / "filled", variance=True)
    again = open_blocks(tmp_path / "filled", columns=list("abcd")).sample(1)
    np.testing.assert_array_equal(again.X, completed)


@pytest.mark.parametrize("where", ["local", "dask"])
def test_it_need_not_inherit_anything(where, request):
    engine = request.getfixturevalue(where)
    X, _ = make_table(90, 3, 1)
    done = WithoutBase().fit(open_blocks(X, engine=engine)).completed_
    assert (done.gather()[0] == np.where(np.isnan(X), np.nanmin(X, axis=0), X)).all()
    with pytest.raises(ParameterError, match="WithoutBase has no variances"):
        done.write("nowhere", variance=True)


def test_functions_of_completed_blocks_come_back_in_order(local):
    local.block_rows = 25
    X, _ = make_table(80, 3, 2)
    done = WithoutBase().fit(open_blocks(X, engine=local)).completed_
    starts = done.map(lambda filled, number: (number, filled.part.start), Blocks([0, 1, 2, 3]))
    assert starts.items == [(0, 0), (1, 25), (2, 50), (3, 75)]
    holes = done.reduce(lambda filled: (int(filled.holes.sum()),), add)
    assert holes == (int(np.isnan(X).sum()),)
