"""Read CSV and other delimited files into columns of text."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence

from cellworth.errors import DataError, ParameterError
from cellworth.messages import did_you_mean, listing, shorten
from cellworth.table.csv_format import unguard
from cellworth.table.files import File, check_csv_name, check_readable, read_bytes
from cellworth.table.raw_cells import Origin, RawColumn, TextCells, as_texts

OTHER_DELIMITERS = ";\t|"
_SEPARATORS = (",", ";", "\t")  # spreadsheets use different ones in different countries


def read_csv(path: File, encoding: str, delimiter: str | None) -> tuple[list[RawColumn], Origin]:
    """Read a delimited file, plain or gzipped, into columns of stripped text.

    Blank lines are skipped. The whole file is held in memory: O(n p) time, and about 60 bytes per cell while
    reading.
    """
    name = str(path)
    text = _decode(read_bytes(path), encoding, name)
    separator = _check_delimiter(delimiter) or _usual_delimiter(path, text)
    records, lines = _split(text, separator, name)
    if not records:
        raise DataError(f"{name}: expected a line of column names and rows below it, got an empty file.")
    header = [field.strip().lstrip("\ufeff").strip() for field in records.pop(0)]
    line_of_header = lines.pop(0)
    if not records:
        raise DataError(
            f"{name}: expected rows below the column names, got only line {line_of_header}. Add rows."
        )
    if delimiter is None:
        _refuse_other_delimiter(header, records[0], name)
    _check_widths(records, lines, len(header), name)
    columns = [
        RawColumn(column, TextCells(list(map(str.strip, fields))))
        for column, fields in zip(header, zip(*records, strict=True), strict=True)
    ]
    return columns, Origin(name, [str(row) for row in range(len(records))], lines)


def read_records(
    path: File, encoding: str, delimiter: str | None
) -> tuple[list[str], list[tuple[int, tuple[str, ...]]]]:
    """Read a small delimited file line by line.

    Returns
    -------
    header : list of str
        The field names, casefolded.
    records : list of (int, tuple of str)
        The line on which each record begins, counted from 1, and its stripped fields. Blank records, which
        spreadsheets leave behind, are skipped.
    """
    columns, origin = read_csv(path, encoding, delimiter)
    fields = zip(*(as_texts(column.cells).texts for column in columns), strict=True)
    records = zip(origin.lines or (), fields, strict=True)
    return [column.name.casefold() for column in columns], [record for record in records if any(record[1])]


def read_lines(
    path: File, fields: Sequence[str], encoding: str | None = None
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each line's number, counted from 1, and the requested fields, stripped and unguarded.

    Fields are looked up in the header, in any case and order. Other fields are ignored, and so are lines in
    which all of ``fields`` are blank. The separator is the comma, semicolon or tab, whichever is most common
    in the header. The encoding defaults to UTF-8, or to UTF-16 if the file starts with its byte order mark.
    Raises DataError if the file cannot be read, with the line number if there is one.
    """
    check_csv_name(path, "Lists of cells are kept in .csv files.")
    check_readable(path)
    content = read_bytes(path)
    if encoding is None:
        marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        encoding = "utf-16" if content.startswith(marks) else "utf-8"
    first_line = content.partition(b"\n")[0]
    separator = max(_SEPARATORS, key=lambda each: first_line.count(each.encode()))
    header, records = read_records(path, encoding, separator)
    _check_header(path, header, fields)
    wanted = [header.index(field) for field in fields]
    for line, record in records:
        texts = tuple(record[place] for place in wanted)
        if any(texts):
            yield line, tuple(map(unguard, texts))


def _check_header(path: File, header: Sequence[str], fields: Sequence[str]) -> None:
    for field in fields:
        if header.count(field) != 1:
            there = "appears more than once" if field in header else "is missing"
            hint = did_you_mean(field, [name for name in header if name not in fields])
            raise DataError(
                f"{path}, line 1: expected a header with {listing(fields)}; {field!r} {there}.{hint} The "
                f"header has {listing(header, most=10)}."
            )


def _decode(content: bytes, encoding: str, name: str) -> str:
    try:
        codec = codecs.lookup(encoding).name
        text = content.decode("utf-8-sig" if codec == "utf-8" else encoding)
    except LookupError:
        raise ParameterError(
            f"encoding must be one that Python knows, such as 'utf-8', got {shorten(encoding)}."
        ) from None
    except UnicodeError as error:
        raise DataError(_decoding_problem(content, error, encoding, name)) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(
            f"{name}, line {line}: expected text, got a NUL character. The file may be damaged or not a text "
            "file; if it is UTF-16, pass encoding='utf-16'."
        )
    return text


def _decoding_problem(content: bytes, error: UnicodeError, encoding: str, name: str) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{name}: expected {encoding} text, got UTF-16. Pass encoding='utf-16'."
    start = error.start if isinstance(error, UnicodeDecodeError) else 0
    line = content.count(b"\n", 0, start) + 1
    got = f"the byte 0x{content[start]:02x}" if start < len(content) else "an incomplete character"
    other = "latin-1" if encoding != "latin-1" else "utf-8"
    return (
        f"{name}, line {line} (byte offset {start}): expected {encoding} text, got {got}. "
        f"If the file uses another encoding, pass it, for example encoding={other!r}."
    )


def _check_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None or (len(delimiter) == 1 and delimiter not in '"\r\n\0 '):
        return delimiter
    raise ParameterError(
        f"delimiter must be a single character such as ',' or ';', got {shorten(delimiter)}."
    )


def _usual_delimiter(path: File, text: str) -> str:
    if ".tsv" in path.suffixes:
        return "\t"
    return "\t" if ".txt" in path.suffixes and "\t" in text.split("\n", 1)[0] else ","


def _split(text: str, delimiter: str, name: str) -> tuple[list[list[str]], list[int]]:
    """Split the text into records, and record the line on which each begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records: list[list[str]] = []
    lines: list[int] = []
    begin = 1
    try:
        for record in reader:
            if record:
                records.append(record)
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        if "field limit" in str(error):
            raise DataError(
                f"{name}, line {begin}: a field of the row that begins here is longer than "
                f"{csv.field_size_limit()} characters. Look for an opening quote without a closing one; "
                "if the text is really that long, shorten it."
            ) from None
        raise DataError(
            f"{name}, line {begin}: the row that begins here has unbalanced quotes ({error}). Close "
            'every opening ", and write a " inside quotes twice, as in "the ""best"" one".'
        ) from None
    return records, lines


def _refuse_other_delimiter(header: Sequence[str], first: Sequence[str], name: str) -> None:
    if len(header) != 1:
        return
    for other in OTHER_DELIMITERS:
        if other in header[0] and (header[0].count(other) == sum(field.count(other) for field in first)):
            raise DataError(
                f"{name}: expected columns separated by a comma, got a single column {shorten(header[0])}. "
                f"Pass delimiter={other!r}; for a file that does have one column pass delimiter=','."
            )


def _check_widths(records: Sequence[Sequence[str]], lines: Sequence[int], width: int, name: str) -> None:
    wrong = [place for place, record in enumerate(records) if len(record) != width]
    if wrong:
        first, others = wrong[0], [lines[place] for place in wrong[1:]]
        more = f"; more such rows: lines {listing(others)}" if others else ""
        raise DataError(
            f"{name}, line {lines[first]}: expected {width} fields, as in the header, got "
            f"{len(records[first])}{more}. "
            "Put fields that contain the separator into double quotes, and leave holes blank between "
            "separators."
        )
