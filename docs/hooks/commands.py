"""The reference of the commands, made from their own help when the documentation is built."""

import html
import subprocess
import sys
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

PLACE = "::: commands"


def commands() -> str:
    """Return the help of all commands as Markdown, without the title."""
    made = subprocess.run(
        [sys.executable, "-m", "typer", "cellworth.cli.command_line", "utils", "docs", "--name", "cellworth"],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    return html.unescape(made.stdout.partition("\n")[2])


class Commands(Preprocessor):
    """Put the help of all commands where a page asks for it."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of a page, with the help in place."""
        if PLACE not in lines:
            return lines
        place = lines.index(PLACE)
        return [*lines[:place], *commands().split("\n"), *lines[place + 1 :]]


class CommandsExtension(Extension):
    """The Markdown extension; runs before code fences are read."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the preprocessor."""
        md.preprocessors.register(Commands(md), "commands", 31)


def makeExtension(**_: Any) -> CommandsExtension:
    """Return the extension; Python-Markdown calls this by its name."""
    return CommandsExtension()
