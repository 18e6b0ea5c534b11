"""A property that is computed once, and that no interrupt locks."""

import sys
from threading import Thread

import pytest

from cellworth.cached_property import cached_property


class Counted:
    def __init__(self):
        self.calls = 0

    @cached_property
    def value(self):
        self.calls += 1
        return 7


def test_it_is_computed_once():
    counted = Counted()
    assert [counted.value, counted.value, counted.calls] == [7, 7, 1]
    assert isinstance(Counted.value, cached_property)


def interrupt_at(opcode):
    """Return a trace that interrupts before one of the opcodes of any property's ``__get__``."""
    left = [opcode]

    def trace(frame, event, _):
        if frame.f_code.co_name == "__get__":
            frame.f_trace_opcodes = True
            if event == "opcode":
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
        return trace

    return trace


@pytest.mark.parametrize("opcode", range(48))
def test_an_interrupt_leaves_nothing_locked(opcode):
    """With the lock of Python 3.11, one of these interrupts makes the thread wait for ever."""
    before = sys.gettrace()
    sys.settrace(interrupt_at(opcode))
    try:
        _ = Counted().value
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    found = []
    thread = Thread(target=lambda: found.append(Counted().value), daemon=True)
    thread.start()
    thread.join(10)
    assert found == [7]
