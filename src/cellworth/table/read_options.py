"""How a table was read, to read more rows the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Self

from cellworth.table.files import AnyFile, file_of
from cellworth.table.parse_values import Reworded, is_number, label
from cellworth.table.text_file import TextFile, point_number

Marks = tuple[object, ...] | dict[str, tuple[object, ...]]


@dataclass(frozen=True)
class ReadOptions:
    """How people wrote the file of a table.

    Attributes
    ----------
    missing : tuple, or dict of column name to tuple
        Marks of holes besides the usual ones; see `Table.read`.
    delimiter : str or None
        Of a .csv file, if it was given.
    decimal : {".", ","}
    date_format : str or None

    Examples
    --------
    >>> how = ReadOptions(missing=("?", -9), decimal=",")
    >>> how.to_json()
    {'missing': ['?', -9], 'decimal': ','}
    >>> ReadOptions.from_json(how.to_json()) == how
    True
    """

    missing: Marks = ()
    delimiter: str | None = None
    decimal: str = "."
    date_format: str | None = None

    @classmethod
    def of(cls, file: AnyFile, missing: Any, delimiter: str | None) -> Self:
        """Return how a file is read with these arguments of `Table.read`."""
        text = file if isinstance(file, TextFile) else None
        marks = _by_column(missing) if isinstance(missing, Mapping) else _marks(missing)
        if text is None:
            return cls(marks, delimiter)
        return cls(marks, delimiter or text.delimiter, text.decimal, text.date_format)

    def to_json(self) -> dict[str, Any]:
        """Return what differs from the usual as plain data; NumPy's numbers as Python's."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        plain = {name: said[name] for name in said if said[name] != getattr(ReadOptions, name)}
        if isinstance(self.missing, dict):
            plain["missing"] = {name: _listed(marks) for name, marks in self.missing.items()}
        elif self.missing:
            plain["missing"] = _listed(self.missing)
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        found = cls(**plain)
        marks = found.missing
        return replace(found, missing=_by_column(marks) if isinstance(marks, dict) else tuple(marks))

    @property
    def written(self) -> dict[str, Any]:
        """The separator and decimal mark, as keywords of `Table.write`."""
        return {"delimiter": self.delimiter, "decimal": self.decimal}

    def marks_of(self, column: str) -> tuple[object, ...]:
        """Return the marks of holes in a column."""
        return self.missing.get(column, ()) if isinstance(self.missing, dict) else self.missing

    def marks_hole(self, column: str, text: str) -> bool:
        """Return whether a text in a file is a mark of a hole in a column, besides the usual ones.

        >>> how = ReadOptions(missing={"age": (-9, "?")})
        >>> how.marks_hole("age", "-9.0"), how.marks_hole("age", "9"), how.marks_hole("dose", "?")
        (True, False, False)
        """
        marks = self.marks_of(column)
        return bool(marks) and text in _as_read(marks)

    def with_marks(self, more: Sequence[object]) -> ReadOptions:
        """Return it with further marks of holes, for all columns."""
        if not more:
            return self
        if isinstance(self.missing, dict):
            return replace(self, missing=tuple(more))
        return replace(self, missing=(*self.missing, *more))

    def value(self, text: str) -> str:
        """Return a value as Python writes it, if it is a number with the file's decimal mark.

        >>> ReadOptions(decimal=",").value("1.234,5"), ReadOptions(decimal=",").value("red")
        ('1234.5', 'red')
        """
        found = point_number(text) if self.decimal == "," else None
        return text if found is None else Reworded(found, text)

    def file(self, path: AnyFile) -> TextFile:
        """Return a file that is read this way; one that says itself how it is written stays as it is."""
        file = file_of(path)
        if isinstance(file, TextFile):
            return file
        delimiter = self.delimiter if ".csv" in file.suffixes else None
        return TextFile(file, None, delimiter, self.decimal, self.date_format)


PLAIN = ReadOptions()
"""How a file is read if nothing is said."""


@lru_cache(maxsize=1000)
def _as_read(marks: tuple[object, ...]) -> frozenset[str]:
    """Return marks as files may have them: the mark -9 also matches -9.0."""
    texts = [label(mark) for mark in marks]
    numbers = [float(text) for text in texts if is_number(text)]
    return frozenset([*texts, *map(str, numbers), *(f"{number:g}" for number in numbers)])


def _marks(missing: Any) -> tuple[object, ...]:
    one = isinstance(missing, str | bytes) or not isinstance(missing, Iterable)
    return (missing,) if one else tuple(missing)


def _by_column(missing: Mapping[str, Any]) -> dict[str, tuple[object, ...]]:
    return {name: _marks(marks) for name, marks in missing.items()}


def _listed(marks: tuple[object, ...]) -> list[Any]:
    plain = (mark.item() if hasattr(mark, "item") else mark for mark in marks)
    return [mark if isinstance(mark, bool | int | float) else str(mark) for mark in plain]
