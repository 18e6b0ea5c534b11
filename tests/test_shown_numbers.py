"""Numbers are shown with the decimal mark of their readers, and in English where programs read them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.campaign.answer_file import asks_csv
from cellworth.messages import count, short_number
from cellworth.prices.currency import money_text
from cellworth.shown_numbers import in_english, people_write, reworded, shown, write_from_here
from cellworth.strategy import Purchase
from cellworth.strategy.batch import shown_reason
from cellworth.table import Column
from cellworth.table.text_file import point_number


@given(st.floats(-1e12, 1e12), st.sampled_from([",.2f", ".3f", "+.1f", ",.10g", ".3g"]))
def test_what_is_shown_with_a_comma_is_read_back_as_the_same_number(number, form):
    english = format(number, form)
    with people_write(","):
        said = shown(number, form)
    if "," in said:
        assert float(point_number(said.removeprefix("+"))) == float(english.replace(",", ""))
    with people_write(","), people_write("."):
        assert shown(number, form) == english


@given(st.floats(-1e6, 1e6))
def test_a_cell_is_shown_as_its_file_has_it(number):
    column = Column("dose", "number", decimals=2)
    with people_write(","):
        (said,) = column.shown(number)
    (text,) = column.texts(np.array([number]))
    assert said == text.replace(".", ",")
    assert column.shown(number) == [text]


def test_every_door_has_its_mark():
    assert [count(1590, "cell"), short_number(0.0123), money_text(7.5, "EUR")] == [
        "1,590 cells",
        "0.012",
        "7.50 EUR",
    ]
    with people_write(","):
        assert [count(1590, "cell"), short_number(1590.0), money_text(7.5, "EUR")] == [
            "1.590 cells",
            "1.600",
            "7,50 EUR",
        ]
        with in_english():
            write_from_here(",")
            assert money_text(1234.5) == "1234.50"
    assert reworded("0.5") == "0.5"


def test_bounds_have_the_mark_and_dates_have_none():
    numbers = Column("dose", "number", bounds=(0.0, 99.5))
    days = Column("seen", "date", bounds=(18262.0, 18263.0), whole_days=True)
    with people_write(","):
        assert numbers.expected == "a number from 0 to 99,5"
        assert days.expected.endswith("from 2020-01-01 to 2020-01-02")


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("known only to ±2.3 mg/1.5 l; worth 3.5 times", "known only to ±2,3 mg/1.5 l; worth 3,5 times"),
        ("guessed to be -1,250.5; worth 1,600 times", "guessed to be -1.250,5; worth 1.600 times"),
        ("guessed to be '1.5 mm'", "guessed to be '1.5 mm'"),
        ("guessed to be 2020-01-01", "guessed to be 2020-01-01"),
        ("its label is missing, and 3 of its 7 cells are known", None),
    ],
)
def test_reasons_are_recorded_in_english_and_shown_as_people_write(why, said):
    assert shown_reason(why) == why
    with people_write(","):
        assert shown_reason(why) == (said or why)
    purchase = Purchase("p", "dose", 2.5, 0.125, why=why)
    assert why in asks_csv([purchase]).replace('""', '"')
    assert (said or why) in asks_csv([purchase], delimiter=";", decimal=",").replace('""', '"')
