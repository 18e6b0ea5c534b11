"""Parse a large delimited file with pyarrow, where it gives exactly what the plain reader gives.

Only well-formed text is parsed here: no blank lines, no short or long rows, quotes around whole fields only.
Columns of numbers and of ISO days come as numbers, all others as text, and the text of a number is read again
only if somebody asks for it. Whatever does not fit is left to the plain reader, which finds the mistake and
names its line.
"""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.table.dates import FIRST_DAY, parse_dates
from cellworth.table.missing_marks import USUAL_MARKS
from cellworth.table.parse_values import are_whole, common_decimals, is_number, parse_numbers
from cellworth.table.raw_cells import LazyTexts, Numbers, TextCells, TextCounts
from cellworth.table.text_file import point_number

FEWEST_BYTES = 1 << 20
"""For a smaller file, importing pyarrow takes longer than it saves."""

_Type = Literal["int64", "float64", "date", "text"]
_MOST_ATTEMPTS = 8
_BLOCK = 1 << 18  # bytes that fit a cache; a row of more fails, and is read by the plain reader
_SAMPLED_PLACES, _SAMPLED_LINES = 10, 8
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_COLUMN = re.compile(r"CSV column #(\d+)")


@dataclass(frozen=True)
class Wishes:
    """What the caller knows about a file before it is read.

    ``as_text`` names the columns whose text is needed, such as the row ids and categories; ``marks`` are the
    marks of holes that hold in all columns. Marks that are numbers do not count: they match any spelling.
    ``iso_dates`` is False if dates have a format of their own, which may read an ISO date as another day.
    """

    as_text: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    decimal: str = "."
    iso_dates: bool = True

    @property
    def nulls(self) -> list[str]:
        """Texts that are holes in a column of numbers."""
        return sorted(USUAL_MARKS | {mark for mark in self.marks if not is_number(mark)})


class Parsed(NamedTuple):
    """The fields of a header, their columns of cells, and the lines on which the rows begin, from 1."""

    names: list[str]
    cells: list[TextCells]
    lines: Sequence[int]


def parse_quickly(content: bytes, delimiter: str, wishes: Wishes) -> Parsed | None:
    """Parse UTF-8; O(size of the content). Texts come as they are written, with decimal commas if so.

    There must be no NUL in it. None means that the plain reader must read it.
    """
    end = len(content)
    while end and content[end - 1] in b"\r\n":
        end -= 1
    arrow = _pyarrow()
    if arrow is None or delimiter == wishes.decimal or not _is_plain(content, end, delimiter):
        return None
    quoted = b'"' in content
    ends = _ends_of_records(content, end, delimiter) if quoted else None
    if quoted and ends is None:
        return None
    start = (content.find(b"\n", 0, end) if ends is None else int(ends.places[0])) + 1
    if not start:
        return None
    (names,) = csv.reader([content[: start - 1].decode().rstrip("\r")], delimiter=delimiter)
    as_text = {place for place, name in enumerate(names) if column_name(name) in wishes.as_text}
    lines = _sample(content, start, end, None if ends is None else ends.places)
    types, decimals, marked = _likely_types(lines, delimiter, len(names), as_text, wishes)
    if any(content.find(letter, start) >= 0 for letter in (b"x", b"X")) and b"0x" in content.lower():
        # pyarrow reads 0x10 as the integer 16; to us it is text.
        types = ["text" if kind == "int64" else kind for kind in types]
    rows = memoryview(content)[start:end]
    reader = _ArrowReader(
        arrow,
        rows,
        delimiter,
        len(names),
        wishes.nulls if marked else [""],
        b"(" in content,
        quoted=quoted,
        broken=ends is not None and ends.broken,
        decimal=wishes.decimal,
        fractions=wishes.decimal == "." or not _has_bare_commas(content, delimiter),
    )
    columns = reader.read(types)
    if columns is None and not marked:
        reader = replace(reader, nulls=wishes.nulls)
        columns = reader.read(types)
    count = _newlines(content, start, end) + 1 if ends is None else len(ends.places)
    if columns is None or len(columns[0]) != count:  # pyarrow skips blank lines
        return None
    cells = [reader.cells(place, column, decimals[place]) for place, column in enumerate(columns)]
    return Parsed(names, cells, range(2, count + 2) if ends is None else ends.lines)


def column_name(field: str) -> str:
    """Return the name of a column from its field in the header."""
    return field.strip().lstrip("\ufeff").strip()


def _is_plain(content: bytes, end: int, delimiter: str) -> bool:
    """Return whether nothing but quotes needs a closer look."""
    if not delimiter.isascii() or content[:1] in (b"\r", b"\n", b""):
        return False
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return False
    longest = csv.field_size_limit()
    start = 0
    while end - start > longest:  # a field this long is an error of its own
        start = content.rfind(b"\n", start + 1, start + longest)
        if start < 0:
            return False
    return True


