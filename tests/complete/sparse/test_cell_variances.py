"""The variances of cells are those of a Gaussian written out, and are right on cells that were hidden."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth import SparseCompleter
from cellworth.blocks import open_blocks
from cellworth.complete.sparse.cell_variances import cell_variances, left_out_squares, with_offset
from cellworth.complete.sparse.offsets import Offsets
from tests.complete.sparse.cases import block_of, rank_five, tables

NO_ROWS = np.zeros(0)


@given(tables(), st.sampled_from([0.3, 2.0]), st.sampled_from([np.inf, 1.5]), st.integers(0, 3))
def test_they_are_the_conditional_variances_of_a_gaussian(table, penalty, shrinkage, rank):
    values, observed = table
    B = np.random.default_rng(0).normal(size=(values.shape[1], rank))
    offsets = Offsets(NO_ROWS, np.zeros(values.shape[1]), 0.0, shrinkage)
    found = cell_variances(block_of(values, observed), B, penalty, offsets, noise=0.7)
    prior = 0.7 * (B @ B.T / penalty + 1 / shrinkage)  # of what is behind the cells of a row
    for row, seen in zip(found, observed, strict=True):
        K = prior[np.ix_(seen, seen)] + 0.7 * np.eye(seen.sum())
        expected = np.diag(prior - prior[:, seen] @ np.linalg.solve(K, prior[seen])) + 0.7
        np.testing.assert_allclose(row, expected, rtol=1e-9)


def test_the_noise_is_that_of_regressions_without_each_cell():
    rng = np.random.default_rng(0)
    values, observed, B = rng.normal(size=(6, 8)), rng.random((6, 8)) < 0.6, rng.normal(size=(8, 2))
    offsets = Offsets(NO_ROWS, np.zeros(8), 0.0, np.inf)
    total, n = left_out_squares(block_of(values, observed), B, 0.5, with_offset(B, 0.5, offsets))
    squares = []
    for i, j in np.argwhere(observed):
        others = observed[i] & (np.arange(8) != j)
        G = B[others]
        a = np.linalg.solve(G.T @ G + 0.5 * np.eye(2), G.T @ values[i, others])
        spread = 1 + B[j] @ np.linalg.solve(G.T @ G + 0.5 * np.eye(2), B[j])
        squares.append((values[i, j] - B[j] @ a) ** 2 / spread)
    assert n == observed.sum()
    assert total == pytest.approx(np.sum(squares), rel=1e-9)


def test_they_are_right_on_hidden_cells():
    X, rows, columns = rank_five(n=600, d=150)
    completer = SparseCompleter(rank=5, trace_penalty=5.0, variance=True).fit(open_blocks([X[:350], X[350:]]))
    filled, variance = completer.completed_.gather()
    hidden = variance > 0
    assert hidden.sum() == hidden.size - X.nnz
    new = (rows @ columns.T + 0.5 * np.random.default_rng(1).normal(size=X.shape))[hidden]
    ratio = np.square(new - filled[hidden]) / variance[hidden]
    # 76,000 cells of 600 rows: the share of a row's cells within its interval varies by about 0.1, and 0.004
    # for all rows; that column factors are taken as known costs another few percent.
    assert np.mean(ratio < 1.645**2) == pytest.approx(0.9, abs=0.04)
    assert ratio.mean() == pytest.approx(1.0, abs=0.25)
