"""Money against fractions of the decimals that people read."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cellworth.prices.money import (
    Money,
    MoneyUnits,
    add_up,
    decimals_of,
    difference,
    within,
)

ANY = st.floats(allow_nan=False, allow_infinity=False)
CENTS = st.integers(0, 10**7).map(lambda cents: cents / 100)
SHORT = st.builds(lambda whole, scale: whole / 10**scale, st.integers(0, 10**6), st.integers(0, 9))
COMPUTED = st.floats(0, 1e6)
PRICES = st.lists(CENTS, max_size=30) | st.lists(SHORT, max_size=30) | st.lists(COMPUTED, max_size=12)


def read(amount):
    """The decimal number that people see, as a fraction."""
    return Fraction(Decimal(repr(amount)))


@given(ANY, ANY, st.integers(-1000, 1000))
@example(5e-324, -1.7976931348623157e308, 3)
@example(1e16, 1e-7, 1)
@example(-0.0, 0.1, 1)
def test_an_amount_is_the_decimal_that_it_shows(a, b, times):
    assert Money(a).as_fraction() == read(a)
    assert (Money(a) + Money(b)).as_fraction() == read(a) + read(b)
    assert (Money(a) - Money(b)).as_fraction() == read(a) - read(b)
    assert (Money(a) * times).as_fraction() == read(a) * times
    assert (Money(a) <= Money(b)) == (read(a) <= read(b)) == (a <= b)
    assert (Money(a) == Money(b)) == (a == b)
    assert float(Money(a)) == a
    assert hash(Money(a)) == hash(Money(a) + Money(0.0))


@pytest.mark.parametrize("amount", [math.inf, -math.inf, math.nan])
def test_money_is_finite(amount):
    with pytest.raises(ValueError, match="must be finite"):
        Money(amount)


@given(PRICES, st.randoms(use_true_random=False))
def test_a_sum_is_exact_in_any_order(prices, random):
    exact = sum(map(read, prices), Fraction(0))
    assert add_up(prices).as_fraction() == exact
    random.shuffle(prices)
    assert add_up(np.array(prices)).as_fraction() == exact
    assert float(add_up(prices)) == float(exact)


@given(PRICES, st.data())
@example([0.1, 0.1, 0.1], None)
def test_a_batch_is_within_a_budget_exactly_if_its_decimals_are(prices, data):
    exact = sum(map(read, prices), Fraction(0))
    nearest = float(exact)
    for budget in (0.0, nearest, math.nextafter(nearest, math.inf), math.nextafter(nearest, 0.0), 1e9):
        assert within(prices, budget) == (exact <= read(budget))
        if within(prices, budget):  # what people check
            assert float(add_up(prices)) <= budget
    assert within(prices, math.inf)


def test_ties_are_decided_as_people_add():
    assert within([0.57, 0.47], 1.04)
    assert within([0.1] * 3, 0.3)
    assert within([0.7, 0.1], 0.8)
    assert not within([0.57, 0.47], 1.0399999999999998)
    assert difference(7.27, 5.17) == difference(5.20, 3.10) == 2.1


@given(st.lists(ANY, min_size=1, max_size=5))
def test_what_is_rounded_down_can_be_spent_whole(amounts):
    assume(abs(sum(map(Fraction, amounts))) < 1e308)
    left = add_up(amounts)
    down = left.rounded_down()
    assert Money(down) <= left
    assert Money(math.nextafter(down, math.inf)) > left


@given(st.lists(st.integers(0, 10**5), min_size=1, max_size=9), st.integers(0, 9))
def test_decimals_are_those_that_people_write(wholes, decimals):
    amounts = [whole / 10**decimals for whole in wholes]
    needed = max(len(repr(round(a, 9)).rstrip("0").partition(".")[2]) if a >= 1e-4 else 0 for a in amounts)
    found = decimals_of(np.array(amounts))
    assert found is not None
    assert needed <= found <= decimals
    assert all((read(a) * 10**found).denominator == 1 for a in amounts)


def test_amounts_without_a_common_unit_have_no_decimals():
    assert decimals_of(np.array([1 / 3])) is None
    assert decimals_of(np.array([1e-10])) is None
    assert decimals_of(np.array([1e15])) is None
    assert decimals_of(np.array([1e9, 1e-9])) is None
    assert decimals_of(np.array([]), np.empty((0, 3))) == 0


def test_repeated_prices_are_looked_at_once():
    prices = np.broadcast_to(np.array([0.25, 7.0]), (10**9, 2))
    assert decimals_of(prices) == 2


@given(st.lists(CENTS.filter(bool) | SHORT.filter(bool) | COMPUTED.filter(bool), min_size=1, max_size=20))
def test_prices_in_units_add_up_to_the_budget(prices):
    exact = sum(map(read, prices), Fraction(0))
    budget = float(exact)
    units = MoneyUnits.of(budget, np.array(prices))
    counts = units.count(np.array(prices))
    assert (counts > 0).all()
    if units.exact:
        assert [Fraction(count) / Fraction(units.scale) for count in counts.tolist()] == list(
            map(read, prices)
        )
        assert (sum(counts.tolist()) <= units.budget) == (exact <= read(budget))
        assert units.money(counts).tolist() == prices
    else:
        assert all(count / units.scale >= price for count, price in zip(counts.tolist(), prices, strict=True))
        np.testing.assert_allclose(units.money(counts), prices, rtol=1e-15, atol=budget * 2.0**-54)
    assert units.budget <= Fraction(budget) * Fraction(units.scale) + 1
    assert 2 * units.budget <= units.double <= 2 * units.budget + 2
