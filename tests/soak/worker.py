"""Somebody who does random things with a campaign, and writes down what was begun and what was acknowledged.

Each operation has an id, which is its ``who`` in the log, so that its event is found again. What is written
down survives the death of the process: a line before the operation, and one after it.
"""

import json
import os
import random
import resource
import signal
import time
import warnings
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cellworth import Campaign, Prices
from cellworth.campaign import state_snapshots
from cellworth.errors import CellworthError, ConflictError

NO_LIMIT = resource.RLIM_INFINITY
JUMPS = (0, 0, 0, 0.5, -3, 40, -1200, 3 * 86400, -3 * 86400, 300 * 86400)
"""By how many seconds a clock may be wrong; the largest end every lease, and hold the time for all."""


def true_value(row, column):
    """Return the value of a cell: between 0 and 1, the same for everybody."""
    return round(zlib.crc32(f"{row}/{column}".encode()) / 2**32, 6)


class Journal:
    """A file that gets a line at once, from one process."""

    def __init__(self, path):
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def note(self, who, phase, **more):
        os.write(self._file, (json.dumps({"id": who, "phase": phase, **more}) + "\n").encode())


class Worker:
    """Runs operations one by one until it is told to stop, killed or interrupted too often."""

    def __init__(self, url, name, folder, label, seed):
        self.url, self.name, self.folder, self.label = url, name, Path(folder), label
        self.rng = random.Random(seed)
        self.journal = Journal(self.folder / f"{label}.jsonl")
        self.offset = timedelta(0)
        self.campaign = None
        self.done = 0
        self.file = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None

    def clock(self):
        return datetime.now(UTC) + self.offset

    def run(self):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit fails instead
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
        warnings.simplefilter("ignore")
        while not (self.folder / "stop").exists():
            who = f"{self.label}:{self.done}"
            self.done += 1
            try:
                self.step(who)
                time.sleep(self.rng.random() * 0.02)
            except KeyboardInterrupt:
                self.limit(NO_LIMIT)
                self.journal.note(who, "interrupted")
            except CellworthError:  # the campaign could not be opened: the server is away
                self.campaign = None

    def step(self, who):
        """Do one thing, and write down how it went."""
        rng = self.rng
        if rng.random() < 0.03:
            self.offset = timedelta(seconds=rng.choice(JUMPS))
            self.journal.note(who, "jump", seconds=self.offset.total_seconds())
        if self.campaign is None or rng.random() < 0.03:
            self.reopen()
        what = rng.choices(list(OPERATIONS), [weight for weight, _ in OPERATIONS.values()])[0]
        full = self.file is not None and rng.random() < 0.03
        self.journal.note(who, "begin", op=what, full=full)
        try:
            if full:
                log = self.file.with_name(f"{self.file.name}-wal")
                largest = max(path.stat().st_size for path in (self.file, log) if path.exists())
                self.limit(largest + rng.choice((0, 1, 512, 4096)))
            new = OPERATIONS[what][1](self, who)
        except ConflictError as error:
            self.limit(NO_LIMIT)
            self.journal.note(who, "refused", why=str(error)[:200])
            if "cellworth clock" in str(error):
                self.offset = timedelta(0)
                self.settle(f"{who}c", "clock", lambda who: self.campaign.set_clock(who=who))
            elif "Open it again" in str(error):
                self.settle(f"{who}o", "stage", lambda who: self.campaign.change_stage("open", who=who))
        except CellworthError as error:
            self.limit(NO_LIMIT)
            self.journal.note(who, "failed", why=str(error)[:200])
            self.campaign = None if rng.random() < 0.5 else self.campaign
        else:
            self.limit(NO_LIMIT)
            self.journal.note(who, "done", new=new)

    def settle(self, who, op, work):
        """Set the campaign's time right, or open it again, as a manager would."""
        self.journal.note(who, "begin", op=op, full=False)
        try:
            self.journal.note(who, "done", new=int(work(who)))
        except CellworthError as error:
            self.journal.note(who, "failed", why=str(error)[:200])

    def reopen(self):
        if self.campaign is not None:
            self.campaign.close()
            self.campaign = None
        self.campaign = Campaign.open(self.url, self.name, clock=self.clock)

    def limit(self, size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, NO_LIMIT))

    def some(self, cells, most):
        return self.rng.sample(cells, min(len(cells), self.rng.randint(1, most)))

    def known(self):
        """Return a cell that has a value, with it; None if a random row has none."""
        row = self.campaign.row(self.rng.choice(self.campaign.table.row_ids))
        cells = [(row.row, cell.column, cell.value) for cell in row.cells if cell.value is not None]
        return self.rng.choice(cells) if cells else None


def ask(w, who):
    lease = w.rng.choice([None, "7d", timedelta(seconds=w.rng.uniform(0.1, 20))])
    w.campaign.ask(count=w.rng.randint(1, 12), who=who, key=who, lease=lease)
    return 1  # with a key, it is recorded even if it finds nothing


def tell(w, who):
    cells = w.some(w.campaign.open_purchases(), 8)
    return w.campaign.tell({(p.row, p.column): true_value(p.row, p.column) for p in cells}, who=who, key=who)


def contradict(w, who):
    cell = w.known()
    if cell is not None:
        w.campaign.tell([(*cell[:2], (cell[2] + 0.25) % 1.0)], who=who, key=who)
    return 0


def correct(w, who):
    cell = w.known()
    return 0 if cell is None else int(w.campaign.correct(*cell[:2], round(w.rng.random(), 6), who=who))


def extend(w, who):
    return w.campaign.extend({f"{who}.{k}": {"c0": 0.5} for k in range(w.rng.randint(1, 5))}, who=who)


def take(w, who):
    return len(w.campaign.take(w.rng.randint(1, 5), who=who, lease="1h"))


def release(w, who):
    held = [each for each in w.campaign.open_purchases() if each.holder is not None]
    return w.campaign.release(w.some(held, 5), who=who) if held else 0


def refuse(w, who):
    return w.campaign.refuse(w.some(w.campaign.open_purchases(), 2), "lost", who=who)


def cancel(w, who):
    return w.campaign.cancel(w.some(w.campaign.open_purchases(), 4), who=who)


def budget(w, who):
    return int(w.campaign.change_budget(round(w.campaign.spent + w.rng.uniform(0, 200), 2), who=who))


def prices(w, who):
    return int(w.campaign.change_prices(Prices.same(round(w.rng.uniform(0.01, 3), 2)), who=who))


def stage(w, who):
    return int(w.campaign.change_stage(w.rng.choice(["open", "closed", "archived"]), who=who))


def look(w, who):
    w.campaign.totals(), w.campaign.history(after=max(0, w.campaign.number - 20))
    return 0


OPERATIONS = {
    "ask": (25, ask),
    "tell": (35, tell),
    "contradict": (3, contradict),
    "correct": (5, correct),
    "extend": (3, extend),
    "take": (5, take),
    "release": (2, release),
    "refuse": (4, refuse),
    "cancel": (6, cancel),
    "budget": (5, budget),
    "prices": (2, prices),
    "stage": (2, stage),
    "look": (5, look),
}


def main(url, name, folder, label, seed):
    """Work until the folder has a file called stop; snapshots are made far more often than usual."""
    state_snapshots.EVERY = 300
    Worker(url, name, folder, label, seed).run()
