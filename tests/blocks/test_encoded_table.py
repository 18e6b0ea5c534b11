"""A table in row blocks as numeric columns: apart from what was learned, it is what its files have."""

import numpy as np
import pytest

from tests.strategy.test_block_batch import both_of, make_frame

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    return both_of(tmp_path_factory.mktemp("encoded"), make_frame(np.random.default_rng(0)))[0]


def test_learned_cells_are_numeric_columns_of_their_rows(big):
    hue, seen = big.column_index("hue"), big.column_index("seen")
    whole = big.every(1).values
    rows = np.flatnonzero(np.isnan(whole[:, hue]) & np.isnan(whole[:, seen]))[:2]
    now = big.with_cells(np.repeat(rows, 2), np.array([hue, seen, hue, seen]), np.array([1.0, 9.0, 2.0, 8.0]))
    files, learned, memory = now.source().table.as_files()
    assert memory is big.memory
    assert files.table.learned is None
    assert files.identity() == big.source().table.identity() != now.source().table.identity()
    assert learned.rows.tolist() == rows.tolist()
    names = list(now.layout.feature_names)
    at = [names.index(name) for name in ("hue=blue", "hue=green", "hue=red", "seen")]
    assert learned.X[:, at].tolist() == [[0.0, 1.0, 0.0, 9.0], [0.0, 0.0, 1.0, 8.0]]
    assert np.isnan(np.delete(learned.X, at, axis=1)).all()


def test_replaced_values_are_not_told_apart_from_the_files(big):
    known = np.argwhere(~np.isnan(big.every(1).values))[:1]
    corrected = big.with_cells(known[:, 0], known[:, 1], np.array([1.0]), np.array([True]))
    assert corrected.source().table.as_files() is None
    assert big.source().with_blocks(lambda block: block).recall("summary", lambda files: 1) is None
