"""What the tests need from outside, what they cost, and how hypothesis draws its examples.

A test that needs a component asks for its fixture. Where the component is absent the test is skipped with
one line that says what is needed; with CELLWORTH_REQUIRE_ALL=1 its absence is a failure.

Three marks say when a test runs; the first two are set here, by rule:

- ``service``: it starts a server, a browser, a cluster or a database. Not part of `make check`.
- ``latest``: it needs packages, or shows output, of the newest versions. Not part of `make lowest`.
- ``slow``: it takes more than about a second by itself. Not part of `make check`, nor of `make lowest`: such
  a test repeats for many numbers what its quick neighbours try once, on the oldest versions too.

HYPOTHESIS_PROFILE=soak draws fresh examples, and more of them; otherwise they are the same each time.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.blocks.engines import cluster, dask, files, local  # noqa: F401

settings.register_profile("same", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("soak", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

TESTS = Path(__file__).parent
SERVICES = {"server", "postgresql", "postgresql_url", "cluster", "dask", "chromium", "site"}
"""Fixtures that start something, and parameters by which a test asks for one of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests by what they use and where they are."""
    for item in items:
        inside = item.path.relative_to(TESTS).parts if item.path.is_relative_to(TESTS) else ("src",)
        if inside[0] == "web" or _starts_a_service(item):
            item.add_marker(pytest.mark.service)
        if inside[0] in ("docs", "studies", "src") or "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.latest)


def pytest_collection_finish() -> None:
    """Look no more for garbage among the modules and tests, which stay: half a second each time."""
    gc.collect()
    gc.freeze()


def _starts_a_service(item: pytest.Item) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    asked = [*getattr(item, "fixturenames", ()), *(v for v in parameters.values() if isinstance(v, str))]
    return not SERVICES.isdisjoint(asked)


def need(present: bool, what: str) -> None:
    """Skip the test, or fail it if everything is required, unless ``present``."""
    if not present:
        message = f"needs {what}"
        pytest.fail(message) if os.environ.get("CELLWORTH_REQUIRE_ALL") == "1" else pytest.skip(message)


def first_quick(cases, ids=str):
    """Return parameters of a test of which all but the first are slow: they repeat what that one tries."""
    first, *others = cases
    return [
        pytest.param(first, id=ids(first)),
        *(pytest.param(case, id=ids(case), marks=pytest.mark.slow) for case in others),
    ]


def data_folder(whose: str, name: str) -> Path:
    """Return a folder of data sets; without it, skip the test."""
    root = os.environ.get("CELLWORTH_DATA")
    need(root is not None, f"{whose} data: set CELLWORTH_DATA to the folder that holds {name}/")
    folder = Path(root) / name
    need(folder.is_dir(), f"{whose} data: {folder} is not a folder")
    return folder


@pytest.fixture(scope="session")
def paper_folder() -> Path:
    """Return the folder of the paper's six tables."""
    return data_folder("the paper's", "paper")


@pytest.fixture
def linear_model_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Score campaigns by a linear model of one penalty, where which model it is does not matter."""
    from tests.campaign.linear_scoring import use_linear_model, use_one_penalty

    use_linear_model(monkeypatch.setattr)
    use_one_penalty(monkeypatch.setattr)
