"""Read CSV and other delimited files into columns of text."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from cellworth.errors import DataError, ParameterError
from cellworth.messages import did_you_mean, listing, shorten
from cellworth.setting_names import named, setting
from cellworth.table.arrow_csv import FEWEST_BYTES, Wishes, column_name, parse_quickly
from cellworth.table.dates import is_date, likely_date_formats
from cellworth.table.excel import read_sheet
from cellworth.table.files import File, check_csv_name, check_readable, format_of, place_of, read_bytes
from cellworth.table.parse_values import is_comma_number, is_number
from cellworth.table.raw_cells import NumberedRows, Origin, RawColumn, TextCells, as_texts
from cellworth.table.text_file import TextFile, decoded, refuse_title, warn_of_values, without_separator_line
from cellworth.table.write_csv import unguard

OTHER_DELIMITERS = ";\t|"
SAMPLE = 50  # records that show how a file is written
LEAST_NAMES = 5  # that differ, before a column is taken to name the rows
_SEPARATORS = (",", ";", "\t", "|")  # spreadsheets use different ones in different countries


def read_csv(
    path: File,
    encoding: str | None,
    delimiter: str | None,
    *,
    as_is: Collection[str | None] = (),
    any_separator: bool = False,
    wishes: Wishes | None = None,
) -> tuple[list[RawColumn], Origin]:
    """Read a delimited file, plain or gzipped, or an Excel workbook into columns of stripped text.

    Blank lines are skipped. The whole file is held in memory: O(n p) time, and about 60 bytes per cell while
    reading. Numbers and dates are converted to Python's notation if the file says how it writes them, but for
    the columns named in ``as_is``. With ``any_separator``, the most common one in the first line is used.
    With ``wishes``, pyarrow parses a large file if it is installed, a hundred times as fast and with the same
    result.
    """
    name = str(path)
    written = path if isinstance(path, TextFile) else TextFile(place_of(path), encoding, delimiter)
    delimiter = _check_delimiter(written.delimiter)
    content = read_bytes(path)
    if format_of(path, "") == "xlsx":
        records, lines = read_sheet(written.file, content, written.decimal)
        delimiter = delimiter or ","  # there is no other to look for
    else:
        content, stated = without_separator_line(content)
        delimiter = delimiter or stated
        plain = written.encoding is None and content.isascii() and b"\0" not in content
        text = None if plain else decoded(content, written.encoding, name)
        if wishes is not None and not written.dates_are_numbers:
            wishes = replace(wishes, decimal=written.decimal, iso_dates=written.date_format is None)
            quick = _quickly(content if text is None else text, delimiter, path, wishes)
            if quick is not None:
                origin = replace(quick[1], date_format=written.date_pattern)
                return written.standard(_named(quick[0], name), as_is), origin
        text = content.decode() if text is None else text
        if any_separator or (delimiter is None and written.decimal == ","):
            delimiter = _most_common(text, delimiter)
        try:
            records, lines = _split(text, delimiter or _usual_delimiter(path, text), name)
        except DataError:  # with another delimiter, the quotes may well match
            first, *rest = text.lstrip("\ufeff\r\n").splitlines()[: SAMPLE + 1] or [""]
            if delimiter is None and rest:
                _refuse_other_delimiter([first], [[line] for line in rest], name)
            raise
    if not records:
        raise DataError(f"{name}: expected a line of column names and rows below it, got an empty file.")
    header = list(map(column_name, records.pop(0)))
    line_of_header = lines.pop(0)
    if not records:
        raise DataError(
            f"{name}: expected rows below the column names, got only line {line_of_header}. Add rows."
        )
    if delimiter is None:
        _refuse_other_delimiter(header, records, name)
    refuse_title(header, records[0], name, line_of_header)
    records = [_without_blank_end(record, len(header)) for record in records]
    _check_widths(records, lines, len(header), name)
    columns = [
        RawColumn(column, TextCells([record[place].strip() for record in records]))
        for place, column in enumerate(header)
    ]
    columns = written.standard(_named(columns, name), as_is)
    del records  # the fields are in the columns
    return columns, Origin(name, NumberedRows(len(lines)), lines, date_format=written.date_pattern)


def _named(columns: list[RawColumn], file: str) -> list[RawColumn]:
    """Return the columns without blank ones at the end that have no name, as spreadsheets leave behind.

    Warns if the names look like the values of a row.
    """
    while len(columns) > 1 and not columns[-1].name and bool(columns[-1].cells.holes.all()):
        columns = columns[:-1]
    warn_of_values([column.name for column in columns], file)
    return columns


def _without_blank_end(record: list[str], width: int) -> list[str]:
    return record if len(record) <= width or any(map(str.strip, record[width:])) else record[:width]


def _quickly(
    content: bytes | str, delimiter: str | None, path: File, wishes: Wishes
) -> tuple[list[RawColumn], Origin] | None:
    """Read a large simple file; None if it has odd quotes, or may have an unexpected delimiter."""
    if len(content) < FEWEST_BYTES:
        return None
    try:
        content = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError:
        return None
    first_line = content[: content.find(b"\n") + 1].decode()
    found = parse_quickly(content, delimiter or _usual_delimiter(path, first_line), wishes)
    if found is None or (delimiter is None and len(found.names) == 1):
        return None
    names = map(column_name, found.names)
    columns = [RawColumn(column, each) for column, each in zip(names, found.cells, strict=True)]
    return columns, Origin(str(path), NumberedRows(len(found.lines)), found.lines)


def read_records(
    path: File, encoding: str | None = None, delimiter: str | None = None, *, as_is: Collection[str] = ()
) -> tuple[list[str], list[tuple[int, tuple[str, ...]]]]:
    """Read a small delimited file line by line.

    Returns
    -------
    header : list of str
        The field names, casefolded.
    records : list of (int, tuple of str)
        The line on which each record begins, counted from 1, and its stripped fields. Blank records, which
        spreadsheets leave behind, are skipped.

    The separator is the comma, semicolon, tab or bar, whichever is most common in the header, unless the
    header has the one given. Fields named in ``as_is`` keep numbers and dates as they are written.
    """
    columns, origin = read_csv(path, encoding, delimiter, as_is=as_is, any_separator=True)
    fields = zip(*(as_texts(column.cells).texts for column in columns), strict=True)
    records = zip(origin.lines or (), fields, strict=True)
    return [column.name.casefold() for column in columns], [record for record in records if any(record[1])]


def read_lines(
    path: File, fields: Sequence[str], encoding: str | None = None
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each line's number, counted from 1, and the requested fields, stripped and unguarded.

    Fields are looked up in the header, in any case and order. Other fields are ignored, and so are lines in
    which all of ``fields`` are blank. A ``value`` is as `TextFile.value` reads it. See `read_records` for the
    separator, and `TextFile` for the encoding.
    Raises DataError if the file cannot be read, with the line number if there is one.
    """
    check_csv_name(path, "Lists of cells are kept in .csv files.")
    check_readable(path)
    header, records = read_records(path, encoding, as_is=fields)
    _check_header(path, header, fields)
    wanted = [header.index(field) for field in fields]
    as_read = path.value if isinstance(path, TextFile) else str
    for line, record in records:
        texts = tuple(record[place] for place in wanted)
        if any(texts):
            yield (
                line,
                tuple(
                    as_read(unguard(text)) if field == "value" else unguard(text)
                    for field, text in zip(fields, texts, strict=True)
                ),
            )


