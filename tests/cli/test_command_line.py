"""What holds for every command: help with an example, exit codes, one line per error, light imports."""

import re
import shlex
import signal
import socket
import subprocess
import sys

import click
import pytest

from cellworth import __version__
from cellworth.cli import command_line as module
from cellworth.cli import main
from cellworth.errors import ConflictError, ConflictingAnswersError, DataError, WrongAnswersError, WrongLine
from tests.cli.commands import environment, every_command, run

COMMANDS = every_command()
NAMES = [" ".join(("cellworth", *path)) for path, _ in COMMANDS]


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=NAMES)
def test_help_is_shown_and_has_an_example(path, command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main([*path, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Usage: " + " ".join(("cellworth", *path)) in shown
    assert command.help.split("\n")[0] in shown
    assert f"Example: cellworth {' '.join(path)}".rstrip() in shown
    for parameter in command.params:
        assert parameter.opts[0] in shown or parameter.metavar in shown
        assert getattr(parameter, "help", None), f"{path}: no help for {parameter.name}"


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=NAMES)
def test_the_example_of_the_help_can_be_parsed(path, command):
    program, *words = shlex.split(command.epilog.removeprefix("Example: "))
    assert program == "cellworth"
    name, *words = words
    assert not path or path == (name,)
    module.app.get_command(None, name).make_context("example", words)


def test_the_version():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"cellworth {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "message", "command"),
    [
        ([], "Missing command", "cellworth"),
        (["nonsense"], "No such command 'nonsense'", "cellworth"),
        (["stats"], "No such command 'stats'. Did you mean 'status'?", "cellworth"),
        (["undo"], "No such command 'undo'. The log keeps everything: use 'correct' for", "cellworth"),
        (["demo", "--nonsense"], "No such option: --nonsense", "cellworth demo"),
        (["next", "--count", "2"], "No such option: --count. See: ", "cellworth next"),
        (["ask", "--bugdet", "2"], "No such option: --bugdet. Did you mean '--budget'?", "cellworth ask"),
        (["--nonsense"], "No such option", "cellworth"),
        (
            ["demo", "--seed", "x"],
            "--seed: expected a whole number of at least 0; got 'x'",
            "cellworth demo",
        ),
        (["ask", "--budget", "-5"], "--budget: expected a number of at least 0; got '-5'", "cellworth ask"),
        (
            ["ask", "--budget", "1,5"],
            "--budget: expected a number of at least 0; got '1,5'",
            "cellworth ask",
        ),
        (
            ["ask", "--budget", "nan"],
            "--budget: expected a number of at least 0; got 'nan'",
            "cellworth ask",
        ),
        (
            ["serve", "--port", "70000"],
            "--port: expected a whole number from 0 to 65535",
            "cellworth serve",
        ),
        (
            ["budget", "-5"],
            "expected an amount of money of at least 0, or none; got '-5'",
            "cellworth budget",
        ),
    ],
)
def test_wrong_usage_is_one_line(words, message, command, capsys):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"cellworth: {message}")
    assert re.search(rf"[.?] See: {command} --help\n$", captured.err)
    assert captured.err.count("\n") == 1


def test_wrong_usage_ends_the_process_with_2():
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cellworth: Missing command. See: cellworth --help\n"


def test_data_that_cannot_be_used_end_the_process_with_3(tmp_path):
    done = run("fetch-data", "--data", tmp_path / "none", "--to", tmp_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith(f"cellworth: {tmp_path / 'none'}: no such folder")
    assert done.stderr.count("\n") == 1


def hear_interrupts():
    """A process that is started in the background ignores Ctrl-C, and so would those that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_ends_the_process_with_130(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(60)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = ["fetch-data", "--archive", address, "--to", str(tmp_path)]
        process = subprocess.Popen(
            [sys.executable, "-m", "cellworth", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            preexec_fn=hear_interrupts,
        )
        connection, _ = silent.accept()  # by now the command waits for an answer that never comes
        with connection:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "cellworth: interrupted"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (DataError("two\nlines"), 3, "cellworth: two lines\n"),
        (
            FileNotFoundError(2, "No such file or directory", "a.csv"),
            3,
            "cellworth: a.csv: No such file or directory\n",
        ),
        (OSError("odd"), 3, "cellworth: odd\n"),
        (ConflictError("somebody was faster"), 4, "cellworth: somebody was faster\n"),
        (
            WrongAnswersError("a.csv", [WrongLine(2, "row", "No."), WrongLine(5, "value", "No.")]),
            3,
            "cellworth: a.csv, line 2, column 'row': No.\n"
            "cellworth: a.csv, line 5, column 'value': No. No value was recorded.\n",
        ),
        (
            ConflictingAnswersError("a.csv", [WrongLine(2, "value", "No.")]),
            4,
            "cellworth: a.csv, line 2, column 'value': No. No value was recorded.\n",
        ),
        (KeyboardInterrupt(), 130, "cellworth: interrupted\n"),
        (click.Abort(), 130, "cellworth: interrupted\n"),
    ],
)
def test_errors_have_their_codes(error, code, message, capsys, monkeypatch):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(module.app, "main", fails)
    assert main([]) == code
    assert capsys.readouterr().err == message


def test_an_error_that_nobody_foresaw_is_not_hidden(monkeypatch):
    monkeypatch.setattr(module.app, "main", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main([])


def test_a_reader_who_has_seen_enough_is_no_error():
    script = f"{sys.executable} -m cellworth --version | true"
    done = subprocess.run(
        ["bash", "-c", f"{script}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_characters_that_the_output_lacks_are_shown_by_number(tmp_path):
    done = run("tell", tmp_path / "größe.csv", "--store", tmp_path / "größe.db", PYTHONIOENCODING="ascii")
    assert done.returncode == 3
    assert "gr\\xf6\\xdfe.db: there is no campaign here" in done.stderr


def test_the_shell_completes_commands():
    done = run(_CELLWORTH_COMPLETE="bash_complete", COMP_WORDS="cellworth fetc", COMP_CWORD="1")
    assert done.stdout.split() == ["plain,fetch-data"]


def test_the_shell_completes_names_of_strategies():
    words = "cellworth init --strategy posterior"
    done = run(_CELLWORTH_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="3")
    assert done.stdout.split() == ["plain,posterior", "plain,posterior-impact"]


def test_the_package_loads_no_command_line_and_help_loads_no_command():
    code = (
        "import sys, cellworth\n"
        "print('click' in sys.modules)\n"
        "from cellworth.cli import main\n"
        "main(['--version'])\n"
        "late = ('cellworth.demo', 'cellworth.datasets', 'cellworth.campaign', 'numpy', 'matplotlib')\n"
        "print([m for m in late if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stdout.splitlines() == ["False", f"cellworth {__version__}", "[]"]
