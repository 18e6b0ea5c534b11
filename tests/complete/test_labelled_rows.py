"""Rows with labels first, and back in the user's order."""

import numpy as np
import pytest

from cellworth.blocks.row_source import Part
from cellworth.complete.labelled_rows import Outline, in_order, labelled_first, scaled_block
from cellworth.complete.labels import code_labels
from cellworth.complete.scaling import Scaling


@pytest.mark.parametrize("labelled", [[0, 1, 0, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
def test_the_order_can_be_undone(labelled):
    labelled, A = np.array(labelled, dtype=bool), np.arange(10.0).reshape(5, 2)
    order = labelled_first(labelled)
    assert (np.diff(labelled[order].astype(int)) <= 0).all()
    np.testing.assert_array_equal(in_order(A[order], order), A)


def test_rows_keep_their_order_within_those_with_labels_and_the_others():
    assert labelled_first(np.array([False, True, False, True])).tolist() == [1, 3, 0, 2]


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
