import importlib.util
import shutil

import pytest
from starlette.testclient import TestClient

from cellworth import Prices
from cellworth.web import create_app
from tests.conftest import need
from tests.web.pages.browsers import Visit, chromium_path
from tests.web.pages.studies import answered, begin, begin_clinic, begin_hostile
from tests.web.pages.visitor import Visitor
from tests.web.servers import LOCAL, serving


@pytest.fixture(scope="module")
def chromium():
    """A browser without a window.

    Playwright keeps an event loop running in this thread, in which other tests could run none of their own:
    it ends with the module.
    """
    for package in ("playwright", "axe_playwright_python"):
        need(importlib.util.find_spec(package) is not None, f"{package}: pip install cellworth[dev]")
    path = chromium_path()
    need(path is not None, "a browser: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    from tests.web.pages.browsers import FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The address of a server with campaigns to look at, and the address of its store."""
    folder = tmp_path_factory.mktemp("site")
    url = f"sqlite:///{folder}/study.db"
    begin_clinic(url, rounds=5)
    begin_hostile(url)
    answered(url, "kinds", rounds=1, count=40)
    with serving(url, quick=True) as server:
        yield server.url, url


@pytest.fixture
def visit(chromium, site):
    """Open browsers; at the end of the test none of them may have noted a fault."""
    visits = []

    def open_one(who="Ann", **options):
        visits.append(Visit(chromium, site[0], who, **options))
        return visits[-1]

    yield open_one
    for each in visits:
        each.context.close()
    for each in visits:
        each.check()


@pytest.fixture(scope="session")
def looked_at(tmp_path_factory):
    address = f"sqlite:///{tmp_path_factory.mktemp('store')}/study.db"
    answered(address)
    begin_hostile(address)
    return address


@pytest.fixture(scope="session")
def shared(looked_at):
    with TestClient(create_app(looked_at), base_url=LOCAL) as client:
        yield client


@pytest.fixture
def ann(shared):
    shared.cookies.clear()
    return Visitor(shared, "Ann")


@pytest.fixture(scope="session")
def asked_once(tmp_path_factory):
    """The file of a campaign in which somebody asked for 30 cells."""
    path = tmp_path_factory.mktemp("asked") / "study.db"
    with begin(f"sqlite:///{path}", prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=30, who="Ann")
    return path


@pytest.fixture
def fresh(asked_once, tmp_path):
    """A store of its own, for tests that write."""
    shutil.copyfile(asked_once, tmp_path / "study.db")
    address = f"sqlite:///{tmp_path}/study.db"
    with TestClient(create_app(address), base_url=LOCAL) as client:
        visitor = Visitor(client, "Bob")
        visitor.url = address
        yield visitor
