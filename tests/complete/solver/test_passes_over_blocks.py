"""Row blocks are cut where the solver cuts the table, and their states go through arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.blocks import thread_engine
from cellworth.blocks.row_source import Part
from cellworth.blocks.thread_engine import block_size
from cellworth.complete.labels import code_labels
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.passes_over_blocks import (
    Outline,
    ScaledBlock,
    column_means,
    cut_pieces,
    from_arrays,
    scaled_block,
    to_arrays,
)
from cellworth.complete.solver.step import sample_size


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(thread_engine, "MIN_ROWS", 8)
    monkeypatch.setattr(thread_engine, "BLOCK_BYTES", 1)


@pytest.mark.usefixtures("small_blocks")
@given(cuts=st.lists(st.integers(0, 50), max_size=4), n_labelled=st.integers(0, 50), supervised=st.booleans())
def test_pieces_of_blocks_are_those_of_the_table(cuts, n_labelled, supervised):
    """However the table is divided: the same rows are sampled, and none crosses a block of the solver."""
    n, d = 50, 3
    labelled = np.random.default_rng(n_labelled).permutation(n) < n_labelled
    size, sampled, targets, seen = block_size((n, d), 8), 0, 0, 0
    before = [0, 0]
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), n], strict=True):
        have = int(labelled[begin:end].sum()), int((~labelled[begin:end]).sum())
        firsts = before[0], n_labelled + before[1]
        pieces = cut_pieces((have[0], firsts[0]), (have[1], firsts[1]), (n, d), 8, supervised=supervised)
        for piece in pieces:
            place = piece.rows.start
            first = firsts[0] + place if place < have[0] else firsts[1] + place - have[0]
            assert piece.first_row == first
            assert first // size == (first + piece.rows.stop - place - 1) // size
            assert piece.n_targets in (0, piece.rows.stop - place)
        sampled += sum(piece.n_sampled for piece in pieces)
        targets += sum(piece.n_targets for piece in pieces)
        seen += sum(piece.rows.stop - piece.rows.start for piece in pieces)
        before = [before[0] + have[0], before[1] + have[1]]
    assert seen == n
    assert targets == (n_labelled if supervised else 0)
    assert sampled == sum(sample_size(min(size, n - start)) for start in range(0, n, size))


def made_up(m=9, d=3):
    rng = np.random.default_rng(0)
    observed = rng.random((m, d)) < 0.6
    values = np.where(observed, rng.normal(size=(m, d)), 0.0)
    pieces = cut_pieces((4, 0), (m - 4, 4), (m, d), 8, supervised=True)
    return ScaledBlock(values, observed, np.ones((m, 1)), pieces, np.arange(m))


def test_the_first_state_has_the_means_in_the_holes_and_goes_through_arrays():
    data = made_up()
    means = data.values.sum(axis=0) / data.observed.sum(axis=0)
    state = column_means(data, means)
    np.testing.assert_array_equal(state.iterate[data.observed], data.values[data.observed])
    np.testing.assert_allclose(state.iterate[~data.observed], means[np.nonzero(~data.observed)[1]])
    again = from_arrays(to_arrays(state))
    np.testing.assert_array_equal(again.iterate, state.iterate)
    np.testing.assert_array_equal(again.point, state.point)
    assert [len(trail) for trail in again.trails] == [piece.n_sampled for piece in data.pieces]


def test_a_block_is_scaled_and_sorted_with_its_targets():
    X = np.array([[0.0, np.nan], [10.0, 2.0], [5.0, 4.0]])
    y = np.array([np.nan, 1.0, 0.0])
    labels = code_labels(y, 3, "squared", "classes")
    outline = Outline((3, 2), True, Scaling.of(X, "minmax"), labels.code)
    block = scaled_block(Part(X, y, None, 0), (0, 0), outline)
    assert block.order.tolist() == [1, 2, 0]
    np.testing.assert_allclose(block.values, [[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]])
    assert block.observed.tolist() == [[True, True], [True, True], [True, False]]
    assert block.targets[0, 0] > block.targets[1, 0]
    assert sum(piece.n_targets for piece in block.pieces) == 2
