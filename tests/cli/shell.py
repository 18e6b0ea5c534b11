"""A shell whose ``cellworth`` runs in this process, which has everything imported already.

A process of its own would spend two seconds on imports for each command.
"""

import contextlib
import io
import os
import subprocess

from cellworth.cli import main
from tests.cli.commands import environment

# The words go through one pipe, the exit code comes back through another; both are opened anew each time.
_FUNCTION = """
cellworth() {
    printf '%s\\0' "$@" > "$TALK/words"
    local code=$(cat "$TALK/code")
    cat "$TALK/out"
    cat "$TALK/err" >&2
    return "$code"
}
trap ': > "$TALK/words"' EXIT
"""


def run_script(script, folder, talk):
    """Run a script of bash in a folder; return its exit code and all that it prints."""
    for pipe in ("words", "code"):
        os.mkfifo(talk / pipe)
    shell = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", _FUNCTION + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment(TALK=str(talk)),
    )
    with contextlib.chdir(folder):
        while words := (talk / "words").read_bytes():
            (talk / "code").write_text(str(_run(words.decode().split("\0")[:-1], talk)))
    printed, _ = shell.communicate(timeout=60)
    return shell.returncode, printed


def _run(words, talk):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    (talk / "out").write_text(out.getvalue(), "utf-8")
    (talk / "err").write_text(err.getvalue(), "utf-8")
    return code
