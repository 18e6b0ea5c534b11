"""Engines that tests run on; the fixtures are those of all tests."""

import importlib.util

import pytest

from cellworth.blocks import ThreadEngine

# Workers without work watch themselves many times a second, which takes 7 % of a processor; so it is 2 %.
CALM = {
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.profile.enabled": False,
}


def need_dask():
    from tests.conftest import need  # which imports this module

    for package in ("dask", "distributed", "pyarrow", "zarr"):
        need(importlib.util.find_spec(package) is not None, f'{package}: pip install "cellworth[dask]"')


@pytest.fixture(scope="session")
def cluster():
    """Two workers on this machine, for all tests."""
    need_dask()
    import dask

    from cellworth.blocks import DaskEngine

    with dask.config.set(CALM), DaskEngine(n_jobs=2, memory="3GB") as engine:
        yield engine


@pytest.fixture
def dask(cluster):
    """The two workers, with the block size that a test sets."""
    yield cluster
    cluster.block_rows = None


@pytest.fixture
def local():
    with ThreadEngine(n_jobs=2) as engine:
        yield engine


@pytest.fixture
def files():
    """Skip without what reads and writes files."""
    need_dask()
