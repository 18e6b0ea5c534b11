"""Bins and quantiles against NumPy's own."""

import numpy as np
import pytest

from cellworth.complete.gaussian.residual_bins import (
    LEVELS,
    bin_centres,
    bin_scales,
    equal_bins,
    shrunk_ratios,
    sorted_quantiles,
    sorted_rows,
    usual_ratio,
    value_quantiles,
)


def bins_of(n, k):
    """Return the bins of a single column."""
    return equal_bins(np.array([n]), np.array([k]))


def centres_of(standardised, bins):
    return bin_centres(standardised, bins.in_order(standardised), bins)


def test_quantiles_are_those_of_a_further_cell():
    sizes = np.array([1, 2, 7, 50, 853])
    cells = np.random.default_rng(0).normal(size=sizes.sum())
    found = sorted_quantiles(sorted_rows(cells, sizes), sizes)
    for row, own in zip(found, np.split(cells, np.cumsum(sizes)[:-1]), strict=True):
        expected = np.quantile(own, LEVELS, method="weibull")  # k / (n + 1) for the k-th cell
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-12)


def test_bins_are_of_equal_size():
    columns = [(1, 1), (9, 3), (10, 3), (850, 8), (51, 1)]
    bins, begin = equal_bins(*np.array(columns).T), 0
    parts = iter(zip(bins.first, bins.sizes, strict=True))
    for n, k in columns:
        for expected in np.array_split(np.arange(begin, begin + n), k):
            first, size = next(parts)
            assert np.array_equal(np.arange(first, first + size), expected)
        begin += n
    assert next(parts, None) is None


def test_columns_together_are_as_each_alone():
    """Ratios, centres and scales of columns that stand one after another, against those of each column."""
    rng = np.random.default_rng(0)
    counts, n_bins = np.array([400, 3, 77, 120]), np.array([8, 1, 1, 2])
    cells = [rng.normal(size=n) * rng.uniform(0.2, 3) + rng.normal() for n in counts]
    together, bins = np.concatenate(cells), equal_bins(counts, n_bins)
    found = (
        shrunk_ratios(together**2, np.abs(together), bins, 1.3),
        centres_of(together, bins),
        bin_scales(together, bins),
    )
    for j, own in enumerate(cells):
        alone = bins_of(counts[j], n_bins[j])
        expected = (
            shrunk_ratios(own**2, np.abs(own), alone, 1.3),
            centres_of(own, alone),
            bin_scales(own, alone),
        )
        some = slice(bins.first_bin[j], bins.first_bin[j] + n_bins[j])
        for got, one in zip(found, expected, strict=True):
            np.testing.assert_allclose(got[some], one, rtol=1e-12, atol=1e-14)


def test_medians_and_means_of_bins_are_numpys():
    cells = np.random.default_rng(1).normal(size=101)
    bins = bins_of(101, 4)
    parts = np.array_split(cells, 4)
    np.testing.assert_allclose(bins.sums(cells) / bins.sizes, [part.mean() for part in parts], rtol=1e-12)
    far = cells + np.repeat([10.0, 20, 30, 40], bins.sizes)  # so far apart that nothing is shrunk
    medians = [np.median(part) for part in np.array_split(far, 4)]
    np.testing.assert_allclose(centres_of(far, bins), medians, rtol=1e-3)


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
        found = shrunk_ratios(np.full(n, 4.0), np.ones(n), bins_of(n, 1), usual)[0]
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
    bins = bins_of(240, 4)
    left = [np.square(centres_of(rng.normal(size=240), bins)).mean() for _ in range(200)]
    assert np.mean(left) < 0.4 * (np.pi / 2) / 60  # that of medians of 60 normal cells
    shared = rng.normal(size=240)
    shared[:60] = 0.7 + 0.01 * rng.normal(size=60)
    found = centres_of(shared, bins)
    assert found[0] == pytest.approx(np.median(shared[:60]), abs=1e-3)
    np.testing.assert_array_equal(centres_of(shared + 3, bins_of(240, 1)), [0.0])
