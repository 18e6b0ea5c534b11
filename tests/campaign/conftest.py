import importlib.util
import os
import subprocess

import pytest

from cellworth import strategy
from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.complete import SoftImputeCompleter
from cellworth.score import PosteriorVariance, Variance
from cellworth.select import Ratio
from cellworth.strategy import Strategy
from cellworth.strategy.registry import unregister
from tests.campaign.campaigns import Clock, begin
from tests.campaign.own_completers import MeanCompleter, StatingCompleter
from tests.campaign.stores.server import Server, find_binaries
from tests.conftest import need


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server that only the tests use."""
    binaries = find_binaries()
    need(binaries is not None, "PostgreSQL's programs: apt-get install postgresql")
    need(importlib.util.find_spec("psycopg") is not None, 'psycopg: pip install "cellworth[postgres]"')
    server = Server(binaries)
    yield server
    server.remove()


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path}/study.db"


@pytest.fixture
def postgresql_url(server):
    server.clear()
    return server.url()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """The address of an empty place, of either kind."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def opened():
    """Open stores that are closed at the end of the test."""
    stores = []

    def open_and_note(url, **settings):
        stores.append(open_store(url, **settings))
        return stores[-1]

    yield open_and_note
    for store in stores:
        store.close()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    need(mounted, "the right to mount a small disk (root)")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def own_strategies():
    """Strategies with completers that can and cannot state what they have fitted."""
    own = {
        "stating": Strategy("stating", StatingCompleter(), PosteriorVariance(), Ratio()),
        "silent": Strategy("silent", MeanCompleter(), PosteriorVariance(), Ratio()),
        "soft impute": Strategy("soft impute", SoftImputeCompleter(), Variance(), Ratio()),
    }
    for each in own.values():
        strategy.register(each)
    yield
    for name in own:
        unregister(name)


@pytest.fixture
def shared():
    """Return a store with a campaign in it, its clock, and another writer."""
    clock, store = Clock(), MemoryStore()
    return store, clock, begin(store=store, clock=clock, strategy="afasmc")
