"""The model that judges runs: chosen for the world, the same for all strategies, kept for the run."""

import numpy as np
import pytest

from cellworth import Table, simulate
from cellworth.simulation import evaluate, full_information
from cellworth.simulation.evaluate import choose_judge, judges
from cellworth.simulation.hidden_truth import make_world


def small_table(n=150, seed=0, product=False):
    """Four columns; the class depends on the sum of two of them, or on their product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = X[:, 0] * X[:, 1] if product else X[:, 0] + X[:, 1]
    return Table.from_arrays(X, signal + 0.2 * rng.normal(size=n) > 0)


@pytest.mark.parametrize(("product", "kind"), [(False, "logistic"), (True, "trees")])
def test_it_is_the_model_that_suits_the_rows(product, kind):
    world = make_world(small_table(n=300, product=product), observed=0.9, train=0.7, seed=0)
    assert kind in choose_judge(world, 0).name


def test_with_too_few_labels_it_is_linear():
    world = make_world(small_table(n=12), observed=0.9, train=0.5, seed=0)
    assert choose_judge(world, 0).name == "logistic regression"


@pytest.mark.parametrize("seed", range(8))
def test_on_few_rows_it_can_tell_rows_apart(seed):
    """Of rows that predict nothing, a model that says the same of all of them would be the best."""
    rng = np.random.default_rng(seed)
    table = Table.from_arrays(rng.normal(size=(60, 4)), rng.random(60) < 0.5)
    world = make_world(table, observed=0.5, train=0.7, seed=0)
    assert choose_judge(world, 0).name != "boosted trees"


def test_it_is_remembered_by_what_is_known(monkeypatch):
    calls = []

    def choose(world, seed):
        calls.append(seed)
        return judges(is_number=False)[seed]

    monkeypatch.setattr(evaluate, "_choose", choose)
    monkeypatch.setattr(evaluate, "_chosen", {})
    table = small_table(n=60)
    worlds = [make_world(table, observed=share, train=0.7, seed=0) for share in (0.5, 0.5, 0.6)]
    for world in worlds:
        choose_judge(world, 1)
    assert choose_judge(worlds[0], 2).name == "boosted trees"
    assert calls == [1, 1, 2]


@pytest.mark.slow
def test_strategies_with_other_completers_are_judged_by_the_same_model():
    """What is chosen depends on the seed; after all is bought, all have the score of full information."""
    table = small_table(n=100, product=True)
    frame = simulate(
        table, ["afasmc", "recommended"], count_per_round=100, rounds=4, observed=0.5, seed=[0, 1]
    )
    models = frame.groupby("seed")["model"].unique()
    assert all(len(names) == 1 for names in models)
    assert set(frame["model"]) <= {each.name for each in judges(is_number=False)}
    for seed, of_seed in frame.groupby("seed"):
        full = full_information(table, observed=0.5, seed=seed)
        last = of_seed.groupby("strategy").last()
        assert (last["reconstruction_error"] == 0).all()
        for metric in ("auc", "accuracy", "log_loss"):
            assert last[metric].tolist() == [full[metric]] * 2