def _check_header(path: File, header: Sequence[str], fields: Sequence[str]) -> None:
    for field in fields:
        if header.count(field) != 1:
            there = "appears more than once" if field in header else "is missing"
            hint = did_you_mean(field, [name for name in header if name not in fields])
            raise DataError(
                f"{path}, line 1: expected a header with {listing(fields)}; {field!r} {there}.{hint} The "
                f"header has {listing(header, most=10)}."
            )


def _check_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None or (len(delimiter) == 1 and delimiter not in '"\r\n\0 '):
        return delimiter
    raise ParameterError(
        f"{named('delimiter')} must be a single character such as ',' or ';', got {shorten(delimiter)}."
    )


def _most_common(text: str, wanted: str | None) -> str:
    """Return the wanted separator if the first line has it, otherwise the most common one there."""
    first_line = text.lstrip("\ufeff\r\n").partition("\n")[0]
    if wanted is not None and wanted in first_line:
        return wanted
    return max(_SEPARATORS, key=first_line.count)


def _usual_delimiter(path: File, text: str) -> str:
    if ".tsv" in path.suffixes:
        return "\t"
    return "\t" if ".txt" in path.suffixes and "\t" in text.split("\n", 1)[0] else ","


def _split(text: str, delimiter: str, name: str) -> tuple[list[list[str]], list[int]]:
    """Split the text into records, and record the line on which each begins."""
    # Not a StringIO, which takes four bytes per letter.
    file = io.TextIOWrapper(
        io.BytesIO(text.encode("utf-8", "surrogatepass")), "utf-8", errors="surrogatepass", newline=""
    )
    reader = csv.reader(file, delimiter=delimiter, strict=True)
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


