"""The table of a campaign in row blocks, exported: to one file, to a folder, or printed."""

import json

import numpy as np
import pytest

from cellworth import Table
from cellworth.cli import main
from tests.strategy.test_block_batch import both_of, make_frame

pytest.importorskip("pyarrow")


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """The table in memory, of which a campaign has begun on row blocks."""
    monkeypatch.chdir(tmp_path)
    table, whole = both_of(tmp_path, make_frame(np.random.default_rng(0)))
    place = str(table.stored.path)
    assert main(["init", place, "--target", "ill", "--row-id", "id", "--strategy", "random"]) == 0
    return whole


@pytest.mark.parametrize("file", ["now.csv", "now.parquet", "now.tsv"])
def test_one_file(whole, capsys, file):
    capsys.readouterr()
    assert main(["export", "--out", file, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["out"], said["rows"], said["holes"]) == (file, whole.shape[0], int(whole.holes.sum()))
    assert Table.read(file, **whole.keywords()).equals(whole)


def test_a_folder_and_the_screen(whole, capsys):
    for name in ("now", "now.2026"):
        assert main(["export", "--out", name]) == 0
        assert Table.open(name).every(1).equals(whole)
    capsys.readouterr()
    assert main(["export"]) == 0
    assert capsys.readouterr().out == whole.to_csv()
    assert main(["export", "--json"]) != 0
    assert "with --out" in capsys.readouterr().err
