"""Wide, sparse tables over row blocks."""

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from cellworth.blocks.protocol import Blocks as EngineBlocks
from cellworth.blocks.protocol import join
from cellworth.complete.sparse.row_pass import ThreadedRowBlocks, largest_singular_value, row_factors
from cellworth.complete.sparse.trace_norm import SparseTable, certify, fit_trace_norm
from cellworth.engine.sparse import _alone, _read, complete_sparse
from cellworth.errors import DataError
from tests.blocks.tables import SAME, difference


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(40, 3))
    return [csr_array((rng.random((n, 40)) < 0.3) * (rng.normal(size=(n, 3)) @ B.T)) for n in (70, 90, 60)]


def in_memory(parts, share, rank):
    blocks = ThreadedRowBlocks([_read(part) for part in parts])
    counts = np.bincount(np.concatenate([p.indices for p in parts]), minlength=40).astype(float)
    table, rng = SparseTable(blocks, counts), np.random.default_rng(0)
    penalty = share * largest_singular_value(blocks, 40, rng)
    fit = fit_trace_norm(table, penalty, rank, np.zeros((40, 0)), rng, tol=1e-6, max_iter=500)
    rows = np.concatenate(blocks.map(row_factors, fit.B, penalty).gather())
    return fit, rows, certify(table, fit.B, penalty, rng)


@pytest.mark.parametrize("where", ["local", "dask"])
def test_blocks_on_an_engine_give_what_blocks_in_memory_give(where, parts, request, tmp_path):
    engine = request.getfixturevalue(where)
    files = []
    for number, part in enumerate(parts):
        files.append(tmp_path / f"{number}.npz")
        save_npz(files[-1], part)
    fit, rows, certificate = in_memory(parts, 0.05, 4)
    for source in (files, parts):
        done = complete_sparse(source, trace_penalty=0.05, rank=4, engine=engine)
        found = np.concatenate(engine.reduce(_alone, join, done.row_factors))
        assert done.fit.n_iter == fit.n_iter
        assert difference(found @ done.column_factors.T, rows @ fit.B.T) < SAME
        assert done.certificate.objective == pytest.approx(certificate.objective, rel=1e-10)


def test_the_fit_is_certified(parts, local):
    done = complete_sparse(parts, trace_penalty=0.05, rank=10, engine=local)
    assert 0 <= done.certificate.gap < 1e-3 * done.certificate.objective
    assert isinstance(done.row_factors, EngineBlocks)


def test_blocks_that_do_not_belong_together_are_refused(parts, local):
    with pytest.raises(DataError, match=r"blocks of \[39, 40\] columns"):
        complete_sparse([parts[0], csr_array(parts[1][:, 1:])], trace_penalty=0.1, engine=local)
    hollow = [csr_array((5, 3)) for _ in range(2)]
    with pytest.raises(DataError, match="3 columns have no observed cell"):
        complete_sparse(hollow, trace_penalty=0.1, engine=local)