def _refuse_other_delimiter(header: Sequence[str], records: Sequence[Sequence[str]], name: str) -> None:
    if len(header) != 1:
        return
    for other in OTHER_DELIMITERS:
        if 1 < _width(header[0], other) == _width(",".join(records[0]), other):
            raise DataError(
                f"{name}: expected columns separated by a comma, got a single column {shorten(header[0])}. "
                f"Pass {_all_at_once(records[:SAMPLE], other)}; for a file that does have one column pass "
                f"{setting('delimiter', ',')}."
            )


def _width(line: str, delimiter: str) -> int:
    """Return how many fields a line has; names and texts in quotes may contain the delimiter."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter, strict=True)))
    except csv.Error:
        return line.count(delimiter) + 1


def likely_settings(text: str) -> dict[str, str]:
    r"""Return how the first lines of a text file are likely written, as keywords of `Table.read`.

    Only those that are needed and leave no doubt.

    >>> likely_settings("id;size;seen\na;1,5;31.12.2020\nb;;\n")
    {'delimiter': ';', 'decimal': ',', 'date_format': 'DD.MM.YYYY'}
    >>> likely_settings("id,size\na,1.5\n")
    {}
    """
    header, *lines = [line for line in text.splitlines()[: SAMPLE + 1] if line.strip()] or [""]
    found, separator = {}, ","
    commas = _width(header, ",")  # names and numbers may have some: another separator is then in all lines
    for each in OTHER_DELIMITERS if lines else "":
        width = _width(header, each)
        if commas < width and all(
            _width(line, each) == width for line in lines[: 1 if commas == 1 else None]
        ):
            separator = each
            break
    if separator != ",":
        found["delimiter"] = separator
    fields = [field.strip().strip('"') for line in lines for field in line.split(separator)]
    decimal, formats = _marks_of(fields)
    if decimal and separator != ",":
        found["decimal"] = ","
    if len(formats) == 1:
        found["date_format"] = formats[0]
    return found


def likely_row_id(text: str, delimiter: str) -> str | None:
    r"""Return the name of the first column if it is likely to name the rows: texts, none of them twice.

    >>> likely_row_id("patient;age\nP1;61\nP2;44\nP3;50\nP4;61\nP5;70\n", ";")
    'patient'
    """
    lines = [line for line in text.lstrip("\ufeff").splitlines()[: SAMPLE + 1] if line.strip()]
    try:
        header, *records = csv.reader(lines, delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    first = [record[0].strip() for record in records if record]
    named = len(first) >= LEAST_NAMES and len(set(first)) == len(first) and all(first)
    values = any(is_number(each) or is_comma_number(each) or is_date(each) for each in first)
    dates = bool(likely_date_formats(first))
    return column_name(header[0]) if header and named and not (values or dates) else None


def _marks_of(fields: Sequence[str]) -> tuple[bool, Sequence[str]]:
    """Return whether some fields are numbers with decimal commas, and how dates among them may be written."""
    dates = [field for field in fields if likely_date_formats([field])]
    return any(map(is_comma_number, fields)), likely_date_formats(dates)


def _all_at_once(records: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return the settings that a file with this delimiter needs, by its first records."""
    lines = [",".join(record).split(delimiter) for record in records]
    decimal, formats = _marks_of([field.strip() for line in lines for field in line])
    said = [setting("delimiter", delimiter)]
    if decimal:
        said.append(setting("decimal", ","))
    if formats:
        said.append(" or ".join(setting("date_format", each) for each in formats))
    return f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else said[0]


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
