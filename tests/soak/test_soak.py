"""A short soak of both stores; and what the oracle checks, it notices."""

import json
import signal
import tempfile
import warnings
from decimal import Decimal
from pathlib import Path

import pytest

from cellworth.campaign.stores import open_store
from tests.campaign.stores.server import find_binaries
from tests.conftest import need
from tests.soak.driver import Soak, found, on_postgresql, on_sqlite
from tests.soak.oracle import Book, check_operations, journals
from tests.soak.worker import Worker

pytestmark = pytest.mark.slow
SECONDS = 6.0


@pytest.mark.service
@pytest.mark.parametrize("soak", [on_sqlite, on_postgresql])
def test_a_short_soak(soak):
    there = soak is on_sqlite or find_binaries() is not None
    need(there, "PostgreSQL's programs: apt-get install postgresql")
    # The server is another user, and the path of its socket must be short: not in a folder of pytest's.
    with tempfile.TemporaryDirectory(prefix="cellworth-") as place:
        Path(place).chmod(0o711)
        figures = soak(Path(place) / "soak", SECONDS, workers=2, seed=3, epoch=SECONDS)
    assert figures["checks"] >= 1
    assert figures["stuck"] == 0


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """A campaign after some operations of one worker in this process, and a soak that can check it."""
    folder = tmp_path_factory.mktemp("soak")
    url = f"sqlite:///{folder}/study.db"
    found(url, "study")
    notes = folder / "notes"
    notes.mkdir()
    worker = Worker(url, "study", notes, "w", seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(80):
            worker.step(f"w:{number}")
    worker.campaign.close()
    return Soak(url, folder, 1, 0), notes


def test_what_a_worker_did_is_there(worked):
    soak, notes = worked
    soak.check("study", notes)
    soak.count("study", notes)
    assert soak.figures["events"] > 30
    assert soak.figures["operations"] >= 80


def test_interrupts_are_heard_by_workers_of_a_soak_in_the_background(tmp_path):
    (tmp_path / "stop").touch()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does with what it starts there
    try:
        with warnings.catch_warnings():
            Worker("sqlite:///nowhere.db", "study", tmp_path, "w", seed=0).run()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_oracle_notices_what_is_lost_doubled_or_made_up(worked):
    soak, notes = worked
    operations, _ = journals(notes)
    store = open_store(soak.url)
    events = store.events("study")
    record = store.record("study")
    store.close()
    check_operations(operations, events)
    told = next(event for event in events if event.kind == "told")
    for wrong in (
        [event for event in events if event is not told],
        [*events, told],
        [*events, told.__class__(99_999, told.time, "told", "nobody", None, told.data)],
    ):
        with pytest.raises(AssertionError):
            check_operations(operations, wrong)
    asked = next(event for event in events if event.kind == "asked" and event.data["cells"])

    def follow(changed, by):
        book = Book(record)
        for event in events:
            book.apply(by if event is changed else event)
            if event is changed and by.data == changed.data:
                book.apply(by)

    def edited(event, edit):
        data = json.loads(json.dumps(event.data))
        edit(data)
        return event.__class__(event.number, event.time, event.kind, event.who, event.key, data)

    follow(None, None)
    for changed, by in (
        (told, told),  # told twice
        (asked, asked),  # asked for twice at once
        (told, edited(told, lambda data: data["cells"][0].__setitem__(3, 77.0))),
        (asked, edited(asked, lambda data: data["cells"][0].__setitem__(2, 0.001))),
    ):
        with pytest.raises(AssertionError):
            follow(changed, by)
    poor = Book(record)
    poor.budget = Decimal("0.5")
    with pytest.raises(AssertionError, match="the budget was exceeded"):
        poor.apply(asked)
    closed = asked.__class__(
        1, record.created, "stage changed", "w", None, {"old": "open", "new": "closed", "reason": None}
    )
    book = Book(record)
    book.apply(closed)
    with pytest.raises(AssertionError, match="while it was closed"):
        book.apply(asked)
