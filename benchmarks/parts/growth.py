"""A campaign of very many events, and a file of very many answers: what opening and telling cost."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.isolate import run_isolated
from benchmarks.report import Section, at_most, number
from benchmarks.settings import Settings, progress

EVENTS, QUICK_EVENTS = (100_000, 1_000_000), (10_000, 50_000)
LINES, QUICK_LINES = 1_000_000, 50_000
COLUMNS = 40
BATCH = 1_000  # cells per ask
TAIL = 1_700  # events after the snapshot: nearly as many as there may be
START = datetime(2024, 1, 1, tzinfo=UTC)
HEADER = ["what", "size", "CPU s", "peak MB"]


def run(settings: Settings) -> Section:
    """Open campaigns of growing length, with and without a snapshot, and tell a large file."""
    rows = []
    sizes = QUICK_EVENTS if settings.quick else EVENTS
    for events in sizes:
        progress(f"{events:,} events")
        found = run_isolated("benchmarks.parts.growth:measure_opening", events=events, seed=settings.seed)
        rows.append(["open without a snapshot", f"{events:,} events", number(found["whole"]), ""])
        rows.append(["open", f"{events:,} events", number(found["opening"]), ""])
    what = f"opening a campaign of {sizes[-1]:,} events, CPU time"
    aims = [at_most(what, found["opening"], 0.3, ".2f", " s")]
    lines = QUICK_LINES if settings.quick else LINES
    for asked in (False, True):
        kind = "all of one ask" if asked else "unsolicited"
        progress(f"a file of {lines:,} answers, {kind}")
        with tempfile.TemporaryDirectory() as folder:
            said = {"folder": folder, "asked": asked}
            run_isolated("benchmarks.parts.growth:prepare_file", **said, lines=lines, seed=settings.seed)
            told = run_isolated("benchmarks.parts.growth:measure_file", **said)
        peak = told["peak"] / 1e6
        rows.append([f"tell_file, {kind}", f"{lines:,} cells", number(told["cpu"]), f"{peak:.0f}"])
        what = f"a file of {lines:,} answers, {kind}"
        aims.append(at_most(f"{what}, CPU time", told["cpu"], 15.0, ".1f", " s"))
        aims.append(at_most(f"{what}, peak memory", peak, 500, ".0f", " MB"))
    notes = [
        f"SQLite with full synchronisation. The events are asks for {BATCH:,} cells and tells of one cell "
        f"each; opening finds a snapshot and {TAIL:,} events since. CPU seconds of `Campaign.open`, without "
        "imports.",
        "The answers of a file were not asked for, or all of them by one ask before. Peak: resident memory "
        "above that before the call.",
    ]
    return Section("Growth", HEADER, rows, notes, aims)


def make_table(rows: int, seed: int) -> Any:
    """Return a table of which half the cells are holes."""
    from cellworth import Table

    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, COLUMNS)).round(3)
    values[rng.random(values.shape) < 0.5] = np.nan
    values[0] = 1.0
    return Table.from_arrays(values, rng.random(rows) < 0.5, row_ids=[f"patient-{i}" for i in range(rows)])


def make_events(table: Any, total: int) -> Iterator[Any]:
    """Yield this many events, as a store keeps them."""
    from cellworth.campaign.cell_events import Asked, AskedCell, Told, ToldCell
    from cellworth.campaign.event_codec import Event, encode

    names = [(table.row_ids[i], table.column_names[j]) for i, j in np.argwhere(table.holes).tolist()]
    done = 0
    for at in range(0, len(names), BATCH):
        some = names[at : at + BATCH]
        time_of = START + timedelta(seconds=done)
        asked = Asked(1 + at // BATCH, done, None, tuple(AskedCell(*cell, 1.0, 0.5, "why") for cell in some))
        contents = [asked, *(Told((ToldCell(*cell, 0.5, 1.0),), stated=False) for cell in some)]
        for content in contents[: total - done]:
            done += 1
            yield encode(Event(done, time_of, "Ann", None, None, content))


def measure_opening(events: int, seed: int) -> dict[str, float]:
    """Return the CPU seconds of opening a campaign without and with a snapshot."""
    from cellworth import Campaign, Prices
    from cellworth.campaign.founding_table import as_founding
    from cellworth.campaign.settings import make_record
    from cellworth.campaign.stores import open_store

    table = make_table(1 + events * 21 // (10 * COLUMNS), seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        store = open_store(path)
        said = as_founding(table), Prices.same(1.0), "random"
        record = make_record("study", *said, budget=None, seed=0, who=None, time=START)
        store.create(record, make_events(table, events))
        store.close()
        whole, campaign = cpu_seconds(lambda: Campaign.open(path))
        holes = np.argwhere(campaign.table.holes)[-1 - TAIL :]
        for i, j in holes.tolist():  # the first of them makes the snapshot
            cell = table.row_ids[i], table.column_names[j]
            campaign.tell({cell: 0.5}, unsolicited=True)
        campaign.close()
        opening, again = cpu_seconds(lambda: Campaign.open(path))
        assert again.number == events + len(holes)
        again.close()
    return {"whole": whole, "opening": opening}


def prepare_file(folder: str, asked: bool, lines: int, seed: int) -> None:
    """Write a file of answers, and begin a campaign that may have asked for all of them."""
    from cellworth import Campaign

    table = make_table(1 + 2 * lines // COLUMNS, seed)
    holes = np.argwhere(table.holes).tolist()
    names = table.row_ids, table.column_names
    text = (f"{names[0][i]},{names[1][j]},{(31 * i + 7 * j) % 1000 / 500 - 1}\n" for i, j in holes)
    with (Path(folder) / "answers.csv").open("w") as out:
        out.write("row,column,value\n")
        out.writelines(text)
    with Campaign.create(table, store=Path(folder) / "study.db", strategy="random") as campaign:
        if asked:
            campaign.ask(count=len(holes))


def measure_file(folder: str, asked: bool) -> dict[str, float]:
    """Return the CPU seconds and the peak memory of telling a file."""
    from cellworth import Campaign

    with Campaign.open(Path(folder) / "study.db") as campaign:
        holes = int(campaign.table.holes.sum())
        before = memory.reset_peak()
        cpu, told = cpu_seconds(
            lambda: campaign.tell_file(Path(folder) / "answers.csv", unsolicited=not asked)
        )
        peak = memory.peak() - before
        assert told.new == holes
    return {"cpu": cpu, "peak": peak}


def cpu_seconds(work: Any) -> tuple[float, Any]:
    """Return the CPU seconds of some work in this process, and its result."""
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result
