"""BLAS stays on one thread until the last of several threads is done."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cellworth.blocks.one_core import one_blas_thread, one_core


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
