"""The model that a campaign is judged by."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.scoring_model import GROWTH, choice_event, choose_in_use, model_in_use
from cellworth.errors import ParameterError
from tests.campaign.campaigns import answers_to, begin, gaussian_table, make_table


def test_a_model_is_chosen_again_when_much_more_is_known():
    campaign = begin(make_table(60), budget=None, strategy="random")
    assert choice_event(campaign.original, campaign.events()) == 0
    known = int((~campaign.original.holes).sum())
    campaign.tell(answers_to(campaign.ask(count=5)))
    assert choice_event(campaign.original, campaign.events()) == 0
    campaign.extend(make_table(40, seed=3, start=60))  # two thirds as many rows
    assert choice_event(campaign.original, campaign.events()) == 3
    assert int((~campaign.table.holes).sum()) >= GROWTH * known
    campaign.tell(answers_to(campaign.ask(count=5)))
    assert choice_event(campaign.original, campaign.events()) == 3
    assert choice_event(campaign.original, campaign.replay(until=2).events()) == 0


def test_the_model_suits_the_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    crossed = Table.from_arrays(np.where(rng.random(X.shape) < 0.1, np.nan, X), X[:, 0] * X[:, 1] > 0)
    assert choose_in_use(crossed, 0) == "extra trees"
    sums = Table.from_arrays(np.where(rng.random(X.shape) < 0.1, np.nan, X), X[:, 0] + X[:, 1])
    assert choose_in_use(sums, 0) == "ridge regression"


def test_too_little_to_choose_on():
    few = Table.from_arrays(np.arange(24.0).reshape(8, 3), [0, 1] * 4)
    assert choose_in_use(few, 0) == "logistic regression"


def test_a_model_can_be_named_and_is_chosen_once(monkeypatch):
    campaign, cache = begin(gaussian_table()[0], prices=Prices.same(1.0)), AssessmentCache()
    log = campaign._log
    assert model_in_use(log, "linear SVM", 0, cache) == "linear SVM"
    with pytest.raises(ParameterError, match="linear SVM"):
        model_in_use(log, "linear SVW", 0, cache)
    first = model_in_use(log, "auto", 0, cache)
    monkeypatch.setattr("cellworth.model.model_search.choose_model", None)
    assert model_in_use(log, "auto", 0, cache) == first
