"""What passes over a table's files have found: it need not be looked for again when cells are learned.

The files of a table stay as they are. Cells that are learned later fill holes, so what was found in the files
and what the learned cells add give what a new pass would find.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from cellworth.arrays import FloatArray, IntArray

T = TypeVar("T")


@dataclass(frozen=True)
class LearnedRows:
    """The cells that fill holes of the files, as numeric columns.

    Attributes
    ----------
    rows : (k,) int array, increasing
        Row numbers in the whole table.
    X : (k, d) array
        The learned cells of these rows, NaN elsewhere.
    y : (k,) array or None
        Their learned labels, NaN elsewhere; None without a target.
    """

    rows: IntArray
    X: FloatArray
    y: FloatArray | None = None


class FileMemory:
    """Keeps what was found in the files of one table; shared by all tables that differ in learned cells."""

    def __init__(self) -> None:
        self._found: dict[Hashable, object] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[FileMemory], tuple[()]]:
        return FileMemory, ()  # in another process, it begins anew

    def recall(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return what was found under a key, or find it now. Nobody may change it."""
        with self._lock:
            if key in self._found:
                known: T = self._found[key]  # type: ignore[assignment]
                return known
        found = find()
        with self._lock:
            self._found[key] = found
        return found
