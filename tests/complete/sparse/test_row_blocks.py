"""Wide, sparse tables over row blocks."""

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz, vstack

from cellworth import GaussianCompleter, SparseCompleter
from cellworth.blocks import open_blocks
from cellworth.errors import DataError, ParameterError
from tests.blocks.tables import SAME, difference


@pytest.fixture(scope="module")
def parts():
    """Three blocks of rows of one table of rank 3, 30 % observed, with offsets; one row has no cell."""
    rng = np.random.default_rng(0)
    B, columns = rng.normal(size=(40, 3)), rng.normal(size=40)
    blocks = []
    for n in (70, 90, 60):
        values = 5 + columns + rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) @ B.T
        seen = rng.random((n, 40)) < 0.3
        seen[7] = False
        blocks.append(csr_array(np.where(seen, values, 0)))
    return blocks


def assert_same(whole, on_blocks, X):
    completed, variance = on_blocks.completed_.gather()
    assert variance is None
    assert on_blocks.n_iter_ == whole.n_iter_
    assert on_blocks.rank_ == whole.rank_
    assert on_blocks.trace_penalty_ == pytest.approx(whole.trace_penalty_, rel=1e-8)
    assert difference(completed, whole.complete(X)) < 100 * SAME
    assert on_blocks.objective_[-1] == pytest.approx(whole.objective_[-1], rel=1e-8)
    assert on_blocks.duality_gap_ == pytest.approx(whole.duality_gap_, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    ("where", "centre"), [("local", "none"), ("local", "columns"), ("local", "both"), ("dask", "both")]
)
def test_blocks_give_what_the_whole_table_gives(where, centre, parts, request, tmp_path):
    engine = request.getfixturevalue(where)
    for number, part in enumerate(parts):
        save_npz(tmp_path / f"{number}.npz", part)
    settings = {"trace_penalty": 0.05, "penalty_unit": "relative", "rank": 4, "centre": centre}
    whole = SparseCompleter(**settings).fit(vstack(parts, format="csr"))
    for table in (tmp_path, sorted(tmp_path.iterdir()), parts)[: 3 if where == "local" else 1]:
        on_blocks = SparseCompleter(**settings).fit(open_blocks(table, engine=engine))
        assert_same(whole, on_blocks, vstack(parts, format="csr"))


def test_what_is_chosen_on_a_short_table_is_what_the_whole_table_gives(parts, local):
    whole = SparseCompleter().fit(vstack(parts, format="csr"))
    on_blocks = SparseCompleter().fit(open_blocks(parts, engine=local))
    assert on_blocks.trace_penalty_ == pytest.approx(whole.trace_penalty_, rel=1e-6)
    assert difference(on_blocks.completed_.gather()[0], whole.complete(vstack(parts, format="csr"))) < 1e-2


def test_a_dense_table_with_holes_is_taken_too(parts, local):
    X = vstack(parts, format="csr").toarray()
    X[X == 0] = np.nan
    local.block_rows = 50
    settings = {"trace_penalty": 2.0, "rank": 3}
    whole = SparseCompleter(**settings).fit(X)
    assert_same(whole, SparseCompleter(**settings).fit(open_blocks(X, engine=local)), X)


def test_a_warm_start_takes_fewer_steps(parts, local):
    completer = SparseCompleter(trace_penalty=2.0, rank=3, warm_start=True)
    first = completer.fit(open_blocks(parts, engine=local)).n_iter_
    assert completer.fit(open_blocks(parts, engine=local)).n_iter_ < first


def test_the_fit_is_certified(parts, local):
    done = SparseCompleter(trace_penalty=2.0, rank=20, tol=1e-7).fit(open_blocks(parts, engine=local))
    assert 0 <= done.duality_gap_ < 1e-3 * done.objective_[-1]


def test_blocks_that_do_not_belong_together_are_refused(parts, local, tmp_path):
    with pytest.raises(DataError, match=r"blocks of \[39, 40\] columns"):
        open_blocks([parts[0], csr_array(parts[1][:, 1:])], engine=local)
    hollow = [csr_array((5, 3)) for _ in range(2)]
    with pytest.raises(DataError, match="no row has a value of '0', '1', '2'"):
        SparseCompleter(trace_penalty=0.1).fit(open_blocks(hollow, engine=local))
    with pytest.raises(ParameterError, match="use SparseCompleter"):
        GaussianCompleter().fit(open_blocks(parts, engine=local))
    (tmp_path / "broken.npz").write_text("no matrix")
    with pytest.raises(DataError, match=r"broken\.npz: cannot be read as a sparse matrix"):
        open_blocks(tmp_path / "broken.npz")
