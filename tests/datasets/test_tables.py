import numpy as np
import pytest

from cellworth.datasets import load
from cellworth.datasets.tables import PAPER_NAMES
from cellworth.errors import DataError
from studies.protocol import make_trial, reconstruction_error

SHAPES = {
    "abalone": ((2870, 8), 1528),
    "letter": ((1555, 16), 789),
    "image": ((2086, 18), 1188),
    "chess": ((3196, 36), 1669),
    "HillValley": ((1212, 100), 606),
    "HillValley-without-noise": ((1212, 100), 612),
    "HTRU2": ((17898, 8), 1639),
}


@pytest.mark.parametrize("name", PAPER_NAMES)
def test_tables_have_the_papers_shapes(name, paper_folder):
    data = load(name, paper_folder)
    shape, positive = SHAPES[name]
    assert data.table.shape == shape
    assert int(data.table.y.sum()) == positive
    assert np.isfinite(data.table.values).all()
    assert set(np.unique(data.table.y)) == {0, 1}


def test_errors_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no data set 'iris'; expected one of abalone, letter"):
        load("iris", tmp_path)
    with pytest.raises(DataError, match=r"cannot read .*abalone\.data.*is CELLWORTH_DATA right"):
        load("abalone", tmp_path)
    monkeypatch.delenv("CELLWORTH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match="set CELLWORTH_DATA"):
        load("abalone")


def test_a_trial_hides_training_cells_alone(paper_folder):
    data = load("abalone", paper_folder)
    trial = make_trial(data, 0.6, seed=0)
    assert trial.truth.shape == (2008, 8)
    assert not np.isnan(trial.X_test).any()
    assert np.isnan(trial.holed).mean() == pytest.approx(0.4, abs=5 * np.sqrt(0.24 / trial.holed.size))
    assert reconstruction_error(trial.truth, trial.truth) == 0
    again = make_trial(data, 0.6, seed=0)
    np.testing.assert_array_equal(again.holed, trial.holed)
    assert not np.array_equal(make_trial(data, 0.6, seed=1).holed, trial.holed, equal_nan=True)
