from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cellworth.select.units import Units, whole_scores


@given(
    st.lists(st.integers(1, 10**6), min_size=1), st.integers(1, 10**7), st.sampled_from([1, 10, 100, 10**4])
)
def test_decimals_are_counted_exactly(prices, budget, scale):
    units = Units.of(budget / scale, np.array(prices) / scale)
    factor = int(units.scale)
    assert units.exact
    assert Fraction(units.budget, factor) == Fraction(budget, scale) or factor < scale
    assert [Fraction(c, factor) for c in units.count(np.array(prices) / scale).tolist()] == [
        Fraction(p, scale) for p in prices
    ]
    np.testing.assert_array_equal(
        units.money(units.count(np.array(prices) / scale)), np.array(prices) / scale
    )


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=20), st.floats(1, 1e9))
def test_other_amounts_are_never_counted_too_low(prices, budget):
    units = Units.of(budget, np.array(prices))
    for price, count in zip(prices, units.count(np.array(prices)).tolist(), strict=True):
        assert Fraction(count) >= Fraction(price) * Fraction(units.scale) or units.exact
        assert abs(count / units.scale - price) <= budget * 2.0**-50
    assert Fraction(units.budget) <= Fraction(budget) * Fraction(units.scale) * (1 + Fraction(1, 2**50))
    assert units.double >= 2 * units.budget


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=30))
def test_whole_scores_keep_their_size_and_their_sum_is_small(scores):
    whole, shift = whole_scores(np.array(scores))
    assert sum(whole.tolist()) < 2**61
    np.testing.assert_allclose(np.ldexp(whole.astype(float), -shift), scores, atol=max(scores) * 2.0**-50)
