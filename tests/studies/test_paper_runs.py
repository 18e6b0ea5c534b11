"""The paper's experiments run again: end to end, broken off and resumed, on one process and on two."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cellworth import __version__
from cellworth.datasets import load
from cellworth.errors import DataError, ParameterError
from cellworth.simulation.hidden_truth import make_world
from studies.paper import PARTS, Schedule, Settings, reproduce
from studies.paper.__main__ import main
from studies.paper.experiments import (
    COMPLETION,
    CURVES,
    PUBLISHED_CURVES,
    Experiment,
    Run,
    committee_of,
    strategy_of,
)
from studies.paper.runs import ResultFile, carry_out
from studies.paper.settings import DEFAULT_COMMITTEE, MEMBERS
from studies.protocol import make_trial, some_rows
from tests.cli.commands import environment
from tests.studies.test_paper_tables import check_page

pytest.importorskip("pyarrow")
QUICK = ("--fast", "--datasets", "HTRU2")


@pytest.fixture(scope="module")
def everything(paper_folder, tmp_path_factory):
    """Run all parts quickly on one table, as a process; return its folder and what it printed."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("all")
    done = subprocess.run(
        [sys.executable, "-m", "studies.paper", "all", *QUICK, "--out", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(CELLWORTH_DATA=str(paper_folder.parent)),
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.slow
def test_all_writes_page_pictures_tables_and_results(everything):
    folder, printed = everything
    assert printed.startswith("A quick look at 300 rows")
    assert printed.endswith(f"The report is {folder / 'report.html'}\n")
    for name in ("figure1", "figure2", "figure3", "table1"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert name == "table1" or "<svg" in (folder / f"{name}.svg").read_text()
    for name in ("table1-error", "table1-accuracy", "table2", "figure1", "figure2", "figure3"):
        assert (folder / f"{name}.csv").read_text().startswith("dataset,share,method,mean")
        assert r"\end{tabular}" in (folder / f"{name}.tex").read_text()
    text = (folder / "report.html").read_text(encoding="utf-8")
    tags = check_page(text)
    assert tags.count("figure") == 4
    assert "python -m studies.paper all --fast --datasets HTRU2" in text
    for claim in ("lowest reconstruction error", "highest AUC", "bi-objective", "m = 4 is the best"):
        assert claim in text
        assert claim in printed


@pytest.mark.slow
def test_every_row_has_seed_version_and_settings(everything):
    parquet = pytest.importorskip("pyarrow.parquet")
    folder, _ = everything
    for name in ("table1", "curves", "prices", "windows"):
        table = parquet.read_table(folder / f"{name}.parquet")
        assert set(table["version"].to_pylist()) == {__version__}
        assert set(table["seed"].to_pylist()) == {0, 1}
        (settings,) = {*table["settings"].to_pylist()}
        assert json.loads(settings)["rows"] == 300
        assert all(table[column].null_count == 0 for column in table.column_names)
    curves = parquet.read_table(folder / "curves.parquet").to_pylist()
    last = [row for row in curves if row["round"] == 4]
    assert last
    assert all(row["cells"] == row["hidden"] and row["reconstruction_error"] == 0 for row in last)


@pytest.mark.slow
def test_what_is_done_is_not_done_again(everything, paper_folder, monkeypatch, capsys):
    folder, printed = everything
    monkeypatch.setenv("CELLWORTH_DATA", str(paper_folder.parent))
    monkeypatch.setattr("studies.paper.runs._perform", None)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["all", *QUICK, "--jobs", "1", "--out", str(folder)]) == 0
    assert capsys.readouterr().out == printed
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_a_killed_run_goes_on_and_one_process_gives_the_file_of_two(everything, paper_folder, tmp_path):
    """SIGKILL after the first finished runs, then on with one process: the file is that of the whole run."""
    words = [
        sys.executable,
        "-m",
        "studies.paper",
        "table2",
        *QUICK,
        "--jobs",
        "1",
        "--out",
        str(tmp_path),
    ]
    env = environment(CELLWORTH_DATA=str(paper_folder.parent))
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    file = tmp_path / "curves.parquet"
    deadline = time.monotonic() + 60
    while not file.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    whole = (everything[0] / "curves.parquet").read_bytes()
    broken = file.read_bytes()
    assert broken != whole
    done = subprocess.run(words, env=env, check=True, capture_output=True, text=True)
    assert file.read_bytes() == whole
    assert (tmp_path / "table2.html").exists()
    assert "Table 2" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "curves.parquet",
        "table2.csv",
        "table2.html",
        "table2.tex",
    ]


SMALL = Settings(datasets=("letter",), repeats=2)


def fake(run, settings):
    return [run._asdict() | {"value": run.seed + 0.5}]


FAKE = Experiment(
    "fake",
    {"value": float},
    lambda settings: [Run("letter", 0.6, method, seed) for method in "ab" for seed in settings.seeds],
    fake,
    lambda settings: {"rows": settings.rows},
)


def test_the_order_of_runs_does_not_change_the_file(tmp_path):
    runs = FAKE.runs(SMALL)
    for name, order in (("one", runs), ("other", runs[::-1])):
        for run in order:
            # Opened anew each time, as after a break.
            ResultFile(tmp_path / name, FAKE, SMALL).add(run, fake(run, SMALL))
    assert (tmp_path / "one/fake.parquet").read_bytes() == (tmp_path / "other/fake.parquet").read_bytes()


def test_other_settings_are_kept_apart(tmp_path):
    run = FAKE.runs(SMALL)[0]
    ResultFile(tmp_path, FAKE, SMALL).add(run, fake(run, SMALL))
    fewer = Settings(datasets=("letter",), repeats=2, rows=200)
    file = ResultFile(tmp_path, FAKE, fewer)
    assert run not in file
    file.add(run, fake(run, fewer))
    assert run in ResultFile(tmp_path, FAKE, SMALL)
    assert run in ResultFile(tmp_path, FAKE, fewer)
    (row,) = ResultFile(tmp_path, FAKE, SMALL).rows(run)
    assert json.loads(row["settings"]) == {"rows": None}


def test_files_that_are_none_of_ours_are_refused(tmp_path):
    import pyarrow
    from pyarrow import parquet

    (tmp_path / "fake.parquet").write_bytes(b"nonsense")
    with pytest.raises(DataError, match="move it away"):
        ResultFile(tmp_path, FAKE, SMALL)
    parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "fake.parquet")
    with pytest.raises(DataError, match="expected the columns dataset"):
        ResultFile(tmp_path, FAKE, SMALL)
    with pytest.raises(DataError, match="choose another"):
        ResultFile(tmp_path / "fake.parquet", FAKE, SMALL)


