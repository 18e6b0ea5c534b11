import importlib.util
import itertools

import pytest

from tests.campaign.campaigns import PRICES, make_table
from tests.web.servers import LOCAL, OUTSIDE, begin

_numbers = itertools.count(1)
# Without the extra there is nothing to be tested here.
_TESTS = ["test_*.py", "quick.py", "api/*", "pages/*", "security/*"]
collect_ignore_glob = _TESTS if importlib.util.find_spec("fastapi") is None else []


@pytest.fixture(autouse=True, scope="session")
def quick_worker():
    """A worker that keeps no test waiting, in all applications of this process."""
    from tests.web.quick import quicken

    with pytest.MonkeyPatch.context() as patch:
        quicken(patch.setattr)
        yield


@pytest.fixture
def url(tmp_path):
    """The address of a store with one campaign."""
    address = f"sqlite:///{tmp_path}/study.db"
    begin(address, make_table(), prices=PRICES, budget=50.0)
    return address


@pytest.fixture(scope="session")
def shared_url(tmp_path_factory):
    """The address of a store that all tests share, each with a campaign of its own."""
    return f"sqlite:///{tmp_path_factory.mktemp('shared')}/shared.db"


@pytest.fixture(scope="session")
def http(shared_url):
    """A browser that is not one, on an application that is open to all. Its worker starts once."""
    from starlette.testclient import TestClient

    from cellworth.web import create_app

    with TestClient(create_app(shared_url, largest_upload=200_000), base_url=LOCAL) as client:
        yield client


@pytest.fixture
def name(shared_url):
    """A new campaign in the shared store."""
    made = f"study {next(_numbers)}"
    begin(shared_url, make_table(), made, prices=PRICES, budget=50.0, strategy="random")
    return made


@pytest.fixture
def client(http):
    from cellworth.web import Client

    return Client(LOCAL, who="Ann", transport=http._transport)


@pytest.fixture
def study(client, name):
    """The campaign, through the client."""
    return client.campaign(name)


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    """Return the file, and a token for each role."""
    from cellworth.web.security.tokens import add_token

    path = tmp_path_factory.mktemp("tokens") / "tokens.json"
    return path, {role: add_token(path, who=role.title(), role=role) for role in ("read", "answer", "manage")}


@pytest.fixture(scope="module")
def guarded(tokens, tmp_path_factory):
    """An application that asks for tokens."""
    from cellworth.web import create_app
    from cellworth.web.security.tokens import Access

    address = f"sqlite:///{tmp_path_factory.mktemp('guarded')}/study.db"
    begin(address, make_table(), strategy="random")
    return create_app(address, access=Access.from_file(tokens[0]))


@pytest.fixture(scope="module")
def outside(guarded):
    """A browser that is not one, on the application that asks for tokens."""
    from starlette.testclient import TestClient

    with TestClient(guarded, base_url=OUTSIDE) as client:
        yield client
