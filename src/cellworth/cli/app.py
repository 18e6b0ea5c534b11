"""The commands put together, and what becomes of their errors.

A command's module imports the library inside its function, so that help and completion stay quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer

from cellworth import __version__
from cellworth.cli import demo, paper
from cellworth.errors import CellworthError

USAGE = 2
BAD_DATA = 3  # 4 is kept for conflicts: answers that contradict each other
INTERRUPTED = 130

# Typer has no name of its own for the error of wrong usage that is the same in all its versions.
_UsageError = cast(type[Exception], typer.BadParameter.__base__)

app = typer.Typer(
    help="Which missing cells of a table are worth paying for?",
    epilog="Example: cellworth demo",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("demo", epilog=demo.EXAMPLE)(demo.demo)
app.add_typer(paper.app, name="paper")


def _show_version(asked: bool) -> None:
    if asked:
        print(f"cellworth {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0 if all is well, 2 for wrong usage, 3 for data or files that cannot be used, 130 if interrupted.
        An error is one line on the standard error.

    Examples
    --------
    >>> main(["--version"])  # doctest: +ELLIPSIS
    cellworth ...
    0
    """
    words = None if arguments is None else list(arguments)
    try:
        code = app(args=words, prog_name="cellworth", standalone_mode=False)
    except _UsageError as error:
        return _tell(_usage(error), USAGE)
    except (CellworthError, OSError) as error:
        return _tell(_in_words(error), BAD_DATA)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        return _tell("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _tell(message: str, code: int) -> int:
    print("cellworth:", " ".join(message.splitlines()), file=sys.stderr)
    return code


def _usage(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else "cellworth"
    return f"{error.format_message().rstrip('.')}. See: {command} --help"


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
