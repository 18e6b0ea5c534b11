"""Scores of cross-validation and their intervals, against independent formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score, roc_auc_score

from cellworth.model.cross_validation import (
    Estimate,
    Score,
    area,
    deal,
    explained,
    rows_to_score,
    scorable,
)

ONE_FOLD = np.zeros


def test_an_estimate_prints_as_people_read_it():
    assert str(Estimate(2 / 3, 0.5, 0.98765)) == "0.667 (0.500 to 0.988)"


def weighted_area(positive, scores, fold, weights):
    """The area by its definition, over pairs of the same fold, each row counted by its weight."""
    right = total = 0.0
    for i in np.flatnonzero(positive):
        rivals = np.flatnonzero(~positive & (fold == fold[i]))
        wins = (scores[i] > scores[rivals]) + 0.5 * (scores[i] == scores[rivals])
        right += weights[i] * (weights[rivals] @ wins) / weights[rivals].sum()
        total += weights[i]
    return right / total


def slopes(statistic, n):
    """The influence of each row by finite differences in its weight."""
    out = np.empty(n)
    for i in range(n):
        ends = []
        for step in (1e-4, -1e-4):
            weights = np.ones(n)
            weights[i] += step
            ends.append(statistic(weights))
        out[i] = (ends[0] - ends[1]) / 2e-4
    return n * out


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_area_and_its_influence_are_those_of_the_definition(seed, folds):
    rng = np.random.default_rng(seed)
    n = 24
    positive = np.arange(n) % 2 == 0
    fold = np.repeat(np.arange(n // 2), 2) % folds  # as many of either side in each fold
    scores = rng.integers(0, 6, n) + positive * 1.5 - 0.5 * (rng.random(n) < 0.3)
    found = area(positive, scores, fold)
    assert found.value == pytest.approx(weighted_area(positive, scores, fold, np.ones(n)), abs=1e-12)
    if folds == 1:
        assert found.value == pytest.approx(roc_auc_score(positive, scores))
    assert found.influence.mean() == pytest.approx(0, abs=1e-12)
    numeric = slopes(lambda w: weighted_area(positive, scores, fold, w), n)
    if folds == 1:  # else a fold's own mean is left in, which weights of single rows do not see
        small_sample = np.sqrt(12 / 11)
        assert found.influence == pytest.approx(small_sample * numeric, abs=1e-5)


def test_the_error_of_the_area_is_delongs():
    rng = np.random.default_rng(0)
    positive = rng.random(60) < 0.3
    scores = rng.normal(size=60) + positive
    wins = (scores[positive][:, None] > scores[~positive]).astype(float)
    k, m = wins.shape
    variance = wins.mean(axis=1).var(ddof=1) / k + wins.mean(axis=0).var(ddof=1) / m
    assert area(positive, scores, ONE_FOLD(60, int)).error == pytest.approx(np.sqrt(variance), rel=1e-12)


def test_r2_and_its_influence():
    rng = np.random.default_rng(1)
    y = rng.normal(size=30)
    guess = 0.7 * y + 0.4 * rng.normal(size=30)

    def statistic(weights):
        return r2_score(y, guess, sample_weight=weights)

    found = explained(y, guess)
    assert found.value == pytest.approx(r2_score(y, guess))
    assert found.influence == pytest.approx(slopes(statistic, 30), abs=1e-5)


def test_a_perfect_score_is_not_sure():
    positive = np.arange(40) < 10
    found = area(positive, positive.astype(float), ONE_FOLD(40, int)).estimate()
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025**0.1)  # ten disjoint pairs


@given(st.floats(0.001, 0.999), st.floats(1e-6, 0.3), st.booleans())
@settings(max_examples=50)
def test_intervals_stay_where_scores_can_be(value, error, of_area):
    score = Score(value, np.array([error, -error]) * np.sqrt(2), 5 if of_area else 0)
    assert score.error == pytest.approx(error)
    found = score.estimate()
    assert found.low <= value <= found.high <= 1
    assert found.low >= 0 or not of_area


@given(st.integers(0, 1000), st.integers(2, 6))
@settings(max_examples=20)
def test_every_fold_has_its_share_of_every_class(seed, folds):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 50).astype(float)
    fold = deal(y, folds, rng, classes=True)
    for label in (0, 1, 2):
        counts = np.bincount(fold[y == label], minlength=folds)
        assert np.ptp(counts) <= 1
    assert np.ptp(np.bincount(fold, minlength=folds)) <= 1


def test_a_rare_class_has_no_area_of_its_own():
    y = (np.arange(60) % 2).astype(float)
    y[0] = 2.0
    assert scorable(y, classes=True) == [0.0, 1.0]
    assert scorable(y[:6], classes=True) == []


def test_long_tables_are_sampled():
    rows = rows_to_score(np.where(np.arange(300) % 2, np.nan, 1.0), 0, most=100)
    assert (len(rows), int((rows % 2).sum())) == (200, 100)
    assert (np.diff(rows) > 0).all()
