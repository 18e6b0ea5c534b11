"""The pages of the documentation as programs: their blocks, what they print, and how the two are compared.

A block of Python runs in the namespace of its page. A block of text with the title "output" right after it
is what it prints. After a change, ``python -m tests.docs.pages`` writes the real output into the pages.
"""

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
GENERATED = ("results", "benchmarks.md")

_BLOCK = re.compile(
    r"^```python[^\n]*\n(?P<code>.*?)^```[ ]*\n"
    r"(?:\n?(?P<open>```text title=\"output\"\n)(?P<output>.*?)^```[ ]*$)?",
    re.DOTALL | re.MULTILINE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Block:
    """A block of Python, its line in the page, and the output that the page shows (None: nothing shown)."""

    code: str
    line: int
    output: str | None


def pages() -> list[Path]:
    """Return the pages that are written by hand, and the README."""
    found = sorted(DOCS.rglob("*.md"))
    return [README, *(page for page in found if page.relative_to(DOCS).parts[0] not in GENERATED)]


def blocks(text: str) -> list[Block]:
    """Return the blocks of Python of a page, in order."""
    return [
        Block(match["code"], text[: match.start()].count("\n") + 2, match["output"])
        for match in _BLOCK.finditer(text)
    ]


def run(page: Path, folder: Path) -> list[tuple[Block, str]]:
    """Run the blocks of a page in a folder that has the tutorial's data; return what each prints."""
    shutil.copy(DOCS / "data" / "clinic.csv", folder)
    (folder / "docs" / "data").mkdir(parents=True, exist_ok=True)  # where the README finds it
    shutil.copy(DOCS / "data" / "clinic.csv", folder / "docs" / "data")
    module = types.ModuleType("page")  # a real one, so that classes of the page can be pickled
    ran = []
    with contextlib.chdir(folder), warnings.catch_warnings(), _known(module):
        warnings.simplefilter("error", ConvergenceWarning)
        for block in blocks(page.read_text("utf-8")):
            printed = io.StringIO()
            # Blank lines in front let tracebacks name the line of the page.
            code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, module.__dict__)
            ran.append((block, printed.getvalue()))
    return ran


@contextlib.contextmanager
def _known(module: types.ModuleType) -> Iterator[None]:
    """Let a module be found by its name. Others that are imported stay: none may be loaded twice."""
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]


def agree(shown: str, printed: str) -> bool:
    """Tell whether two outputs agree.

    A number with a fraction may differ by 1 in its last digit, one after the word "about" by a third.
    """
    shown, printed = (re.sub(r" *\n", "\n", re.sub(r" +", " ", text)).strip() for text in (shown, printed))
    if _NUMBER.sub("#", shown) != _NUMBER.sub("#", printed):
        return False
    return all(map(_close, _NUMBER.finditer(shown), _NUMBER.finditer(printed)))


def _close(shown: re.Match[str], printed: re.Match[str]) -> bool:
    distance = abs(float(shown[0]) - float(printed[0]))
    if shown.string[: shown.start()].endswith("about "):
        return distance <= float(shown[0]) / 3
    digits = len(shown[0].partition(".")[2])
    return distance <= (1.01 * 10.0**-digits if digits else 0.0)


def refresh(page: Path) -> None:
    """Write the real output into a page, where it shows any."""
    with tempfile.TemporaryDirectory() as folder:
        ran = iter(run(page, Path(folder)))

    def with_output(match: re.Match[str]) -> str:
        _, printed = next(ran)
        if match["output"] is None:
            return match[0]
        tidy = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
        start, end = match.start("output") - match.start(), match.end("output") - match.start()
        return f"{match[0][:start]}{tidy}\n{match[0][end:]}"

    page.write_text(_BLOCK.sub(with_output, page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    for each in pages():
        refresh(each)
