"""Simulations in which labels are hidden, too."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from cellworth import Prices, Table, simulate
from cellworth.errors import ParameterError
from cellworth.simulation import full_information
from cellworth.simulation.hidden_truth import make_world

LINEAR = LogisticRegression()


def test_a_world_hides_the_share_of_labels_it_should(tumours):
    world = make_world(tumours, observed=0.5, train=0.7, seed=0, labelled=0.2)
    assert round(0.2 * len(world.y)) == (~world.hidden_labels).sum()
    assert set(world.y[~world.hidden_labels]) == set(world.y)
    np.testing.assert_array_equal(np.isnan(world.y_at_start), world.hidden_labels)
    # Cells and rows are those of the same seed without hidden labels.
    plain = make_world(tumours, observed=0.5, train=0.7, seed=0)
    assert not plain.hidden_labels.any()
    np.testing.assert_array_equal(plain.start, world.start)
    few = make_world(tumours, observed=0.5, train=0.7, seed=0, labelled=0.001)
    assert (~few.hidden_labels).sum() == 2


@pytest.mark.parametrize("labelled", [0, 1.5, -0.1])
def test_a_share_of_labels_is_between_0_and_1(tumours, labelled):
    with pytest.raises(ParameterError, match="labelled must be above 0 and at most 1"):
        simulate(tumours, "random", count_per_round=5, labelled=labelled)


def test_labels_are_bought_back(tumours):
    prices = Prices.per_column({tumours.target.name: 2.0}, default=1.0)
    played = simulate(
        tumours,
        ["labels-only", "cells-only", "random-gaussian"],
        prices=prices,
        budget_per_round=60,
        rounds=3,
        labelled=0.1,
        classifier=LINEAR,
        frame="pandas",
    )
    assert list(played.columns)[3:6] == ["cells", "labels", "money"]
    last = played.groupby("strategy").last()
    assert last.loc["labels-only", ["cells", "labels", "money"]].tolist() == [0, 90, 180]
    assert last.loc["cells-only", ["cells", "labels", "money"]].tolist() == [180, 0, 180]
    assert last.loc["random-gaussian", "labels"] > 0
    np.testing.assert_allclose(played["money"], played["cells"] + 2 * played["labels"])
    start = played[played["round"] == 0]
    assert start["auc"].nunique() == 1


def test_all_labels_bought_are_as_good_as_none_hidden(tumours):
    prices = Prices.per_column({tumours.target.name: 1.0}, default=1.0)
    settings = {"classifier": LINEAR, "observed": 1.0, "frame": "pandas"}
    played = simulate(
        tumours,
        "label-error-reduction",
        prices=prices,
        count_per_round=1000,
        labelled=0.1,
        rounds=2,
        **settings,
    )
    whole = full_information(tumours, classifier=LINEAR, observed=1.0, labelled=0.1)
    assert played["auc"].iloc[-1] == whole["auc"]
    assert played["auc"].iloc[0] != whole["auc"]


def test_labels_that_are_numbers_are_bought_back():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    table = Table.from_arrays(X, X[:, 0] + 0.1 * rng.normal(size=120), target="dose")
    played = simulate(
        table,
        ["recommended", "label-uncertainty", "label-error-reduction"],
        prices=Prices.per_column({"dose": 1.0}, default=1.0),
        budget_per_round=30,
        rounds=2,
        labelled=0.05,
        classifier=Ridge(),
        frame="pandas",
    )
    last = played.groupby("strategy").last()
    assert (last["r2"] > 0.5).all()
    assert (last["labels"] > 0).all()


def test_without_a_price_hidden_labels_stay_hidden(tumours):
    played = simulate(
        tumours, "recommended", count_per_round=50, rounds=1, labelled=0.2, classifier=LINEAR, frame="pandas"
    )
    assert "labels" not in played.columns
    assert played["cells"].iloc[-1] == 50
