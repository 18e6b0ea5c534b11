"""Every block of Python in the documentation runs and prints what the page shows; what it names exists."""

import importlib
import importlib.util
import re

import pytest

from cellworth.cli import main
from tests.conftest import need
from tests.docs.pages import DOCS, ROOT, agree, blocks, pages, run

ALL_PAGES = pages()
CODE_PAGES = [page for page in ALL_PAGES if blocks(page.read_text("utf-8"))]


def name_of(page):
    return str(page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT))


def commands(program):
    """Return the words that follow the program's name in code spans and shell blocks of all pages."""
    found = set()
    for page in ALL_PAGES:
        text = page.read_text("utf-8")
        shell = "\n".join(re.findall(r"^```(?:bash|sh|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
        found.update(re.findall(rf"`(?:\$ )?{program} ([a-z][a-z-]*)", text))
        found.update(re.findall(rf"^(?:\$ )?{program} ([a-z][a-z-]*)", shell, re.MULTILINE))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", CODE_PAGES, ids=name_of)
def test_page_runs_and_prints_what_it_shows(page, tmp_path):
    for package in ("pandas", "polars", "pyarrow"):
        need(importlib.util.find_spec(package) is not None, f"{package}: pip install cellworth[dev]")
    for block, printed in run(page, tmp_path):
        shown = block.output or ""
        place = f"{name_of(page)}, line {block.line}"
        assert agree(shown, printed), f"{place} shows\n{shown}\nbut prints\n{printed}"


def test_outputs_agree_up_to_the_last_digit():
    assert agree("error 0.52 on 3 cells", "error  0.53 on 3 cells\n")
    assert not agree("error 0.52", "error 0.54")
    assert not agree("3 cells", "4 cells")
    assert not agree("cells", "rows")
    assert agree("about 300 steps", "about 350 steps")
    assert not agree("about 300 steps", "about 500 steps")


def test_every_make_command_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert commands("make") <= targets


def test_every_cellworth_command_exists(capsys):
    for command in sorted(commands("cellworth") | commands("python -m cellworth")):
        assert main([command, "--help"]) == 0, f"cellworth {command} is named in the docs"
        assert capsys.readouterr().out.startswith("Usage: ")


def test_every_python_name_exists():
    names = set()
    for page in ALL_PAGES:
        text = page.read_text("utf-8")
        names.update(re.findall(r"`(cellworth(?:\.\w+)+)", text))
        names.update(re.findall(r"^::: (cellworth(?:\.\w+)*)", text, re.MULTILINE))
    assert names
    for name in sorted(names):
        assert exists(name), f"{name} is named in the docs but does not exist"


def exists(name):
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_clinic_file_comes_from_its_script(tmp_path):
    script = DOCS / "data" / "make_clinic.py"
    spec = importlib.util.spec_from_file_location("make_clinic", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path / "clinic.csv")
    assert (tmp_path / "clinic.csv").read_text() == (DOCS / "data" / "clinic.csv").read_text()
