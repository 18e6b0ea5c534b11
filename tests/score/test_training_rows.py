"""The labelled rows that a model is trained on, over row blocks and in memory."""

import numpy as np
import pytest

from cellworth import GaussianCompleter
from cellworth.blocks import open_blocks
from cellworth.complete.row_finders import LabelledRows
from cellworth.score import training_rows
from cellworth.score.training_rows import GatheredRows, labels_to_learn, training_sample
from tests.blocks.tables import make_table

NORMAL = GaussianCompleter(margins="normal", label_trust=0)


def test_few_rows_are_all_taken_without_a_draw():
    rng = np.random.default_rng(0)
    assert training_sample(rng, 5).tolist() == [0, 1, 2, 3, 4]
    assert rng.random() == np.random.default_rng(0).random()


def test_many_are_drawn_once_each(monkeypatch):
    monkeypatch.setattr(training_rows, "TRAINING_ROWS", 7)
    found = training_sample(np.random.default_rng(0), 50)
    assert len(np.unique(found)) == 7
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("block_rows", [1, 13, 500])
def test_rows_are_found_by_their_number_among_the_labelled(local, block_rows):
    local.block_rows = block_rows
    X, y = make_table(90, 3, 1, labelled=0.5)
    done = NORMAL.fit(open_blocks(X, target=y, engine=local)).completed_
    wanted = np.array([0, 3, 4, 20])
    (numbers,), some = done.rows_where(LabelledRows.of(done.summary, wanted))
    assert numbers.tolist() == np.flatnonzero(~np.isnan(y))[wanted].tolist()
    gathered = GatheredRows(some, np.arange(4))
    np.testing.assert_allclose(gathered.completed_, done.gather()[0][numbers])
    code = labels_to_learn(done)
    assert gathered.labels(code).tolist() == np.searchsorted(code.classes, y[numbers]).tolist()


def test_a_table_without_labels_teaches_nothing(local):
    X, _ = make_table(60, 3, 1)
    assert labels_to_learn(NORMAL.fit(open_blocks(X, engine=local)).completed_) is None
