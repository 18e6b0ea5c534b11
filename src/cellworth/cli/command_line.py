"""The application: all commands, and how their errors are reported.

Commands are imported when they are called, and the library inside their functions: so all stay fast.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import click

from cellworth import __version__
from cellworth.cli.build_command import WrongUsage, build_command
from cellworth.errors import CellworthError, ConflictError, ReadWarning
from cellworth.messages import did_you_mean
from cellworth.setting_names import speaking

USAGE = 2
BAD_DATA = 3
CONFLICT = 4
INTERRUPTED = 130

# The help lists commands in this order, which is that of a campaign.
COMMANDS = {
    "demo": "simulate_commands.demo",
    "simulate": "simulate_commands.simulate",
    "model": "model_command.model",
    "forecast": "advice_commands.forecast",
    "advise": "advice_commands.advise",
    "next": "advice_commands.next_cell",
    "init": "campaign_commands.init",
    "ask": "campaign_commands.ask",
    "take": "manage_commands.take",
    "give-back": "manage_commands.give_back",
    "tell": "campaign_commands.tell",
    "refuse": "campaign_commands.refuse",
    "cancel": "campaign_commands.cancel",
    "correct": "campaign_commands.correct",
    "extend": "campaign_commands.extend",
    "budget": "manage_commands.budget",
    "prices": "manage_commands.prices",
    "category": "manage_commands.category",
    "stage": "manage_commands.stage",
    "release": "manage_commands.release",
    "clock": "manage_commands.clock",
    "move-table": "manage_commands.move_table",
    "list": "store_commands.list_campaigns",
    "status": "result_commands.status",
    "log": "result_commands.log",
    "export": "result_commands.export",
    "fill": "fill_command.fill",
    "report": "result_commands.report",
    "check": "store_commands.check",
    "backup": "store_commands.backup",
    "restore": "store_commands.restore",
    "dump": "store_commands.dump",
    "load": "store_commands.load",
    "rename": "store_commands.rename",
    "delete": "store_commands.delete",
    "serve": "server_commands.serve",
    "token": "server_commands.token",
    "fetch-data": "simulate_commands.fetch_data",
}
# What people look for under another name.
INSTEAD = dict.fromkeys(
    ("undo", "revert", "untell", "edit", "change"),
    " The log keeps everything: use 'correct' for a wrong value, 'cancel' for cells no longer wanted",
)
# Their arguments may be numbers such as -5, which are not options.
_NUMBERS_TOO = ("correct", "budget")


class Commands(click.Group):
    """All commands; each is imported and built when it is called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].partition(".")
        found = getattr(import_module(f"cellworth.cli.{module}"), function)
        settings = {"ignore_unknown_options": True} if cmd_name in _NUMBERS_TOO else {}
        return build_command(cmd_name, found, **settings)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command that is called; suggest the nearest name for one that does not exist."""
        name = args[0]
        if name not in COMMANDS and not ctx.resilient_parsing:
            if name.startswith("-"):
                raise WrongUsage(f"No such option: {name}.", ctx)
            hint = INSTEAD.get(name.casefold()) or did_you_mean(name, COMMANDS)
            raise WrongUsage(f"No such command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


def _show_version(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        print(f"cellworth {__version__}")
        ctx.exit()


def _install_completion(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from cellworth.cli.shell_completion import install

        print(install(app))
        ctx.exit()


app = Commands(
    "cellworth",
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            callback=_show_version,
            is_eager=True,
            expose_value=False,
            help="Show the version and exit.",
        ),
        click.Option(
            ["--install-completion"],
            is_flag=True,
            callback=_install_completion,
            is_eager=True,
            expose_value=False,
            help="Let the Tab key complete commands in your shell: bash, zsh or fish.",
        ),
    ],
    help="Which missing cells of a table are worth paying for?",
    epilog="Example: cellworth init clinic.csv --target outcome",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
)


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
            code = app.main(args=words, prog_name="cellworth", standalone_mode=False)
        sys.stdout.flush()  # fail here if the output cannot be written, not when Python exits
    except click.UsageError as error:
        return _tell(_usage(error), USAGE)
    except BrokenPipeError:
        return _stop_printing()
    except (CellworthError, OSError) as error:
        return _tell(_in_words(error), CONFLICT if isinstance(error, ConflictError) else BAD_DATA)
    except (KeyboardInterrupt, click.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        return _tell("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


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


def _usage(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "cellworth"
    message = error.message if isinstance(error, WrongUsage) else error.format_message()
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        message = f"No such option: {error.option_name}.{_nearest_option(error.option_name, error.ctx)}"
    if type(error) is click.BadParameter and error.param is not None:
        name = error.param.opts[0] if isinstance(error.param, click.Option) else error.param.metavar
        message = f"{name}: {error.message}"
    message = message.rstrip(".")
    return f"{message}{'' if message.endswith('?') else '.'} See: {command} --help"


def _nearest_option(name: str, ctx: click.Context) -> str:
    """Suggest an option, as `did_you_mean` does; the dashes, which all have, do not make names alike."""
    there = [each for option in ctx.command.get_params(ctx) for each in option.opts if each[:2] == "--"]
    return did_you_mean(name.lstrip("-"), [each[2:] for each in there]).replace("'", "'--", 1)


def _in_words(error: Exception) -> str | list[str]:
    problems = getattr(error, "problems", None)  # one for each wrong line of a file
    if problems:
        return [*problems[:-1], f"{problems[-1]} No value was recorded."]
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
