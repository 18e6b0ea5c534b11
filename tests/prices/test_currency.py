"""A currency fixes the digits of all amounts, from the price file to what is shown."""

from decimal import Decimal

import numpy as np
import pytest

from cellworth import Group, Prices, Table
from cellworth.errors import DataError, ParameterError
from cellworth.prices.currency import check_currency, check_digits, digits_of, money_text
from tests.campaign.campaigns import begin

TABLE = Table.from_arrays([[1.0, 2.0], [np.nan, 3.0], [2.0, np.nan]], columns=["age", "mri"])


def test_amounts_are_shown_with_the_digits_that_they_have():
    assert [money_text(amount) for amount in (0.0, 0.5, 0.001, 12, 1 / 3, -2.5)] == [
        "0.00",
        "0.50",
        "0.001",
        "12.00",
        "0.33",
        "-2.50",
    ]
    assert [money_text(3, code) for code in ("EUR", "JPY", "KWD", "CLF")] == [
        "3.00 EUR",
        "3 JPY",
        "3.000 KWD",
        "3.0000 CLF",
    ]


@pytest.mark.parametrize("code", ["eur", "EURO", "", None, 978, "EU "])
def test_a_currency_is_a_code_of_three_letters(code):
    with pytest.raises(ParameterError, match="three capital letters"):
        check_currency(code)
    if code is not None:
        with pytest.raises(ParameterError, match="three capital letters"):
            Prices.same(1.0, currency=code)


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        (
            Prices.per_column({"age": 1.25, "mri": 0.125}, currency="EUR"),
            "column 'mri'.*2 digits.*EUR.*0.125",
        ),
        (Prices.same(1.0, visit=0.5, currency="JPY"), "a visit must have at most 0 digits"),
        (Prices.per_cell(np.full((3, 2), 1 / 3), currency="USD"), "column 'age'"),
        (
            Prices.per_column({"age": 1}, groups=[Group("g", ["mri"], first=2.5, then=1)], currency="JPY"),
            "the first price of column 'mri' must have at most 0 digits.*got 2.5",
        ),
    ],
)
def test_a_price_has_no_more_digits_than_its_currency(prices, words):
    with pytest.raises(DataError, match=words):
        prices.on(TABLE)


def test_a_budget_has_no_more_digits_than_its_currency():
    assert check_digits(1.25, "EUR", "the budget") == 1.25
    assert digits_of("XTS") == 2
    with pytest.raises(ParameterError, match="the budget must have at most 2 digits"):
        begin(TABLE, prices=Prices.same(1, currency="EUR"), budget=10.125)


def test_the_currency_is_kept_and_shown(tmp_path):
    prices = Prices.per_column({"age": 1.5}, default=2.25, visit=3.0, currency="EUR")
    path = tmp_path / "prices.csv"
    prices.write(path)
    assert "(currency),EUR" in path.read_text()
    assert Prices.read(path) == prices == Prices.from_dict(prices.to_dict())
    assert repr(prices).endswith("currency='EUR')")
    campaign = begin(TABLE, prices=prices, budget=20.0, strategy="linear-impact")
    assert campaign.prices == prices
    assert campaign.totals().currency == "EUR"
    assert "left of 20.00 EUR" in campaign.status(max_rounds=1).describe()


def test_a_price_file_keeps_every_digit_or_says_so(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("column,price\nage,0.1\nmri,12345.123456789\n")
    assert Prices.read(path).cells.prices == {"age": 0.1, "mri": 12345.123456789}
    path.write_text("column,price\nage,0.12345678901234567891\n")
    with pytest.raises(DataError, match=r"line 2.*more digits than can be kept"):
        Prices.read(path)
    path.write_text("column,price\nage,1\n(currency),euro\n")
    with pytest.raises(DataError, match=r"line 3.*three capital letters"):
        Prices.read(path)
    with pytest.raises(ParameterError, match="positive, finite"):
        Prices.same(Decimal("0.12345678901234567891"))
    assert Prices.same(Decimal("0.1")) == Prices.same(0.1)


@pytest.mark.parametrize(("price", "budget", "cells"), [(0.1, 0.3, 3), (0.01, 0.29, 29), (0.1, 1.0, 10)])
def test_money_buys_what_people_expect(price, budget, cells):
    """In one ask or one by one; in binary fractions these bought 2, 28 and 9."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 4)) < 0.5, np.nan, rng.normal(size=(20, 4)))
    for count in (None, 1):
        campaign = begin(
            Table.from_arrays(X), prices=Prices.same(price), budget=budget, strategy="linear-impact"
        )
        bought = 0
        while batch := campaign.ask(count=count):
            campaign.tell({(p.row, p.column): 0.5 for p in batch[::2]})
            bought += len(batch)
        assert bought == cells
        assert campaign.left == 0.0
