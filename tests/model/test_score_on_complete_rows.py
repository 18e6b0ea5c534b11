"""The score on complete rows: weighted scores by their definitions, and the weights of draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score, roc_auc_score

from cellworth.model.cross_validation import area, explained, score_predictions
from cellworth.model.score_on_complete_rows import (
    ENOUGH_ROWS,
    STEP_ERROR,
    THINNED,
    UNKNOWN_ERROR_OF_AREA,
    area_if_known,
    complete_rows_score,
    explained_if_known,
    row_counts,
    unknown_share,
    weighted_area,
)


def some_weights(rng, m, n):
    weights = rng.random((m, n)) + 0.01
    return weights / weights.sum(axis=0)


@given(st.integers(0, 1000), st.integers(1, 4))
@settings(max_examples=30)
def test_the_weighted_area_is_that_of_scikit_learn(seed, m):
    rng = np.random.default_rng(seed)
    positive = np.arange(20) < 7
    drawn = rng.integers(0, 8, (m, 20)) + positive
    weights = some_weights(rng, m, 20)
    counts = rng.random(20) + 0.01
    for rows in (None, counts):
        found = weighted_area(positive, drawn.astype(float), weights, np.zeros(20, int), rows)
        of_pairs = weights if rows is None else weights * rows
        expected = roc_auc_score(np.tile(positive, m), drawn.ravel(), sample_weight=of_pairs.ravel())
        assert found.value == pytest.approx(expected)


def test_one_draw_is_no_draw():
    rng = np.random.default_rng(0)
    positive, fold = rng.random(50) < 0.4, np.arange(50) % 3
    scores = rng.normal(size=50) + positive
    found, plain = (
        weighted_area(positive, scores[np.newaxis], np.ones((1, 50)), fold),
        area(positive, scores, fold),
    )
    assert found.value == pytest.approx(plain.value)
    assert found.influence == pytest.approx(plain.influence)
    y = rng.normal(size=50)
    found = explained_if_known(y, scores[np.newaxis])
    assert found.value == pytest.approx(r2_score(y, scores))
    assert found.influence == pytest.approx(explained(y, scores).influence)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_without_holes_it_is_the_score_at_hand(K):
    rng = np.random.default_rng(1)
    fold = np.arange(90) % 3
    y = rng.normal(size=90) if K == 1 else rng.integers(0, K, 90).astype(float)
    predicted = rng.random((90, K))
    predicted = predicted if K == 1 else predicted / predicted.sum(axis=1, keepdims=True)
    drawn = np.repeat(predicted[np.newaxis], 4, axis=0)
    expected = score_predictions(y, predicted, fold, classes=K > 1)
    found = complete_rows_score(y, drawn, fold, expected, classes=K > 1)
    assert found.value == pytest.approx(expected.value)
    assert found.influence == pytest.approx(expected.influence)
    assert found.error == pytest.approx(expected.error)


@pytest.mark.parametrize("steepness", [1.0, 2.0, 6.0])
def test_half_of_the_signal_is_hidden(steepness):
    """The label of a row says on which side its hidden half is: the score of the whole is recovered."""
    rng = np.random.default_rng(2)
    n, m = 2000, 20
    known, hidden = rng.normal(size=n), rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-steepness * (known + hidden)))).astype(float)
    P = 1 / (1 + np.exp(-(known + rng.normal(size=(m, n)))))  # as if the model did not know how sure to be
    found = area_if_known(y == 1, P, np.zeros(n, int))
    at_hand = roc_auc_score(y, known)
    truth = roc_auc_score(y, known + hidden)
    assert at_hand < truth - 0.05
    assert found.value == pytest.approx(truth, abs=0.02)


def test_the_curve_ignores_predictions_that_mean_nothing():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 1000).astype(float)
    P = rng.random((10, 1000))
    found = area_if_known(y == 1, P, np.zeros(1000, int))
    assert found.value == pytest.approx(0.5, abs=0.04)


def test_a_number_is_weighed_too():
    rng = np.random.default_rng(4)
    known, hidden = rng.normal(size=(2, 3000))
    y = known + hidden + 0.5 * rng.normal(size=3000)
    drawn = known + rng.normal(size=(20, 3000))
    found = explained_if_known(y, drawn)
    assert found.value == pytest.approx(r2_score(y, known + hidden), abs=0.03)


def test_the_method_adds_to_the_error():
    rng = np.random.default_rng(5)
    known, hidden = rng.normal(size=(2, 400))
    y = (known + hidden > 0).astype(float)
    fold, P = np.zeros(400, int), 1 / (1 + np.exp(-(known + rng.normal(size=(20, 400)))))
    at_hand = score_predictions(y, np.stack([-known, known], axis=1), fold, classes=True)
    found = complete_rows_score(y, np.stack([1 - P, P], axis=2), fold, at_hand, classes=True)
    odds = [np.log(s / (1 - s)) for s in (at_hand.value, found.value)]
    slope = found.value * (1 - found.value)
    assert unknown_share(P[:, :, np.newaxis]) == pytest.approx(0.5, abs=0.05)
    expected = slope * np.linalg.norm(
        [
            at_hand.error / at_hand.value / (1 - at_hand.value),
            STEP_ERROR * (odds[1] - odds[0]),
            UNKNOWN_ERROR_OF_AREA * unknown_share(P[:, :, np.newaxis]) ** 0.25,
        ]
    )
    assert found.error == pytest.approx(expected)
    assert at_hand.value < found.value


def test_what_is_not_known_of_rows():
    rng = np.random.default_rng(6)
    of_row, of_draw = rng.normal(size=(1, 5000, 1)), rng.normal(size=(20, 5000, 1))
    for unknown in (0.0, 0.3, 0.9, 1.0):
        drawn = np.sqrt(1 - unknown) * of_row + np.sqrt(unknown) * of_draw
        assert unknown_share(drawn) == pytest.approx(unknown, abs=0.02)
    assert unknown_share(of_row) == 0.0
    assert unknown_share(np.ones((3, 5, 2))) == 0.0


def half_finished(seed, finished, n=1000, m=20):
    """Return labels, holes, predictions and the truth; rows that are not finished are drawn too narrowly."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-4 * hidden))).astype(float)
    holes = np.column_stack([np.arange(n) >= finished, rng.random(n) < 0.5])  # the second does not matter
    guess = 0.3 * rng.normal(size=(m, n))
    P = 1 / (1 + np.exp(-4 * np.where(holes[:, 0], guess, hidden)))
    return y, holes, np.stack([1 - P, P], axis=2), roc_auc_score(y, hidden)


