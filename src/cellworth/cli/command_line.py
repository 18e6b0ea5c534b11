"""The application: all commands, and how their errors are reported.

Commands import the library inside their functions, so that help and completion stay fast.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, cast

import typer

from cellworth import __version__
from cellworth.cli import (
    advise_command,
    fill_command,
    forecast_command,
    init_command,
    list_command,
    manage_commands,
    model_command,
    next_command,
    result_commands,
    server_commands,
    simulate_commands,
    store_commands,
    take_commands,
)
from cellworth.cli import campaign_commands as campaign
from cellworth.errors import CellworthError, ConflictError, ReadWarning
from cellworth.settings_language import speaking

USAGE = 2
BAD_DATA = 3
CONFLICT = 4
INTERRUPTED = 130

# Typer has no name for the usage error that is the same in all its versions.
_UsageError = cast(type[Exception], typer.BadParameter.__base__)

app = typer.Typer(
    help="Which missing cells of a table are worth paying for?",
    epilog="Example: cellworth init clinic.csv --target outcome",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
# The help lists commands in this order, which is that of a campaign.
app.command("demo", epilog=simulate_commands.DEMO_EXAMPLE)(simulate_commands.demo)
app.command("simulate", epilog=simulate_commands.SIMULATE_EXAMPLE)(simulate_commands.simulate)
app.command("model", epilog=model_command.MODEL_EXAMPLE)(model_command.model)
app.command("forecast", epilog=forecast_command.FORECAST_EXAMPLE)(forecast_command.forecast)
app.command("advise", epilog=advise_command.ADVISE_EXAMPLE)(advise_command.advise)
app.command("next", epilog=next_command.NEXT_EXAMPLE)(next_command.next_cell)
app.command("init", epilog=init_command.INIT_EXAMPLE)(init_command.init)
app.command("ask", epilog=campaign.ASK_EXAMPLE)(campaign.ask)
app.command("take", epilog=take_commands.TAKE_EXAMPLE)(take_commands.take)
app.command("give-back", epilog=take_commands.GIVE_BACK_EXAMPLE)(take_commands.give_back)
app.command("tell", epilog=campaign.TELL_EXAMPLE)(campaign.tell)
app.command("refuse", epilog=campaign.REFUSE_EXAMPLE)(campaign.refuse)
app.command("cancel", epilog=campaign.CANCEL_EXAMPLE)(campaign.cancel)
# A value such as -5 is not an option.
_NUMBERS_TOO = {"ignore_unknown_options": True}
app.command("correct", epilog=campaign.CORRECT_EXAMPLE, context_settings=_NUMBERS_TOO)(campaign.correct)
app.command("extend", epilog=campaign.EXTEND_EXAMPLE)(campaign.extend)
app.command("budget", epilog=manage_commands.BUDGET_EXAMPLE)(manage_commands.budget)
app.command("prices", epilog=manage_commands.PRICES_EXAMPLE)(manage_commands.prices)
app.command("release", epilog=manage_commands.RELEASE_EXAMPLE)(manage_commands.release)
app.command("clock", epilog=manage_commands.CLOCK_EXAMPLE)(manage_commands.clock)
app.command("list", epilog=list_command.LIST_EXAMPLE)(list_command.list_campaigns)
app.command("status", epilog=result_commands.STATUS_EXAMPLE)(result_commands.status)
app.command("log", epilog=result_commands.LOG_EXAMPLE)(result_commands.log)
app.command("export", epilog=result_commands.EXPORT_EXAMPLE)(result_commands.export)
app.command("fill", epilog=fill_command.FILL_EXAMPLE)(fill_command.fill)
app.command("report", epilog=result_commands.REPORT_EXAMPLE)(result_commands.report)
app.command("check", epilog=store_commands.CHECK_EXAMPLE)(store_commands.check)
app.command("backup", epilog=store_commands.BACKUP_EXAMPLE)(store_commands.backup)
app.command("restore", epilog=store_commands.RESTORE_EXAMPLE)(store_commands.restore)
app.command("dump", epilog=store_commands.DUMP_EXAMPLE)(store_commands.dump)
app.command("load", epilog=store_commands.LOAD_EXAMPLE)(store_commands.load)
app.command("rename", epilog=store_commands.RENAME_EXAMPLE)(store_commands.rename)
app.command("delete", epilog=store_commands.DELETE_EXAMPLE)(store_commands.delete)
app.command("serve", epilog=server_commands.SERVE_EXAMPLE)(server_commands.serve)
app.command("token", epilog=server_commands.TOKEN_EXAMPLE)(server_commands.token)
app.command("fetch-data", epilog=simulate_commands.FETCH_DATA_EXAMPLE)(simulate_commands.fetch_data)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"cellworth {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Handle the options that come before a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default, those of the process.

    Returns
    -------
    int
        0 for success, 2 for wrong usage, 3 for unusable data or files, 4 for a conflict with known values or
        with other people's work, 130 if interrupted. Each error is one line on standard error; a file of
        cells gets one line for each of its wrong lines.

    Examples
    --------
    >>> main(["--version"])  # doctest: +ELLIPSIS
    cellworth ...
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    _print_anything()
    try:
        with speaking("command line"), _notes():
            code = called(words)(args=words, prog_name="cellworth", standalone_mode=False)
        sys.stdout.flush()  # fail here if the output cannot be written, not when Python exits
    except _UsageError as error:
        return _tell(_usage(error), USAGE)
    except BrokenPipeError:
        return _stop_printing()
    except (CellworthError, OSError) as error:
        return _tell(_in_words(error), CONFLICT if isinstance(error, ConflictError) else BAD_DATA)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        return _tell("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


def called(words: Sequence[str]) -> typer.Typer:
    """Return the application with the command that is called alone: to build all takes as long as to run it.

    It is whole where none of them is called by its name, as for help.
    """
    wanted = [each for each in app.registered_commands if list(words[:1]) == [each.name]]
    if not wanted:
        return app
    found = copy.copy(app)
    found.registered_commands = wanted
    return found


@contextlib.contextmanager
def _notes() -> Iterator[None]:
    """Print each warning about a file as one line on standard error."""
    usual = warnings.showwarning

    def show(message: Any, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, ReadWarning):
            _tell(str(message), 0)
        else:
            usual(message, category, *rest)

    with warnings.catch_warnings():
        warnings.simplefilter("always", ReadWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _print_anything() -> None:
    """Escape characters that the output encoding cannot represent, rather than fail on them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop_printing() -> int:
    """Exit quietly when the reader closes the pipe, as ``head`` does."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1  # as Typer does when a pipe breaks earlier


def _tell(messages: str | list[str], code: int) -> int:
    for message in [messages] if isinstance(messages, str) else messages:
        print("cellworth:", " ".join(message.splitlines()), file=sys.stderr)
    return code


def _usage(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else "cellworth"
    # Typer would call a mistake that is not about one option an invalid value.
    whole = isinstance(error, typer.BadParameter) and error.param is None and error.param_hint is None
    message = (error.message if whole else error.format_message()).rstrip(".")
    return f"{message}{'' if message.endswith('?') else '.'} See: {command} --help"


def _in_words(error: Exception) -> str | list[str]:
    problems = getattr(error, "problems", None)  # one for each wrong line of a file
    if problems:
        return [*problems[:-1], f"{problems[-1]} No value was recorded."]
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
