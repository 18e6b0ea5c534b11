"""The house keeps its rules: one home for each name, short files, nothing private elsewhere, tests by name.

That folders import only from those above them is checked by `make lint` (.importlinter).
"""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.latest  # the sources are the same whatever is installed

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "cellworth"
TESTS = ROOT / "tests"
LONGEST = 400  # lines of a file
WITHOUT_TESTS = {
    "arrays.py": "names of types alone: nothing in it runs",
    "__main__.py": "one call of the command line; cli/test_command_line.py runs it as a process",
}


def name_of(path):
    return str(path.relative_to(ROOT))


def test_no_two_modules_have_the_same_name():
    names = Counter(path.name for path in SRC.rglob("*.py"))
    assert {name for name, count in names.items() if count > 1} <= {"__init__.py"}


def test_no_two_classes_have_the_same_name():
    homes = {}
    for path in SRC.rglob("*.py"):
        for name in re.findall(r"^ *class (\w+)", path.read_text("utf-8"), re.MULTILINE):
            homes.setdefault(name, []).append(name_of(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_files_are_of_a_readable_size():
    files = [*SRC.rglob("*.py"), *(ROOT / "studies").rglob("*.py")]
    lengths = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in files}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_nothing_private_is_used_elsewhere():
    """Ruff's SLF001 is on, and nothing in src is exempt from it."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert {"SLF", "SLF001"} & set(lint["select"])
    exempt = [pattern for pattern, rules in lint["per-file-ignores"].items() if "SLF001" in rules]
    assert not [pattern for pattern in exempt if pattern.startswith("src")]
    assert [name_of(path) for path in SRC.rglob("*.py") if "noqa: SLF" in path.read_text("utf-8")] == []


def test_the_tests_of_a_module_are_found_by_its_name():
    """Those of a/b.py stand in tests/a/test_b.py, or in several tests/a/test_b_*.py."""
    modules = [path for path in SRC.rglob("*.py") if path.name != "__init__.py"]
    without = {str(path.relative_to(SRC)) for path in modules if not files_about(path)}
    assert without == set(WITHOUT_TESTS)


def files_about(module):
    """Return the files of tests of a module; test_b_c.py is about b_c.py if there is such a module."""
    neighbours = {path.stem for path in module.parent.glob("*.py")}
    found = (TESTS / module.relative_to(SRC).parent).glob(f"test_{module.stem}*.py")
    return [
        path for path in found if longest_start(path.stem.removeprefix("test_"), neighbours) == module.stem
    ]


def longest_start(name, of):
    parts = name.split("_")
    starts = ["_".join(parts[:k]) for k in range(len(parts), 0, -1)]
    return next((start for start in starts if start in of), None)
