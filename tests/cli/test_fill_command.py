"""``cellworth fill TABLE``."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.sparse import random as random_matrix
from scipy.sparse import save_npz

from cellworth import GaussianCompleter, SparseCompleter, SupervisedCompleter
from cellworth.blocks import open_blocks
from cellworth.cli import main
from tests.blocks.tables import SAME, difference, make_table, write_parquet

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_table(400, 4, 0)
    write_parquet(tmp_path / "big", X, y)
    return X, y


def read(path, **columns):
    return open_blocks(path, **columns).table.blocks(10**6)[0].read().X


def test_a_folder_is_completed_without_a_campaign(folder, capsys):
    X, y = folder
    assert main(["fill", "big", "--target", "outcome", "--out", "filled", "--variance"]) == 0
    holes = int(np.isnan(X).sum())
    assert capsys.readouterr().out == f"{holes:,} holes of 400 rows filled; the table is in filled\n"
    names = ["c0", "c1", "c2", "c3"]
    whole = GaussianCompleter().fit(X, y)
    assert difference(read("filled", columns=names), whole.completed_) < SAME
    assert difference(read("filled", columns=[f"{n}_variance" for n in names]), whole.variance_) < SAME
    assert sorted(os.listdir(".")) == ["big", "filled"]  # the checkpoint is gone


def test_dask_workers_do_the_same(folder, capsys, cluster):
    X, y = folder
    address = cluster.client.scheduler.address
    words = ["fill", "big", "--engine", "dask", "--scheduler", address, "--target", "outcome"]
    assert main([*words, "--out", "filled", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    whole = GaussianCompleter().fit(X, y)
    assert (printed["rows"], printed["iterations"]) == (400, whole.n_iter_)
    assert difference(read("filled", target="outcome"), whole.completed_) < SAME


def test_a_sparse_table_is_completed_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings").mkdir()
    rng = np.random.default_rng(0)
    matrix = random_matrix(80, 12, density=0.4, random_state=rng, format="csr")
    for number, rows in enumerate((slice(50), slice(50, 80))):
        save_npz(f"ratings/{number}.npz", matrix[rows])
    assert main(["fill", "ratings", "--completer", "sparse", "--out", "filled"]) == 0
    assert "holes of 80 rows filled" in capsys.readouterr().out
    whole = SparseCompleter().fit(matrix).complete(matrix)
    assert difference(read_all("filled"), whole) < 1e-4


def test_a_text_file_is_filled_without_a_campaign(study):
    words = ["fill", "table.csv", "--row-id", study.row_id, "--kind", "dose=number"]
    done = study(*words)
    assert (done.code, done.err) == (0, "")
    _, *lines = done.out.splitlines()
    assert len(lines) == 30
    assert not any(",," in line for line in lines)
    assert study(*words, "--out", "filled.csv").out.endswith("holes filled; the table is in filled.csv\n")
    assert (study.folder / "filled.csv").read_text("utf-8-sig") == done.out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (
            ["big", "--target", "died", "--out", "filled"],
            3,
            "names the column 'died', which is not there",
        ),
        (["nowhere", "--out", "filled"], 3, "no such file or folder"),
        (["big.csv", "--out", "filled.csv"], 3, "big.csv: no such file"),
        (["big"], 2, "needs --out"),
        (["big", "--out", "big"], 3, "already exists; expected"),
        (["big", "--out", "filled", "--scheduler", "tcp://127.0.0.1:9"], 2, "--engine dask"),
        (["big", "--out", "filled", "--engine", "spark"], 2, "spark"),
        (["big", "--out", "filled", "--engine", "dask", "--memory", "much"], 2, "memory must be bytes"),
        (["big", "--out", "filled", "--completer", "supervised", "--variance"], 2, "has no variances"),
    ],
)
def test_errors_are_one_line(folder, words, code, says, capsys):
    assert main(["fill", *words]) == code
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


@pytest.mark.slow  # a process that is killed does what a fit does that is interrupted: tests/blocks
def test_the_same_command_goes_on_after_an_interruption(tmp_path):
    X, y = make_table(60_000, 6, 0)
    write_parquet(tmp_path / "big", X, y, files=2, row_group=10_000)
    words = [
        "fill",
        "big",
        "--target",
        "outcome",
        "--completer",
        "supervised",
        "--out",
        "filled",
        "--json",
    ]
    command = [sys.executable, "-m", "cellworth", *words]
    begun = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    about = tmp_path / "filled.checkpoint" / "about.json"
    while not about.exists() and begun.poll() is None:
        time.sleep(0.01)
    begun.send_signal(signal.SIGKILL)
    begun.communicate()
    assert about.exists()
    assert not (tmp_path / "filled").exists()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    whole = SupervisedCompleter().fit(X, y)
    assert json.loads(done.stdout)["iterations"] == whole.n_iter_
    assert difference(read_all(tmp_path / "filled", target="outcome"), whole.completed_) < SAME
    assert not about.exists()


def read_all(path, target=None):
    blocks = open_blocks(path, target=target).blocks.items
    return np.concatenate([block.read().X for block in blocks])


@pytest.mark.parametrize(
    ("out", "message"), [("z.docx", "Write one of these, and convert it"), ("none/z.csv", "no folder none")]
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(study, monkeypatch, out, message):
    monkeypatch.setattr("cellworth.complete.fill", lambda *_, **__: 1 / 0)
    done = study("fill", "table.csv", *study.reading(), "--out", out)
    assert done.code == 3
    assert message in done.err
