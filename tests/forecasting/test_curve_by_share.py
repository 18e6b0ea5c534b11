"""The curve of scores: its law, its prior and its intervals."""

import numpy as np
import pytest

from cellworth.forecasting import curve_by_share as module
from cellworth.forecasting.curve_by_share import DRAWS, growth, rising_curve

SHARES = np.array([0.1, 0.15, 0.2, 0.3])
HIDDEN = 1 - SHARES[-1]


def scores(level, b, c, shares=SHARES, now=0.3):
    """Return scores of the law that pass through a level of log(1 - score) now."""
    bends = np.array([c])
    return 1 - np.exp(level - b * (growth(shares, bends) - growth(np.array([now]), bends))[0])


def test_growth_is_that_of_the_law():
    shares = np.array([0.2, 0.5, 1.0])
    assert growth(shares, np.array([1.0]))[0] == pytest.approx(shares - 1)
    assert growth(shares, np.array([0.0]))[0] == pytest.approx(np.log(shares), abs=1e-5)
    assert growth(shares, np.array([-0.5]))[0] == pytest.approx((shares**-0.5 - 1) / -0.5)


def test_the_interval_covers_curves_from_the_prior():
    """90 % of 200 curves, give or take three standard errors."""
    rng = np.random.default_rng(0)
    inside = []
    for seed in range(200):
        x = rng.multivariate_normal([0, 0], [[1, module.CORRELATION], [module.CORRELATION, 1]])
        b, c = np.exp(module.SLOPE[0] + module.SLOPE[1] * x[0]), module.BEND[0] + module.BEND[1] * x[1]
        truth = rng.normal(-1.5, 0.5)
        # The forecast knows the error of its level: in proportion to what is hidden, a constant and a share,
        # and larger where scores are better, 1 - score less, than it guesses.
        error = rng.normal() * HIDDEN * np.hypot(module.LEVEL, module.DEPTH * truth)
        guess = truth - error * (module.BETTER if error < 0 else module.WORSE)
        thinned = 1 - np.exp(guess + module.THINNED_SLOPE[0] * np.log(SHARES))
        noise = module.SCATTER * rng.normal(size=4) * [1, 1, 1, 0]
        complete = 1 - (1 - scores(guess, b, c)) * np.exp(noise)
        curve = rising_curve(SHARES, complete, thinned, np.zeros((4, 4)), now=0.3, seed=seed)
        for share in (0.6, 1.0):
            low, high = np.quantile(curve.at(share), [0.05, 0.95])
            inside.append(low <= scores(truth, b, c, np.array([share]))[0] <= high)
    assert abs(np.mean(inside) - 0.9) < 3 * np.sqrt(0.09 / 200)


def test_draws_never_fall_and_stay_below_one():
    complete = np.array([0.8, 0.79, 0.82, 0.81])
    curve = rising_curve(SHARES, complete, complete - 0.1, 1e-4 * np.eye(4), now=0.3)
    assert curve.draws.shape == (DRAWS, len(curve.shares))
    assert (np.diff(curve.draws, axis=1) >= 0).all()
    assert curve.draws.max() <= 1
    assert (curve.shares[0], curve.shares[-1]) == pytest.approx((0.3, 1.0))
    assert np.array_equal(curve.at(0.3), curve.draws[:, 0])
    assert np.array_equal(curve.at(1.0), curve.draws[:, -1])


def test_no_draw_of_an_area_is_below_0():
    """Of a dozen rows, the doubt is so large that an AUC of -5 would be likely; no AUC is below 0."""
    complete, thinned = np.array([0.7, 0.9, 0.8, 0.995]), np.array([0.4, 0.5, 0.5, 0.6])
    draws = [
        rising_curve(SHARES, complete, thinned, 1e-3 * np.eye(4), now=0.3, **said).draws
        for said in ({}, {"pairs": 1_000_000})
    ]
    assert np.quantile(draws[0], 0.05) < 0
    assert np.array_equal(np.maximum(draws[0], 0.0), draws[1])


