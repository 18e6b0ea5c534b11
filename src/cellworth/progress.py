"""A progress bar with the time left, as one line of text."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

WIDTH = 24  # of the bar, in characters

Steps = Callable[[int, int], object]
"""Called with the number of steps done and the total."""


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
