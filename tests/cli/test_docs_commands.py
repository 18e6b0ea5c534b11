"""The commands of the documentation, run as they stand there, in one shell."""

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.shell import run_script
from tests.docs.pages import DOCS, agree

PAGE = DOCS / "howto" / "campaign-on-the-command-line.md"
_BLOCK = re.compile(
    r"^```bash\n(?P<code>.*?)^```[ ]*\n(?:\n?```text title=\"output\"\n(?P<output>.*?)^```[ ]*$)?",
    re.DOTALL | re.MULTILINE,
)
END_OF_BLOCK = "=== end of block ==="


def blocks():
    """Return pairs of commands and the output that the page shows, None if it shows none."""
    return [(match["code"], match["output"]) for match in _BLOCK.finditer(PAGE.read_text("utf-8"))]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Run the whole page; return what each block prints, errors included."""
    for package in ("pandas", "matplotlib"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(DOCS / "data" / "clinic.csv", folder)
    script = "".join(f"{code}\necho '{END_OF_BLOCK}'\n" for code, _ in blocks())
    code, printed = run_script(script, folder, tmp_path_factory.mktemp("talk"))
    assert code == 0, printed
    return folder, printed.split(END_OF_BLOCK + "\n")[:-1]


@pytest.mark.slow
@pytest.mark.service
def test_every_block_prints_what_the_page_shows(printed):
    _, outputs = printed
    assert len(outputs) == len(blocks()) > 10
    for (code, shown), output in zip(blocks(), outputs, strict=True):
        if shown is not None:
            assert agree(shown, output), f"{code}shows\n{shown}\nbut prints\n{output}"


@pytest.mark.slow
def test_the_page_leaves_its_files_behind(printed):
    folder, _ = printed
    made = (
        "guesses.csv",
        "asks.csv",
        "report.html",
        "table.csv",
        "filled.csv",
        "curves.csv",
        "curves.png",
        "asks.json",
    )
    for name in made:
        assert (Path(folder) / name).stat().st_size > 0


def test_the_page_shows_every_command_of_a_campaign():
    shown = set(re.findall(r"^cellworth ([a-z]+)", "\n".join(code for code, _ in blocks()), re.MULTILINE))
    assert shown == {
        "advise",
        "ask",
        "budget",
        "cancel",
        "fill",
        "forecast",
        "correct",
        "export",
        "extend",
        "init",
        "log",
        "refuse",
        "report",
        "simulate",
        "status",
        "take",
        "tell",
    }
