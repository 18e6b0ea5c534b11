import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cellworth.blocks import thread_engine as threads_module
from cellworth.blocks.thread_engine import RowBlocks, ThreadEngine, one_blas_thread, one_core


def test_blocks_cover_every_row_once_and_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(threads_module, "MIN_ROWS", 64)
    monkeypatch.setattr(threads_module, "BLOCK_BYTES", 2000)
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5003, 6))

    def gram_and_count(block):
        return A[block].T @ A[block], block.stop - block.start

    results = []
    for n_threads in (1, 2, 3):
        with ThreadEngine(n_threads) as engine:
            results.append(RowBlocks(A.shape, 8, engine).sum(gram_and_count))
    assert all(count == 5003 for _, count in results)
    assert all((gram == results[0][0]).all() for gram, _ in results)
    np.testing.assert_allclose(results[0][0], A.T @ A)


def test_a_wide_table_is_one_block():
    assert RowBlocks((3, 10), 8, None).sum(lambda block: (block.stop - block.start, 1)) == (3, 1)


def test_errors_in_a_thread_reach_the_caller():
    def fail(block):
        raise RuntimeError("in a block")

    with ThreadEngine(2) as engine, pytest.raises(RuntimeError, match="in a block"):
        RowBlocks((100, 3), 8, engine).sum(fail)


def test_the_products_of_scipy_run_on_one_thread_in_a_block_too():
    """SciPy brings its own BLAS, which may be loaded after the first block has run."""
    code = """
from cellworth.blocks.thread_engine import ThreadEngine, worker_threads
import sys
import numpy
assert "scipy.linalg" not in sys.modules or numpy.__version__ < "2"  # old packages bring it in
with worker_threads(1):
    pass
import scipy.linalg
from threadpoolctl import threadpool_info
before = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
with worker_threads(1):
    print([each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"])
assert before == [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {1}


@pytest.fixture(autouse=True)
def two_threads():
    """Two threads of each BLAS outside, where the library takes as many."""
    with threadpool_limits(limits=2, user_api="blas"):
        yield


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("context", [one_blas_thread, one_core])
def test_who_leaves_first_changes_nothing_for_the_others(context):
    before, left, may_leave = blas_threads(), threading.Event(), threading.Event()

    def come_and_go():
        with context():
            may_leave.wait(10)
        left.set()

    other = threading.Thread(target=come_and_go)
    other.start()
    with context():
        may_leave.set()
        assert left.wait(10)
        assert set(blas_threads()) == {1}
    other.join()
    assert blas_threads() == before


def test_one_within_another_and_after_an_error():
    before = blas_threads()
    with one_core():
        with pytest.raises(ValueError), one_blas_thread():  # noqa: PT011
            raise ValueError
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