def test_evidence_counts_for_more_where_more_is_known():
    """Steep scores promise more than flat ones; the difference grows with the share known."""
    differences = []
    for factor in (1.0, 3.0):
        shares = SHARES * factor
        rise = []
        for b in (0.05, 2.0):
            complete = scores(-1.5, b, 0.3, shares, shares[-1])
            curve = rising_curve(shares, complete, complete, np.zeros((4, 4)), now=0.3 * factor)
            ends = np.log(1 - curve.draws[:, -1]) - np.log(1 - curve.draws[:, 0])
            rise.append(np.median(ends) / np.log(1 / shares[-1]))
        differences.append(rise[0] - rise[1])
    assert 0 < differences[0] < differences[1]


def test_the_level_lies_between_both_estimates():
    complete = scores(np.log(0.2), 0.3, 0.0)
    thinned = 1 - np.exp(np.log(0.1) - 0.35 * np.log(SHARES))
    curve = rising_curve(SHARES, complete, thinned, np.zeros((4, 4)), now=0.3)
    middle = (np.log(0.2) + np.log(0.1)) / 2
    assert np.log(1 - np.median(curve.at(0.3))) == pytest.approx(middle, abs=0.03)


def test_one_score_is_enough_and_the_seed_decides():
    one = np.array([0.8])
    first, second = (rising_curve(one / 2, one, one, np.zeros((1, 1)), now=0.4, seed=3) for _ in range(2))
    assert np.array_equal(first.draws, second.draws)
    assert np.isfinite(first.draws).all()


def test_where_rows_are_finished_the_level_is_measured():
    complete, thinned = np.array([0.8, 0.82, 0.84, 0.86]), np.array([0.6, 0.62, 0.65, 0.7])
    covariance = 1e-6 * np.eye(4)
    curves = {
        unknown: rising_curve(SHARES, complete, thinned, covariance, now=0.3, unknown=unknown)
        for unknown in (0.0, 0.5, 1.0)
    }
    assert np.median(curves[0.0].at(0.3)) == pytest.approx(0.86, abs=0.002)
    widths = [np.ptp(np.quantile(curves[unknown].at(0.3), [0.05, 0.95])) for unknown in (0.0, 0.5, 1.0)]
    assert widths[0] < 0.1 * widths[1] < 0.1 * widths[2]


@pytest.mark.parametrize("pairs", [3, 6, 40])
def test_few_rows_that_are_all_ranked_correctly_prove_little(pairs):
    """If nothing is hidden, the lower end is the area at which it would happen in one of twenty tables."""
    perfect, shares = np.ones(4), np.array([0.4, 0.6, 0.8, 1.0])
    curve = rising_curve(shares, perfect, perfect, np.zeros((4, 4)), now=0.999, pairs=pairs)
    assert np.quantile(curve.at(0.999), 0.05) == pytest.approx(0.05 ** (1 / pairs), rel=0.05)
    many = rising_curve(shares, perfect, perfect, np.zeros((4, 4)), now=0.999, pairs=10**6)
    assert np.quantile(many.at(0.999), 0.05) > 0.999


@pytest.mark.parametrize("pairs", [4, 15, 60])
def test_few_rows_prove_little_only_about_levels_that_they_can_hide(pairs):
    """No draw is worse than the method allows and than few rows hide, but for 1 in 20 of each."""
    shares = np.array([0.1, 0.15, 0.2, 0.27])
    near_one = np.full(4, 0.985)
    said = {"now": 0.27, "covariance": np.zeros((4, 4))}
    many = rising_curve(shares, near_one, near_one, pairs=10**9, **said).at(0.27)
    few = rising_curve(shares, near_one, near_one, pairs=pairs, **said).at(0.27)
    hidden = 0.05 ** (1 / pairs)
    assert np.quantile(few, 0.1) >= min(np.quantile(many, 0.05), hidden) - 1e-3
