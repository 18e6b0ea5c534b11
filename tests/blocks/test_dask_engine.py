"""Tasks of one block or of a run give the same result; a worker that dies is made up for."""

import os
import signal
import time
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import DaskEngine, ThreadEngine, open_blocks
from cellworth.blocks.dask_engine import LEAST_MEMORY, MOST_KEPT
from cellworth.blocks.engine_protocol import PROCESS_BYTES, Blocks, join, merge_in_tree
from cellworth.errors import DataError, ParameterError
from tests.blocks.engines import need_dask
from tests.blocks.tables import make_table, write_parquet

SUPERVISED = SupervisedCompleter(max_iter=10, tol=0)
NORMAL = GaussianCompleter(margins="normal", label_trust=0, max_iter=4, tol=0)

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def engine():
    """Workers of this module's own, to be killed."""
    need_dask()
    with DaskEngine(n_jobs=2, memory="2GB", block_rows=150) as engine:
        yield engine


PATIENCE = 180
"""Seconds within which Dask starts another worker, also on a machine that does ten other things."""


def kill_a_worker(engine):
    pid = next(iter(engine.client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)
    return pid


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("completer", "checkpointed"), [(SUPERVISED, False), (SUPERVISED, True), (NORMAL, False)], ids=str
)
def test_a_killed_worker_changes_no_bit(engine, completer, checkpointed, tmp_path, monkeypatch):
    monkeypatch.setattr("cellworth.complete.solver.passes_over_blocks.CHECKPOINT_EVERY", 2)
    X, y = make_table(600, 4, 0, labelled=0.7)
    killed = []

    def kill_in_the_middle(progress):
        if progress.iteration == 3:
            killed.append(kill_a_worker(engine))

    with ThreadEngine(block_rows=150) as calm:
        expected = clone(completer).fit(open_blocks(X, target=y, engine=calm)).completed_.gather()[0]
    disturbed = type(completer)(**completer.get_params() | {"callback": kill_in_the_middle})
    folder = tmp_path if checkpointed else None
    done = clone(disturbed).fit(open_blocks(X, target=y, engine=engine), checkpoint=folder)
    assert (done.completed_.gather()[0] == expected).all()
    assert len(killed) == 1
    assert killed[0] not in engine.client.run(os.getpid).values()


