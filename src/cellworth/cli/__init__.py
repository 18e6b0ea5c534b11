"""The command line: each command parses its options, makes one call into the library, and prints."""

from cellworth.cli.command_line import main

__all__ = ["main"]
