"""Run cellworth from the command line: ``python -m cellworth COMMAND``."""

from __future__ import annotations

import sys

from cellworth.cli import main

if __name__ == "__main__":
    sys.exit(main())
