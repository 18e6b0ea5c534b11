"""What the tests of the paper's tables need from outside, beside `paper_folder`."""

import os
from pathlib import Path

import pytest

from tests.conftest import need


@pytest.fixture(scope="session")
def costs_folder() -> Path:
    """Return the folder of Turney's five tables."""
    root = os.environ.get("CELLWORTH_DATA")
    need(root is not None, "Turney's data: set CELLWORTH_DATA to the folder that holds costs/")
    folder = Path(root) / "costs"
    need(folder.is_dir(), f"Turney's data: {folder} is not a folder")
    return folder
