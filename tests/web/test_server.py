"""Real servers: notifications, many at once, odd names, who must show a token, and how they end."""

import asyncio
import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from cellworth.campaign import Campaign
from cellworth.errors import ParameterError
from cellworth.web import Client
from cellworth.web.security.tokens import Access
from cellworth.web.server import check_host, is_loopback
from cellworth.web.url_paths import segment
from tests.campaign.campaigns import PRICES, VALUES, make_table
from tests.web.servers import begin, children, is_there, serving, until

ODD = ["a/b", "..", "50 %", "a%2Fb", "~2F", "Ähre 稲", "line\nbreak", "a?b#c", "a\\b;c=d", "x" * 100]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    address = f"sqlite:///{tmp_path_factory.mktemp('served')}/study.db"
    begin(address, make_table(60), prices=PRICES, strategy="random")
    for name in ODD:
        begin(address, make_table(8), name, strategy="random")
    return address


@pytest.fixture(scope="module")
def server(store):
    with serving(store, quick=True) as running:
        yield running


class Listener(threading.Thread):
    """Hears the notifications of a campaign."""

    def __init__(self, url, name="study"):
        super().__init__(daemon=True)
        self.url = f"{url}/campaigns/{segment(name)}/events"
        self.heard, self.lines, self.ended = [], [], None
        self.start()
        until(lambda: self.heard)

    def run(self):
        try:
            with httpx.stream("GET", self.url, timeout=60) as response:
                for line in response.iter_lines():
                    self.lines.append(line)
                    if line.startswith("data: "):
                        self.heard.append(json.loads(line[6:]))
            self.ended = "cleanly"
        except httpx.HTTPError as error:
            self.ended = repr(error)


def test_names_of_any_kind_are_reached(server):
    with Client(server.url, who="Änn 稲") as client:
        assert client.names() == sorted([*ODD, "study"])
        for name in ODD:
            campaign = client.campaign(name)
            assert campaign.totals().name == name
            assert campaign.correct("p0", "age", 44)
            assert [event["who"] for event in campaign.history()] == ["Änn 稲"]
            page = httpx.get(f"{server.url}/campaigns/{segment(name)}", headers={"Accept": "text/html"})
            assert page.status_code == 200


def test_everybody_hears_what_anybody_does(server, store):
    listeners = [Listener(server.url) for _ in range(20)]
    before = listeners[0].heard[0]["number"]
    with Client(server.url, who="Ann") as client:
        assert client.campaign("study").correct("p0", "age", 45)
    until(lambda: all(each.heard[-1]["number"] == before + 1 for each in listeners))
    with Campaign.open(store, "study") as campaign:  # another program
        campaign.correct("p0", "age", 46, who="Bob")
    until(lambda: all(each.heard[-1]["number"] == before + 2 for each in listeners))
    httpx.get(f"{server.url}/api/v1/campaigns/study/summaries/columns")
    until(lambda: listeners[0].heard[-1]["summaries"].get("columns") == before + 2)
    assert httpx.get(f"{server.url}/campaigns/nowhere/events").status_code == 404


def test_many_people_answer_at_once_and_nothing_is_lost(server, store):
    people = 12
    with Client(server.url, who="boss") as boss:
        boss.campaign("study").ask(count=60, lease=None)

    def work(who):
        told = []
        with Client(server.url, who=who) as client:
            campaign = client.campaign("study")
            while taken := campaign.take(2):
                for cell in taken:
                    value = VALUES[cell.column]
                    assert campaign.tell({(cell.row, cell.column): value}) == 1
                    told.append((cell.row, cell.column))
        return told

    with ThreadPoolExecutor(people) as pool:
        told = [cell for cells in pool.map(work, [f"person {i}" for i in range(people)]) for cell in cells]
    assert len(told) == len(set(told)) == 60
    with Campaign.open(store, "study") as campaign:
        by = {
            (cell["row"], cell["column"]): event["who"]
            for event in campaign.history()
            if event["kind"] == "told"
            for cell in event["cells"]
        }
        assert set(by) == set(told)
        assert campaign.open_purchases() == []


def test_reading_and_answering_go_on_while_the_worker_is_busy(server):
    """The worker is stopped in the middle: whoever needs it waits, nobody else does."""
    with Client(server.url, who="Ann") as client:
        client.campaign("study").preview(count=1)
        (worker,) = children(server.process.pid)
        os.kill(worker, signal.SIGSTOP)
        try:
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(client.campaign("study").preview, count=2)
                with Client(server.url, who="Bob", patience=10) as other:
                    for age in range(50, 60):
                        assert other.campaign("study").correct("p2", "age", age)
                        assert other.campaign("study").totals().number > 0
                        assert other.campaign("study").summary("overview") is not None
                assert not waiting.done()
                os.kill(worker, signal.SIGCONT)
                assert len(waiting.result(30)) == 2
        finally:
            os.kill(worker, signal.SIGCONT)


def test_a_listener_that_goes_is_forgotten(server):
    async def come_and_go():
        async with httpx.AsyncClient(base_url=server.url) as client:
            for _ in range(5):
                async with client.stream("GET", "/campaigns/study/events") as response:
                    async for line in response.aiter_lines():
                        if line.startswith("data"):
                            break

    asyncio.run(come_and_go())
    assert httpx.get(f"{server.url}/health").status_code == 200


def test_a_server_that_is_killed_leaves_no_worker_behind(server):
    """The last test of this server."""
    with Client(server.url, who="Ann") as client:
        client.campaign("study").preview(count=1)
    (worker,) = children(server.process.pid)
    server.process.kill()
    server.process.wait()
    until(lambda: not is_there(worker), 10)


def test_it_ends_soon_whoever_listens_and_whatever_it_computes(store):
    with serving(store, quick=True) as server:
        listener = Listener(server.url)
        answers = []

        def ask():
            path = f"{server.url}/api/v1/campaigns/study/preview"
            assert httpx.post(path, json={"count": 1}, timeout=120).status_code == 200
            (worker,) = children(server.process.pid)
            os.kill(worker, signal.SIGSTOP)  # a computation that never ends
            answers.append(worker)
            answers.append(httpx.post(path, json={"count": 1}, timeout=120).status_code)

        threading.Thread(target=ask, daemon=True).start()
        until(lambda: answers)
        time.sleep(0.3)
        begun = time.monotonic()
        assert server.end(signal.SIGTERM) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
        assert time.monotonic() - begun < 8
        until(lambda: len(answers) == 2)
        assert answers[1] == 503
        until(lambda: listener.ended is not None)
        assert listener.ended == "cleanly"
        assert not is_there(answers[0])
        assert "Traceback" not in server.process.stdout.read()


def test_an_interrupt_ends_it_too(store):
    with serving(store) as server:
        listener = Listener(server.url)
        assert server.end(signal.SIGINT) in (0, -signal.SIGINT, 130)
        until(lambda: listener.ended == "cleanly")
        assert "Traceback" not in server.process.stdout.read()


def test_beyond_this_machine_tokens_are_demanded(tokens):
    for host in ("127.0.0.1", "::1", "[::1]", "localhost", "127.3.2.1"):
        assert is_loopback(host)
        check_host(host, None)
    for host in ("0.0.0.0", "::", "192.168.1.5", "clinic.example", ""):
        assert not is_loopback(host)
        for access in (None, Access.open_to_all()):
            with pytest.raises(ParameterError, match="cellworth token"):
                check_host(host, access)
        check_host(host, Access.from_file(tokens[0]))
