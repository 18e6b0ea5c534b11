"""What people type: the field for each kind of column, and numbers as texts."""

import pytest

from cellworth.errors import DataError, ParameterError
from cellworth.table import Column
from cellworth.table.target import ClassColumn
from cellworth.web.pages.forms import amount, page_number, plain_number, value_field, whole

DAY = 19_723.0  # 2024-01-01
SEVEN = tuple("abcdefg")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (Column("a", "number", unit="mg"), ("text", "", "", "", (), "mg")),
        (Column("a", "number", bounds=(0.5, 9.0)), ("text", "", "0.5", "9", (), "")),
        (Column("a", "integer", bounds=(0, 120)), ("text", "", "0", "120", (), "")),
        (Column("a", "boolean"), ("buttons", "", "", "", (("true", "yes"), ("false", "no")), "")),
        (Column("a", "ordered", ("I", "II")), ("buttons", "", "", "", (("I", "I"), ("II", "II")), "")),
        (Column("a", "category", ("<b>",)), ("buttons", "", "", "", (("<b>", "<b>"),), "")),
        (Column("a", "category", SEVEN), ("select", "", "", "", tuple((c, c) for c in SEVEN), "")),
        (
            Column("a", "date", bounds=(DAY, DAY + 1), whole_days=True),
            ("date", "", "2024-01-01", "2024-01-02", (), ""),
        ),
        (
            Column("a", "date", bounds=(DAY, DAY + 1.5)),
            ("datetime-local", "1", "2024-01-01T00:00", "2024-01-02T12:00:00", (), ""),
        ),
    ],
)
def test_the_field_of_each_kind(column, expected):
    field = value_field(column)
    assert (field.control, field.step, field.low, field.high, field.options, field.unit) == expected
    assert field.expected


@pytest.mark.parametrize(
    ("column", "sent"),
    [
        (Column("a", "number"), "1e-3"),
        (Column("a", "integer"), "42"),
        (Column("a", "boolean"), "true"),
        (Column("a", "ordered", ("I", "II")), "II"),
        (Column("a", "date", whole_days=True), "2024-01-01"),
        (Column("a", "date"), "2024-01-01T12:30"),
        (Column("a", "date"), "2024-01-01T12:30:15"),
    ],
)
def test_columns_read_what_browsers_send(column, sent):
    assert column.parse(sent) == column.parse(sent)  # a number, not NaN


def test_amounts():
    assert amount(" ", "Money") is None
    assert amount("12.50", "Money") == 12.5
    assert amount("1,5", "Money") == 1.5
    for unclear in ("1,250", "1.500"):
        with pytest.raises(ParameterError, match=r"Money: .* may be read in two ways\. Type 1.* or 1\."):
            amount(unclear, "Money")
    for wrong in ("-1", "nan", "inf", "much", "1,2,3", "1.2.3", "1,25,000"):
        with pytest.raises(ParameterError, match="Money: expected an amount"):
            amount(wrong, "Money")


@pytest.mark.parametrize(
    ("typed", "kind", "language", "plain"),
    [
        ("1,5", "number", "en", "1.5"),
        ("-,5", "number", "en", "-.5"),
        ("0,125", "number", "en", "0.125"),
        ("1,250", "number", "de", "1.250"),
        ("1.5", "number", "de", "1.5"),
        ("1,2,3", "number", "en", "1,2,3"),
        ("1.712,5", "number", "de", "1712.5"),
        ("-1.712.000,25", "number", "en", "-1712000.25"),
        ("17.12,5", "number", "de", "17.12,5"),
        ("1,712.5", "number", "en", "1,712.5"),
        ("a,b", "category", "en", "a,b"),
    ],
)
def test_a_decimal_comma(typed, kind, language, plain):
    column = Column("a", kind, ("a,b",) if kind == "category" else ())
    assert plain_number(typed, column, language) == plain


def test_a_comma_that_may_mark_thousands_is_asked_about():
    with pytest.raises(DataError, match=r"Type 1\.250 or 1250"):
        plain_number("1,250", Column("a", "number"), "en")


def test_whole_numbers():
    assert whole("", "Cells") is None
    assert whole("7", "Cells") == 7
    for wrong in ("0", "-1", "1.5", "²", "9" * 40):
        with pytest.raises(ParameterError, match="Cells: expected a whole number of at least 1"):
            whole(wrong, "Cells", least=1)


def test_numbers_of_pages():
    assert [page_number(text) for text in ("", "0", "3", "x", "9" * 30)] == [1, 1, 3, 1, 1]


def test_classes_that_are_numbers_have_buttons():
    field = value_field(ClassColumn("outcome", "integer", classes=(0.0, 1.0)))
    assert (field.control, field.options) == ("buttons", (("0", "0"), ("1", "1")))
    assert (
        value_field(ClassColumn("grade", "integer", classes=tuple(map(float, range(9))))).control == "select"
    )
