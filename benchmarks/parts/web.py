"""Many people on one server: request times while completions run, and whether any answer is lost."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problem import make_problem
from benchmarks.report import Section, at_most, number
from benchmarks.settings import Settings, progress, size_name

SIZE = (20_000, 20)
PEOPLE = 50
SECONDS, QUICK_SECONDS = 60.0, 10.0
PAUSE = 0.5  # mean seconds between a person's requests
BATCH = 2_000  # cells per ask
HEADER = ["request", "count", "errors", "median ms", "99th percentile ms", "slowest ms"]


@dataclass
class Measured:
    """Seconds and errors by kind of request, acknowledged answers, and notifications."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[tuple[str, str], float] = field(default_factory=dict)
    asks: list[float] = field(default_factory=list)
    summaries: set[int] = field(default_factory=set)
    notifications: int = 0


def run(settings: Settings) -> Section:
    """Serve a campaign and let people poll and answer."""
    seconds = QUICK_SECONDS if settings.quick else SECONDS
    progress(f"{size_name(*SIZE)}, {PEOPLE} people, {seconds:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'study.db'}"
        begin(store, settings.seed)
        with Server(store) as server:
            measured = asyncio.run(play(server.port, seconds, settings.seed))
        lost, twice = check(store, measured)
    rows = [row(kind, found, measured.errors[kind]) for kind, found in sorted(measured.seconds.items())]
    together = [each for found in measured.seconds.values() for each in found]
    rows.append(row("all", together, [each for found in measured.errors.values() for each in found]))
    notes = [
        f"{size_name(*SIZE)}, 60 % observed, SQLite with full synchronisation, {seconds:.0f} s, one real "
        f"server. {PEOPLE} people with {PEOPLE} open event streams; each pauses {PAUSE} s on average between "
        f"two requests. Meanwhile {BATCH:,} cells are asked for again and again ({len(measured.asks)} asks, "
        f"median {number(_at(measured.asks, 50))} s) and the overview is renewed "
        f"({len(measured.summaries)} times): the worker is never idle. "
        f"{measured.notifications:,} notifications.",
        f"{len(measured.answers):,} answers acknowledged, {lost} lost, {twice} recorded twice.",
    ]
    errors = sum(map(len, measured.errors.values()))
    who = f"{PEOPLE} people on one server"
    aims = [
        at_most(f"{who}: errors", errors, 0, "d"),
        at_most(f"{who}: lost answers", lost, 0, "d"),
        at_most(f"{who}: median of a request", 1e3 * _at(together, 50), 50.0, ".1f", " ms"),
        at_most(f"{who}: 99th percentile of a request", 1e3 * _at(together, 99), 500.0, ".0f", " ms"),
    ]
    firsts = [f"first error of {kind}: {found[0]}" for kind, found in measured.errors.items() if found]
    return Section("Web", HEADER, rows, notes + firsts, aims)


def row(kind: str, found: list[float], errors: list[str]) -> list[str]:
    at = [number(1e3 * _at(found, share), ".1f") for share in (50, 99, 100)]
    return [kind, str(len(found)), str(len(errors)), *at]


def _at(found: list[float], percent: float) -> float:
    return float(np.percentile(found, percent)) if found else float("nan")


def begin(store: str, seed: int) -> None:
    """Create the campaign, with cells out for people to answer."""
    from cellworth import Campaign, Table

    values, labels, _ = make_problem(*SIZE, seed)
    with Campaign.create(Table.from_arrays(values, labels > 0), store=store) as campaign:
        campaign.ask(count=2 * BATCH, lease=None)


def value_of(row: str, column: str) -> float:
    """Return the value of a cell, a fixed function of its names."""
    return (int(row) * 31 + int(column[1:]) * 7) % 1000 / 500 - 1


def check(store: str, measured: Measured) -> tuple[int, int]:
    """Return how many acknowledged answers are missing from the log, and how many cells are in it twice."""
    from cellworth import Campaign

    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    with Campaign.open(store) as campaign:
        for event in campaign.history():
            if event["kind"] == "told":
                for cell in event["cells"]:
                    times[cell["row"], cell["column"]].append(cell["value"])
    lost = sum(value not in times[cell] for cell, value in measured.answers.items())
    return lost, sum(len(values) > 1 for values in times.values())


class Server:
    """``cellworth serve`` as a process."""

    def __init__(self, store: str) -> None:
        words = [sys.executable, "-m", "cellworth", "serve", "--store", store, "--port", "0"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline().rpartition(":")[2])

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)


