import pytest

from tests.policy import rows


@pytest.fixture(scope="session")
def ill():
    """A table of two classes, and its model."""
    table = rows.ill_or_well()
    return table, rows.linear(table)


@pytest.fixture(scope="session")
def number():
    """A table with a number to predict, and its model."""
    table = rows.mixed()
    return table, rows.linear(table)


@pytest.fixture(scope="session")
def three():
    """A table of three classes, and its model."""
    table = rows.mixed(target="classes")
    return table, rows.linear(table)