@pytest.mark.parametrize("n_blocks", [1, 8, 9, 63, 64, 65, 80, 129])
def test_runs_of_blocks_are_merged_in_the_same_order_and_counted(engine, n_blocks):
    """With two workers, from 64 blocks on one task takes eight of them."""
    numbers, seen = Blocks(list(range(n_blocks))), []
    engine.watch = lambda done, total: seen.append((done, total))
    try:
        merged = engine.reduce(str, _in_brackets, numbers)
    finally:
        engine.watch = None
    assert merged == merge_in_tree(_in_brackets, map(str, range(n_blocks)))
    assert seen == sorted(set(seen))
    assert seen[-1] == (n_blocks, n_blocks)
    assert len(seen) <= (-(-n_blocks // 8) if n_blocks >= 64 else n_blocks)


def test_blocks_that_workers_hold_stay_where_they_are(engine):
    """Each is a task then, alone or beside blocks that no worker holds."""
    numbers = Blocks(list(range(80)))
    held = engine.map(str, numbers)
    assert engine.reduce(str, _in_brackets, held) == merge_in_tree(_in_brackets, map(str, range(80)))
    pairs = (f"{number}{number}" for number in range(80))
    assert engine.reduce(_side_by_side, _in_brackets, numbers, held) == merge_in_tree(_in_brackets, pairs)


def _in_brackets(a, b):
    return f"({a} {b})"


def _side_by_side(a, b):
    return f"{a}{b}"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_by_runs_of_blocks_has_the_bits_of_threads(engine, tmp_path):
    """Of Parquet files whose row groups are cut into several blocks."""
    X, _ = make_table(2000, 4, 1)
    write_parquet(tmp_path / "table", X, row_group=330)
    engine.block_rows, fitted = 20, []
    try:
        with ThreadEngine(n_jobs=2, block_rows=20) as threads:
            for each in (engine, threads):
                source = open_blocks(tmp_path / "table", engine=each)
                assert len(source.blocks) >= 100
                fitted.append(clone(NORMAL).fit(source))
    finally:
        engine.block_rows = 150
    assert np.array_equal(fitted[0].covariance_, fitted[1].covariance_)


def _nap(number):
    import time

    time.sleep(3 * number)
    return (number,)


def test_a_cluster_without_workers_is_reported_and_not_waited_for(monkeypatch):
    need_dask()
    monkeypatch.setattr("cellworth.blocks.dask_engine.POLL_SECONDS", 0.2)
    monkeypatch.setattr("cellworth.blocks.dask_engine.IDLE_SECONDS", 1.0)
    with DaskEngine(n_jobs=1, memory="1GB") as engine:
        # A block that takes longer than that is work, and is waited for.
        assert engine.reduce(_nap, join, Blocks([1])) == (1,)
        engine.client.cluster.scale(0)
        with pytest.raises(DataError, match=r"has done nothing for 1 seconds and has 0 workers"):
            engine.reduce(_nap, join, Blocks([0, 0]))


def test_the_settings_of_workers_are_their_own(engine, monkeypatch):
    """Dask would set them in this process, too, and let them come before those of later workers."""
    names = ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "OMP_NUM_THREADS"]
    before = {name: os.environ.get(name) for name in names}
    kept = {}
    for memory in (LEAST_MEMORY, 4 * LEAST_MEMORY):
        with DaskEngine(n_jobs=1, memory=memory) as other:
            (found,) = other.client.run(lambda: [os.environ.get(name) for name in names]).values()
        kept[memory] = int(found[0])
        assert {name: os.environ.get(name) for name in names} == before
    # Room for 64 arrays of a block, of what Python and its libraries leave.
    assert kept == {
        LEAST_MEMORY: (LEAST_MEMORY - PROCESS_BYTES) // 64,
        4 * LEAST_MEMORY: min(MOST_KEPT, (4 * LEAST_MEMORY - PROCESS_BYTES) // 64),
    }


@pytest.mark.slow
def test_a_block_that_kills_its_workers_ends_in_an_error():
    dying = pytest.raises(ParameterError, match="workers kept dying on one block")
    with DaskEngine(n_jobs=1, memory=LEAST_MEMORY) as engine, dying:
        engine.reduce(_hog, join, Blocks([0]))


def _hog(number):
    filled = np.ones(10**8)  # 800 MB
    time.sleep(5)
    return (filled.sum(),)


@pytest.mark.slow
def test_a_restarted_worker_is_never_paused(engine):
    """Dask would pause one that comes back at four fifths of its memory, and wait for ever."""

    before = set(engine.client.run(_memory_shares).values())
    assert {pause for *_, pause in before} == {False}
    killed, after, end = kill_a_worker(engine), {}, time.monotonic() + PATIENCE
    while len(after) < 2:
        assert time.monotonic() < end, (
            f"after {PATIENCE} s, no other worker has come in place of the killed one"
        )
        time.sleep(0.5)
        with suppress(OSError):  # it is not known yet that the worker is gone
            if killed not in engine.client.run(os.getpid).values():
                after = engine.client.run(_memory_shares)
    assert set(after.values()) == before


def _memory_shares(dask_worker):
    of = dask_worker.memory_manager
    return of.memory_target_fraction, of.memory_spill_fraction, of.memory_pause_fraction


def test_paused_workers_are_reported_and_not_waited_for(monkeypatch):
    monkeypatch.setattr("cellworth.blocks.dask_engine.POLL_SECONDS", 0.2)
    monkeypatch.setattr("cellworth.blocks.dask_engine.IDLE_SECONDS", 2.0)
    with DaskEngine(n_jobs=1, memory="1GB") as engine:
        engine.client.run(_pause)
        with pytest.raises(DataError, match="has done nothing for 2 seconds and has 1 workers"):
            engine.reduce(_nap, join, Blocks([0, 0]))


def _pause(dask_worker):
    from distributed.core import Status

    dask_worker.status = Status.paused
