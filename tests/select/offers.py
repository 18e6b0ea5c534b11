"""Offers for the tests of selectors, small enough for brute force, and brute force itself."""

import itertools

import numpy as np
from hypothesis import strategies as st

from cellworth.prices import PriceList
from cellworth.select import Offer
from cellworth.select.poss import CountedCells, whole_scores


def additive(own):
    own = np.asarray(own, dtype=float)
    p = own.shape[1]
    return PriceList(own, np.full(p, -1), np.zeros(p), np.zeros(0, dtype=bool))


def offer_of(scores, own=None, **prices):
    scores = np.atleast_2d(np.asarray(scores, dtype=float))
    own = np.ones_like(scores) if own is None else np.broadcast_to(np.asarray(own, float), scores.shape)
    price_list = PriceList(own, **prices) if prices else additive(own)
    holes = np.ones(scores.shape, dtype=bool)
    return Offer(scores, holes, price_list, ~holes)


def large_offer(n=3000, p=19, seed=0):
    """Return whole prices from 1 to 10 by column and skewed scores."""
    rng = np.random.default_rng(seed)
    own = np.tile(rng.integers(1, 11, size=p).astype(float), (n, 1))
    return offer_of(rng.exponential(size=(n, p)) ** 2, own)


def batches(offer, spread=None):
    """Yield (cells, cost, worth) of every set of available cells of a score above 0, the empty one first."""
    cells = np.argwhere(offer.available & (np.nan_to_num(offer.scores) > 0))
    for size in range(len(cells) + 1):
        for which in itertools.combinations(range(len(cells)), size):
            chosen = cells[list(which)]
            scores = offer.scores[tuple(chosen.T)]
            worth = scores.sum() if spread is None else spread.total(chosen[:, 0], scores)
            yield chosen, offer.prices.cost(chosen, offer.before), worth


def best_worth(offer, budget, count=np.inf, spread=None):
    """Return the largest worth of a batch within the limits."""
    per_row = np.inf if spread is None else spread.most
    return max(
        worth
        for cells, cost, worth in batches(offer, spread)
        if cost <= budget and len(cells) <= count and np.bincount(cells[:, 0], minlength=1).max() <= per_row
    )


def pareto_front(offer, limit, spread=None):
    """Return costs and worths of the batches below the limit of which none is beaten, from none on."""
    points = sorted({(round(cost, 9), -worth) for _, cost, worth in batches(offer, spread) if cost < limit})
    front = []
    for cost, negative in points:
        if not front or -negative > front[-1][1] + 1e-9:
            front.append((cost, -negative))
    return np.array(front).T


scores_of = st.one_of(
    st.integers(0, 6).map(float), st.floats(0, 10, allow_nan=False).map(lambda x: round(x, 6))
)


@st.composite
def tiny_offers(draw, kind, most=9):
    """Draw an offer of at most ``most`` cells; the kind says how they are priced."""
    n, p = draw(st.sampled_from([(1, 4), (2, 3), (3, 3), (4, 2), (2, 4), (most, 1)]))
    amount = {
        "whole": st.integers(1, 10).map(float),
        "cents": st.integers(1, 1500).map(lambda x: x / 100),
        "cell": st.floats(0.01, 10),
    }["cell" if kind == "cell" else "cents" if kind in ("cents", "groups") else "whole"]
    shape = (n, p) if kind == "cell" else (1, p)
    own = np.array([[draw(amount) for _ in range(shape[1])] for _ in range(shape[0])])
    own = np.broadcast_to(own, (n, p)).copy()
    scores = np.array([[draw(scores_of) for _ in range(p)] for _ in range(n)])
    state = np.array([[draw(st.sampled_from([0, 0, 0, 0, 1, 2])) for _ in range(p)] for _ in range(n)])
    prices = additive(own)
    if kind in ("groups", "visits"):
        group_of = np.array([draw(st.integers(-1, 1)) for _ in range(p)])
        fee = np.array([draw(st.integers(0, 40)) / 4 for _ in range(p)]) * (group_of >= 0)
        lasting = np.array([draw(st.booleans()), draw(st.booleans())])
        visit = float(draw(st.integers(0, 20))) if kind == "visits" else 0.0
        prices = PriceList(own, group_of, fee, lasting, visit)
    return Offer(scores, state == 0, prices, state == 1)


def budgets_for(draw, offer):
    """Draw a budget, at times one that some batch costs to the last digit."""
    cells = np.argwhere(offer.available)
    total = offer.prices.cost(cells, offer.before)
    some = [cell for cell in cells if draw(st.booleans())]
    exact = offer.prices.cost(np.array(some).reshape(-1, 2).astype(int), offer.before)
    return draw(st.sampled_from([exact, total * draw(st.floats(0.05, 1.1)), round(total / 2, 2)]))


def by_table(prices, scores, budget):
    """Return the largest score for each cost up to the budget, by the textbook's table."""
    best = np.zeros(budget + 1)
    for price, score in zip(prices.tolist(), scores.tolist(), strict=True):
        if price <= budget:
            best[price:] = np.maximum(best[price:], best[: budget + 1 - price] + score)
    return best[budget]


def problem_of(offer, budget, spread, most=10**9):
    alone = offer.prices.marginal(offer.before)
    places = np.flatnonzero(offer.available & (offer.scores > 0) & (alone < 2 * budget))
    units, cells = CountedCells.of(offer, places, budget)
    return cells.problem(whole_scores(offer.scores.flat[places])[0], units.double, most, spread)
