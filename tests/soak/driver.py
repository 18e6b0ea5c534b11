"""Random operations by several processes that are killed, interrupted, and have wrong clocks and full disks.

``python -m tests.soak --minutes 60`` works half of the time on SQLite and half on PostgreSQL, checks
everything every half minute with `tests.soak.oracle`, and prints the figures.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from cellworth import Campaign, Prices, Table
from cellworth.campaign.maintenance import check_campaign
from cellworth.campaign.stores import open_store
from tests.campaign.campaigns import Clock, same_state
from tests.campaign.stores.server import Server, find_binaries
from tests.forked import processes
from tests.soak.oracle import Book, check_operations, journals
from tests.soak.worker import main as work
from tests.soak.worker import true_value

EPOCH = 30.0  # seconds between two checks
EPOCHS = 4  # on one campaign
ROWS, COLUMNS = 60, 6


def found(url, name):
    """Begin a campaign with many holes and a quick strategy."""
    rows, columns = [f"r{i}" for i in range(ROWS)], [f"c{j}" for j in range(COLUMNS)]
    X = np.array([[true_value(row, column) for column in columns] for row in rows])
    X[np.random.default_rng(0).random(X.shape) < 0.7] = np.nan
    X[:5] = 0.5
    table = Table.from_arrays(X, columns=columns, row_ids=rows)
    how = {"prices": Prices.same(1.0), "budget": 200, "strategy": "random", "who": "founder"}
    Campaign.create(table, store=url, name=name, **how).close()


class Soak:
    """Workers on one campaign at a time, what befalls them, and the count of everything."""

    def __init__(self, url, folder, workers, seed, server=None, disk=None):
        self.url, self.folder, self.workers = url, Path(folder), workers
        self.rng = random.Random(seed)
        self.server, self.disk = server, disk
        self.figures = Counter()
        self.started = 0

    def run(self, seconds, epoch=EPOCH):
        """Work for some time; raise AssertionError with what is wrong."""
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            name, notes = f"campaign {number}", self.folder / f"notes {number}"
            notes.mkdir()
            found(self.url, name)
            for _ in range(EPOCHS):
                if time.monotonic() < end:
                    self.epoch(name, notes, min(epoch, max(1.0, end - time.monotonic())))
                    self.check(name, notes)
            self.count(name, notes)
            number += 1
        return self.figures

    def epoch(self, name, notes, seconds):
        """Let workers work, and befall them."""
        (notes / "stop").unlink(missing_ok=True)
        people = [self.start(name, notes) for _ in range(self.workers)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(self.rng.uniform(0.1, 1.5))
            place = self.rng.randrange(len(people))
            what = self.rng.random()
            if what < 0.4:
                people[place].kill()
                people[place].join()
                self.figures["kills"] += 1
            elif what < 0.85:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(people[place].pid, signal.SIGINT)
                self.figures["interrupts"] += 1
            elif self.server is not None:
                self.trouble()
            people = [each if each.is_alive() else self.start(name, notes) for each in people]
        (notes / "stop").touch()
        for each in people:
            each.join(timeout=60)
            if each.is_alive():
                each.kill()
                each.join()
                self.figures["stuck"] += 1

    def start(self, name, notes):
        self.started += 1
        label = f"w{self.started}"
        arguments = (self.url, name, str(notes), label, self.rng.randrange(2**32))
        process = processes.Process(target=work, args=arguments)
        process.start()
        self.figures["processes"] += 1
        return process

    def trouble(self):
        """End all sessions of the server, or fill its disk for a moment; then see that it runs again."""
        if self.disk is None or self.rng.random() < 0.5:
            self.server.end_sessions()
            self.figures["sessions ended"] += 1
            return
        ballast = self.disk / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))
        with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(512))
        time.sleep(self.rng.uniform(0.1, 1.0))
        ballast.unlink()
        self.figures["full disks of the server"] += 1
        for _ in range(20):
            try:
                self.server.execute("SELECT 1")
                return
            except Exception:  # it stopped, or is still recovering
                time.sleep(0.5)
        self.server.start()
        self.figures["server restarts"] += 1

    def check(self, name, notes):
        """Compare the campaign with what its workers wrote down, and with what its events add up to."""
        operations, _ = journals(notes)
        store = open_store(self.url)
        try:
            events = store.events(name)
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            check_operations(operations, events)
            looked_at = {self.rng.randint(0, len(events)) for _ in range(3)}
            book = Book(store.record(name))
            clock = Clock()
            with Campaign.open(self.url, name, clock=clock) as campaign:
                for number in range(len(events) + 1):
                    if number:
                        book.apply(events[number - 1])
                    if number in looked_at:
                        book.check(campaign.replay(number), book.last)
                clock.time = book.last
                book.check(campaign, book.last)
                assert same_state(campaign.replay(len(events)), campaign)
            assert check_campaign(store, name).problem is None
        finally:
            store.close()
        self.figures["checks"] += 1

    def count(self, name, notes):
        operations, counts = journals(notes)
        store = open_store(self.url)
        self.figures["events"] += len(store.events(name))
        store.close()
        self.figures["campaigns"] += 1
        self.figures["operations"] += len(operations)
        self.figures["clock jumps"] += counts["jump"]
        self.figures["full disks of a process"] += counts["full disks"]
        for each in operations.values():
            self.figures[f"operations {each['phase']}"] += 1
            if each["phase"] == "failed":
                self.figures[f"failed: {each['why'][:60]}"] += 1


@contextlib.contextmanager
def small_disk(folder):
    """Yield a disk of 300 MB for the server, or None without the right to mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def on_sqlite(folder, seconds, workers, seed, epoch=EPOCH):
    """Soak a store in a file."""
    folder.mkdir()
    return Soak(f"sqlite:///{folder}/study.db", folder, workers, seed).run(seconds, epoch)


def on_postgresql(folder, seconds, workers, seed, epoch=EPOCH):
    """Soak a store on a server that is started for it."""
    folder.mkdir()
    with small_disk(folder / "disk") as disk:
        server = Server(find_binaries(), parent=disk)
        try:
            return Soak(server.url(), folder, workers, seed, server, disk).run(seconds, epoch)
        finally:
            server.remove()


def main():
    """Soak both kinds of store, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"], help="one kind of store, all of the time")
    said = parser.parse_args()
    seed = said.seed if said.seed is not None else random.SystemRandom().randrange(2**32)
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    print(f"{now}, seed {seed}, {said.workers} processes at a time", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="cellworth-soak-"))
    folder.chmod(0o711)  # the server is another user
    try:
        stores = {"SQLite": on_sqlite, "PostgreSQL": on_postgresql}
        for name in [said.only] if said.only else stores:
            seconds = 60 * said.minutes / (1 if said.only else len(stores))
            figures = stores[name](folder / name, seconds, said.workers, seed)
            print(json.dumps({name: dict(sorted(figures.items()))}, indent=2), flush=True)
    except BaseException:
        print(f"What was written down is in {folder}", flush=True)
        raise
    shutil.rmtree(folder)
