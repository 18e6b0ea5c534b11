"""Rows grouped by their pattern of holes, so that rows with the same pattern share a factorisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Patterns:
    """The distinct rows of a mask, in lexicographic order (False before True, first column first).

    Attributes
    ----------
    masks : (P, d) bool array
    counts : (P,) int array
        Rows of each pattern.
    order : (n,) int array
        The rows, pattern by pattern; rows of one pattern keep their order.
    """

    masks: Mask
    counts: Index
    order: Index

    @classmethod
    def of(cls, mask: Mask) -> Patterns:
        """Group the rows of a mask (n, d). O(n d + n log n)."""
        n, d = mask.shape
        if d == 0:
            return cls(mask[:1], np.array([n]), np.arange(n))
        words = _as_words(mask)
        order = np.lexsort(words.T[::-1]) if words.shape[1] > 1 else np.argsort(words[:, 0], kind="stable")
        words = words[order]
        is_first = np.ones(n, dtype=bool)
        is_first[1:] = (words[1:] != words[:-1]).any(axis=1)
        first = np.flatnonzero(is_first)
        return cls(mask[order[first]], np.diff(first, append=n), order)

    @property
    def of_row(self) -> Index:
        """The pattern of each row, (n,), rows in their own order."""
        pattern = np.empty(len(self.order), dtype=np.intp)
        pattern[self.order] = np.repeat(np.arange(len(self.counts)), self.counts)
        return pattern


def _as_words(mask: Mask) -> NDArray[np.uint64]:
    """Pack each row into 64-bit words whose order is the lexicographic order of the rows."""
    packed = np.packbits(mask, axis=1)
    words = np.zeros((len(mask), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view(">u8").astype(np.uint64)
