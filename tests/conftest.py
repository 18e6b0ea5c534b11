"""What the tests need from outside, in one place.

A test that needs a component asks for its fixture. Where the component is absent the test is skipped with
one line that says what is needed; with CELLWORTH_REQUIRE_ALL=1 its absence is a failure.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("cellworth", deadline=None, print_blob=True)
settings.load_profile("cellworth")


def need(present: bool, what: str) -> None:
    """Skip the test, or fail it if everything is required, unless ``present``."""
    if not present:
        message = f"needs {what}"
        pytest.fail(message) if os.environ.get("CELLWORTH_REQUIRE_ALL") == "1" else pytest.skip(message)


@pytest.fixture(scope="session")
def paper_folder() -> Path:
    """Return the folder of the paper's six tables."""
    root = os.environ.get("CELLWORTH_DATA")
    need(root is not None, "the paper's data: set CELLWORTH_DATA to the folder that holds paper/")
    folder = Path(root) / "paper"
    need(folder.is_dir(), f"the paper's data: {folder} is not a folder")
    return folder