def _newlines(content: bytes, start: int, end: int) -> int:
    """Count newlines, a part that fits the cache at a time: three times as fast as `bytes.count`."""
    letters = np.frombuffer(content, dtype=np.uint8)[start:end]
    parts = (letters[place : place + _BLOCK] for place in range(0, len(letters), _BLOCK))
    return sum(int(np.count_nonzero(part == ord("\n"))) for part in parts)


def _has_bare_commas(content: bytes, delimiter: str) -> bool:
    """Return whether a field may be such as 5, or ,5 or 5,e3: numbers to pyarrow, but texts to us."""
    ends = np.zeros(256, dtype=bool)
    ends[list(f'{delimiter}"\r\n\t eE+-'.encode())] = True
    if content[:1] == b"," or content[-1:] == b",":
        return True
    letters = np.frombuffer(content, dtype=np.uint8)
    scratch, digit = np.empty(_BLOCK + 2, dtype=np.uint8), np.empty(_BLOCK + 2, dtype=bool)
    odd, comma = np.empty(_BLOCK, dtype=bool), np.empty(_BLOCK, dtype=bool)
    for start in range(1, len(letters) - 1, _BLOCK):
        around = letters[start - 1 : start + _BLOCK + 1]  # the block, and the letters before and after it
        n = len(around) - 2
        np.less(np.subtract(around, ord("0"), out=scratch[: n + 2]), 10, out=digit[: n + 2])
        np.not_equal(digit[:n], digit[2 : n + 2], out=odd[:n])
        np.logical_and(odd[:n], np.equal(around[1:-1], ord(","), out=comma[:n]), out=odd[:n])
        places = np.flatnonzero(odd[:n]) + 1
        if np.any(ends[around[places - 1]] | ends[around[places + 1]]):
            return True
    return False


class _Ends(NamedTuple):
    """Where records end, the lines on which those after the first begin, and whether some have several."""

    places: IntArray
    lines: list[int]
    broken: bool


def _ends_of_records(content: bytes, end: int, delimiter: str) -> _Ends | None:
    """Return the newlines outside quotes; None unless each quote begins or ends a field, or is doubled."""
    letters = np.frombuffer(content, dtype=np.uint8, count=end)
    quotes = np.flatnonzero(letters == ord('"'))
    if len(quotes) % 2:
        return None
    # Every other quote opens: it follows a separator, or the one before it, which it then doubles.
    opening, closing = quotes[::2], quotes[1::2]
    separates = np.zeros(256, dtype=bool)
    separates[list(f"{delimiter}\r\n".encode())] = True
    doubled = opening[1:] == closing[:-1] + 1
    begins = separates[letters[opening - 1]]
    begins[0] |= opening[0] == 0
    finishes = separates[letters[np.minimum(closing + 1, end - 1)]]
    finishes[-1] |= closing[-1] == end - 1
    begins[1:] |= doubled
    finishes[:-1] |= doubled
    if not (begins.all() and finishes.all()):
        return None
    newlines = np.flatnonzero(letters == ord("\n"))
    outside = np.searchsorted(quotes, newlines) % 2 == 0
    places = newlines[outside]
    if not len(places) or np.diff(places, prepend=0, append=end).max() > csv.field_size_limit():
        return None
    return _Ends(places, (np.flatnonzero(outside) + 2).tolist(), not bool(outside.all()))


