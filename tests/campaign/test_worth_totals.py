"""Totals of worths: counts of numbers by their leading bits, and sums of parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.campaign import CellArrays
from cellworth.campaign.worth_totals import RANK_BITS, NumberCounts, WorthTotals

NUMBERS = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


@given(numbers=NUMBERS, cut=st.integers(0, 60), bits=st.integers(4, 20))
def test_counts_bracket_ranks_and_quantiles(numbers, cut, bits):
    """A number with the same leading bits differs by less than 2**-bits of itself."""
    all_of = np.array(numbers)
    counts = NumberCounts.of(all_of[:cut], bits).added(NumberCounts.of(all_of[cut:], bits))
    assert counts.n == len(all_of)
    width = 2.0**-bits
    for number in numbers:
        assert (
            (all_of > number * (1 + width) + 1e-300).sum() <= counts.above(number) <= (all_of > number).sum()
        )
    for share in (0.0, 0.25, 0.5, 1.0):
        exact = np.quantile(all_of, share, method="lower")
        assert exact * (1 - width) - 1e-300 <= counts.quantile(share) <= exact


def test_no_numbers_have_no_quantile():
    assert np.isnan(NumberCounts.of(np.zeros(0), 8).quantile(0.5))


def made_up(rng, n, p=3):
    status = rng.integers(0, 5, size=(n, p)).astype(np.uint8)
    return CellArrays.of(status, status < 2, rng.uniform(1, 3, (n, p)), rng.uniform(size=(n, p)))


@given(seed=st.integers(0, 999), cut=st.integers(1, 39))
def test_totals_of_parts_add_up_to_those_of_the_whole(seed, cut):
    cells = made_up(np.random.default_rng(seed), 40)
    whole = WorthTotals.of(cells)
    parts = WorthTotals.of(cells.of_rows(0, cut)).added(WorthTotals.of(cells.of_rows(cut, 40)))
    for name in vars(whole):
        if name not in ("worths", "per_money"):
            np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12, err_msg=name)
    assert parts.average_worth == pytest.approx(cells.worth[cells.available].mean())
    ratio = (cells.worth / cells.price)[:, :2][cells.available[:, :2]]
    for each in ratio[:5]:
        rank, of = parts.rank(float(each), 2)
        assert of == len(ratio)
        assert 1 + (ratio > each * (1 + 2.0**-RANK_BITS)).sum() <= rank <= 1 + (ratio > each).sum()
