"""Batches from blocks are those of the selectors in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter, Table, advise
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.score import PosteriorVariance
from cellworth.score.block_scores import BlockScores
from cellworth.score.scorer import Memoryless
from cellworth.select import Knapsack, Offer, Ratio, Top
from cellworth.strategy import Strategy
from cellworth.strategy.block_batch import choose_from_blocks
from tests.blocks.tables import make_table

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


NORMAL = GaussianCompleter(margins="normal", label_trust=0)


@pytest.fixture(scope="module")
def scored():
    """The worths of a completed table, block by block and in one piece."""
    X, y = make_table(300, 4, 3)
    with ThreadEngine(n_jobs=1, block_rows=41) as engine:
        done = clone(NORMAL).fit(open_blocks(X, target=y, columns=list("abcd"), engine=engine)).completed_
        scores = PosteriorVariance().score_blocks(done, np.random.default_rng(0))
        yield X, scores, scores.gather()


def select_whole(X, scores, own, selector, **limits):
    holes = np.isnan(X)
    none = np.full(4, -1), np.zeros(4), np.zeros(0, dtype=bool)
    offer = Offer(scores, holes, PriceList(np.tile(own, (len(X), 1)), *none), ~holes)
    return selector.select(offer, rng=np.random.default_rng(0), **limits)


def select_from_blocks(scores, selector, **settings):
    return choose_from_blocks(selector, scores, rng=np.random.default_rng(0), **settings)


def names(selection):
    return [(str(row), "abcd"[column]) for row, column in selection.cells.tolist()]


@pytest.mark.parametrize("count", [0, 1, 17, 10_000])
def test_top_is_that_of_the_selector(scored, count):
    X, scores, gathered = scored
    batch = select_from_blocks(scores, Top(), count=count)
    whole = select_whole(X, gathered, np.ones(4), Top(), count=count)
    assert batch.cells == names(whole)
    assert [each.worth for each in batch] == whole.scores.tolist()


@given(
    own=st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.25, 7.0]), min_size=4, max_size=4),
    budget=st.floats(0, 60),
    count=st.none() | st.integers(0, 20),
    selector=st.sampled_from([Top(), Ratio(), Knapsack()]),
)
@settings(max_examples=60)
def test_budgets_buy_the_same(scored, own, budget, count, selector):
    X, scores, gathered = scored
    prices = Prices.per_column(dict(zip("abcd", own, strict=True)))
    limits = {"budget": budget, "count": count}
    batch = select_from_blocks(scores, selector, prices=prices, **limits)
    whole = select_whole(X, gathered, np.array(own), selector, **limits)
    assert batch.cost <= budget
    # Bounded by the millionth to which Knapsack with a count is solved; else equal up to the order of sums.
    assert batch.worth == pytest.approx(whole.score, rel=2e-6 if count is not None else 1e-12)
    if not isinstance(selector, Knapsack):
        assert batch.cells == names(whole)


def test_ratio_without_a_budget_looks_at_prices_all_the_same(scored):
    X, scores, gathered = scored
    own = [0.5, 1.0, 2.0, 7.0]
    prices = Prices.per_column(dict(zip("abcd", own, strict=True)))
    whole = select_whole(X, gathered, np.array(own), Ratio(), count=9)
    assert select_from_blocks(scores, Ratio(), prices=prices, count=9).cells == names(whole)


def far_from_the_middle(filled, middle, width):
    return np.abs(filled.completed - middle) / width * filled.holes


class Rareness(Memoryless):
    """A scorer of a user's own: how far the completion lies from the column's mean."""

    def score(self, this_round):
        width = np.nanstd(this_round.X, axis=0)
        return np.abs(this_round.completed - np.nanmean(this_round.X, axis=0)) / width * this_round.holes

    def score_blocks(self, completed, rng):
        scaling = completed.summary.scaling("standard", np.float64)
        return BlockScores(completed, far_from_the_middle, shared=(scaling.offset, scaling.width))


class OwnSelector:
    """A selector of a user's own, with the method that row blocks need."""

    def select(self, offer, *, budget=None, count=None, rng):
        return Top().select(offer, budget=budget, count=count, rng=rng)

    def shortlist(self, offer, *, budget=None, count=None):
        self.called = True
        return Top().shortlist(offer, budget=budget, count=count)


def test_own_scorers_and_selectors_run_on_blocks_by_their_methods(local):
    X, y = make_table(240, 4, 1)
    local.block_rows = 50
    mine = Strategy("mine", clone(NORMAL), Rareness(), OwnSelector())
    columns = list("abcd")
    source = open_blocks(X, target=y, columns=columns, engine=local)
    expected = advise(Table.from_arrays(X, y, columns=columns), strategy=mine, count=12)
    batch = advise(source, strategy=mine, count=12)
    assert batch.cells == expected.cells
    assert [p.worth for p in batch] == pytest.approx([p.worth for p in expected])
    assert mine.selector.called


@pytest.mark.parametrize("name", ["afasmc", "afasmc-ratio", "afasmc-knapsack", "random", "random-gaussian"])
def test_advice_on_blocks_is_that_on_the_table(name, local):
    X, y = make_table(150, 4, 2)
    local.block_rows = 40
    columns = list("abcd")
    prices = Prices.per_column({"a": 1.0, "b": 0.1, "c": 2.5, "d": 0.7})
    settings = {"prices": prices, "budget": 9.3, "seed": 5}
    expected = advise(Table.from_arrays(X, y, columns=columns), strategy=name, **settings)
    batch = advise(open_blocks(X, target=y, columns=columns, engine=local), strategy=name, **settings)
    assert batch.cells == expected.cells
    assert batch.cost == expected.cost


def test_what_blocks_cannot_do_is_refused(scored):
    _, scores, _ = scored
    source = scores.completed.source
    with pytest.raises(ParameterError, match=r"TrainingGain.* has no method score_blocks"):
        advise(source, count=3)
    with pytest.raises(ParameterError, match=r"Draw.* has no method shortlist"):
        advise(source, count=3, strategy="linear-impact")
    with pytest.raises(ParameterError, match=r"QueryByCommittee.* has no method score_blocks"):
        advise(source, count=3, strategy="qbc")
    with pytest.raises(ParameterError, match="without limits by row"):
        select_from_blocks(scores, Top(per_row=1), count=3)
    with pytest.raises(ParameterError, match="without groups and visits"):
        select_from_blocks(scores, Top(), budget=3, prices=Prices.same(1, visit=2))
    X, y = make_table(50, 3, 0)
    plain = SupervisedCompleter(max_iter=3).fit(open_blocks(X, target=y)).completed_
    with pytest.raises(ParameterError, match="needs a completer with a variance"):
        PosteriorVariance().score_blocks(plain, np.random.default_rng(0))