def _sample(content: bytes, start: int, end: int, ends: IntArray | None) -> list[str]:
    """Return some lines from different places between the two; records, if it is given where they end."""
    lines: list[str] = []
    if ends is not None:
        stops = np.append(ends, end)
        for place in range(_SAMPLED_PLACES):
            begin = place * (len(stops) - 1) // _SAMPLED_PLACES
            pairs = zip(stops[begin:], stops[begin + 1 : begin + 1 + _SAMPLED_LINES], strict=False)
            lines += [content[one + 1 : other].decode() for one, other in pairs]
        return lines
    for place in range(_SAMPLED_PLACES):
        begin = start
        if place:
            begin = content.find(b"\n", start + place * (end - start) // _SAMPLED_PLACES) + 1
        for _ in range(_SAMPLED_LINES):
            stop = content.find(b"\n", begin, end)
            if not begin or stop < 0:
                break
            lines.append(content[begin:stop].decode())
            begin = stop + 1
    return lines


def _likely_types(
    lines: Sequence[str], delimiter: str, width: int, as_text: Collection[int], wishes: Wishes
) -> tuple[list[_Type], list[int | None], bool]:
    """Return the types of columns in these lines, how many decimals numbers have, and if there are marks.

    Decimals are 0 if they differ, and None if no number has a point. Marks are those of holes besides blanks.
    """
    types: list[_Type] = ["text" if place in as_text else "int64" for place in range(width)]
    decimals: list[int | None] = [None] * width
    holes, marked = frozenset(wishes.nulls), False
    records = csv.reader([line.rstrip("\r") for line in lines], delimiter=delimiter)
    for place, fields in enumerate(zip(*(record for record in records if len(record) == width), strict=True)):
        different = set(fields) - {""}
        marked |= not holes.isdisjoint(different)
        others = [field for field in map(str.strip, different - holes) if _INTEGER.fullmatch(field) is None]
        if others and types[place] != "text":
            numbers = others if wishes.decimal == "." else [point_number(text) or text for text in others]
            if parse_numbers(numbers) is not None:
                types[place] = "float64"
                if not are_whole(numbers):
                    written = map(str.strip, different - holes - wishes.marks)
                    decimals[place] = common_decimals(text.replace(wishes.decimal, ".") for text in written)
            else:
                types[place] = "date" if wishes.iso_dates and _are_days(others) else "text"
    return types, decimals, marked


def _are_days(texts: Sequence[str]) -> bool:
    return all(len(text) == len("2020-12-31") for text in texts) and parse_dates(texts) is not None


@dataclass(frozen=True)
class _ArrowReader:
    arrow: ModuleType
    rows: memoryview
    delimiter: str
    width: int
    nulls: Sequence[str]
    brackets: bool
    quoted: bool = False
    broken: bool = False
    decimal: str = "."
    fractions: bool = True

    def read(self, types: list[_Type]) -> list[Any] | None:
        """Return the columns, those that turn out not to be numbers as text.

        None if rows are ragged, or if only blanks are holes and there are others.
        """
        if not self.fractions:
            types = ["text" if kind == "float64" else kind for kind in types]
        for _ in range(_MOST_ATTEMPTS):
            try:
                return self._parse(dict(enumerate(types))).columns
            except self.arrow.ArrowInvalid as error:
                if self.nulls == [""]:
                    return None
                found = _COLUMN.search(str(error))
                if found is None or types[int(found[1])] == "text":
                    return None
                whole = types[int(found[1])] == "int64"
                types[int(found[1])] = "float64" if whole and self.fractions else "text"
        return None

    def cells(self, place: int, column: Any, decimals: int | None) -> TextCells:
        """Return a column that was read, with its numbers if it has any; see `_likely_types`."""
        if self.arrow.types.is_dictionary(column.type):
            return TextCells.counted(_text_counts(column))
        if column.type == self.arrow.date32():
            days: Float64Array = np.asarray(column.cast(self.arrow.int32()).to_numpy(), dtype=np.float64)
            if np.any(days < FIRST_DAY):  # pyarrow knows a year 0000
                return TextCells.counted(self._texts(place))
            return TextCells(self._lazy_texts(place, len(column)), Numbers(days, "date"))
        values: Float64Array = np.asarray(column.to_numpy(), dtype=np.float64)
        whole = column.type == self.arrow.int64()
        # pyarrow reads nan(1) as NaN; to us it is text.
        odd = self.brackets and int(np.count_nonzero(np.isnan(values))) != column.null_count
        # Only the text tells that 1.0 is a number and 12345678901234567890 an integer.
        if odd or not (whole or decimals is not None or _has_fraction(values)):
            return TextCells.counted(self._texts(place))
        return TextCells(
            self._lazy_texts(place, len(column)),
            Numbers(values, "integer" if whole else "number", 0 if whole else decimals or 0),
        )

    def _lazy_texts(self, place: int, length: int) -> LazyTexts:
        return LazyTexts(length, lambda: self._texts(place).texts())

    def _texts(self, place: int) -> TextCounts:
        return _text_counts(self._parse({place: "text"}).column(0))

    def _parse(self, types: dict[int, _Type]) -> Any:
        table = importlib.import_module("pyarrow.csv")
        names = [str(place) for place in range(self.width)]
        # As bytes, since the content is known to be UTF-8: only the different texts are decoded.
        text = self.arrow.dictionary(self.arrow.int32(), self.arrow.binary())
        arrow_types = {
            "int64": self.arrow.int64(),
            "float64": self.arrow.float64(),
            "date": self.arrow.date32(),
            "text": text,
        }
        return table.read_csv(
            self.arrow.BufferReader(self.rows),
            read_options=table.ReadOptions(use_threads=False, column_names=names, block_size=_BLOCK),
            parse_options=table.ParseOptions(
                delimiter=self.delimiter,
                quote_char='"' if self.quoted else False,
                newlines_in_values=self.broken,
            ),
            convert_options=table.ConvertOptions(
                column_types={str(place): arrow_types[kind] for place, kind in types.items()},
                include_columns=[str(place) for place in types],
                null_values=self.nulls,
                strings_can_be_null=self.nulls == [""],  # other marks may be categories
                decimal_point=self.decimal,
            ),
        )


def _has_fraction(values: Float64Array) -> bool:
    return bool(np.any(~np.isnan(values) & (values != np.rint(values))))


def _text_counts(column: Any) -> TextCounts:
    """Count a dictionary column, whose texts are in the order in which they first appear."""
    array = column.unify_dictionaries().combine_chunks()
    codes = array.indices.fill_null(-1).to_numpy().astype(np.intp)
    texts = [text.decode() for text in array.dictionary.to_pylist()]
    return TextCounts(tuple(texts), codes).renamed(list(map(str.strip, texts)))


def _pyarrow() -> ModuleType | None:
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        return None
