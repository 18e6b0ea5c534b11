"""The status of a campaign: its score against independent formulas, its forecast against known curves."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score, roc_auc_score
from threadpoolctl import threadpool_limits

from cellworth import Prices, Table
from cellworth.campaign.forecast import LEAST_SCORES, forecast, project
from cellworth.campaign.learning_curve import take_snapshots
from cellworth.campaign.validation import (
    Score,
    _explained,
    _model,
    area,
    cross_validate,
    deal,
    mean_score,
    scorable,
)
from cellworth.errors import ParameterError
from tests.campaign.campaigns import PRICES, answers_to, begin, make_table

ONE_FOLD = np.zeros


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

    found = _explained(y, guess)
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


def draw(rng, n, classes):
    X = rng.normal(size=(n, 4))
    z = X.sum(axis=1) / 2 + rng.normal(size=n)
    return X, (z > 0).astype(float) if classes else z


@pytest.mark.slow
@pytest.mark.parametrize("classes", [True, False])
def test_intervals_cover_the_score_on_new_rows(classes):
    """Covered were 94 % of 300 tables with classes and 92 % of 1,800 with a number; 100 spread by 3 %."""
    hits = []
    with threadpool_limits(1):
        for seed in range(100):
            rng = np.random.default_rng(seed)
            X, y = draw(rng, 80, classes)
            deals = [deal(y, 5, rng, classes=classes) for _ in range(2)]
            everyone = np.ones(80, dtype=bool)
            found = mean_score([cross_validate(X, y, fold, everyone, classes=classes) for fold in deals])
            model = _model(classes).fit(X, y)
            X_new, y_new = draw(rng, 5000, classes)
            truth = (
                roc_auc_score(y_new, model.decision_function(X_new)) if classes else model.score(X_new, y_new)
            )
            hits.append(found.estimate().low <= truth <= found.estimate().high)
    assert 0.82 <= np.mean(hits) <= 0.99


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
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(float)
    y[0] = 2.0
    assert scorable(y, classes=True) == [0.0, 1.0]
    assert scorable(y[:6], classes=True) == []
    found = cross_validate(X, y, deal(y, 5, rng, classes=True), np.ones(60, dtype=bool), classes=True)
    assert found.value > 0.9


# --- the forecast ---------------------------------------------------------------------------------------


def noisy_course(curve, seed, k=8, n=150):
    """Scores of a known curve: off together as one sample of rows, and each by itself."""
    rng = np.random.default_rng(seed)
    money = np.linspace(0, 100, k)
    influence = rng.normal(size=(n, 1)) + 0.15 * rng.normal(size=(n, k)).cumsum(axis=1)
    influence = 0.02 * np.sqrt(n) * (influence - influence.mean(axis=0))
    scores = curve(money) + rng.normal(size=n) @ influence / n + 0.002 * rng.normal(size=k)
    return money, scores, influence, rng


CURVES = {
    "levels off": lambda m: 0.85 - 0.1 * np.exp(-m / 60),
    "slowly": lambda m: 0.9 - 0.15 / np.sqrt(1 + m / 20),
    "straight": lambda m: 0.7 + 0.0008 * m,
}


@pytest.mark.parametrize("name", CURVES)
def test_forecasts_cover_curves_that_are_known(name):
    """In 300 courses each, 86 % (a straight line, the edge of what is fitted) to 96 % were covered."""
    curve = CURVES[name]
    truth = curve(150.0) - curve(100.0)
    found = [
        project(*noisy_course(curve, seed)[:3], 50.0, np.random.default_rng(0)).last() for seed in range(80)
    ]
    assert np.mean([each.low <= truth <= each.high for each in found]) >= 0.78
    assert np.mean([each.value for each in found]) == pytest.approx(truth, rel=0.5)


def test_without_noise_the_curve_is_found():
    money = np.linspace(0, 100, 9)
    found = project(
        money, CURVES["levels off"](money), np.zeros((10, 9)), 50.0, np.random.default_rng(0)
    ).last()
    assert found.value == pytest.approx(0.0107, abs=0.004)  # the other curve levels off later


@pytest.mark.parametrize("slope", [0.0, -0.0002])
def test_no_gain_is_called_none(slope):
    verdicts = []
    for seed in range(20):
        money, scores, influence, rng = noisy_course(lambda m: 0.8 + slope * m, seed)
        found = forecast(money, scores, influence, 50.0, rng)
        assert found.gain.low == 0
        verdicts.append(found.verdict)
    assert set(verdicts) == {"at most"}


def test_when_there_is_no_forecast():
    money, scores, influence, rng = noisy_course(CURVES["straight"], 0, k=LEAST_SCORES)
    assert forecast(money, scores, influence, 50.0, rng).verdict == "too early"
    assert forecast(0 * money, scores, influence, 50.0, rng).verdict == "too early"
    assert forecast(money, scores, influence, 0.0, rng).verdict == "nothing left"
    money, scores, influence, rng = noisy_course(CURVES["straight"], 0)
    assert forecast(money, scores, influence, 1000.0, rng).money == 100.0  # as far as it has come
    assert forecast(money, scores, influence, 1000.0, rng).verdict == "expected"


@given(st.lists(st.floats(-1, 1), min_size=5, max_size=9), st.floats(0.1, 500))
@settings(max_examples=40)
def test_a_forecast_is_never_nonsense(scores, ahead):
    k = len(scores)
    influence = np.random.default_rng(0).normal(size=(20, k))
    found = project(np.arange(k) * 7.0, np.array(scores), influence, ahead, np.random.default_rng(0))
    assert (found.low >= 0).all()
    assert (found.low <= found.gain).all()
    assert (found.gain <= found.high).all()
    assert found.gain[0] == 0
    assert (np.diff(found.gain) >= -1e-12).all()
    assert found.gain[-1] <= 2.0  # from -1 at the lowest to 1


# --- the standing of a campaign -------------------------------------------------------------------------


def test_numbers_are_those_of_the_campaign():
    campaign = begin(make_table(60))
    batch = campaign.ask(count=6)
    campaign.tell(answers_to(batch[:3]))
    campaign.refuse(batch[3:4], "lost")
    found = campaign.status(repeats=1)
    assert (found.spent, found.reserved, found.left) == (campaign.spent, campaign.reserved, campaign.left)
    assert (found.bought, found.refused, found.open) == (3, 1, 2)
    assert found.known == int((~campaign.original.holes).sum())
    assert found.known + found.bought + found.missing == campaign.table.values.size
    assert found.metric == "AUC"
    assert [moment.number for moment in found.history] == [0, 2]
    assert [moment.spent for moment in found.history] == [0, campaign.spent]
    assert found.gain.low <= found.history[1].score.value - found.history[0].score.value <= found.gain.high
    assert found.forecast.verdict == "too early"
    text = found.describe()
    for words in (f"{campaign.spent:.2f} spent", "3 bought", "1 refused, 2 out", "too early to tell"):
        assert words in text
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["bought"] == 3
    assert campaign.status(repeats=1) == found
    assert campaign.replay(until=0).status(repeats=1).bought == 0


def test_the_score_of_now_does_not_depend_on_the_history():
    campaign = begin(make_table(60))
    for _ in range(3):
        campaign.tell(answers_to(campaign.ask(count=5)))
    short, long = (campaign.status(max_rounds=k, repeats=2) for k in (1, 9))
    assert (len(short.history), len(long.history)) == (1, 4)
    assert short.score == long.score


def gaussian_table(n=120, *, kind="classes", hidden=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    z = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)
    y = z if kind == "number" else np.digitize(z, [-0.5, 0.5]) if kind == "several" else z > 0
    holes = rng.random(X.shape) < hidden
    return Table.from_arrays(np.where(holes, np.nan, X), None if kind == "none" else y), X


def play(table, truth, rounds, count=25):
    campaign = begin(table, prices=Prices.same(2.0), budget=1000.0)
    for _ in range(rounds):
        batch = campaign.ask(count=count)
        if not batch:
            break
        places = {p: (int(p.row), table.column_index(p.column)) for p in batch}
        campaign.tell({(p.row, p.column): truth[place] for p, place in places.items()})
    return campaign


@pytest.mark.parametrize(("kind", "metric"), [("classes", "AUC"), ("several", "AUC"), ("number", "R2")])
def test_the_score_rises_while_what_matters_is_bought(kind, metric):
    campaign = play(*gaussian_table(kind=kind), rounds=5)
    found = campaign.status(repeats=1)
    assert found.metric == metric
    assert len(found.history) == 6
    assert found.gain.low > 0
    assert found.gain.high - found.gain.low < found.score.high - found.score.low + 0.1
    assert ("mean of 3 classes" in found.note) == (kind == "several")
    assert found.forecast.gain is not None
    assert found.forecast.money == pytest.approx(min(100.0, 2.0 * found.missing))
    assert "are expected to bring" in found.describe()


def test_a_finished_campaign_has_nothing_left_to_buy():
    campaign = play(*gaussian_table(), rounds=9, count=60)
    found = campaign.status(repeats=1)
    assert (found.missing, found.forecast.verdict) == (0, "nothing left")
    assert "nothing is left to buy" in found.describe()


def test_labels_do_not_leak():
    """Labels that have nothing to do with the cells get an area of one half, however many holes there are."""
    areas = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random((100, 6)) < 0.6, np.nan, rng.normal(size=(100, 6)))
        campaign = begin(Table.from_arrays(X, rng.random(100) < 0.5), prices=Prices.same(1.0))
        areas.append(campaign.status(repeats=1).score.value)
    assert abs(np.mean(areas) - 0.5) < 0.07  # the spread of one is 0.06, of the mean 0.02


def test_without_labels_there_is_no_score():
    found = begin(gaussian_table(kind="none")[0], prices=Prices.same(1.0)).status()
    assert (found.metric, found.score, found.gain, found.history) == (None, None, None, ())
    assert "the table has no target" in found.describe()
    assert found.to_json()["forecast"]["verdict"] == "no score"


def test_too_few_labels_are_said_so():
    table = Table.from_arrays(np.arange(24.0).reshape(8, 3), [0, 1] * 4)
    found = begin(table, prices=Prices.same(1.0)).status()
    assert found.score is None
    assert "too few rows" in found.describe()


def test_rows_that_are_added_train_but_are_not_scored():
    campaign = begin(make_table(60))
    campaign.extend(make_table(30, seed=3, start=60))
    found = campaign.status(repeats=1)
    assert (found.rows, len(found.history)) == (90, 2)
    assert "on 60 rows" in found.note
    campaign.extend(make_table(200, seed=4, start=90))
    found = campaign.status(repeats=1)
    assert "on 290 rows" in found.note  # those of the start are less than half
    assert [moment.number for moment in found.history] == [2]


def test_snapshots_are_spread_evenly_in_money():
    campaign = begin(make_table(60), budget=None)
    for _ in range(20):
        campaign.tell(answers_to(campaign.ask(count=2)))
    shots = take_snapshots(campaign.original, campaign.events(), 6)
    assert 4 <= len(shots) <= 6
    assert (shots[0].number, shots[-1].number) == (0, campaign.number)
    assert shots[-1].table.equals(campaign.table)
    for shot in shots:
        then = campaign.replay(until=shot.number)
        assert shot.table.equals(then.table)
        assert shot.spent == then.spent
    steps = np.diff([shot.spent for shot in shots])
    assert steps.max() < 3 * steps.mean()


def test_worths_are_those_of_the_next_ask():
    campaign = begin(make_table(40), budget=None)
    campaign.tell(answers_to(campaign.ask(count=4)))
    found = campaign.cells()
    assert ((found.worth > 0) <= found.available).all()
    assert (found.known | found.bought | found.refused | found.available).all()
    table = campaign.table
    for purchase in campaign.ask(count=5):
        cell = table.row_index(purchase.row), table.column_index(purchase.column)
        assert found.worth[cell] == purchase.worth
        assert found.price[cell] >= purchase.price


@pytest.mark.parametrize(
    "wrong", [{"folds": 1}, {"repeats": 0}, {"max_rounds": 0}, {"ahead": 0.0}, {"ahead": float("inf")}]
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        begin(prices=PRICES).status(**wrong)


def test_progress_goes_from_nothing_to_all_points():
    campaign = play(*gaussian_table(), rounds=3)
    told = []
    found = campaign.status(progress=lambda done, total: told.append((done, total)))
    moments = len(found.history)
    assert told == [(done, moments) for done in range(moments + 1)]