class Line:
    """A persistent connection, as light as possible, since the server is what we measure."""

    def __init__(self, port: int, who: str) -> None:
        self._port = port
        self._who = who
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request and return the status and content of the response: JSON, or the text of a page."""
        reader, writer = await self._open()
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCellworth-Who: {self._who}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        status = int(lines[0].split()[1])
        (length,) = [int(line.partition(":")[2]) for line in lines if line.startswith("content-length:")]
        content = await reader.readexactly(length)
        is_page = any(line.startswith("content-type: text/html") for line in lines)
        return status, content.decode() if is_page else json.loads(content)

    async def listen(self, measured: Measured) -> None:
        """Listen to notifications until the connection is closed."""
        reader, writer = await self._open()
        writer.write(b"GET /campaigns/study/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        while line := await reader.readline():
            if line.startswith(b"data:"):
                measured.notifications += 1
                measured.summaries.update(json.loads(line[5:])["summaries"].values())

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        return self._streams


async def play(port: int, seconds: float, seed: int) -> Measured:
    """Let everyone work for this many seconds."""
    measured = Measured()
    lines = [Line(port, f"person{i}") for i in range(2 * PEOPLE + 1)]
    listeners = [asyncio.create_task(line.listen(measured)) for line in lines[:PEOPLE]]
    for path, body in (("/purchases?limit=1", None), ("/take", {"count": 0})):  # opens the campaign
        await lines[-1].send("GET" if body is None else "POST", f"/api/v1/campaigns/study{path}", body)
    end = time.monotonic() + seconds
    people = [person(line, measured, end, random.Random(seed + i)) for i, line in enumerate(lines[PEOPLE:-1])]
    await asyncio.gather(*people, manager(lines[-1], measured, end))
    for task in listeners:
        task.cancel()
    for line in lines:
        line.close()
    return measured


async def person(line: Line, measured: Measured, end: float, chance: random.Random) -> None:
    """Look at the campaign, the queue and the overview; take cells and answer them."""
    base = "/api/v1/campaigns/study"
    looks = [
        ("campaign", base),
        ("queue", f"{base}/purchases?limit=50"),
        ("queue page", "/campaigns/study/queue"),
        ("overview", f"{base}/summaries/overview"),
    ]
    mine: list[dict[str, Any]] = []
    await asyncio.sleep(chance.uniform(0, 2 * PAUSE))
    while time.monotonic() < end:
        if chance.random() < 0.5:
            kind, path = chance.choice(looks)
            await timed(measured, kind, lambda path=path: line.send("GET", path))
        elif not mine:
            answer = await timed(measured, "take", lambda: line.send("POST", f"{base}/take", {"count": 5}))
            mine = [] if answer is None else answer["purchases"]
        else:
            cell = mine.pop()
            row, column = cell["row"], cell["column"]
            told = {"row": row, "column": column, "value": value_of(row, column)}
            body = {"answers": [told]}
            if await timed(measured, "tell", lambda body=body: line.send("POST", f"{base}/tell", body)):
                measured.answers[row, column] = told["value"]
        await asyncio.sleep(chance.uniform(0, 2 * PAUSE))


async def manager(line: Line, measured: Measured, end: float) -> None:
    """Ask for cells continuously: each ask completes the table as it is at that point."""
    while time.monotonic() < end:
        begun = time.monotonic()
        status, answer = await line.send("POST", "/api/v1/campaigns/study/ask", {"count": BATCH})
        measured.asks.append(time.monotonic() - begun)
        if status != 200:
            measured.errors["ask"].append(f"{status} {answer}")
        await asyncio.sleep(0.5)


async def timed(measured: Measured, kind: str, send: Callable[[], Awaitable[tuple[int, Any]]]) -> Any | None:
    """Send a request, record how long it took, and return the response; None if it failed."""
    begun = time.monotonic()
    try:
        status, answer = await send()
    except (OSError, EOFError, ValueError) as error:
        measured.errors[kind].append(repr(error))
        return None
    measured.seconds[kind].append(time.monotonic() - begun)
    if status != 200:
        measured.errors[kind].append(f"{status} {answer}")
        return None
    return answer
