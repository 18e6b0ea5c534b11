"""Where labels are on offer, a batch from the shortlists of parts is the batch from the whole table."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.prices import PriceList
from cellworth.select import Draw, Knapsack, Offer, Poss, Ratio, Top
from cellworth.select.draw import finishes_rows
from tests.select.test_shortlist import from_parts, part_of

P = 4
DRAWS = [
    Draw(),
    Draw("price"),
    Draw("price", by="row"),
    Draw("price", by="auto"),
    Draw("price", power=2.0, crowding=0.5),
    Draw("price", per_row=2),
]
OTHERS = [Top(), Ratio(), Ratio(per_row=1), Knapsack(), Poss(300)]
GROUPS = np.array([0, 0, -1, -1, 0])


def make_offer(kind, seed, n=200, label_price=6.0, ties=False, lacking=0.5):
    """Return an offer whose last column is that of the labels; some of them are worth nothing."""
    rng = np.random.default_rng(seed)
    own = rng.integers(1, 5, size=(n, P + 1)).astype(float)
    own[:, -1] = label_price
    if kind == "equal":
        own[:] = 1.0
    grouped = kind in ("group", "all")
    group = GROUPS if grouped else np.full(P + 1, -1)
    fees = np.where(group == 0, 2.5, 0.0)
    visit = 3.0 if kind in ("visit", "all") else 0.0
    prices = PriceList(own, group, fees, np.array([True] if grouped else [], dtype=bool), visit, labels=True)
    scores = rng.exponential(size=(n, P + 1)) * (rng.random((n, P + 1)) > 0.1)
    scores[:, -1] *= label_price * rng.uniform(0.2, 1.5)
    scores = scores.round(1 if ties else 6)
    state = rng.choice(3, p=[0.6, 0.3, 0.1], size=(n, P + 1))
    state[:, -1] = rng.choice(3, p=[lacking, 0.95 - lacking, 0.05], size=n)
    return Offer(scores, state == 0, prices, state == 1)


@settings(max_examples=60)
@given(
    selector=st.sampled_from([*DRAWS, *OTHERS]),
    kind=st.sampled_from(["cell", "equal", "group", "visit", "all"]),
    seed=st.integers(0, 10**6),
    ties=st.booleans(),
    lacking=st.sampled_from([0.0, 0.02, 0.5, 0.9]),
    label_price=st.sampled_from([0.5, 6.0, 60.0]),
    cuts=st.lists(st.integers(0, 200), max_size=4).map(sorted),
    limits=st.sampled_from([{"budget": 20.0}, {"count": 6}, {"budget": 90.5, "count": 9}, {"budget": 1e6}]),
)
def test_parts_give_the_batch_of_the_whole(selector, kind, seed, ties, lacking, label_price, cuts, limits):
    offer = make_offer(kind, seed, ties=ties, lacking=lacking, label_price=label_price)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cellworth.select.shortlist.FIRST_CHUNK", 16)
        patch.setattr("cellworth.select.poss.MOST_CANDIDATES", 100)
        whole = selector.select(offer, **limits, rng=np.random.default_rng(seed))
        cells, batch, _ = from_parts(selector, offer, cuts, seed, **limits)
    if isinstance(selector, Knapsack):  # batches of equal worth are as good
        assert batch.score == pytest.approx(whole.score, rel=1e-6)
    else:
        assert cells.tolist() == whole.cells.tolist()
        assert batch.prices == pytest.approx(whole.prices)


@pytest.mark.parametrize("selector", DRAWS, ids=repr)
@pytest.mark.parametrize("kind", ["cell", "all"])
def test_shortlists_are_short(selector, kind, monkeypatch):
    monkeypatch.setattr("cellworth.select.shortlist.FIRST_CHUNK", 16)
    offer = make_offer(kind, 1, n=4000)
    rows = selector.shortlist(part_of(selector, offer, np.arange(4000), 0), budget=20.0)
    assert 0 < len(rows) <= 900


def test_totals_of_parts_add_up_to_those_of_the_whole():
    offer = make_offer("all", 3)
    parts = [offer.of_rows(rows) for rows in np.split(np.arange(200), [30, 31, 150])]
    added = parts[0].totals
    for part in parts[1:]:
        added = added.added(part.totals)
    assert added.beside_labels == pytest.approx(offer.totals.beside_labels)
    worth, money = 0.0, 0.0
    alone, waits = offer.prices.marginal(offer.before), offer.awaiting
    for i, j in np.argwhere(offer.available[:, :-1]).tolist():
        if offer.scores[i, j] > 0 and not waits[i, j]:
            worth, money = worth + offer.scores[i, j], money + alone[i, j]
    assert offer.totals.beside_labels == pytest.approx((worth, money))


def test_labels_do_not_count_among_the_columns_that_count():
    offer = make_offer("equal", 0, n=4000)
    without = Offer(
        offer.scores[:, :-1], offer.available[:, :-1], offer.prices.of_cells(), offer.before[:, :-1]
    )
    assert finishes_rows(offer.totals) == finishes_rows(without.totals)
    dear = replace(offer, scores=np.column_stack([offer.scores[:, :-1], 1e9 * offer.scores[:, -1]]))
    assert finishes_rows(dear.totals) == finishes_rows(without.totals)