def test_finished_rows_count_and_holes_that_do_not_matter_do_not():
    y, holes, drawn, _ = half_finished(0, finished=300)
    counts = row_counts(y, drawn, holes, classes=True)
    assert counts[:300].min() > 0.7  # a hole that does not matter seems to, by chance, a little
    assert counts[300:].max() < 0.01
    assert counts.sum() ** 2 / (counts @ counts) >= ENOUGH_ROWS
    assert unknown_share(drawn, counts) < 0.1 * unknown_share(drawn)


def test_too_few_finished_rows_do_not_decide_alone():
    y, holes, drawn, _ = half_finished(1, finished=20)
    assert (row_counts(y, drawn, holes, classes=True) == 1).all()
    assert (row_counts(y, drawn, np.zeros_like(holes), classes=True) == 1).all()
    assert (row_counts(y[:60], drawn[:, :60], holes[:60], classes=True) == 1).all()


def test_finished_rows_show_what_draws_of_the_wrong_law_hide():
    y, holes, drawn, truth = half_finished(2, finished=400)
    fold = np.zeros(len(y), int)
    at_hand = score_predictions(y, drawn.mean(axis=0), fold, classes=True)
    counts = row_counts(y, drawn, holes, classes=True)
    plain, weighed = (
        complete_rows_score(y, drawn, fold, at_hand, classes=True, counts=each) for each in (None, counts)
    )
    assert abs(weighed.value - truth) < 0.3 * abs(plain.value - truth)
    # Of 400 rows, the area has a standard error of 0.02 at most.
    assert abs(weighed.value - truth) < 0.06
    number = explained_if_known(y, drawn[:, :, 1], counts).value
    assert number > explained_if_known(y, drawn[:, :, 1]).value + 0.1


def test_an_area_is_the_mean_of_two_estimates():
    """Log-odds that rise by 0.3 for each unit of log share are continued to complete rows."""
    rng = np.random.default_rng(3)
    y, fold = np.repeat([0.0, 1.0], 50), np.zeros(100, int)
    P = 1 / (1 + np.exp(-(y + rng.normal(size=100))))
    drawn = np.repeat(np.stack([1 - P, P], axis=1)[np.newaxis], 3, axis=0)
    at_hand = score_predictions(y, drawn[0], fold, classes=True)
    odds = np.log(at_hand.value / (1 - at_hand.value))
    thinned = 1 / (1 + np.exp(-(odds + 0.3 * np.log(THINNED))))
    found = complete_rows_score(y, drawn, fold, at_hand, classes=True, thinned=thinned.tolist(), known=0.2)
    expected = (odds + odds + 0.3 * np.log(5)) / 2
    assert np.log(found.value / (1 - found.value)) == pytest.approx(expected)
    falling = complete_rows_score(y, drawn, fold, at_hand, classes=True, thinned=[0.9] * 3, known=0.2)
    assert falling.value == pytest.approx(at_hand.value)
