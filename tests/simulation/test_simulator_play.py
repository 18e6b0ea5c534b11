import json
import subprocess
import sys
import time

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.svm import LinearSVC

from cellworth import Table, simulate

SVM = LinearSVC(random_state=0)


def test_finished_runs_are_not_done_again(tumours, tmp_path, monkeypatch):
    settings = {"budget_per_round": 60, "rounds": 2, "observed": 0.3, "classifier": SVM}
    first = simulate(tumours, ["random", "posterior"], seed=[0], resume=tmp_path, **settings)
    assert len(list(tmp_path.glob("*.json"))) == 2

    def fail(*_):
        raise AssertionError("a finished run was done again")

    monkeypatch.setattr("cellworth.simulation.simulator.play", fail)
    again = simulate(tumours, ["random", "posterior"], seed=[0], resume=tmp_path, **settings)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    with pytest.raises(AssertionError, match="done again"):
        simulate(tumours, "random", seed=[0], resume=tmp_path, **(settings | {"observed": 0.4}))
    with pytest.raises(AssertionError, match="done again"):
        simulate(tumours, "random", seed=[0], resume=tmp_path, **(settings | {"classifier": None}))


def test_a_cut_file_of_a_run_is_done_again(tumours, tmp_path):
    settings = {"budget_per_round": 60, "rounds": 2, "observed": 0.3, "classifier": SVM, "resume": tmp_path}
    first = simulate(tumours, "random", **settings)
    (file,) = tmp_path.glob("*.json")
    file.write_text(file.read_text()[:100])
    again = simulate(tumours, "random", **settings)
    exact = [name for name in first.columns if name != "seconds"]
    pd.testing.assert_frame_equal(first[exact], again[exact], check_exact=True)
    assert len(json.loads(file.read_text())) == 3


@pytest.mark.service
def test_a_killed_simulation_goes_on(tmp_path):
    """A process is killed after its first finished run; the next one finds it and ends the work."""
    code = """
import sys
import time
from sklearn.datasets import load_breast_cancer
from cellworth import Table, simulate
X, y = load_breast_cancer(return_X_y=True)
simulate(Table.from_arrays(X[:150, :4], y[:150]), "random", budget_per_round=20, rounds=12, seed=range(200),
         observed=0.3, resume=sys.argv[1])
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    while not list(tmp_path.glob("*.json")) and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    kept = {file.name: file.read_text() for file in tmp_path.glob("*.json")}
    assert kept
    X, y = load_breast_cancer(return_X_y=True)
    frame = simulate(
        Table.from_arrays(X[:150, :4], y[:150]),
        "random",
        budget_per_round=20,
        rounds=12,
        seed=range(len(kept) + 1),
        observed=0.3,
        resume=tmp_path,
    )
    assert frame["seed"].nunique() == len(kept) + 1
    for name, text in kept.items():
        assert (tmp_path / name).read_text() == text
