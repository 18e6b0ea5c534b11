import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.blocks import ThreadEngine
from cellworth.blocks.engine_protocol import Blocks
from cellworth.complete.sparse import variable_projection
from cellworth.complete.sparse.variable_projection import PassSums
from tests.complete.sparse.cases import block_of, table_from, tables


def one_row_at_a_time(values, observed, B, penalty):
    A = np.zeros((len(values), B.shape[1]))
    for i, seen in enumerate(observed):
        G = B[seen]
        A[i] = np.linalg.solve(G.T @ G + penalty * np.eye(B.shape[1]), G.T @ values[i, seen])
    return A


def factors_for(values, rank, seed=0):
    return np.random.default_rng(seed).normal(size=(values.shape[1], rank))


@settings(max_examples=60)
@given(table=tables(), rank=st.integers(0, 6), penalty=st.sampled_from([1e-3, 0.5, 20.0]))
def test_rows_are_ridge_regressions(table, rank, penalty):
    values, observed = table
    B = factors_for(values, rank)
    A, left = variable_projection.solve(block_of(values, observed), B, penalty)
    np.testing.assert_allclose(A, one_row_at_a_time(values, observed, B, penalty), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(left.values, (values - A @ B.T)[observed], atol=1e-12)


def test_batches_of_any_size_give_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    observed = rng.random((300, 50)) < rng.random((300, 1))
    values = rng.normal(size=observed.shape)
    B = factors_for(values, 7)
    whole = variable_projection.solve(block_of(values, observed), B, 0.3)[0]
    monkeypatch.setattr(variable_projection, "BATCH_BYTES", 1)
    np.testing.assert_allclose(
        variable_projection.solve(block_of(values, observed), B, 0.3)[0], whole, rtol=1e-9
    )


@settings(max_examples=40)
@given(table=tables(), rank=st.integers(1, 4), penalty=st.sampled_from([0.1, 2.0]))
def test_the_slope_is_that_of_finite_differences(table, rank, penalty):
    values, observed = table
    block, B = block_of(values, observed), factors_for(values, rank)
    direction = factors_for(values, rank, seed=1)

    def objective(at):
        sums = variable_projection.step(block, at, penalty)
        return sums.misfit + penalty / 2 * (sums.squares + np.vdot(at, at))

    slope = penalty * B - variable_projection.step(block, B, penalty).products
    h = 1e-5
    rise = (objective(B + h * direction) - objective(B - h * direction)) / (2 * h)
    assert np.vdot(slope, direction) == pytest.approx(rise, rel=1e-5, abs=1e-6)


@settings(max_examples=40)
@given(table=tables(), rank=st.integers(1, 4))
def test_sums_are_those_of_the_table_written_out(table, rank):
    values, observed = table
    block, B, penalty = block_of(values, observed), factors_for(values, rank), 0.7
    A = one_row_at_a_time(values, observed, B, penalty)
    R = (values - A @ B.T) * observed
    V = factors_for(values, 2, seed=2)
    sums = variable_projection.step(block, B, penalty)
    per_cell = sum(np.outer(A[i], A[i]) for i in np.nonzero(observed)[0])
    expected = PassSums(0.5 * np.sum(R**2), np.sum(A**2), R.T @ A, per_cell)
    for ours, right in zip(sums, expected, strict=True):
        np.testing.assert_allclose(ours, right, rtol=1e-8, atol=1e-9)
    gram, product = variable_projection.project(block, V)
    np.testing.assert_allclose(gram, (values @ V).T @ (values @ V), atol=1e-10)
    np.testing.assert_allclose(product, values.T @ values @ V, atol=1e-10)
    footprint = [np.sum((np.outer(values @ v, v) * observed) ** 2) for v in V.T]
    np.testing.assert_allclose(variable_projection.footprint(block, V)[0], footprint, atol=1e-10)
    W = (A @ B.T + R) @ V
    np.testing.assert_allclose(variable_projection.filled_gram(block, B, penalty, V)[0], W.T @ W, atol=1e-8)
    parts = variable_projection.fit_parts(block, B, penalty)
    for ours, right in zip(
        parts, (0.5 * np.sum(R**2), np.sum(R * values), np.sum(A**2), A.T @ A), strict=True
    ):
        np.testing.assert_allclose(ours, right, rtol=1e-8, atol=1e-9)


@settings(max_examples=30)
@given(table=tables(), other=st.integers(0, 2**32 - 1))
def test_hidden_cells_are_estimated_from_the_others(table, other):
    values, observed = table
    rng = np.random.default_rng(other)
    hidden = ~observed & (rng.random(observed.shape) < 0.5)
    truth, B = rng.normal(size=values.shape), factors_for(values, 2)
    pair = (block_of(values, observed), block_of(truth, hidden))
    squares, number = variable_projection.missed(pair, B, 0.5)
    A = one_row_at_a_time(values, observed, B, 0.5)
    assert number == hidden.sum()
    assert squares == pytest.approx(np.sum((truth - A @ B.T)[hidden] ** 2), rel=1e-8, abs=1e-12)


def test_products_of_many_cells_come_in_batches(monkeypatch):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
    rows, columns = rng.integers(30, size=500), rng.integers(20, size=500)
    monkeypatch.setattr(variable_projection, "BATCH_BYTES", 24 * 7)
    np.testing.assert_allclose(
        variable_projection.cell_products(A, B, rows, columns), (A @ B.T)[rows, columns]
    )


@settings(max_examples=40)
@given(table=tables(), least=st.integers(1, 20))
def test_blocks_are_the_table_cut_between_rows(table, least):
    values, observed = table
    block, d = block_of(values, observed), values.shape[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variable_projection, "LEAST_CELLS", least)
        slices = list(variable_projection.row_blocks(block, 1))
    assert [s.start for s in slices] == [0, *(s.stop for s in slices[:-1])]
    assert slices[-1].stop == len(values)
    parts = variable_projection.CellBlocks(
        Blocks([variable_projection.take_rows(block, rows) for rows in slices]), ThreadEngine(n_jobs=1)
    )
    pieces = parts.map(lambda part: part.matrix(d).toarray()).gather()
    np.testing.assert_array_equal(np.vstack(pieces), values)
    B = np.random.default_rng(0).normal(size=(d, 2))
    for whole, summed in zip(
        variable_projection.step(block, B, 0.5), parts.sum(variable_projection.step, B, 0.5), strict=True
    ):
        np.testing.assert_allclose(summed, whole, rtol=1e-9, atol=1e-12)


@settings(max_examples=60)
@given(table=tables(), k=st.integers(1, 14))
def test_leading_directions_are_those_of_a_full_decomposition(table, k):
    values, observed = table
    d = values.shape[1]
    blocks, rng = table_from(values, observed).blocks, np.random.default_rng(0)
    found, V = variable_projection.leading_directions(blocks, d, k, rng, tol=1e-13, max_iter=500)
    expected = np.zeros(d)
    expected[: min(values.shape)] = np.linalg.svd(values, compute_uv=False)
    assert len(found) == min(k, d)
    np.testing.assert_allclose(found, expected[: len(found)], atol=1e-5 * expected[0] + 1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(len(found)), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(values @ V, axis=0), found, atol=1e-6 * expected[0] + 1e-12)
    assert variable_projection.largest_singular_value(blocks, d, rng) == pytest.approx(expected[0], rel=1e-4)


def test_leading_directions_can_look_outside_of_known_ones():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50, 20))
    _, s, Vt = np.linalg.svd(values, full_matrices=False)
    blocks = table_from(values, np.ones(values.shape, dtype=bool)).blocks
    found, V = variable_projection.leading_directions(
        blocks, 20, 3, rng, outside=Vt[:2].T, tol=1e-12, max_iter=500
    )
    np.testing.assert_allclose(found, s[2:5], rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ji->i", Vt[2:5], V)), 1, atol=1e-3)


def test_no_room_gives_no_direction():
    blocks = table_from(np.eye(3), np.ones((3, 3), dtype=bool)).blocks
    found, V = variable_projection.leading_directions(
        blocks, 3, 2, np.random.default_rng(0), outside=np.eye(3), tol=0.1, max_iter=5
    )
    assert len(found) == 0
    assert V.shape == (3, 0)
