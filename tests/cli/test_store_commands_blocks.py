"""A campaign whose table has changed in its own files: its log is intact, and the check says so."""

import json
from pathlib import Path

import numpy as np
import pytest

from cellworth.cli import main
from tests.strategy.test_block_batch import both_of, make_frame

parquet = pytest.importorskip("pyarrow.parquet")


def test_a_changed_table_is_no_damaged_event(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table, _ = both_of(tmp_path, make_frame(np.random.default_rng(0)))
    said = ["--target", "ill", "--row-id", "id", "--strategy", "random"]
    assert main(["init", str(table.stored.path), *said]) == 0
    assert main(["ask", "--count", "2"]) == 0
    capsys.readouterr()
    assert main(["check"]) == 0
    fingerprint = capsys.readouterr().out.split("fingerprint ")[1].strip()
    file = next(Path(table.stored.path).glob("*.parquet"))
    parquet.write_table(parquet.read_table(file).slice(1), file)
    assert main(["check"]) != 0
    shown = capsys.readouterr()
    words = shown.out + shown.err
    assert f"intact; fingerprint {fingerprint}. Its table is not: the campaign's table is expected" in words
    assert "damaged from event" not in words
    assert main(["check", "--json"]) != 0
    assert json.loads(capsys.readouterr().out)
