"""How much of a piece of work is done: reported from deep inside it, or as a bar on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TextIO

WIDTH = 24  # of the bar, in characters

Steps = Callable[[int, int], object]
"""Called with the number of steps done and the total."""


class _Listener(NamedTuple):
    """Who hears of the work, and which part of the whole the present work is."""

    tell: Callable[[float], object]
    begin: float
    end: float


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(tell: Callable[[float], object]) -> Iterator[None]:
    """Within this context and thread, tell how much of the work is done, from 0 to 1; it never falls."""
    most = 0.0

    def only_more(share: float) -> None:
        nonlocal most
        if share > most:
            most = share
            tell(share)

    token = _listener.set(_Listener(only_more, 0.0, 1.0))
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def portion(begin: float, end: float) -> Iterator[None]:
    """Say that the work within is this part of the work around it; all of it is done in the end.

    >>> shares = []
    >>> with heard_by(lambda share: shares.append(round(share, 3))):
    ...     with portion(0.5, 1.0):
    ...         report(0.5)
    >>> shares
    [0.75, 1.0]
    """
    around = _listener.get()
    if around is None:
        yield
        return
    width = around.end - around.begin
    token = _listener.set(_Listener(around.tell, around.begin + begin * width, around.begin + end * width))
    try:
        yield
        report(1.0)
    finally:
        _listener.reset(token)


def report(share: float) -> None:
    """Say how much of the present work is done, from 0 to 1; costs nothing if nobody listens."""
    listener = _listener.get()
    if listener is not None:
        part = min(max(share, 0.0), 1.0)
        listener.tell(listener.begin + part * (listener.end - listener.begin))


class ProgressLine:
    """A bar on one line of a terminal, with the time left.

    Parameters
    ----------
    title : str
    total : int
        Total number of steps.
    stream : text file, optional
        By default, standard error, looked up at each write.
    begun : float, optional
        When the work started, by ``time.perf_counter``; by default, now.
    """

    def __init__(
        self, title: str, total: int, stream: TextIO | None = None, *, begun: float | None = None
    ) -> None:
        self._title, self._total = title, max(1, total)
        self._stream = stream
        self._begun = time.perf_counter() if begun is None else begun
        self._longest = 0

    def show(self, done: int, note: str = "") -> None:
        """Redraw the line; end it once all steps are done."""
        seconds = time.perf_counter() - self._begun
        left = seconds / done * (self._total - done) if done else 0.0
        bar = "#" * (WIDTH * done // self._total)
        ending = in_words(seconds) if done >= self._total else f"{in_words(left)} left"
        line = f"{self._title} [{bar:<{WIDTH}}] {done}/{self._total} {ending}  {note}".rstrip()
        self._longest = max(self._longest, len(line))
        stream = self._stream or sys.stderr
        stream.write(f"\r{line:<{self._longest}}" + ("\n" if done >= self._total else ""))
        stream.flush()


def in_words(seconds: float) -> str:
    """Return a duration such as "8 s", "3 min 05 s" or "2 h 10 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
