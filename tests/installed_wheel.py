"""Build the wheel, install it in a clean environment, and use it there; `make wheel` runs this.

The environment takes the dependencies from the one that runs this file, and cellworth from the wheel alone.
Its files are also compiled by every other declared version of Python that is found.
"""

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
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-index", str(wheel)], check=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    # A folder in a .pth file is searched, but its own .pth files, as of an editable cellworth, are not read.
    (site / "dependencies.pth").write_text(get_path("purelib") + "\n")
    return python.parent


def use(programs: Path, folder: Path) -> None:
    """Run a few commands as a user would."""
    (folder / "table.csv").write_text(TABLE)
    where = [str(programs / "python"), "-c", "import cellworth; print(cellworth.__file__)"]
    assert (
        str(programs.parent)
        in subprocess.run(where, check=True, capture_output=True, text=True, cwd=folder).stdout
    )
    words = ["table.csv", "--target", "outcome", "--row-id", "id", "--strategy", "random", "--count", "2"]
    for command in (["--version"], ["advise", *words]):
        subprocess.run(
            [str(programs / "cellworth"), *command], check=True, cwd=folder, stdout=subprocess.DEVNULL
        )


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


def compile_on_others(wheel: Path, folder: Path) -> list[str]:
    """Compile all files by each other Python that is found; return which."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    found = pythons()
    for other in found.values():
        subprocess.run([other, "-m", "compileall", "-q", "-f", str(folder / "cellworth")], check=True)
    return list(found)


def main() -> None:
    """Do all of it in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        check_content(wheel)
        use(install(wheel, folder / "clean"), folder)
        tried = compile_on_others(wheel, folder / "files")
        print(f"{wheel.name} works when installed; compiled by {', '.join(tried) or 'no other Python'}")


if __name__ == "__main__":
    main()
