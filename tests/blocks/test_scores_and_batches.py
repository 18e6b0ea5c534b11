"""Worths and batches over blocks are those of the scorers and selectors in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.engine import BlockScorer, select_cells
from cellworth.engine.batch import Candidates, Merge, _best
from cellworth.errors import DataError, ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.score import PosteriorImpact, PosteriorVariance, Random, Round, Variance
from cellworth.select import Draw, Knapsack, Offer, Ratio, Top
from tests.blocks.tables import SAME, difference, make_table

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NORMAL = GaussianCompleter(margins="normal", label_trust=0)


def rounds_of(X, y, kind, completer):
    return Round(X, y, kind, completer, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("where", "kind"),
    [("local", "two"), ("local", "three"), ("local", "number"), ("local", "none"), ("dask", "number")],
)
def test_posterior_scores(where, kind, request):
    engine = request.getfixturevalue(where)
    engine.block_rows = 130
    X, y = make_table(400, 4, 0, labelled=0.7)
    y = {
        "two": y,
        "three": np.digitize(X[:, 1], [-1, 1]).astype(float),
        "number": X[:, 2] * 3 + 0.5,
        "none": None,
    }[kind]
    target = {"number": "number", "none": None}.get(kind, "classes")
    whole = GaussianCompleter(margins="normal", label_trust=0).fit(X, y)
    done = clone(NORMAL).fit(open_blocks(X, target=y, engine=engine)).completed_
    for scorer in (PosteriorVariance(), PosteriorImpact(), PosteriorImpact(power=1)):
        scores = BlockScorer(scorer).score(done).gather()
        assert difference(scores, scorer.score(rounds_of(X, y, target, whole))) < SAME


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize(
    "completer", [NORMAL, SupervisedCompleter(max_iter=20, tol=0)], ids=lambda c: type(c).__name__
)
def test_variance_over_rounds(window, completer, local):
    X, y = make_table(240, 3, 1, labelled=0.8)
    local.block_rows = 77
    whole, blocks = Variance(window=window), BlockScorer(Variance(window=window))
    rng = np.random.default_rng(5)
    for _ in range(4):
        fitted = type(completer)(**completer.get_params()).fit(X, y)
        done = clone(completer).fit(open_blocks(X, target=y, engine=local)).completed_
        expected = whole.score(rounds_of(X, y, "classes", fitted))
        assert difference(blocks.score(done).gather(), expected) < SAME
        X = np.where(np.isnan(X) & (rng.random(X.shape) < 0.1), rng.normal(size=X.shape), X)


def test_history_stays_on_the_workers(dask):
    X, y = make_table(200, 3, 2)
    dask.block_rows = 60
    scorer = BlockScorer(Variance())
    for _ in range(2):
        done = clone(NORMAL).fit(open_blocks(X, target=y, engine=dask)).completed_
        scores = scorer.score(done)
        X[7, 1] = 3.0
    assert all(type(item).__name__ == "Future" for item in scorer._history.items)
    assert scores.gather().shape == X.shape
    dask.block_rows = 50
    with pytest.raises(DataError, match="must stay the same from round to round"):
        scorer.score(clone(NORMAL).fit(open_blocks(X, target=y, engine=dask)).completed_)


@pytest.fixture(scope="module")
def scored():
    """A completed table with its worths, coarsened in one column so that some are equal."""
    X, y = make_table(300, 4, 3)
    with ThreadEngine(n_jobs=1, block_rows=41) as engine:
        done = clone(NORMAL).fit(open_blocks(X, target=y, columns=list("abcd"), engine=engine)).completed_
        scores = BlockScorer(PosteriorVariance()).score(done).gather()
        yield X, done, scores


def select_whole(X, scores, own, selector, **limits):
    holes = np.isnan(X)
    none = np.full(4, -1), np.zeros(4), np.zeros(0, dtype=bool)
    offer = Offer(scores, holes, PriceList(np.tile(own, (len(X), 1)), *none), ~holes)
    return selector.select(offer, rng=np.random.default_rng(0), **limits)


@pytest.mark.parametrize("count", [0, 1, 17, 10_000])
def test_top_is_that_of_the_selector(scored, count):
    X, done, scores = scored
    batch, whole = (
        select_cells(done, PosteriorVariance(), Top(), count=count),
        select_whole(X, scores, np.ones(4), Top(), count=count),
    )
    assert np.column_stack([batch.row_numbers, batch.column_numbers]).tolist() == whole.cells.tolist()
    assert batch.rows.tolist() == whole.cells[:, 0].tolist()
    assert batch.columns.tolist() == [list("abcd")[j] for j in whole.cells[:, 1]]
    assert (batch.scores == whole.scores).all()


@given(
    own=st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.25, 7.0]), min_size=4, max_size=4),
    budget=st.floats(0, 60),
    count=st.none() | st.integers(0, 20),
    selector=st.sampled_from([Top(), Ratio(), Knapsack()]),
)
@settings(max_examples=60)
def test_budgets_buy_the_same(scored, own, budget, count, selector):
    X, done, scores = scored
    prices = Prices.per_column(dict(zip("abcd", own, strict=True)))
    limits = {"budget": budget, "count": count}
    batch = select_cells(done, PosteriorVariance(), selector, prices=prices, **limits)
    whole = select_whole(X, scores, np.array(own), selector, **limits)
    assert batch.cost <= budget
    # Bounded by the millionth to which Knapsack with a count is solved; else equal up to the order of sums.
    assert batch.score == pytest.approx(whole.score, rel=2e-6 if count is not None else 1e-12)
    if not isinstance(selector, Knapsack):
        assert np.column_stack([batch.row_numbers, batch.column_numbers]).tolist() == whole.cells.tolist()


@given(
    scores=st.lists(st.integers(0, 4), min_size=1, max_size=40),
    most=st.lists(st.integers(0, 6), min_size=2, max_size=2),
    cut=st.integers(0, 40),
)
def test_the_best_of_two_blocks_are_the_best_of_both(scores, most, cut):
    n, limits = len(scores), np.array(most, dtype=float)
    group = np.array([0, 1])
    rows, columns = np.arange(n), np.arange(n) % 2
    every = Candidates(rows, columns, rows, np.array(scores, dtype=float))
    halves = [_best(every.take(np.arange(n)[part]), group, limits) for part in (slice(cut), slice(cut, None))]
    merged = Merge(group, limits)(*halves)
    expected = []
    for kind in (0, 1):
        of_kind = sorted((-scores[i], i) for i in range(n) if i % 2 == kind)
        expected += [i for _, i in of_kind[: most[kind]]]
    assert merged.rows.tolist() == sorted(expected)
    assert all(len(half.rows) <= sum(most) for half in halves)  # no block ever sends more


def test_what_blocks_cannot_do_is_refused(scored):
    _, done, _ = scored
    with pytest.raises(ParameterError, match="got Draw"):
        select_cells(done, PosteriorVariance(), Draw(), count=3)
    with pytest.raises(ParameterError, match="without limits by row"):
        select_cells(done, PosteriorVariance(), Top(per_row=1), count=3)
    with pytest.raises(ParameterError, match="without groups and visits"):
        select_cells(done, PosteriorVariance(), Top(), budget=3, prices=Prices.same(1, visit=2))
    with pytest.raises(ParameterError, match="got Random"):
        select_cells(done, Random(), Top(), count=3)
    X, y = make_table(50, 3, 0)
    plain = SupervisedCompleter(max_iter=3).fit(open_blocks(X, target=y)).completed_
    with pytest.raises(ParameterError, match="needs a completer that tells the variance"):
        select_cells(plain, PosteriorVariance(), Top(), count=3)
