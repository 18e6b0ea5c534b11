"""What people type: the field for each kind of column, and numbers as texts."""

import pytest

from cellworth.errors import ParameterError
from cellworth.table import Column
from cellworth.web.pages.forms import amount, page_number, value_field, whole

DAY = 19_723.0  # 2024-01-01


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (Column("a", "number", unit="mg"), ("number", "any", "", "", (), "mg")),
        (Column("a", "number", bounds=(0.5, 9.0)), ("number", "any", "0.5", "9", (), "")),
        (Column("a", "integer", bounds=(0, 120)), ("number", "1", "0", "120", (), "")),
        (Column("a", "boolean"), ("select", "", "", "", (("true", "yes"), ("false", "no")), "")),
        (Column("a", "ordered", ("I", "II")), ("select", "", "", "", (("I", "I"), ("II", "II")), "")),
        (Column("a", "category", ("<b>",)), ("select", "", "", "", (("<b>", "<b>"),), "")),
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
    for wrong in ("-1", "nan", "inf", "much", "1,5"):
        with pytest.raises(ParameterError, match="Money: expected an amount"):
            amount(wrong, "Money")


def test_whole_numbers():
    assert whole("", "Cells") is None
    assert whole("7", "Cells") == 7
    for wrong in ("0", "-1", "1.5", "²", "9" * 40):
        with pytest.raises(ParameterError, match="Cells: expected a whole number of at least 1"):
            whole(wrong, "Cells", least=1)


def test_numbers_of_pages():
    assert [page_number(text) for text in ("", "0", "3", "x", "9" * 30)] == [1, 1, 3, 1, 1]
