"""A dict that can keep its entries as arrays: a million of them load in milliseconds, in little memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar, cast

import numpy as np

from cellworth.arrays import AnyArray, IntArray
from cellworth.campaign.array_codec import slim, widened

Key = TypeVar("Key", bound=tuple[Any, ...])
Value = TypeVar("Value")
Field = type[float] | type[int] | type[bool] | type[str]
"""The type of one element of a key or value; a str may also be None."""
NewColumn = AnyArray | tuple[list[str | None], IntArray]


class ColumnarDict(Generic[Key, Value]):
    """Maps tuples to records. New entries are in a dict; `settle` moves them into arrays sorted by key.

    Setting an entry takes O(1), and finding one O(1) if it is new, O(log N) once it has settled.

    Parameters
    ----------
    key : tuple of types
        Of each element of a key: int or str.
    record : tuple of types
        Of each element of what ``encode`` returns: float, int, bool or str.
    encode, decode : callable
        Turn a value into a tuple, and the elements of that tuple into the value.

    Examples
    --------
    >>> prices = ColumnarDict((int, str), (float,), encode=lambda price: (price,), decode=float)
    >>> prices[3, "age"] = 2.5
    >>> prices.settle()
    >>> prices.get((3, "age")), prices.get((3, "dose"))
    (2.5, None)
    """

    def __init__(
        self,
        key: tuple[Field, ...],
        record: tuple[Field, ...],
        *,
        encode: Callable[[Value], tuple[Any, ...]],
        decode: Callable[..., Value],
    ) -> None:
        self._fields = key + record
        self._width = len(key)
        self._encode = encode
        self._decode = decode
        self._new: dict[Key, Value] = {}
        self._words: list[str | None] = []  # sorted; strings are their positions in this list
        self._columns: list[AnyArray] = [
            np.empty(0, dtype=np.float64 if field is float else np.int64) for field in self._fields
        ]

    def __setitem__(self, key: Key, value: Value) -> None:
        self._new[key] = value

    def __contains__(self, key: Key) -> bool:
        return key in self._new or self._place(key) >= 0

    def get(self, key: Key) -> Value | None:
        """Return the value of a key; None if it has none."""
        found = self._new.get(key)
        if found is not None:
            return found
        place = self._place(key)
        if place < 0:
            return None
        cells = zip(self._fields[self._width :], self._columns[self._width :], strict=True)
        return self._decode(*(self._plain(field, column[place]) for field, column in cells))

    def items(self) -> Iterator[tuple[Key, Value]]:
        """Settle, and yield all entries in the order of their keys."""
        self.settle()
        lists = [
            self._listed(field, column) for field, column in zip(self._fields, self._columns, strict=True)
        ]
        for entry in zip(*lists, strict=True):
            yield cast(Key, entry[: self._width]), self._decode(*entry[self._width :])

    @property
    def columns(self) -> tuple[AnyArray, ...]:
        """The elements of keys and records that have settled, field by field, in the order of the keys.

        Strings are positions in a list of words.
        """
        return tuple(self._columns)

    def settle(self) -> None:
        """Move the new entries into the arrays; O(new) steps, and sorts of N numbers."""
        if self._new:
            width, values = self._width, self._new.values()
            columns = [
                column_of(field, map(itemgetter(k), self._new))
                for k, field in enumerate(self._fields[:width])
            ]
            self.absorb(columns + record_columns(self._fields[width:], values, self._encode))
            self._new = {}

    def absorb(self, new: Sequence[NewColumn]) -> None:
        """Add entries, column by column, in the order of the elements of key and record; see `column_of`.

        Of entries with the same key the last counts.
        """
        texts = [place for place, field in enumerate(self._fields) if field is str]
        codes = _Codes((word, place) for place, word in enumerate(self._words))
        columns = []
        for settled, added in zip(self._columns, new, strict=True):
            if isinstance(added, tuple):
                words, places = added
                added = np.array([codes[word] for word in words], dtype=np.int64)[places]
            columns.append(np.concatenate([settled, added]))
        words = sorted(codes, key=_order)
        sorted_code = np.empty(len(words), dtype=np.int64)
        sorted_code[[codes[word] for word in words]] = np.arange(len(words))
        for place in texts:
            columns[place] = sorted_code[columns[place]]
        order = np.lexsort(columns[self._width - 1 :: -1])
        keys = np.array([column[order] for column in columns[: self._width]])
        last = np.append((keys[:, 1:] != keys[:, :-1]).any(axis=0), True)  # of each key, the newest entry
        order = order[last]
        used = np.zeros(len(words), dtype=bool)
        for place in range(len(columns)):
            columns[place] = columns[place][order]
            if place in texts:
                used[columns[place]] = True
        shift = np.cumsum(used) - 1
        for place in texts:
            columns[place] = shift[columns[place]]
        self._columns = columns
        self._words = [word for word, is_used in zip(words, used.tolist(), strict=True) if is_used]

    def to_plain(self) -> dict[str, Any]:
        """Settle, and return all entries as arrays and JSON; equal maps give equal ones."""
        self.settle()
        return {
            "words": list(self._words),
            "length": len(self._columns[0]),
            "columns": [slim(each) for each in self._columns],
        }

    def restore(self, plain: dict[str, Any]) -> None:
        """Replace all entries by what `to_plain` returned; ValueError if it cannot have."""
        words, length = plain["words"], plain["length"]
        columns = [
            widened(column, length, np.float64 if field is float else np.int64)
            for field, column in zip(self._fields, plain["columns"], strict=True)
        ]
        if words != sorted(set(words), key=_order) or not all(isinstance(w, str | None) for w in words):
            raise ValueError("its words are not sorted")
        for field, column in zip(self._fields, columns, strict=True):
            if field is str and length and not 0 <= int(column.min()) <= int(column.max()) < len(words):
                raise ValueError("it has other words")
        self._words, self._columns, self._new = words, columns, {}

    def _place(self, key: Key) -> int:
        """Return the position of a settled entry; -1 if there is none."""
        low, high = 0, len(self._columns[0])
        for field, column, wanted in zip(self._fields[: self._width], self._columns, key, strict=False):
            if low == high:
                return -1
            value = self._code(wanted) if field is str else wanted
            some = column[low:high]
            low, high = low + int(some.searchsorted(value)), low + int(some.searchsorted(value, "right"))
        return low if low < high else -1

    def _code(self, word: str | None) -> int:
        return self._words.index(word) if word in self._words else -1

    def _listed(self, field: Field, column: AnyArray) -> list[Any]:
        values = column.tolist()
        if field is str:
            return [self._words[code] for code in values]
        return list(map(bool, values)) if field is bool else values

    def _plain(self, field: Field, element: Any) -> Any:
        return self._words[int(element)] if field is str else field(element)


def column_of(field: Field, elements: Iterable[Any]) -> NewColumn:
    """Return elements as `ColumnarDict.absorb` takes them: numbers, or distinct texts and their positions."""
    if field is str:
        codes = _Codes()
        places = np.fromiter(map(codes.__getitem__, elements), dtype=np.int64)
        return list(codes), places
    return np.fromiter(elements, dtype=np.float64 if field is float else np.int64)


def record_columns(
    fields: Sequence[Field], values: Collection[Value], encode: Callable[[Value], tuple[Any, ...]]
) -> list[NewColumn]:
    """Return the elements of records, field by field; an object that comes often is encoded once."""
    distinct = dict(zip(map(id, values), values, strict=True))
    places = dict(zip(distinct, itertools.count(), strict=False))
    at = np.fromiter(map(places.__getitem__, map(id, values)), dtype=np.int64, count=len(values))
    records = list(map(encode, distinct.values()))
    columns = [column_of(field, map(itemgetter(k), records)) for k, field in enumerate(fields)]
    return [(each[0], each[1][at]) if isinstance(each, tuple) else each[at] for each in columns]


class _Codes(dict[str | None, int]):
    """Numbers words in the order in which they come."""

    def __missing__(self, word: str | None) -> int:
        return self.setdefault(word, len(self))


def _order(word: str | None) -> tuple[bool, str]:
    return word is not None, word or ""
