"""The reference of the commands, made from their own help when the documentation is built."""

import html
import subprocess
import sys

PLACE = "::: commands"


def on_page_markdown(markdown, **_):
    """Put the help of all commands where a page asks for it."""
    return markdown.replace(PLACE, commands()) if PLACE in markdown else markdown


def commands():
    """Return the help of all commands as Markdown, without the title."""
    made = subprocess.run(
        [sys.executable, "-m", "typer", "cellworth.cli.command_line", "utils", "docs", "--name", "cellworth"],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    return html.unescape(made.stdout.partition("\n")[2])
