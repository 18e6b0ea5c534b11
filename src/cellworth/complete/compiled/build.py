"""Compile the kernels with the machine's C compiler, if there is one.

``python -m cellworth.complete.compiled.build`` does it in place; so does the installation of the package (see
``hatch_build.py``, which loads this file by its path, so it imports nothing of the package). Without a
compiler nothing is built, and NumPy does the work.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = (
    *("kernels.c", "processor_level.h", "proximal_types.h", "row_products.h", "proximal_pass.h"),
    *("tiled_triangles.h", "pattern_systems.h", "chunk_of_rows.h", "streamed_step.h", "unrolled_systems.h"),
    *("labelled_step.h", "extra_trees.h", "class_trees.h", "hidden_cells.h"),
    *("near_rows.h", "table_cells.h", "ridge_systems.h"),
)
FLAGS = ("-O3", "-std=gnu11", "-fopenmp-simd", "-fvisibility=hidden", "-fPIC")
LEVELS = (4, 3, 0)
"""The kinds of processors, each compiled by itself, all at once; the one that takes longest first."""
PATIENCE = 900
"""Seconds that a compiler may take; a minute of an idle processor is usual."""


@functools.cache
def library_name() -> str:
    """Return the file name of the library: it has a digest of the sources, so a stale build is not found."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in SOURCES)).hexdigest()
    return f"kernels-{platform.system().lower()}-{platform.machine().lower()}-{digest[:12]}.so"


def build() -> Path | None:
    """Build the library beside its sources and return its path; None if there is no compiler that can."""
    target = HERE / library_name()
    compiler = _compiler()
    if target.exists() or compiler is None:
        return target if target.exists() else None
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        made = Path(folder) / target.name
        try:
            with ThreadPoolExecutor(len(LEVELS)) as pool:
                objects = list(pool.map(lambda level: _compiled(compiler, level, folder), LEVELS))
            _run([*compiler, "-shared", "-o", str(made), *objects, "-lm"])
            made.replace(target)  # at once: another process may be loading it
        except (OSError, subprocess.SubprocessError):
            return None
    for stale in HERE.glob("kernels-*.so"):
        if stale != target:
            stale.unlink(missing_ok=True)
    return target


def _compiled(compiler: list[str], level: int, folder: str) -> str:
    """Compile the kernels for one kind of processor; return the path of the object file."""
    made = str(Path(folder) / f"level-{level}.o")
    _run([*compiler, *FLAGS, f"-DLEVEL_ALONE={level}", "-c", "-o", made, str(HERE / "kernels.c")])
    return made


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)


def _compiler() -> list[str] | None:
    """Return the C compiler's command: that of ``CC``, or the first usual name that is found; else None."""
    if platform.system() == "Windows":  # its compilers take other flags
        return None
    stated = shlex.split(os.environ.get("CC", ""))
    names = [stated[0]] if stated else ["cc", "gcc", "clang"]
    found = next((path for path in map(shutil.which, names) if path), None)
    return None if found is None else [found, *stated[1:]]


if __name__ == "__main__":
    print(build() or "no C compiler was found, or it failed: NumPy does the work")
