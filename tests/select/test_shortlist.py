"""A batch from the shortlists of parts is the batch from the whole table, and shortlists are short."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import ParameterError
from cellworth.prices import PriceList
from cellworth.select import Draw, Knapsack, Offer, Poss, Ratio, Top
from cellworth.select.shortlist import Reach, TableNumbers

P = 5
SELECTORS = [
    Top(),
    Top(per_row=1),
    Top(crowding=0.6),
    Ratio(),
    Ratio(per_row=2, crowding=0.8),
    Draw(),
    Draw("price"),
    Draw("price", by="row"),
    Draw("price", by="auto"),
    Draw("price", power=2.0, crowding=0.5),
    Draw(per_row=1),
    Knapsack(),
    Knapsack(per_row=2),
    Poss(300),
    Poss(300, per_row=1),
]
GROUPS = np.array([0, 0, 1, -1, -1])


def make_offer(kind, n, seed):
    """Return an offer with prices of a kind; some cells are known, some worth nothing, some scores tie."""
    rng = np.random.default_rng(seed)
    none = np.full(P, -1), np.zeros(P), np.zeros(0, dtype=bool)
    by_column = np.broadcast_to(rng.integers(1, 8, size=P).astype(float), (n, P))
    by_cell = rng.uniform(0.5, 9, size=(n, P)).round(2)
    fees = np.where(GROUPS >= 0, 3.5, 0.0)
    prices = {
        "column": PriceList(by_column, *none),
        "cell": PriceList(by_cell, *none),
        "group": PriceList(by_column, GROUPS, fees, np.array([True, False])),
        "visit": PriceList(by_cell, *none, visit=4.0),
        "all": PriceList(by_column, GROUPS, fees, np.array([False, True]), visit=2.5),
    }[kind]
    state = rng.choice(3, p=[0.6, 0.3, 0.1], size=(n, P))
    scores = (rng.exponential(size=(n, P)) * (rng.random((n, P)) > 0.1)).round(2)
    return Offer(scores, state == 0, prices, state == 1)


def part_of(selector, offer, rows, seed):
    """Return some rows as a part of the whole, with their noise."""
    part = replace(offer, whole=offer.totals).of_rows(rows)
    if not hasattr(selector, "noise"):
        return part
    numbers = TableNumbers(
        np.random.default_rng(seed),
        part.available,
        start=int(rows[0]),
        n_rows=len(offer.scores),
        before=int(offer.available[: rows[0]].sum()),
        n_cells=int(offer.available.sum()),
    )
    return replace(part, noise=selector.noise(part, numbers))


def from_parts(selector, offer, cuts, seed, **limits):
    """Select from the shortlists of parts, merged one after another as blocks are."""
    found, numbers = None, np.zeros(0, dtype=int)
    for rows in np.split(np.arange(len(offer.scores)), cuts):
        if not len(rows):
            continue
        part = part_of(selector, offer, rows, seed)
        kept = selector.shortlist(part, **limits)
        part, rows = part.of_rows(kept), rows[kept]
        found, numbers = part if found is None else found.followed_by(part), np.append(numbers, rows)
        again = selector.shortlist(found, **limits)
        found, numbers = found.of_rows(again), numbers[again]
    batch = selector.select(found, **limits, rng=np.random.default_rng(seed))
    return np.column_stack([numbers[batch.cells[:, 0]], batch.cells[:, 1]]), batch, len(numbers)


@settings(max_examples=25)
@given(
    selector=st.sampled_from(SELECTORS),
    kind=st.sampled_from(["column", "cell", "group", "visit", "all"]),
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(0, 300), max_size=4).map(sorted),
    limits=st.sampled_from([{"budget": 20.0}, {"count": 6}, {"budget": 90.5, "count": 9}, {"budget": 1e6}]),
)
def test_parts_give_the_batch_of_the_whole(selector, kind, seed, cuts, limits):
    offer = make_offer(kind, 300, seed)
    chunks, most = "cellworth.select.shortlist.FIRST_CHUNK", "cellworth.select.poss.MOST_CANDIDATES"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, 16)
        patch.setattr(most, 100)
        whole = selector.select(offer, **limits, rng=np.random.default_rng(seed))
        cells, batch, _ = from_parts(selector, offer, cuts, seed, **limits)
    if isinstance(selector, Knapsack):  # batches of equal worth are as good
        assert batch.score == pytest.approx(whole.score, rel=1e-6)
        assert batch.cost <= limits.get("budget", np.inf)
    else:
        assert cells.tolist() == whole.cells.tolist()
        assert batch.prices == pytest.approx(whole.prices)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize("kind", ["column", "cell", "all"])
def test_shortlists_are_short(selector, kind, monkeypatch):
    monkeypatch.setattr("cellworth.select.shortlist.FIRST_CHUNK", 16)
    monkeypatch.setattr("cellworth.select.poss.MOST_CANDIDATES", 100)
    offer = make_offer(kind, 4000, 1)
    rows = selector.shortlist(part_of(selector, offer, np.arange(4000), 0), budget=20.0)
    assert 0 < len(rows) <= 600


def test_what_is_in_reach_is_a_superset_of_what_is_bought():
    """Brute force: buy by priority, skipping what does not fit."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        prices, priority = rng.integers(1, 9, 30).astype(float), rng.permutation(30).astype(float)
        left, bought = 12.0, []
        for item in np.argsort(-priority).tolist():
            if prices[item] <= left:
                left -= prices[item]
                bought.append(item)
        reach = Reach(prices, prices, np.ones(30), 12.0, np.inf)
        for some in np.array_split(np.argsort(-priority), 7):
            reach.take(priority, np.sort(some))
        assert set(bought) <= set(reach.kept.tolist())
        assert len(reach.kept) < 30


@given(n=st.integers(2, 30), cut=st.integers(0, 30), seed=st.integers(0, 99))
def test_the_numbers_of_a_part_are_those_of_the_whole(n, cut, seed):
    cut = min(cut, n)
    available = np.random.default_rng(seed).random((n, 3)) < 0.5

    def numbers(rows):
        some = np.arange(n)[rows]
        if len(some) == n:
            return TableNumbers(np.random.default_rng(5), available)
        start = int(some[0]) if len(some) else n
        before, total = int(available[:start].sum()), int(available.sum())
        part = available[rows]
        return TableNumbers(
            np.random.default_rng(5), part, start=start, n_rows=n, before=before, n_cells=total
        )

    whole, a, b = numbers(slice(None)), numbers(slice(0, cut)), numbers(slice(cut, n))
    for how, width in (("cells", 1), ("random", 3), ("gumbel", 1), ("cells", 1), ("random", 1)):
        if how == "cells":
            found = [each.for_cells("gumbel") for each in (whole, a, b)]
        else:
            found = [each.for_rows(how, width) for each in (whole, a, b)]
        if 0 < cut < n:
            assert np.array_equal(found[0], np.concatenate(found[1:]))


def test_generators_that_cannot_jump_are_refused():
    rng = np.random.Generator(np.random.MT19937(0))
    with pytest.raises(ParameterError, match="PCG64 or Philox; got MT19937"):
        TableNumbers(rng, np.ones((2, 2), dtype=bool), n_rows=4)
