"""What the tests of the compiled kernels need."""

import pytest

from cellworth.complete.compiled.library import kernels
from tests.conftest import need


@pytest.fixture(scope="session")
def compiled():
    """Skip the test where there are no kernels."""
    need(kernels() is not None, "the compiled kernels: python -m cellworth.complete.compiled.build")
