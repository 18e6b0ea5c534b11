"""A run that was interrupted goes on, and ends where it would have ended."""

import json

import numpy as np
import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import open_blocks
from cellworth.blocks.checkpoints import remove_checkpoint
from cellworth.errors import DataError
from tests.blocks.tables import make_table


class InterruptedError(Exception):
    pass


def interrupt_at(iteration):
    def callback(progress):
        if progress.iteration == iteration:
            raise InterruptedError

    return callback


@pytest.mark.parametrize(
    ("where", "completer"),
    [
        ("local", SupervisedCompleter(loss="logistic", tol=1e-4)),
        ("local", GaussianCompleter(margins="rank", label_trust=0.3, tol=1e-7)),
        ("local", GaussianCompleter(factors=2, margins="normal", label_trust=0, tol=1e-7)),
        ("dask", SupervisedCompleter(max_iter=8, tol=0)),
        ("dask", GaussianCompleter(margins="normal", label_trust=0, max_iter=8, tol=0)),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_resumed_run_ends_as_one_that_was_not_interrupted(where, completer, request, tmp_path, monkeypatch):
    monkeypatch.setattr("cellworth.complete.solver.passes_over_blocks.CHECKPOINT_EVERY", 3)
    engine = request.getfixturevalue(where)
    engine.block_rows = 100
    X, y = make_table(350, 4, 0, labelled=0.6)

    def run(callback=None, checkpoint=None):
        completer.set_params(callback=callback)
        return clone(completer).fit(open_blocks(X, target=y, engine=engine), checkpoint=checkpoint)

    whole = run()
    assert whole.n_iter_ > 5
    for iteration in (1, 4, 5) if where == "local" else (4,):
        with pytest.raises(InterruptedError):
            run(interrupt_at(iteration), tmp_path / "state")
    assert json.loads((tmp_path / "state" / "about.json").read_text())["generation"] > 0
    steps = []
    resumed = run(lambda p: steps.append(p.iteration), tmp_path / "state")
    assert len(steps) < whole.n_iter_  # it did not begin anew
    assert (resumed.completed_.gather()[0] == whole.completed_.gather()[0]).all()
    assert (resumed.objective_ == whole.objective_).all()


def test_a_checkpoint_of_another_run_is_refused(local, tmp_path):
    X, y = make_table(100, 3, 0)
    normal = GaussianCompleter(margins="normal", label_trust=0)
    clone(normal).fit(open_blocks(X, target=y, engine=local), checkpoint=tmp_path)
    with pytest.raises(DataError, match="settings was"):
        GaussianCompleter().fit(open_blocks(X, target=y, engine=local), checkpoint=tmp_path)
    with pytest.raises(DataError, match="rows was 100 and is now 99"):
        clone(normal).fit(open_blocks(X[1:], target=y[1:], engine=local), checkpoint=tmp_path)


def test_removing_a_checkpoint_leaves_other_files_alone(local, tmp_path):
    X, _ = make_table(50, 3, 0)
    (tmp_path / "mine.txt").write_text("mine")
    GaussianCompleter().fit(open_blocks(X, engine=local), checkpoint=tmp_path)
    assert len(list(tmp_path.iterdir())) > 1
    remove_checkpoint(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_checkpoint_holds_no_pickles(local, tmp_path):
    X, y = make_table(50, 3, 0)
    GaussianCompleter().fit(open_blocks(X, target=y, engine=local), checkpoint=tmp_path)
    files = list(tmp_path.glob("generation-*/*.npz"))
    assert files
    for file in files:
        with np.load(file, allow_pickle=False) as arrays:
            assert all(arrays[name].dtype != object for name in arrays.files)
