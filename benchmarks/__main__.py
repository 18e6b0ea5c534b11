"""Command line: ``python -m benchmarks [part ...] [--quick] [--out FILE] [--plot FILE]``."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.report import Section, table_of_aims, write_page
from benchmarks.settings import Settings

PARTS = (
    "read",
    "completion",
    "limit",
    "scaling",
    "warm",
    "copula",
    "select",
    "round",
    "campaign",
    "growth",
    "writers",
    "engine",
    "out_of_core",
    "web",
    "sparse",
)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument(
        "--cpu-limit",
        type=int,
        default=Settings.cpu_limit,
        metavar="SECONDS",
        help="limit for one solver at one size; default: %(default)s",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the data")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the page, in Markdown")
    parser.add_argument("--plot", metavar="FILE", help="plot the scaling part")
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"parts must be among {', '.join(PARTS)}; got {', '.join(sorted(unknown))}")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Run the requested parts, print each table as it is done, and keep the page up to date.

    A part that fails is named, on the page, too, and the others are run all the same.
    """
    options = parse(arguments)
    settings = Settings(options.quick, options.seed, options.cpu_limit, options.plot)
    begun, sections = time.perf_counter(), []
    missing = list(options.parts or PARTS)
    print(machine() + "\n", flush=True)
    for part in options.parts or PARTS:
        started = time.perf_counter()
        try:
            section: Section = importlib.import_module(f"benchmarks.parts.{part}").run(settings)
        except Exception:
            traceback.print_exc()
            continue
        print(section.text(), flush=True)
        print(f"{part}: {time.perf_counter() - started:.0f} s\n", flush=True)
        sections.append(section)
        missing.remove(part)
        if options.out:
            drawn = options.plot is not None and Path(options.plot).exists()
            picture = os.path.relpath(options.plot, options.out.parent) if drawn else None
            write_page(sections, options.out, machine(), _command(arguments), picture, missing)
    aims = table_of_aims([aim for section in sections for aim in section.aims])
    if aims.rows:
        print(aims.text(), flush=True)
    print(f"{time.perf_counter() - begun:.0f} s in all")
    if missing:
        sys.exit(f"failed: {', '.join(missing)}")


def machine() -> str:
    """Describe the machine and the versions in one line."""
    versions = ", ".join(
        map(_named, ("numpy", "scipy", "scikit-learn", "alipy", "gcimpute", "pandas", "pyarrow"))
    )
    return f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores, {platform.machine()}."


def _command(arguments: list[str] | None) -> str:
    return " ".join(["python -m benchmarks", *(sys.argv[1:] if arguments is None else arguments)])


def _named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # not every part needs it
        return f"no {package}"


if __name__ == "__main__":
    main()
