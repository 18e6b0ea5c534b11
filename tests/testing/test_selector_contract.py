"""The contract of selectors catches what it is for."""

from dataclasses import replace

import numpy as np
import pytest

from cellworth.errors import ParameterError
from cellworth.select import Selection, Top
from cellworth.select.selector import Front, settle
from cellworth.testing.selector_contract import check_selector


class Broken:
    """Top, with its limits or its batch spoilt."""

    def __init__(self, spoil=lambda batch, offer: batch, limits=lambda limits: limits, **attributes):
        self.spoil, self.limits = spoil, limits
        self.__dict__.update(attributes)

    def select(self, offer, *, budget=None, count=None, rng):
        limits = self.limits({"budget": budget, "count": count})
        return self.spoil(Top().select(offer, **limits, rng=rng), offer)


def unavailable(batch, offer):
    missing = np.flatnonzero(~offer.available)
    return settle(offer, missing[:1], np.inf) if len(batch.cells) else batch


def twice(batch, offer):
    cells = np.vstack([batch.cells[:-1], batch.cells[:1]])
    return replace(batch, cells=cells, scores=offer.scores[tuple(cells.T)]) if len(cells) > 1 else batch


def worst_first(batch, offer):
    places = np.flatnonzero(offer.available)
    worst = places[np.argsort(offer.scores.flat[places], kind="stable")]
    return settle(offer, worst[: len(batch.cells)], batch.cost)


def spoil_offer(batch, offer):
    offer.scores[offer.available] += 1
    return replace(batch, scores=batch.scores + 1)


def own_prices_only(batch, offer):
    return replace(batch, prices=offer.prices.own[tuple(batch.cells.T)])


CASES = {
    "more than the budget": {
        "limits": lambda x: x if x["budget"] is None else x | {"budget": x["budget"] * 1.5}
    },
    "more cells than asked": {"limits": lambda x: x if not x["count"] else x | {"count": x["count"] + 1}},
    "only available": {"spoil": unavailable},
    "twice": {"spoil": twice},
    "those offered": {"spoil": lambda b, o: replace(b, scores=b.scores + 1)},
    "those of the bill": {"spoil": own_prices_only},
    "score 0": {"spoil": worst_first},
    "change the offer": {"spoil": spoil_offer},
    "no row may have more": {"per_row": 1},
    "front must increase": {"spoil": lambda b, o: replace(b, front=Front(np.zeros(2), np.arange(2.0)))},
    "must refuse": {"limits": lambda x: x if x["budget"] or x["count"] else x | {"count": 0}},
}


@pytest.mark.parametrize("promise", CASES)
def test_a_broken_selector_is_caught(promise):
    with pytest.raises(AssertionError, match=promise):
        check_selector(Broken(**CASES[promise]))


def test_chance_from_elsewhere_is_caught():
    state = np.random.default_rng(0)

    def shuffle(batch: Selection, offer):
        order = state.permutation(len(batch.cells))
        return settle(offer, np.ravel_multi_index(tuple(batch.cells[order].T), offer.scores.shape), np.inf)

    with pytest.raises(AssertionError, match="same generator state"):
        check_selector(Broken(shuffle))


def test_an_error_instead_of_an_empty_batch_is_caught():
    def refuse(batch, offer):
        if not len(batch.cells):
            raise ParameterError("nothing to buy")
        return batch

    with pytest.raises(ParameterError):
        check_selector(Broken(refuse))


def test_a_shortlist_that_is_too_short_is_caught():
    def shortlist(offer, *, budget=None, count=None):
        return Top().shortlist(offer, budget=budget, count=count)[1:]

    with pytest.raises(AssertionError, match="shortlists must include all"):
        check_selector(Broken(shortlist=shortlist))
    check_selector(Broken(shortlist=Top().shortlist))


def test_the_unspoilt_one_passes():
    check_selector(Broken())
