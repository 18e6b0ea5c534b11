"""Draws where labels are on offer: the last column, without which the cells of a row pay nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.prices import PriceList
from cellworth.select import Draw, Offer, Top


def offer_with_labels(seed, n=30, p=4, label_price=7.0, visit=0.0, grouped=False):
    """Return an offer in which half of the rows lack a label; label and cells share a slope, label ahead."""
    rng = np.random.default_rng(seed)
    own = np.ones((n, p + 1))
    own[:, -1] = label_price
    group = np.where(np.arange(p + 1) >= p - 1, 0, -1) if grouped else np.full(p + 1, -1)
    fee = np.where(group == 0, 2.0, 0.0)
    prices = PriceList(own, group, fee, np.zeros(1 if grouped else 0, dtype=bool), visit, labels=True)
    slope = rng.gamma(1.0, size=(n, 1))
    scores = slope * own * np.append(rng.choice([0.5, 1.0], size=p), 1 + 1e-9)
    available = rng.random((n, p + 1)) < 0.7
    available[:, -1] = rng.random(n) < 0.5
    return Offer(scores, available, prices, ~available & (rng.random((n, p + 1)) < 0.5))


prices_kinds = st.sampled_from([{}, {"visit": 3.0}, {"grouped": True}, {"grouped": True, "visit": 3.0}])


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=prices_kinds,
    by=st.sampled_from(["cell", "row", "auto"]),
    budget=st.floats(1.0, 120.0),
)
def test_a_cell_is_never_bought_before_the_label_that_it_needs(seed, kind, by, budget):
    offer = offer_with_labels(seed, **kind)
    batch = Draw(per="price", by=by).select(offer, budget=budget, rng=np.random.default_rng(seed))
    assert batch.cost <= budget
    waits = offer.awaiting
    for row, column in batch.cells.tolist():
        if column == offer.scores.shape[1] - 1:
            waits[row] = False
        assert not waits[row, column], "a cell came before the label that it needs"


def test_money_that_buys_no_label_goes_into_rows_that_have_one():
    offer = offer_with_labels(0, label_price=50.0)
    batch = Draw(per="price").select(offer, budget=20.0, rng=np.random.default_rng(0))
    assert len(batch.cells) == 20
    assert not offer.awaiting[tuple(batch.cells.T)].any()


def test_a_cell_that_brings_more_than_the_label_does_not_wait_for_it():
    prices = PriceList(
        np.array([[1.0, 1.0, 50.0]]), np.full(3, -1), np.zeros(3), np.zeros(0, bool), labels=True
    )
    holes = np.ones((1, 3), dtype=bool)
    offer = Offer(np.array([[0.5, 0.01, 1.0]]), holes, prices, ~holes)
    assert offer.awaiting.tolist() == [[False, True, False]]
    batch = Draw(per="price").select(offer, budget=20.0, rng=np.random.default_rng(0))
    assert batch.cells.tolist() == [[0, 0]]


def test_the_cells_of_a_row_come_with_its_label():
    offer = offer_with_labels(1)
    batch = Draw(per="price").select(offer, budget=80.0, rng=np.random.default_rng(3))
    bought = {row for row, column in batch.cells.tolist() if column == 4}
    for row in sorted(bought)[:-2]:  # the last may be cut by the budget
        best = offer.available[row, :4] & (offer.scores[row, :4] > 0.9 * offer.scores[row, 4] / 7.0)
        taken = {column for r, column in batch.cells.tolist() if r == row}
        assert set(np.flatnonzero(best).tolist()) <= taken


def test_without_labels_on_offer_nothing_changes():
    offer = offer_with_labels(2)
    known = offer.before.copy()
    available = offer.available.copy()
    known[:, -1], available[:, -1] = True, False
    with_column = Offer(offer.scores, available, offer.prices, known)
    cells = Offer(offer.scores[:, :-1], available[:, :-1], offer.prices.of_cells(), known[:, :-1])
    drawn = [
        Draw(per="price").select(each, budget=30.0, rng=np.random.default_rng(0)).cells.tolist()
        for each in (with_column, cells)
    ]
    assert drawn[0] == drawn[1]


def test_the_highest_scores_are_taken_in_any_order():
    offer = offer_with_labels(4)
    batch = Top().select(offer, count=5, rng=np.random.default_rng(0))
    assert batch.scores.tolist() == pytest.approx(np.sort(offer.scores[offer.available])[:-6:-1].tolist())
