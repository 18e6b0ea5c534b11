"""The cells of a column as text, counted once: most columns have few different texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray


@dataclass(frozen=True)
class TextCounts:
    """The different texts of a column in the order in which they first appear, and which cell holds which.

    ``codes`` (n,) are places in ``distinct``, -1 for a hole. No text is blank.
    """

    distinct: tuple[str, ...]
    codes: IntArray

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each text appears, in the order of ``distinct``."""
        times = np.bincount(self.codes[self.codes >= 0], minlength=len(self.distinct))
        return Counter(dict(zip(self.distinct, times.tolist(), strict=True)))

    @property
    def total(self) -> int:
        """The number of observed cells."""
        return int(np.count_nonzero(self.codes >= 0))

    def spread(self, values: Float64Array) -> Float64Array:
        """Return a value for each cell (n,) from those of the distinct texts; NaN = hole."""
        spread: Float64Array = np.append(values, np.nan)[self.codes]
        return spread

    def rows_of(self, places: Sequence[int]) -> IntArray:
        """Return the rows that hold any of these texts, in order."""
        return np.flatnonzero(np.isin(self.codes, places))

    def texts(self) -> list[str]:
        """Return the text of each cell, "" = hole."""
        return list(map((*self.distinct, "").__getitem__, self.codes.tolist()))

    def renamed(self, texts: Sequence[str]) -> TextCounts:
        """Return the counts with another text for each of the distinct ones; equal ones merge, "" = hole."""
        if len(set(texts)) == len(texts) and "" not in texts:
            return TextCounts(tuple(texts), self.codes)
        kept = {text: place for place, text in enumerate(dict.fromkeys(filter(None, texts)))}
        codes = np.array([*(kept.get(text, -1) for text in texts), -1], dtype=np.intp)
        return TextCounts(tuple(kept), codes[self.codes])


def count_texts(texts: Sequence[str]) -> TextCounts:
    """Count texts, "" = hole; O(n)."""
    codes = {text: place for place, text in enumerate(dict.fromkeys(filter(None, texts)))}
    distinct = tuple(codes)
    codes[""] = -1
    return TextCounts(distinct, np.fromiter(map(codes.__getitem__, texts), dtype=np.intp, count=len(texts)))


class LazyTexts(Sequence[str]):
    """Texts that are read when first used."""

    def __init__(self, length: int, read: Callable[[], Sequence[str]]) -> None:
        self._length, self._read = length, read

    @cached_property
    def _texts(self) -> Sequence[str]:
        return self._read()

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __getitem__(self, place: Any) -> Any:
        return self._texts[place]


@dataclass(frozen=True)
class Numbers:
    """Numeric texts as numbers (n,), NaN = hole, and whether all are written as integers."""

    values: Float64Array
    whole: bool


@dataclass(frozen=True)
class TextCells:
    """Texts without surrounding white space, "" = hole; their kind is not inferred yet.

    Parameters
    ----------
    texts : sequence of str of length n
    numbers : Numbers, optional
        The same cells, if the reader found that all of them are numbers or marks of holes.
    """

    texts: Sequence[str]
    numbers: Numbers | None = None

    @classmethod
    def counted(cls, given: TextCounts) -> TextCells:
        """Return cells whose texts are counted already."""
        cells = cls(LazyTexts(len(given.codes), given.texts))
        cells.__dict__["text_counts"] = given  # where cached_property keeps it
        return cells

    @cached_property
    def text_counts(self) -> TextCounts:
        """The different texts and their cells; O(n) when first used."""
        return count_texts(self.texts)

    @property
    def holes(self) -> BoolArray:
        """(n,) bool, True where there is no value."""
        values = None if self.numbers is None else self.numbers.values
        holes: BoolArray = self.text_counts.codes < 0 if values is None else np.isnan(values)
        return holes
