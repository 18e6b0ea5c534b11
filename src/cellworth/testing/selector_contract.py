"""The contract of a selector."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from cellworth.arrays import IntArray
from cellworth.errors import ParameterError
from cellworth.prices import PriceList
from cellworth.select.selector import Offer, Selection
from cellworth.select.shortlist import TableNumbers


def check_selector(selector: Any, *, seed: int = 0) -> None:
    """Check that a selector keeps the promises of every selector.

    A batch stays within its budget and count, for prices per column, per cell, in cents, in groups (already
    open or not) and with visits; it contains only available cells, none twice; its prices are what each cell
    adds to the bill, and sum to the bill; its scores are those offered; a cell with score 0 is never chosen
    over a better one; the same generator state gives the same batch; the offer is not modified; the
    selector's ``per_row``, if any, is respected; costs and scores increase along a front; nothing on offer,
    or too small a budget, gives an empty batch; invalid limits are refused. With a ``shortlist``, selecting
    from the shortlists of two parts of a table, and from a shortlist of both, gives the cells, or at least
    the total score, of selecting from the whole.

    Parameters
    ----------
    selector : object with ``select(offer, *, budget=None, count=None, rng)``
    seed : int

    Examples
    --------
    >>> from cellworth.select import Top
    >>> check_selector(Top())
    """
    rng = np.random.default_rng(seed)
    for name, offer in random_offers(rng).items():
        for limits in _limits(offer, rng):
            _check_batch(selector, offer, limits, f"with {name} and {limits}")
        _check_empty(selector, offer, name)
        if hasattr(selector, "shortlist"):
            _check_shortlist(selector, offer, rng, name)
    _check_worthless(selector, rng)
    _check_refusals(selector, random_offers(rng)["prices per column"])


def random_offers(rng: np.random.Generator, n: int = 12, p: int = 6) -> dict[str, Offer]:
    """Return offers of n x p cells, some known, some unavailable, some with score 0, by kind of price."""
    whole = np.tile(rng.integers(1, 11, size=p).astype(float), (n, 1))
    cents = np.tile(rng.integers(1, 2000, size=p) / 100, (n, 1))
    cells = rng.uniform(0.1, 10, size=(n, p))
    group_of = np.array([0, 0, 1, 1, 1] + [-1] * (p - 5))
    fee = np.where(group_of >= 0, rng.integers(1, 60, size=p) / 4, 0.0)
    alone = np.full(p, -1), np.zeros(p), np.zeros(0, dtype=bool)
    prices = {
        "prices per column": PriceList(whole, *alone),
        "prices in cents": PriceList(cents, *alone),
        "prices of 0.1": PriceList(np.full((n, p), 0.1), *alone),
        "prices per cell": PriceList(cells, *alone),
        "prices of groups": PriceList(cents, group_of, fee, np.array([True, False])),
        "visits": PriceList(whole, *alone, visit=7.5),
        "groups and visits": PriceList(cells, group_of, fee, np.array([False, True]), visit=3.3),
    }
    offers = {}
    for name, price_list in prices.items():
        state = rng.choice(3, p=[0.7, 0.15, 0.15], size=(n, p))
        scores = rng.exponential(size=(n, p)) * (rng.random((n, p)) > 0.1)
        scores[state > 0] = np.nan  # selectors must not look at these
        offers[name] = Offer(scores, state == 0, price_list, state == 1)
    return offers


def _limits(offer: Offer, rng: np.random.Generator) -> list[dict[str, Any]]:
    cells = np.argwhere(offer.available)
    everything = offer.prices.cost(cells, offer.before)
    some = offer.prices.cost(rng.permutation(cells)[:7], offer.before)
    return [
        {"budget": everything / 3},
        {"budget": some},
        {"budget": round(everything / 5, 1)},
        {"budget": 3 * everything},
        {"budget": math.inf},
        {"count": 5},
        {"count": 10 * offer.scores.size},
        {"budget": everything / 4, "count": 4},
    ]


def _check_batch(selector: Any, offer: Offer, limits: dict[str, Any], where: str) -> None:
    kept = [np.array(a) for a in (offer.scores, offer.available, offer.before, offer.prices.own)]
    batch: Selection = selector.select(offer, **limits, rng=np.random.default_rng(5))
    for before, after in zip(
        kept, (offer.scores, offer.available, offer.before, offer.prices.own), strict=True
    ):
        np.testing.assert_array_equal(before, after, err_msg="select must not change the offer")
    _check_cells(batch, offer, where)
    assert batch.cost <= limits.get("budget", math.inf), (
        f"{where}: a batch must not cost more than the budget; got {batch.cost!r}"
    )
    assert len(batch.cells) <= limits.get("count", math.inf), (
        f"{where}: a batch must not have more cells than asked for; got {len(batch.cells)}"
    )
    per_row = getattr(selector, "per_row", None)
    if per_row is not None and len(batch.cells):
        most = np.bincount(batch.cells[:, 0]).max()
        assert most <= per_row, f"{where}: no row may have more than {per_row} cells; got {most}"
    if batch.front is not None:
        costs, scores = batch.front.costs, batch.front.scores
        assert costs.shape == scores.shape, f"{where}: the front must have as many costs as scores"
        assert (np.diff(costs) > 0).all(), f"{where}: the costs of the front must increase"
        assert (np.diff(scores) > 0).all(), f"{where}: the scores of the front must increase"
    again = selector.select(offer, **limits, rng=np.random.default_rng(5))
    same = np.array_equal(batch.cells, again.cells)
    assert same, f"{where}: the same generator state must give the same batch"


def _check_cells(batch: Selection, offer: Offer, where: str) -> None:
    cells = np.asarray(batch.cells)
    assert cells.ndim == 2, f"{where}: cells must be (k, 2); got the shape {cells.shape}"
    assert cells.shape[1] == 2, f"{where}: cells must be (k, 2); got the shape {cells.shape}"
    assert np.issubdtype(cells.dtype, np.integer), f"{where}: cells must be whole numbers; got {cells.dtype}"
    rows, columns = cells.T
    assert offer.available[rows, columns].all(), f"{where}: only available cells can be bought"
    assert len(np.unique(cells, axis=0)) == len(cells), f"{where}: no cell may be bought twice"
    np.testing.assert_array_equal(
        batch.scores, offer.scores[rows, columns], err_msg=f"{where}: scores must be those offered"
    )
    bill = offer.prices.bill(offer.before)
    expected = [bill.add(int(row), int(column)) for row, column in cells]
    np.testing.assert_allclose(
        batch.prices, expected, rtol=1e-12, atol=1e-12, err_msg=f"{where}: prices must be those of the bill"
    )
    np.testing.assert_allclose(
        batch.cost,
        offer.prices.cost(cells, offer.before),
        rtol=1e-12,
        err_msg=f"{where}: the cost must be that of the cells",
    )


def _check_empty(selector: Any, offer: Offer, name: str) -> None:
    nothing = np.zeros_like(offer.available)
    sold_out = Offer(offer.scores, nothing, offer.prices, offer.before)
    cheapest = offer.prices.marginal(offer.before)[offer.available].min()
    cases: dict[str, tuple[Offer, dict[str, Any]]] = {
        "nothing on offer": (sold_out, {"budget": 10.0}),
        "nothing on offer and a count": (sold_out, {"count": 3}),
        "a budget below the cheapest price": (offer, {"budget": 0.9 * cheapest}),
        "a budget of 0": (offer, {"budget": 0}),
        "a count of 0": (offer, {"count": 0}),
    }
    for case, (which, limits) in cases.items():
        batch = selector.select(which, **limits, rng=np.random.default_rng(0))
        assert batch.cells.shape == (0, 2), f"{case} must give an empty batch with {name}; got {batch.cells}"
        assert batch.cost == 0, f"{case} must cost nothing with {name}; got {batch.cost}"


def _check_shortlist(selector: Any, offer: Offer, rng: np.random.Generator, name: str) -> None:
    """Split the rows in two, and select from the shortlists of both parts."""
    cut = int(rng.integers(1, len(offer.scores)))
    halves = [np.arange(cut), np.arange(cut, len(offer.scores))]
    for limits in _limits(offer, rng):
        where = f"with {name} and {limits}"
        seed = int(rng.integers(1000))
        whole = selector.select(offer, **limits, rng=np.random.default_rng(seed))
        parts, rows = [], []
        for half in halves:
            part = _with_noise(selector, offer, half, seed)
            kept = np.asarray(selector.shortlist(part, **limits))
            assert (np.diff(kept) > 0).all(), f"{where}: the rows of a shortlist must increase; got {kept}"
            parts.append(part.of_rows(kept))
            rows.append(half[kept])
        both = parts[0].followed_by(parts[1])
        again = selector.shortlist(both, **limits)
        numbers = np.concatenate(rows)
        choices = [(both, numbers)]
        if len(again) < len(numbers):
            choices.append((both.of_rows(again), numbers[again]))
        for few, its_rows in choices:
            found = selector.select(few, **limits, rng=np.random.default_rng(seed))
            cells = np.column_stack([its_rows[found.cells[:, 0]], found.cells[:, 1]])
            if np.array_equal(cells, whole.cells):
                continue
            np.testing.assert_allclose(
                found.score,
                whole.score,
                rtol=2e-6,
                err_msg=f"{where}: shortlists must include all that select would choose",
            )
            assert not hasattr(selector, "noise"), f"{where}: a draw must not depend on the parts"


def _with_noise(selector: Any, offer: Offer, rows: IntArray, seed: int) -> Offer:
    """Return some rows of an offer as a part of the whole, with what the selector draws for them."""
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


def _check_worthless(selector: Any, rng: np.random.Generator) -> None:
    """Offer six cells with score 1 and many with score 0, all at the same price, with money for three."""
    n, p = 10, 3
    scores = np.zeros((n, p))
    scores[rng.permutation(n)[:6], rng.integers(p, size=6)] = 1.0
    prices = PriceList(np.ones((n, p)), np.full(p, -1), np.zeros(p), np.zeros(0, dtype=bool))
    available = np.ones((n, p), dtype=bool)
    batch = selector.select(
        Offer(scores, available, prices, ~available), budget=3.0, rng=np.random.default_rng(1)
    )
    taken = batch.scores.tolist()
    assert taken == [1.0] * len(taken), (
        f"a cell with score 0 must not be chosen over a better one; got {taken}"
    )


def _check_refusals(selector: Any, offer: Offer) -> None:
    for limits in (
        {},
        {"budget": math.nan},
        {"budget": -1.0},
        {"count": -1},
        {"count": math.nan},
        {"count": 2.5},
    ):
        try:
            selector.select(offer, **limits, rng=np.random.default_rng(0))
        except ParameterError:
            continue
        raise AssertionError(f"select must refuse the limits {limits or 'None and None'} with ParameterError")
