import subprocess
import sys

import pytest

import cellworth
from cellworth.__main__ import main
from cellworth.demo import run_demo

HEAVY = ["matplotlib", "plotly", "dask", "distributed", "sqlalchemy", "fastapi", "typer", "polars"]


def test_every_public_name_is_there_and_described():
    for name in cellworth.__all__:
        assert getattr(cellworth, name).__doc__


def test_importing_loads_nothing_heavy():
    """scikit-learn itself loads pandas and pyarrow where they are installed; everything else is ours."""
    code = f"import cellworth, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_demo_tells_and_draws(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--picture", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "column means" in printed
    assert "joint Gaussian" in printed
    assert "true one lies inside" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_demo_shows_that_filling_pays():
    demo = run_demo()
    means, supervised, gaussian = demo.fillings
    assert supervised.error < 0.8 * means.error
    assert gaussian.error < 0.8 * means.error
    assert 0.8 < demo.covered < 0.97


def test_wrong_usage_and_unwritable_picture_have_their_exit_codes(tmp_path, capsys):
    with pytest.raises(SystemExit) as wrong:
        main(["demo", "--hidden", "2"])
    assert wrong.value.code == 2
    assert "expected a share above 0 and below 0.95" in capsys.readouterr().err
    assert main(["demo", "--picture", str(tmp_path / "no" / "folder.png")]) == 3
    assert "no/folder.png" in capsys.readouterr().err
