"""Read and write prices by column as a CSV file that users can make in a spreadsheet.

The header is ``column,price``, with one line per column. Three optional fields define groups: ``group``,
``price_after_first``, and ``lasting`` (yes or no; blank means no). Three special lines do not name a column:
``(other columns)`` gives the price of every column without a line, ``(visit)`` the price of a visit, and
``(currency)`` the code of the currency, such as EUR, which may also stand beside the prices, as in 7.27 EUR.
A price means exactly the digits in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cellworth.errors import DataError, ParameterError
from cellworth.messages import listing, not_there, shorten
from cellworth.prices.cell_prices import ByColumn, PriceRule, check_price, check_visit
from cellworth.prices.currency import (
    check_currency,
    check_digits,
    currency_of,
    may_be_one_currency,
    without_currency,
)
from cellworth.prices.group import Group
from cellworth.prices.money import is_exact
from cellworth.setting_names import by_door, setting
from cellworth.shown_numbers import shown
from cellworth.table.files import File, check_csv_name, check_readable
from cellworth.table.parse_values import cannot_be_stored, is_comma_number, parse_booleans, parse_numbers
from cellworth.table.read_csv import read_records
from cellworth.table.text_file import TextFile, point_number
from cellworth.table.write_csv import write_lines

FIELDS = ("column", "price", "group", "price_after_first", "lasting")
OTHERS, VISIT, CURRENCY = "(other columns)", "(visit)", "(currency)"
SPECIAL = (OTHERS, VISIT, CURRENCY)
_REMEDY = "Prices are kept in a .csv or .xlsx file."


@dataclass(frozen=True)
class _PriceLine:
    """The fields of one line as text, "" where blank, and its location for messages."""

    place: str
    column: str
    price: str
    group: str = ""
    price_after_first: str = ""
    lasting: str = ""
    decimal: str = "."

    def amount(self, field: str) -> float:
        """Return the price in a field; DataError with line and field if it is invalid."""
        text, mark = without_currency(getattr(self, field))
        if mark is not None and self.decimal == ",":
            text = point_number(text) or text
        where = f"{self.place}, column {field!r}: the price of {shorten(self.column)}"
        numbers = parse_numbers([text])
        if numbers is None:
            got = shorten(text) if text else "a blank"
            remedy = "Write the digits alone."
            if is_comma_number(text):
                also = by_door(
                    python="", command_line=f", or add {setting('decimal', ',')}", pages="", rest=""
                )
                remedy = f"Write a point, not a comma{also}."
            such = shown(7.27, "g")
            raise DataError(
                f"{where} must be a number such as {such}; got {got}. {remedy if text else 'Fill it in.'}"
            )
        if not is_exact(text, float(numbers[0])):
            raise DataError(f"{where} has more digits than can be kept; got {shorten(text)}. Round it.")
        if self.column == VISIT:
            return check_visit(float(numbers[0]), DataError, where)
        return check_price(float(numbers[0]), where, DataError)

    @property
    def amounts(self) -> tuple[str, ...]:
        """The fields that hold a price."""
        if self.column == CURRENCY:
            return ()
        return ("price", "price_after_first") if self.group else ("price",)

    @property
    def marks(self) -> set[str]:
        """The signs and codes of currencies beside its prices."""
        found = (without_currency(text)[1] for text in (self.price, self.price_after_first))
        return set(filter(None, found))

    @property
    def currency(self) -> str:
        """The currency that the line states."""
        try:
            return check_currency(self.price, DataError)
        except DataError as error:
            raise DataError(f"{self.place}, column 'price': {error}") from None

    @property
    def lasts(self) -> bool:
        """Whether the line marks its group as lasting."""
        words = parse_booleans([self.lasting or "no"], strict=False)
        if words is None:
            raise DataError(
                f"{self.place}, column 'lasting': expected yes or no, got {shorten(self.lasting)}."
            )
        return bool(words[0])


def read_prices(
    path: File, encoding: str | None, delimiter: str | None
) -> tuple[ByColumn, tuple[Group, ...], float, str | None]:
    """Read prices by column, groups, visit and currency; DataError names the line and column of a problem."""
    check_csv_name(path, _REMEDY)
    check_readable(path)
    lines = _read_lines(path, encoding, delimiter)
    prices: dict[str, float] = {}
    special: dict[str, float] = {}
    groups: dict[str, list[_PriceLine]] = {}
    currency = None
    for line in lines:
        if line.column == CURRENCY:
            currency = line.currency
            continue
        if line.group:
            groups.setdefault(line.group, []).append(line)
            continue
        for field in ("price_after_first", "lasting"):
            if getattr(line, field):
                raise DataError(
                    f"{line.place}, column {field!r}: only a column in a group has one; got "
                    f"{shorten(getattr(line, field))}. Name the group, or leave this blank."
                )
        (special if line.column in (OTHERS, VISIT) else prices)[line.column] = line.amount("price")
    if not (prices or groups or OTHERS in special):
        raise DataError(f"{path}: expected at least one price, got none. Add a line for each column.")
    currency = _one_currency(lines, currency)
    for line in lines:
        for field in line.amounts:
            where = f"{line.place}, column {field!r}: the price of {shorten(line.column)}"
            check_digits(line.amount(field), currency, where, DataError)
    built = tuple(_build_group(name, members) for name, members in groups.items())
    places = {line.column: f"{line.place}, column 'column'" for line in lines}
    return ByColumn(prices, special.get(OTHERS), places), built, special.get(VISIT, 0.0), currency


def _one_currency(lines: Sequence[_PriceLine], stated: str | None) -> str | None:
    """Return the currency of all prices, stated in a line of its own or beside the prices."""
    beside = [(mark, line) for line in lines if line.column != CURRENCY for mark in sorted(line.marks)]
    known = [code for mark, _ in beside if (code := currency_of(mark)) is not None]
    currency = stated or next(iter(known), None)
    for mark, line in beside:
        first = currency or beside[0][0]  # a sign of several countries names no currency, but rules some out
        if not may_be_one_currency(mark, first):
            raise DataError(
                f"{line.place}, column 'price': all prices must be in one currency, got "
                f"{listing([first, currency_of(mark) or mark])}. Convert them."
            )
    return currency


def write_prices(
    path: Path, cells: PriceRule, groups: Sequence[Group], visit: float, currency: str | None
) -> None:
    """Write prices by column to a file that reads back as the same prices, bit for bit."""
    check_csv_name(path, _REMEDY)
    if not isinstance(cells, ByColumn):
        raise ParameterError("prices per cell cannot be written as a list of columns; use to_dict() instead.")
    records = [[name, repr(price), "", "", ""] for name, price in cells.prices.items()]
    for group in groups:
        lasting = "yes" if group.lasting else "no"
        for column, first, then in zip(group.columns, group.first, group.then, strict=True):
            records.append([column, repr(first), group.name, repr(then), lasting])
    for name in {name for record in records for name in (record[0], record[2])}:
        _check_writable(name)
    if cells.default is not None:
        records.append([OTHERS, repr(cells.default), "", "", ""])
    if visit:
        records.append([VISIT, repr(visit), "", "", ""])
    if currency is not None:
        records.append([CURRENCY, currency, "", "", ""])
    width = 5 if any(group.lasting for group in groups) else 4 if groups else 2
    lines = [record[:width] for record in ([*FIELDS], *records)]
    write_lines(path, lines)


def _read_lines(path: File, encoding: str | None, delimiter: str | None) -> list[_PriceLine]:
    header, records = read_records(path, encoding, delimiter, as_is=("column", "group"))
    for name in header:
        if name not in FIELDS or header.count(name) > 1:
            problem = not_there("field", name, FIELDS) if name not in FIELDS else f"{name!r} appears twice."
            raise DataError(
                f"{path}: the header must be column,price, optionally with more fields. {problem}"
            )
    if not {"column", "price"} <= set(header):
        raise DataError(f"{path}: the header must have column and price; got {','.join(header)}.")
    decimal = path.decimal if isinstance(path, TextFile) else "."
    lines = [
        _PriceLine(f"{path}, line {number}", **dict(zip(header, fields, strict=True)), decimal=decimal)
        for number, fields in records
    ]
    _check_columns(lines)
    return lines


def _check_columns(lines: Sequence[_PriceLine]) -> None:
    first: dict[str, _PriceLine] = {}
    for line in lines:
        if not line.column:
            raise DataError(f"{line.place}, column 'column': expected the name of a column, got a blank.")
        if line.column in first:
            before = first[line.column].place.rpartition(", ")[2]
            raise DataError(
                f"{line.place}, column 'column': each column has one line; got {shorten(line.column)}, which "
                f"is also on {before}."
            )
        if line.group and line.column in SPECIAL:
            raise DataError(f"{line.place}, column 'group': {line.column} cannot be in a group.")
        first[line.column] = line


def _build_group(name: str, lines: Sequence[_PriceLine]) -> Group:
    for line in lines:
        if line.lasts != lines[0].lasts:
            raise DataError(
                f"{line.place}, column 'lasting': must be the same throughout a group; {shorten(name)} has "
                f"{shorten(lines[0].lasting)} before and {shorten(line.lasting)} here."
            )
        if line.amount("price_after_first") > line.amount("price"):
            raise DataError(
                f"{line.place}, column 'price_after_first': must not be above the price {line.price}; got "
                f"{line.price_after_first}. Are the two swapped?"
            )
    return Group(
        name,
        [line.column for line in lines],
        first={line.column: line.amount("price") for line in lines},
        then={line.column: line.amount("price_after_first") for line in lines},
        lasting=lines[0].lasts,
    )


def _check_writable(name: str) -> None:
    if name in SPECIAL or name != name.strip() or cannot_be_stored(name):
        raise ParameterError(
            f"the name {shorten(name)} cannot be read back from a price file: it is reserved, starts or ends "
            "with a blank, or contains a broken character. Rename it, or use to_dict() instead."
        )
