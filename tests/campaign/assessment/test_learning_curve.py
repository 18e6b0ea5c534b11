"""The learning curve: what it scores, on which rows, and what it does without labels."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign.assessment.learning_curve import take_snapshots
from tests.campaign.campaigns import answers_to, begin, gaussian_table, make_table, play

pytestmark = pytest.mark.usefixtures("linear_model_in_use")


def test_the_score_of_now_does_not_depend_on_the_history():
    campaign = begin(make_table(60))
    for _ in range(3):
        campaign.tell(answers_to(campaign.ask(count=5)))
    short, long = (campaign.status(max_rounds=k, repeats=2) for k in (1, 9))
    assert (len(short.history), len(long.history)) == (1, 4)
    assert short.score == long.score


@pytest.mark.parametrize(("kind", "metric"), [("classes", "AUC"), ("several", "AUC"), ("number", "R2")])
def test_the_score_rises_while_what_matters_is_bought(kind, metric):
    campaign = play(*gaussian_table(kind=kind), rounds=5)
    found = campaign.status(repeats=1)
    assert found.metric == metric
    assert len(found.history) == 6
    assert found.gain.low > 0
    # On the same rows, the change is surer than the difference of two scores seen apart.
    apart = [point.score.high - point.score.low for point in (found.history[0], found.history[-1])]
    assert found.gain.high - found.gain.low < sum(apart)
    assert ("mean of 3 classes" in found.note) == (kind == "several")
    assert found.forecast.gain is not None
    assert found.forecast.money == pytest.approx(min(found.spent / 5, 2.0 * found.missing))
    assert "is expected to bring" in found.describe()


@pytest.mark.slow
def test_labels_do_not_leak():
    """Labels that have nothing to do with the cells get an area of one half, however many holes there are."""
    areas = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random((100, 6)) < 0.6, np.nan, rng.normal(size=(100, 6)))
        campaign = begin(Table.from_arrays(X, rng.random(100) < 0.5), prices=Prices.same(1.0))
        areas.append(campaign.status(repeats=1, max_rounds=1, model="logistic regression").score.value)
    assert abs(np.mean(areas) - 0.5) < 0.07  # the spread of one is 0.06, of the mean 0.025


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
    found = campaign.status(repeats=1, model="logistic regression")
    assert (found.rows, len(found.history)) == (90, 2)
    assert "on 60 rows" in found.note
    campaign.extend(make_table(200, seed=4, start=90))
    found = campaign.status(repeats=1, model="logistic regression")
    assert "on 290 rows" in found.note  # those of the start are less than half
    assert [point.number for point in found.history] == [2]


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


def test_later_curves_use_points_that_are_scored():
    """Points between the ends are points of the curves before, or their ends, so each costs one score."""
    campaign = begin(make_table(60), budget=None, strategy="random")
    seen = {0}
    for _ in range(14):
        campaign.tell(answers_to(campaign.ask(count=2)))
        shots = take_snapshots(campaign.original, campaign.events(), 6)
        assert len(shots) <= 6
        new = {shot.number for shot in shots} - seen
        assert new == {campaign.number}
        seen |= new


def test_the_gain_since_an_event_is_that_of_the_learning_curve():
    campaign = play(*gaussian_table(), rounds=2)
    gain = campaign.gain_since(2)
    points = campaign.status().history
    assert gain.metric == "AUC"
    assert gain.gain.value == pytest.approx(points[-1].score.value - points[1].score.value, abs=1e-9)
    assert gain.gain.low <= gain.gain.value <= gain.gain.high
    assert begin(gaussian_table(kind="none")[0], prices=Prices.same(1.0)).gain_since(0) is None
