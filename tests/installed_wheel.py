"""Build the wheel, install it in a clean environment, and use it there; `make wheel` runs this.

The environment of this Python takes the dependencies from the one that runs this file, and cellworth from
the wheel alone. On each other declared version of Python that is found, on the path or beside this one, the
wheel is installed with its dependencies from the package index, and used in the same way. Where there is no
other, this one is all that is tried.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path
from sysconfig import get_path

ROOT = Path(__file__).parents[1]
OTHERS = ("python3.11", "python3.12", "python3.13")
TABLE = "id,age,dose,outcome\n" + "".join(
    f"p{k},{'' if k % 3 == 0 else k},{k / 2},{'yes' if k % 2 else 'no'}\n" for k in range(1, 25)
)


def build(folder: Path) -> Path:
    """Build the wheel and return its path."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(pip, check=True)
    return next(folder.glob("cellworth-*.whl"))


def check_content(wheel: Path) -> None:
    """Check the metadata, and that everything that a user needs is in the wheel."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        about = message_from_string(
            packed.read(next(name for name in names if name.endswith("METADATA"))).decode()
        )
    assert "cellworth/py.typed" in names
    assert any(name.endswith(".html") and "/templates/" in name for name in names), "the pages are missing"
    assert not [name for name in names if not name.startswith("cellworth")], "only the package is installed"
    classifiers = about.get_all("Classifier")
    assert "Typing :: Typed" in classifiers
    for name in OTHERS:
        assert f"Programming Language :: Python :: {name.removeprefix('python')}" in classifiers
    assert {"pandas", "excel", "parquet", "plot", "web"} <= set(about.get_all("Provides-Extra"))
    links = dict(each.split(", ") for each in about.get_all("Project-URL"))
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= set(links)
    assert about["Description-Content-Type"] == "text/markdown"
    check_description(about.get_payload(), links["Homepage"])


def check_description(text: str, home: str) -> None:
    """Check that links and pictures work on a package index: absolute, and of files that are here."""
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    relative = [link for link in found if not link.startswith(("https://", "#"))]
    assert not relative, f"these links work only in the repository: {relative}"
    own = [link for link in found if link.startswith(f"{home}/")]
    assert len(own) > 10
    for link in own:
        path = re.fullmatch(rf"{home}/(?:blob|raw)/main/([^#]+)(?:#.*)?", link)
        assert path, link
        assert (ROOT / path[1]).exists(), f"{link} leads nowhere"


def install(wheel: Path, folder: Path) -> Path:
    """Install the wheel in a new environment without pip; return the folder of its programs."""
    venv.create(folder, with_pip=False)
    _pip(folder, "--no-deps", "--no-index", str(wheel))
    site = next((folder / "lib").glob("python*/site-packages"))
    # A folder in a .pth file is searched, but its own .pth files, as of an editable cellworth, are not read.
    (site / "dependencies.pth").write_text(get_path("purelib") + "\n")
    return folder / "bin"


def install_on(python: str, wheel: Path, folder: Path) -> Path:
    """Install the wheel and what it needs for another Python; return the folder of its programs."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
    _pip(folder, "--only-binary", ":all:", str(wheel))
    return folder / "bin"


def _pip(folder: Path, *words: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, *words], check=True)


def use(programs: Path, folder: Path) -> None:
    """Run commands as a user would: advice, a campaign, a filled table; and fits in Python."""
    folder.mkdir()
    (folder / "table.csv").write_text(TABLE)

    def run(program: str, *words: str) -> str:
        done = subprocess.run(
            [str(programs / program), *words],
            check=True,
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
        return done.stdout

    assert str(programs.parent) in run("python", "-c", "import cellworth; print(cellworth.__file__)")
    table = ["table.csv", "--target", "outcome", "--row-id", "id"]
    assert run("cellworth", "--version").startswith("cellworth ")
    assert "2 cells for 2.00" in run("cellworth", "advise", *table, "--strategy", "random", "--count", "2")
    run("cellworth", "init", *table, "--budget", "20")
    asked = json.loads(run("cellworth", "ask", "--count", "2", "--json"))["cells"]
    answers = "".join(f"{cell['row']},{cell['column']},7\n" for cell in asked)
    (folder / "answers.csv").write_text("row,column,value\n" + answers)
    assert run("cellworth", "tell", "answers.csv", "--json").count('"new": 2') == 1
    assert "2 bought" in run("cellworth", "status")
    assert "told" in run("cellworth", "log")
    assert run("cellworth", "fill", *table, "--intervals").count("\n") == TABLE.count("\n")
    print(run("python", "-c", FIT).strip())


FIT = """
import sys, numpy as np
from cellworth import CompletingClassifier, SupervisedCompleter
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)); y = (X[:, 0] > 0).astype(int); X[rng.random(X.shape) < .3] = np.nan
completed = SupervisedCompleter().fit(X, y).completed_
assert completed.shape == X.shape and np.isfinite(completed).all()
fitted = CompletingClassifier(model="logistic regression").fit(X, y)
assert fitted.score(X, y) > .7
print("used on Python", ".".join(map(str, sys.version_info[:3])), "with NumPy", np.__version__)
"""


def pythons() -> dict[str, str]:
    """Return the declared versions of Python that are here, on the path or beside this one."""
    found = {}
    for name in OTHERS:
        beside = Path(sys.base_prefix).parent.glob(f"{name.removeprefix('python')}*/bin/{name}")
        for other in (shutil.which(name), *map(str, beside)):
            if (
                other
                and subprocess.run([other, "--version"], capture_output=True, check=False).returncode == 0
            ):
                found.setdefault(name, other)
    return found


def main() -> None:
    """Do all of it in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        check_content(wheel)
        use(install(wheel, folder / "clean"), folder / "here")
        here = f"python{sys.version_info.major}.{sys.version_info.minor}"
        others = {version: python for version, python in pythons().items() if version != here}
        for version, python in others.items():
            use(install_on(python, wheel, folder / f"clean-{version}"), folder / version)
        print(f"{wheel.name} works when installed, on {', '.join([here, *others])}")


if __name__ == "__main__":
    main()
