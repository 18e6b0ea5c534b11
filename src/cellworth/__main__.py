"""Run cellworth from the command line: ``python -m cellworth COMMAND``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from cellworth import __version__
from cellworth.cli import demo
from cellworth.errors import CellworthError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 if all is well, 2 for wrong usage, 3 for unusable data."""
    parser = argparse.ArgumentParser(
        prog="cellworth", description="Which missing cells are worth paying for?"
    )
    parser.add_argument("--version", action="version", version=f"cellworth {__version__}")
    demo.add_parser(parser.add_subparsers(required=True, metavar="COMMAND"))
    parsed = parser.parse_args(arguments)
    try:
        parsed.run(parsed)
    except (CellworthError, OSError) as error:
        print(f"cellworth: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
