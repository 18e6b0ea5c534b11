"""What a completer keeps between warm fits to save time: memory, and labels that it has coded.

No result depends on it. A copy of a completer, or one that comes out of a file, starts with nothing kept.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.complete.labels import Labels, TargetKind, code_labels

MOST_ARRAYS = 5  # of the table's size
MOST_BYTES = 1 << 26  # of an array; larger ones go back to the system


class _Coded(NamedTuple):
    y: AnyArray
    how: tuple[Any, ...]
    labels: Labels


class KeptBetweenFits:
    """Arrays to write to again, since the system takes as long for new memory as a pass takes; and labels.

    Two threads may share one, as copies of a completer do: an array is taken by one of them only.
    """

    def __init__(self) -> None:
        self._arrays: list[AnyArray] = []
        self._coded: _Coded | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptBetweenFits, ()

    def take(self, shape: tuple[int, ...], dtype: Any) -> AnyArray:
        """Return a C-ordered array with anything in it."""
        for _ in range(len(self._arrays)):
            try:
                found = self._arrays.pop(0)
            except IndexError:  # another thread took it
                break
            if found.shape == shape and found.dtype == dtype:
                return found
            if found.shape[:1] == shape[:1]:  # else of another table
                self._arrays.append(found)
        return np.empty(shape, dtype)

    def give(self, *arrays: AnyArray) -> None:
        """Keep arrays that nobody else refers to."""
        for each in arrays:
            if each.nbytes <= MOST_BYTES and each.flags.c_contiguous:
                self._arrays.append(each)
        del self._arrays[:-MOST_ARRAYS]

    def give_unshared(self, arrays: list[AnyArray]) -> None:
        """Keep those of the arrays, taken out of the list, that nobody but the list has referred to."""
        while arrays:
            if arrays[-1].flags.owndata and _references(arrays) == _ALONE:
                self.give(arrays.pop())
            else:
                arrays.pop()

    def labels(self, y: Any, n_rows: int, loss: str, kind: TargetKind) -> Labels:
        """Return what `code_labels` does, without coding the same labels twice in a row."""
        last, how = self._coded, (n_rows, loss, kind)
        if last is not None and last.how == how and _same(last.y, y):
            return last.labels
        found = code_labels(y, n_rows, loss, kind)
        is_plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "fiub"
        self._coded = _Coded(y.copy(), how, found) if is_plain else None
        return found


def _references(arrays: list[AnyArray]) -> int:
    """Return how many references there are to the last of the arrays, views of it included."""
    return sys.getrefcount(arrays[-1])


_ALONE = _references([np.empty(1)])
"""What an array in a list and nowhere else has; not the same in all Pythons."""


def _same(last: AnyArray, y: Any) -> bool:
    """Return whether an array has the bytes of another; so missing labels, too, equal themselves."""
    alike = isinstance(y, np.ndarray) and y.dtype == last.dtype and y.shape == last.shape
    return alike and np.array_equal(last.view(np.uint8), np.ascontiguousarray(y).view(np.uint8))
