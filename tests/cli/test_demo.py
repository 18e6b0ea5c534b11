import sys

import pytest

from cellworth.cli import main


def test_the_demo_tells_and_draws(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--picture", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "column means" in printed
    assert "joint Gaussian" in printed
    assert "true one lies inside" in printed
    assert str(picture) in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("hidden", ["0", "0.95", "2", "-1", "nan"])
def test_the_share_is_checked_before_anything_runs(hidden, capsys):
    assert main(["demo", "--hidden", hidden]) == 2
    assert "expected a share above 0 and below 0.95" in capsys.readouterr().err


def test_a_picture_that_cannot_be_written_is_named(tmp_path, capsys):
    picture = tmp_path / "no" / "folder.png"
    assert main(["demo", "--picture", str(picture)]) == 3
    assert capsys.readouterr().err.startswith(f"cellworth: {picture}: ")


def test_without_matplotlib_the_demo_still_tells(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    assert main(["demo"]) == 0
    assert "No picture: drawing needs matplotlib" in capsys.readouterr().out
