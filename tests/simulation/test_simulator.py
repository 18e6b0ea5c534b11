import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from cellworth import Prices, Table, simulate, strategy
from cellworth.errors import DataError, ParameterError
from cellworth.simulation import full_information, mean_curves
from cellworth.simulation.hidden_truth import make_world

METRICS = ["reconstruction_error", "accuracy", "auc", "log_loss"]
EXACT = ["strategy", "seed", "round", "cells", "money", *METRICS, "model"]
SVM = LinearSVC(random_state=0)


def test_the_frame_is_tidy(curves):
    assert list(curves.columns) == [*EXACT, "seconds"]
    assert curves[["strategy", "seed", "round"]].drop_duplicates().shape[0] == len(curves) == 2 * 2 * 5
    assert (curves["cells"] == 60 * curves["round"]).all()
    assert (curves["money"] == curves["cells"]).all()
    assert (curves["seconds"] > 0).all()
    assert (curves["model"] == "LinearSVC").all()


def test_by_default_choosing_is_compared_with_random_cells(tumours):
    """Both complete alike, so they differ in nothing before the first purchase."""
    bought = simulate(tumours, budget_per_round=60, rounds=1, observed=0.3, classifier=SVM)
    ours, at_random = (bought[bought["strategy"] == name] for name in ("recommended", "random-gaussian"))
    assert len(ours) == len(at_random) == 2
    assert len(bought) == 4
    assert ours.iloc[0][METRICS].tolist() == at_random.iloc[0][METRICS].tolist()
    assert ours.iloc[1][METRICS].tolist() != at_random.iloc[1][METRICS].tolist()


def test_strategies_of_a_seed_start_from_the_same_holes(tumours):
    """The two complete alike, so before the first purchase all is equal; afterwards it is not."""
    names = ["posterior", "recommended"]
    bought = simulate(
        tumours, names, budget_per_round=60, rounds=1, observed=0.3, classifier=SVM, seed=[0, 1]
    )
    one, other = (bought[bought["strategy"] == name][EXACT[1:]].reset_index(drop=True) for name in names)
    start = one["round"] == 0
    pd.testing.assert_frame_equal(one[start], other[start], check_exact=True)
    assert (one[~start]["reconstruction_error"] != other[~start]["reconstruction_error"]).all()


@pytest.mark.slow
def test_two_workers_and_one_give_the_same(tumours, curves):
    again = simulate(
        tumours,
        ["random", "recommended"],
        budget_per_round=60,
        rounds=4,
        observed=0.3,
        classifier=SVM,
        seed=[0, 1],
        n_jobs=2,
    )
    pd.testing.assert_frame_equal(again[EXACT], curves[EXACT], check_exact=True)


def test_buying_everything_gives_full_information(tumours):
    for name in ("recommended", "afasmc", "qbc"):
        bought = simulate(
            tumours, name, budget_per_round=400, rounds=10, observed=0.4, classifier=SVM, seed=2
        )
        last, full = bought.iloc[-1], full_information(tumours, classifier=SVM, seed=2)
        assert last["reconstruction_error"] == 0
        assert last["auc"] == full["auc"]
        assert last["accuracy"] == full["accuracy"]
        assert last["cells"] == make_world(tumours, observed=0.4, train=0.7, seed=2).hidden.sum()
        assert len(bought) < 11  # it ended when nothing was left


def test_prices_are_kept_and_own_holes_are_never_bought():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:150, :4].copy()
    X[::7, 1] = np.nan
    table = Table.from_arrays(X, y[:150], columns=list("abcd"))
    prices = Prices.per_column({"a": 1.0, "b": 2.0, "c": 4.0, "d": 8.0}, visit=3.0)
    bought = simulate(
        table, "linear-impact", prices=prices, budget_per_round=50, rounds=100, observed=0.5, classifier=SVM
    )
    steps = np.diff(bought["money"])
    assert (steps > 0).all()
    assert (steps <= 50).all()
    hidden = make_world(table, observed=0.5, train=0.7, seed=0).hidden
    assert bought["cells"].iloc[-1] == hidden.sum()


@pytest.mark.slow
def test_several_classes_and_numbers():
    X, y = load_iris(return_X_y=True)
    several = simulate(Table.from_arrays(X, y), "recommended", count_per_round=40, rounds=2, observed=0.5)
    assert several["auc"].iloc[-1] > 0.8
    X, y = load_diabetes(return_X_y=True)
    number = simulate(Table.from_arrays(X, y), "recommended", count_per_round=200, rounds=2, observed=0.3)
    assert {"r2", "rmse"} < set(number.columns)
    assert number["rmse"].iloc[-1] < y.std()


@pytest.mark.slow
def test_choosing_beats_chance_where_one_column_matters():
    """Seven columns of noise and one that tells the class: a strategy that sees that must win."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    table = Table.from_arrays(X, X[:, 3] + 0.3 * rng.normal(size=400) > 0)
    bought = simulate(
        table,
        ["random-gaussian", "recommended"],
        count_per_round=100,
        rounds=4,
        observed=0.2,
        classifier=SVM,
        seed=range(4),
        n_jobs=2,
    )
    auc = bought[bought["round"] > 0].groupby("strategy")["auc"].mean()
    assert auc["recommended"] > auc["random-gaussian"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_each_library(tumours, library):
    frame = simulate(tumours, "random", budget_per_round=100, rounds=1, classifier=SVM, frame=library)
    assert type(frame).__module__.startswith(library)
    assert mean_curves(frame, "auc")[0].mean.shape == (101,)


def test_wrong_settings_are_refused_by_name(tumours):
    with pytest.raises(ParameterError, match="budget_per_round"):
        simulate(tumours, "random")
    with pytest.raises(ParameterError, match="observed"):
        simulate(tumours, "random", budget_per_round=1, observed=60)
    with pytest.raises(ParameterError, match="rounds"):
        simulate(tumours, "random", budget_per_round=1, rounds=0)
    with pytest.raises(ParameterError, match="own name"):
        simulate(tumours, ["random", "random"], budget_per_round=1)
    with pytest.raises(ParameterError, match="frame"):
        simulate(tumours, "random", budget_per_round=1, frame="excel")
    with pytest.raises(DataError, match="target"):
        simulate(Table.from_arrays([[1.0], [2.0]]), "random", budget_per_round=1)
    with pytest.raises(ParameterError, match="There are"):
        simulate(tumours, "clairvoyant", budget_per_round=1)


def test_progress_is_shown(tumours, capsys):
    settings = {"budget_per_round": 100, "rounds": 1, "classifier": SVM}
    simulate(tumours, strategy.get("random"), seed=[0, 1], progress=True, **settings)
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "random, seed" in shown


def test_a_model_of_the_wrong_kind_is_refused():
    X = np.arange(40.0).reshape(20, 2)
    classes, numbers = Table.from_arrays(X, np.arange(20) % 2), Table.from_arrays(X, np.arange(20) / 3)
    with pytest.raises(ParameterError, match="is a number, but LogisticRegression predicts classes"):
        simulate(numbers, "random", count_per_round=1, classifier=LogisticRegression())
    with pytest.raises(ParameterError, match=r"'target' has two classes, but Ridge predicts numbers"):
        simulate(classes, "random", count_per_round=1, classifier=Ridge())
    with pytest.raises(ParameterError, match="budget_per_round must be above 0"):
        simulate(classes, "random", budget_per_round=0)
    with pytest.raises(ParameterError, match="budget must be an amount of money"):
        simulate(classes, "random", budget_per_round="5")
