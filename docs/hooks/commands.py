"""The reference of the commands, made from their own help when the documentation is built."""

from typing import Any

import click
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from cellworth.cli.command_line import COMMANDS, app

PLACE = "::: commands"


def commands() -> str:
    """Return the help of all commands as Markdown, without the title."""
    above = click.Context(app, info_name="cellworth")
    found = [(above, app), *((_below(above, name), app.get_command(above, name)) for name in COMMANDS)]
    return "\n".join(
        f"## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
        for context, command in found
    )


def _below(above: click.Context, name: str) -> click.Context:
    command = app.get_command(above, name)
    assert command is not None
    return click.Context(command, parent=above, info_name=name, max_content_width=100, terminal_width=100)


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
