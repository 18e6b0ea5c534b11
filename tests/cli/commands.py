"""All commands of the command line, and a way to run one as a process."""

import os
import subprocess
import sys

import typer

from cellworth.cli.command_line import app

ROOT = typer.main.get_command(app)


def every_command(command=ROOT, path=()):
    """Return pairs (words, command), groups included, from the top down."""
    found = [(path, command)]
    for name, inner in getattr(command, "commands", {}).items():
        found += every_command(inner, (*path, name))
    return found


def environment(**variables):
    """Return the environment of a process: this one's, without what would change the output."""
    kept = {
        k: v for k, v in os.environ.items() if k not in ("CELLWORTH_DATA", "CELLWORTH_ARCHIVE", "FORCE_COLOR")
    }
    return kept | {"NO_COLOR": "1", "COLUMNS": "100"} | variables


def run(*words, **variables):
    """Run ``python -m cellworth`` with these words; return the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "cellworth", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(**variables),
    )
