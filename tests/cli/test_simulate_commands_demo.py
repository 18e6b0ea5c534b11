import re
import sys

import numpy as np
import pytest

from cellworth.campaign import Campaign
from cellworth.cli import main
from cellworth.demo import Comparison
from tests.campaign.campaigns import PRICES, make_table

SCORES = np.array([[0.7, 0.72], [0.71, 0.75]])
FLAT = Comparison(np.array([0.0, 400.0]), SCORES, SCORES + np.array([0, 0.02]), 0.8)


@pytest.fixture
def quick(tmp_path, monkeypatch, linear_model_in_use):
    """Words of a short demonstration, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cellworth.demo.compare", lambda *_, **__: FLAT)
    return ["demo", "--rounds", "1"]


@pytest.mark.slow
def test_the_demo_tells_draws_and_plays_a_campaign(quick, tmp_path, capsys):
    assert main([*quick, "--folder", str(tmp_path)]) == 0
    printed, complained = capsys.readouterr()
    assert "StopWarning" not in complained
    assert re.search("^When to stop[?] (Stop|Go on): ", printed, re.MULTILINE)
    assert "random cells   chosen cells" in printed
    assert re.search("^  patient [0-9]+, .*: known only to .*for its price", printed, re.MULTILINE)
    assert printed.endswith("cellworth ask --budget 50\n")
    assert "The picture is in cellworth-demo.png" in printed
    assert (tmp_path / "cellworth-demo.png").read_bytes().startswith(b"\x89PNG")
    assert "The report is in cellworth-demo.html" in printed
    assert "<html" in (tmp_path / "cellworth-demo.html").read_text("utf-8")
    header = next(line for line in printed.splitlines() if "cells bought" in line)
    start, end = printed.partition(header)[2].splitlines()[1:3]
    assert start.split()[:4] == ["0"] * 4
    with Campaign.open(tmp_path / "demo.db") as campaign:
        assert end.split()[:2] == ["1", f"{campaign.spent:.0f}"]
        assert [event["kind"] for event in campaign.history()] == ["asked", "told", "refused"]


def test_a_folder_that_has_a_demonstration_is_not_overwritten(quick, tmp_path, capsys):
    Campaign.create(make_table(), prices=PRICES, store=tmp_path / "demo.db", name="demo").close()
    assert main([*quick, "--folder", str(tmp_path)]) == 4
    assert "A campaign named 'demo' already exists" in capsys.readouterr().err


@pytest.mark.parametrize("hidden", ["0", "0.95", "2", "-1"])
def test_the_share_is_checked_before_anything_runs(hidden, capsys):
    assert main(["demo", "--hidden", hidden]) == 2
    assert "expected a share above 0 and below 0.95" in capsys.readouterr().err


def test_a_picture_that_cannot_be_written_is_named(quick, tmp_path, capsys):
    picture = tmp_path / "no" / "folder.png"
    assert main(["demo", "--picture", str(picture)]) == 3
    assert capsys.readouterr().err.startswith(f"cellworth: {picture}: ")


@pytest.mark.slow
def test_without_matplotlib_the_demo_still_tells(quick, capsys, monkeypatch):
    for module in ("matplotlib", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, module, None)
    assert main(quick) == 0
    printed = capsys.readouterr().out
    assert "No picture: drawing needs matplotlib" in printed
    assert "No report: " in printed