def test_the_world_of_the_simulator_is_that_of_the_protocol(paper_folder, monkeypatch):
    monkeypatch.setenv("CELLWORTH_DATA", str(paper_folder.parent))
    trial = make_trial(load("image"), 0.6, 3)
    world = make_world(load("image").table, observed=0.6, train=0.7, seed=3)
    np.testing.assert_allclose(world.scaled(world.start), trial.holed, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(world.scaled(world.X_test), trial.X_test, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(world.y, trial.y)


def test_some_rows_are_drawn_by_class(paper_folder, monkeypatch):
    monkeypatch.setenv("CELLWORTH_DATA", str(paper_folder.parent))
    whole, some = load("HTRU2").table, some_rows("HTRU2", 200).table
    assert len(some.y) == 200
    assert abs(some.y.mean() - whole.y.mean()) < 0.005
    assert len(some_rows("letter", 10_000).table.y) == 1555


def test_runs_follow_the_settings():
    settings = Settings(datasets=("HillValley", "letter"), repeats=3, with_auto=False)
    runs = COMPLETION.runs(settings)
    assert {run.dataset for run in runs} == {"HillValley", "HillValley-without-noise", "letter"}
    assert len(runs) == 3 * 2 * (6 + 3) * 3  # six completers, and three rivals by their recipes
    assert len(CURVES.runs(settings)) == 2 * (10 + 3) * 3
    assert CURVES.relevant(settings)["committee"] == DEFAULT_COMMITTEE


def test_committees_by_name():
    assert [type(m).__name__ for m in committee_of(DEFAULT_COMMITTEE).members] == [
        f"{name}Completer" for name in DEFAULT_COMMITTEE
    ]
    assert len(committee_of(MEMBERS).members) == 5


def test_rivals_by_their_recipes_choose_nothing_on_hidden_cells():
    for name in PUBLISHED_CURVES:
        completer = strategy_of(name, Settings()).completer
        for member in getattr(completer, "members", [completer]):
            settings = member.get_params()
            assert settings.get("rank_strategy") in (None, "decrease")
            assert settings.get("penalty_unit") in (None, "relative")
            assert settings.get("ridge", 0.0) == 0.0
            assert settings.get("shrinkage") != "auto"
            assert settings.get("margins") != "auto"


def test_settings_are_checked_and_changed():
    with pytest.raises(ParameterError, match=r"datasets must be .*abalone.*got 'iris'"):
        Settings(datasets=("iris",))
    with pytest.raises(ParameterError, match="committee must be at least 2"):
        Settings(committee=("NNLS",))
    with pytest.raises(ParameterError, match="repeats"):
        Settings(repeats=0)
    with pytest.raises(ParameterError, match="5 %"):
        Schedule(20, 5)
    with pytest.raises(ParameterError, match="rows"):
        Settings(rows=5)
    changed = Settings.quick().but(rounds=3, repeats=5, committee=["NNLS", "OptSpace"])
    assert changed.windows == Schedule(3, 0.1)
    assert (changed.repeats, changed.committee, changed.rows) == (5, ("NNLS", "OptSpace"), 300)


def test_figures_on_one_table_need_it(tmp_path):
    with pytest.raises(ParameterError, match="figure2 is on HTRU2"):
        reproduce(["figure2"], SMALL, tmp_path)
    with pytest.raises(ParameterError, match="parts must be among table1"):
        reproduce(["table9"], SMALL, tmp_path)
    assert PARTS == ("table1", "table2", "figure1", "figure2", "figure3")


@pytest.mark.slow
def test_progress_has_the_time_left(paper_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CELLWORTH_DATA", str(paper_folder.parent))
    settings = Settings.quick().but(datasets=["letter"], repeats=1)
    rows = carry_out(["curves"], settings, tmp_path, progress=True)
    shown = capsys.readouterr().err
    assert "13/13" in shown
    assert " left" in shown
    assert len(rows["curves"]) == 13 * 5


def test_wrong_names_are_one_line(capsys, tmp_path):
    assert main(["table1", "--datasets", "iris", "--out", str(tmp_path)]) == 3
    assert capsys.readouterr().err.startswith("studies.paper: datasets must be at least 1 of abalone")
    assert os.listdir(tmp_path) == []
