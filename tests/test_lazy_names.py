"""Packages whose names are imported on first use: nothing is missing, and reading a campaign stays light."""

import importlib
import subprocess
import sys

import pytest

from cellworth import Campaign, Table
from cellworth.lazy_names import lazy_names
from tests.campaign.linear_scoring import use_linear_model

LAZY = [
    "cellworth",
    *(f"cellworth.{part}" for part in ("complete", "model", "forecasting", "score", "select", "strategy")),
]
HEAVY = [
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "joblib",
    "matplotlib",
    "sqlalchemy",
    "numpy.ma",
    "email",
]
COMMANDS = [["log"], ["list"], ["status"], ["ask", "--open"], ["export"], ["--help"], ["ask", "--help"]]


@pytest.mark.parametrize("package", LAZY)
def test_every_name_is_found_and_listed(package):
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        value = getattr(module, name)
        assert not isinstance(value, type(module)), f"module {name} hides the name"
        assert value.__name__ == name
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_names_are_imported_once():
    get, _ = lazy_names("cellworth.forecasting", {"stop_rule": ["StopRule"]})
    assert get("StopRule") is importlib.import_module("cellworth.forecasting").StopRule


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with a campaign of four rounds, whose status was asked for before."""
    where = tmp_path_factory.mktemp("light")
    lines = [
        f"{k % 7 if k % 3 else ''},{(k * k) % 11 if k % 4 else ''},{'yn'[k * k % 5 > 1]}" for k in range(60)
    ]
    table = Table.read(_written(where / "t.csv", "\n".join(["a,b,y", *lines])), target="y")
    store = where / "study.db"
    with (
        pytest.MonkeyPatch.context() as patch,
        Campaign.create(table, store=store, strategy="linear-impact") as campaign,
    ):
        use_linear_model(patch.setattr)
        for _ in range(4):
            campaign.tell([(each.row, each.column, 3) for each in campaign.ask(count=3)])
        campaign.ask(count=3)
        campaign.status()
    return where


def test_commands_that_fit_nothing_import_nothing_heavy(folder):
    """Neither does any of them alone, since all of them together do not."""
    code = (
        "import numpy, sys; always = set(sys.modules); from cellworth.cli.command_line import main; "
        f"codes = [main(words) for words in {COMMANDS!r}]; "
        f"print(codes, [m for m in {HEAVY!r} if m in set(sys.modules) - always], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == f"{[0] * len(COMMANDS)} []"


def _written(path, text):
    path.write_text(text)
    return path
