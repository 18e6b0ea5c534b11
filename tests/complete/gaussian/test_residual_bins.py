"""Bins and quantiles against NumPy's own."""

import numpy as np
import pytest

from cellworth.complete.gaussian.residual_bins import (
    LEVELS,
    bin_centres,
    equal_bins,
    shrunk_ratios,
    sorted_quantiles,
    usual_ratio,
    value_quantiles,
)


@pytest.mark.parametrize("n", [1, 2, 7, 50, 853])
def test_quantiles_are_those_of_a_further_cell(n):
    cells = np.random.default_rng(n).normal(size=n)
    expected = np.quantile(cells, LEVELS, method="weibull")  # k / (n + 1) for the k-th cell
    np.testing.assert_allclose(sorted_quantiles(cells), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (9, 3), (10, 3), (850, 8)])
def test_bins_are_of_equal_size(n, k):
    for got, expected in zip(equal_bins(n, k), np.array_split(np.arange(n), k), strict=True):
        assert np.array_equal(got, expected)


def test_values_of_a_mixture_are_those_of_the_bin_or_of_the_column():
    values = np.repeat([0.0, 1.0], [90, 10])
    zeros, ones = np.arange(10), np.arange(90, 100)
    assert set(value_quantiles(values, ones, 1.0)) == {1.0}
    assert np.mean(value_quantiles(values, zeros, 0.0)) == pytest.approx(0.1, abs=0.03)


def test_few_cells_are_taken_for_what_is_usual_and_many_for_what_they_are():
    usual = usual_ratio(np.full(100_000, 0.25))
    assert usual == pytest.approx(0.25, rel=1e-3)
    assert usual_ratio(np.empty(0)) == 1
    for n, expected in ((1, 0.25), (100_000, 4.0)):
        found = shrunk_ratios(np.full(n, 4.0), np.ones(n), equal_bins(n, 1), usual)[0]
        near = usual + n / (n + 10) * (4.0 - usual)  # ten cells of the usual kind beside its own
        assert found == pytest.approx(near)
        assert abs(np.log(found / expected)) < abs(np.log(found / (4.25 - expected)))


def test_what_is_usual_does_not_hang_on_a_few_far_cells():
    """Beyond three deviations a residual counts as three: ten in ten thousand add at most 0.009."""
    squares = np.ones(10_000)
    squares[:10] = 1e12
    assert usual_ratio(squares) == pytest.approx(1, abs=0.01)


def test_centres_of_bins_are_believed_as_far_as_they_stand_out():
    """Noise: what is left of it is far less than its spread. A miss that all cells of a bin share is kept."""
    rng = np.random.default_rng(0)
    bins = equal_bins(240, 4)
    left = [np.square(bin_centres(rng.normal(size=240), bins)).mean() for _ in range(200)]
    assert np.mean(left) < 0.4 * (np.pi / 2) / 60  # that of medians of 60 normal cells
    shared = rng.normal(size=240)
    shared[bins[0]] = 0.7 + 0.01 * rng.normal(size=60)
    found = bin_centres(shared, bins)
    assert found[0] == pytest.approx(np.median(shared[bins[0]]), abs=1e-3)
    np.testing.assert_array_equal(bin_centres(shared + 3, equal_bins(240, 1)), [0.0])
