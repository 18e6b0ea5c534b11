"""What the tests of the paper's tables need from outside, beside `paper_folder`."""

from pathlib import Path

import pytest

from tests.conftest import data_folder


@pytest.fixture(scope="session")
def costs_folder() -> Path:
    """Return the folder of Turney's five tables."""
    return data_folder("Turney's", "costs")
