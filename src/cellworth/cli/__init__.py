"""The command line: each command parses, makes one call into the library, and prints."""

from cellworth.cli.app import main

__all__ = ["main"]
