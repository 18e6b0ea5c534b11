import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cellworth import Prices, Table
from cellworth.complete.completer import BlockCompleter
from cellworth.model import Candidate
from cellworth.model.cross_validation import Score
from cellworth.score.scorer import Memoryless
from cellworth.select import Top
from cellworth.strategy import Strategy
from cellworth.strategy.auto_choice import BuyingTask
from cellworth.strategy.backtest import DEALS, FOLDS, Backtest, backtest
from cellworth.table import ColumnLayout


class Column(Memoryless):
    """Buy the cells of one column."""

    def __init__(self, place):
        self.place = place

    def score(self, this_round):
        wanted = np.arange(this_round.X.shape[1]) == self.place
        return (this_round.holes & wanted).astype(float)


class ColumnMeans(BlockCompleter):
    """The cheapest completer there is."""

    def fit_blocks(self, source, summary, checkpoint=None):
        self.means_ = summary.sums.mean

    def complete_rows(self, part, state=None):
        return np.where(np.isnan(part.X), self.means_, part.X), None

    def transform(self, X):
        return np.where(np.isnan(X), self.means_, X)


def buys(name, place):
    return Strategy(name, ColumnMeans(), Column(place), Top())


def trees(kind):
    learner = DecisionTreeRegressor if kind == "number" else DecisionTreeClassifier
    return Candidate("a tree", learner=learner(min_samples_leaf=8, random_state=0))


def one_useful_column(kind, n=400):
    """Return a task of independent columns, of which the first decides, but not linearly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    decides = np.sin(3 * X[:, 0])
    y = {"classes": np.digitize(decides, [-0.5, 0.5]).astype(float), "number": decides}[kind]
    X[rng.random(X.shape) < 0.3] = np.nan
    prices = Prices.same(1.0).on(Table.from_arrays(X))
    return BuyingTask(X, y, ColumnLayout.of_numbers(4), kind, prices, 5)


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_who_buys_the_useful_column_wins(kind):
    steps = []
    played = backtest(
        one_useful_column(kind),
        [buys("noise", 2), buys("useful", 0), buys("useful too", 0)],
        trees(kind),
        progress=lambda done, total: steps.append((done, total)),
    )
    lead = played.lead("useful", over="noise")
    assert lead.value > 0
    assert lead.errors > 2
    assert lead.won >= 6
    assert lead.plays == FOLDS * DEALS
    assert steps == [(k + 1, FOLDS * DEALS) for k in range(FOLDS * DEALS)]
    same = played.lead("useful too", over="useful")
    assert (same.value, same.errors, same.won) == (0.0, 0.0, 0)


def test_the_same_seed_plays_the_same_and_no_time_leaves_one_deal():
    task = one_useful_column("number")
    first, again = (backtest(task, [buys("a", 1)], trees("number"), seconds=s) for s in (None, 0.0))
    assert len(again.by_play) == FOLDS
    np.testing.assert_array_equal(first.by_play[:FOLDS], again.by_play)


def test_the_error_of_a_lead_is_the_larger_of_rows_and_plays():
    by_play = np.array([[0.5, 0.6], [0.5, 0.8]])
    quiet, loud = np.zeros(4), np.array([2.0, -2.0, 2.0, -2.0])
    over_plays = Backtest(("a", "b"), by_play, (Score(0.5, quiet, 2), Score(0.7, quiet, 2)))
    lead = over_plays.lead("b", over="a")
    assert (lead.value, lead.won, lead.plays) == (pytest.approx(0.2), 2, 2)
    assert lead.error == pytest.approx(np.std([0.1, 0.3], ddof=1) / np.sqrt(2))
    over_rows = Backtest(("a", "b"), by_play, (Score(0.5, quiet, 2), Score(0.7, loud, 2)))
    assert over_rows.lead("b", over="a").error == pytest.approx(4.0 / 4)
