"""All commands of the command line, and a way to run one as a process."""

import os
import subprocess
import sys

from cellworth.cli.command_line import COMMANDS, app


def every_command():
    """Return pairs (words, command), the application with no words first."""
    return [((), app), *(((name,), app.get_command(None, name)) for name in COMMANDS)]


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
