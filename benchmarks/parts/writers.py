"""Several processes that write to one campaign: how often they ask, and how long a large tell must wait."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.isolate import THREAD_VARIABLES
from benchmarks.problem import make_problem
from benchmarks.report import Section, at_least, at_most, number
from benchmarks.settings import Settings, progress, size_name

SIZE = (1_000, 20)
PROCESSES = (1, 2, 4, 8)
SECONDS, QUICK_SECONDS = 30.0, 8.0
COUNT = 2  # cells per ask
ANSWERS, QUICK_ANSWERS = 100_000, 20_000
PAUSE = 0.05  # seconds between the answers of a writer
WRITERS = 2
HEADER = ["what", "processes", "per second, or seconds", "ratio", "CPU s"]

Done = tuple[float, float]
"""What a job returns, and its CPU seconds."""

_CONTEXT = multiprocessing.get_context("spawn")


def run(settings: Settings) -> Section:
    """Let processes ask and tell, and then tell many answers while others tell one at a time."""
    seconds = QUICK_SECONDS if settings.quick else SECONDS
    answers = QUICK_ANSWERS if settings.quick else ANSWERS
    rates, costs = {}, {}
    for processes in PROCESSES:
        progress(f"{processes} processes ask for {seconds:.0f} s")
        rates[processes], costs[processes] = asks_per_second(processes, seconds, settings.seed)
    rows = [
        ["asks", str(k), number(rate), number(rate / rates[1], ".2f"), number(costs[k])]
        for k, rate in rates.items()
    ]
    progress(f"a tell of {answers:,} alone, and against {WRITERS} writers")
    alone, cpu_alone, _ = tell_many(answers, 0, settings.seed)
    together, cpu_together, others = tell_many(answers, WRITERS, settings.seed)
    what = f"tell of {answers:,}"
    rows.append([what, "1", number(alone), "1.00", number(cpu_alone)])
    ratio = number(together / alone, ".2f")
    rows.append([what, str(1 + WRITERS), number(together), ratio, number(cpu_together)])
    most = max(PROCESSES)
    aims = [
        at_least(f"asks of {most} processes over those of one, wall time", rates[most] / rates[1], 1.0),
        at_most(f"a {what} against {WRITERS} writers over alone, wall time", together / alone, 3.0),
    ]
    notes = [
        f"Asks: {size_name(*SIZE)}, 60 % observed, SQLite with full synchronisation, strategy "
        f"`linear-impact`, one thread each; for {seconds:.0f} s each process asks for {COUNT} cells and "
        "tells them, again and again. The ratio is that of all asks in a second to those of one process. CPU "
        "seconds of all processes for each ask and its tell: no other program can change them much.",
        f"Tell: {WRITERS} other processes tell one cell each {1e3 * PAUSE:.0f} ms; they told {others:,} "
        "cells meanwhile. Wall seconds; the ratio is to the same tell alone. CPU seconds of the process that "
        "tells.",
    ]
    return Section("Several writers", HEADER, rows, notes, aims)


def asks_per_second(processes: int, seconds: float, seed: int) -> tuple[float, float]:
    """Return how often processes ask in a second, all together, and the CPU seconds of each ask."""
    from cellworth import Campaign, Table

    values, labels, _ = make_problem(*SIZE, seed)
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'study.db'}"
        with Campaign.create(
            Table.from_arrays(values, labels > 0), store=store, strategy="linear-impact"
        ) as c:
            c.ask(count=1)
        done = together([(ask_and_tell, (store, seconds))] * processes)
    asks = sum(count for count, _ in done)
    return asks / seconds, sum(cpu for _, cpu in done) / asks


def tell_many(answers: int, writers: int, seed: int) -> tuple[float, float, int]:
    """Return the wall and CPU seconds of a large tell, and how many answers the others told meanwhile."""
    from cellworth import Campaign, Table

    rng = np.random.default_rng(seed)
    values = rng.normal(size=(2 + answers // 20, 22)).round(3)
    values[1:, 1:] = np.nan
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'study.db'}"
        table = Table.from_arrays(values, rng.random(len(values)) < 0.5)
        Campaign.create(table, store=store, strategy="random").close()
        jobs: list[Any] = [(tell_columns, (store, 1, 21))]
        jobs += [(tell_one_by_one, (store, 21, k, writers)) for k in range(writers)]
        found = together(jobs, until_first=True)
    return *found[0], int(sum(told for told, _ in found[1:]))


def ask_and_tell(link: Connection, store: str, seconds: float) -> Done:
    """Ask and tell until the time is up, and return how often."""
    from cellworth import Campaign

    with Campaign.open(store) as campaign:
        campaign.preview(count=COUNT)  # imports what a first ask imports
        meet(link)
        cpu = time.process_time()
        end, asks = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            batch = campaign.ask(count=COUNT)
            campaign.tell({(p.row, p.column): 0.5 for p in batch})
            asks += 1
        return asks, time.process_time() - cpu


def tell_columns(link: Connection, store: str, start: int, stop: int) -> Done:
    """Tell all cells of some columns but those in the first row, and return the wall seconds."""
    from cellworth import Campaign

    with Campaign.open(store) as campaign:
        rows, names = campaign.table.row_ids[1:], campaign.table.column_names[start:stop]
        answers = {(row, name): 0.5 for row in rows for name in names}
        meet(link)
        time.sleep(1.0)  # the others are at work by now
        begun, cpu = time.perf_counter(), time.process_time()
        campaign.tell(answers, unsolicited=True)
        return time.perf_counter() - begun, time.process_time() - cpu


def tell_one_by_one(link: Connection, store: str, column: int, which: int, writers: int) -> Done:
    """Tell one cell after the other until the other end is heard, and return how many."""
    from cellworth import Campaign

    with Campaign.open(store) as campaign:
        name, told = campaign.table.column_names[column], 0
        rows = iter(range(1 + which, len(campaign.table.row_ids), writers))
        meet(link)
        cpu = time.process_time()
        while not link.poll(PAUSE):
            campaign.tell({(str(next(rows)), name): 0.5}, unsolicited=True)
            told += 1
        return told, time.process_time() - cpu


def meet(link: Connection) -> None:
    """Say that this process is ready, and wait for the others."""
    link.send("ready")
    link.recv()


def together(jobs: list[Any], *, until_first: bool = False) -> list[Done]:
    """Run each job in a process of its own, all at once, and return what they return.

    With ``until_first``, the others are told when the first is done.
    """
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))  # for the processes that are started
    links, processes = [], []
    for function, arguments in jobs:
        here, there = _CONTEXT.Pipe()
        processes.append(_CONTEXT.Process(target=work, args=(function, there, arguments)))
        processes[-1].start()
        links.append(here)
    for link in links:
        link.recv()
    for link in links:
        link.send("go")
    results = [links[0].recv()]
    for link in links[1:]:
        if until_first:
            link.send("done")
        results.append(link.recv())
    for process in processes:
        process.join()
    return results


def work(function: Any, link: Connection, arguments: tuple[Any, ...]) -> None:
    """Run a job in a new process, and send its result."""
    link.send(function(link, *arguments))
