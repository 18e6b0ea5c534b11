import pytest

from tests.report.campaigns import played


@pytest.fixture(scope="session")
def campaign():
    """A campaign with three rounds of answers; tests only look at it."""
    return played()
