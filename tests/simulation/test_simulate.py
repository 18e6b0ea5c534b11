import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from cellworth import Prices, Table, plot_curves, simulate, strategy
from cellworth.errors import DataError, ParameterError
from cellworth.simulation import full_information, mean_curves
from cellworth.simulation.world import make_world

EXACT = ["strategy", "seed", "round", "cells", "money", "reconstruction_error", "accuracy", "auc", "log_loss"]


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return Table.from_arrays(X[:200, :6], y[:200])


@pytest.fixture(scope="module")
def curves(tumours):
    return simulate(
        tumours, ["random", "recommended"], budget_per_round=60, rounds=4, observed=0.3, seed=[0, 1]
    )


def test_the_frame_is_tidy(curves):
    assert list(curves.columns) == [*EXACT, "seconds"]
    assert curves[["strategy", "seed", "round"]].drop_duplicates().shape[0] == len(curves) == 2 * 2 * 5
    assert (curves["cells"] == 60 * curves["round"]).all()
    assert (curves["money"] == curves["cells"]).all()
    assert (curves["seconds"] > 0).all()


def test_strategies_of_a_seed_start_from_the_same_holes(tumours):
    """The two complete alike, so before the first purchase all is equal; afterwards it is not."""
    names = ["posterior", "recommended"]
    bought = simulate(tumours, names, budget_per_round=60, rounds=1, observed=0.3, seed=[0, 1])
    one, other = (bought[bought["strategy"] == name][EXACT[1:]].reset_index(drop=True) for name in names)
    start = one["round"] == 0
    pd.testing.assert_frame_equal(one[start], other[start], check_exact=True)
    assert (one[~start]["reconstruction_error"] != other[~start]["reconstruction_error"]).all()


def test_two_workers_and_one_give_the_same(tumours, curves):
    again = simulate(
        tumours, ["random", "recommended"], budget_per_round=60, rounds=4, observed=0.3, seed=[0, 1], n_jobs=2
    )
    pd.testing.assert_frame_equal(again[EXACT], curves[EXACT], check_exact=True)


def test_buying_everything_gives_full_information(tumours):
    for name in ("recommended", "afasmc", "qbc"):
        bought = simulate(tumours, name, budget_per_round=400, rounds=10, observed=0.4, seed=2)
        last, full = bought.iloc[-1], full_information(tumours, seed=2)
        assert last["reconstruction_error"] == 0
        assert last["auc"] == full["auc"]
        assert last["accuracy"] == full["accuracy"]
        assert last["cells"] == make_world(tumours, observed=0.4, train=0.7, seed=2).hidden.sum()
        assert len(bought) < 11  # it ended when nothing was left


def test_the_judge_agrees_with_scikit_learn_by_hand(tumours):
    world = make_world(tumours, observed=0.5, train=0.7, seed=4)
    model = LinearSVC(random_state=0).fit(world.truth, world.y)
    full = full_information(tumours, seed=4)
    assert full["accuracy"] == model.score(world.X_test, world.y_test)
    assert full["auc"] == roc_auc_score(world.y_test, model.decision_function(world.X_test))
    probable = LogisticRegression().fit(world.truth, world.y)
    judged = full_information(tumours, classifier=LogisticRegression(), seed=4)
    p = probable.predict_proba(world.X_test)[np.arange(len(world.y_test)), world.y_test.astype(int)]
    assert judged["log_loss"] == pytest.approx(-np.log(p).mean())


def test_a_world_hides_the_share_it_should_and_reveals_the_truth(tumours):
    world = make_world(tumours, observed=0.3, train=0.7, seed=0)
    n = world.hidden.size
    assert abs(world.hidden.mean() - 0.7) < 5 * np.sqrt(0.3 * 0.7 / n)
    assert len(world.rows) == 140
    cells = np.argwhere(world.hidden)[:7]
    X = world.reveal(world.start, cells)
    assert np.isnan(world.start).sum() - np.isnan(X).sum() == 7
    np.testing.assert_array_equal(X[cells[:, 0], cells[:, 1]], world.truth[cells[:, 0], cells[:, 1]])
    assert np.nanmin(world.truth) >= 0
    assert np.nanmax(world.truth) <= 1


def test_every_column_keeps_a_value_even_when_nearly_all_is_hidden(tumours):
    world = make_world(tumours, observed=0.001, train=0.7, seed=0)
    assert (~np.isnan(world.start)).any(axis=0).all()


def test_prices_are_kept_and_own_holes_are_never_bought():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:150, :4].copy()
    X[::7, 1] = np.nan
    table = Table.from_arrays(X, y[:150], columns=list("abcd"))
    prices = Prices.per_column({"a": 1.0, "b": 2.0, "c": 4.0, "d": 8.0}, visit=3.0)
    bought = simulate(table, "recommended", prices=prices, budget_per_round=50, rounds=100, observed=0.5)
    steps = np.diff(bought["money"])
    assert (steps > 0).all()
    assert (steps <= 50).all()
    hidden = make_world(table, observed=0.5, train=0.7, seed=0).hidden
    assert bought["cells"].iloc[-1] == hidden.sum()


def test_several_classes_and_numbers():
    X, y = load_iris(return_X_y=True)
    several = simulate(Table.from_arrays(X, y), "recommended", count_per_round=40, rounds=2, observed=0.5)
    assert several["auc"].iloc[-1] > 0.8
    X, y = load_diabetes(return_X_y=True)
    number = simulate(Table.from_arrays(X, y), "recommended", count_per_round=200, rounds=2, observed=0.3)
    assert {"r2", "rmse"} < set(number.columns)
    assert number["rmse"].iloc[-1] < y.std()


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
        seed=range(4),
        n_jobs=2,
    )
    auc = bought[bought["round"] > 0].groupby("strategy")["auc"].mean()
    assert auc["recommended"] > auc["random-gaussian"]


def test_finished_runs_are_not_done_again(tumours, tmp_path, monkeypatch):
    settings = {"budget_per_round": 60, "rounds": 2, "observed": 0.3}
    first = simulate(tumours, ["random", "posterior"], seed=[0], resume=tmp_path, **settings)
    assert len(list(tmp_path.glob("*.json"))) == 2

    def fail(*_):
        raise AssertionError("a finished run was done again")

    monkeypatch.setattr("cellworth.simulation.runs.play", fail)
    again = simulate(tumours, ["random", "posterior"], seed=[0], resume=tmp_path, **settings)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    with pytest.raises(AssertionError, match="done again"):
        simulate(tumours, "random", seed=[0], resume=tmp_path, **(settings | {"observed": 0.4}))


def test_a_cut_file_of_a_run_is_done_again(tumours, tmp_path):
    settings = {"budget_per_round": 60, "rounds": 2, "observed": 0.3, "resume": tmp_path}
    first = simulate(tumours, "random", **settings)
    (file,) = tmp_path.glob("*.json")
    file.write_text(file.read_text()[:100])
    again = simulate(tumours, "random", **settings)
    pd.testing.assert_frame_equal(first[EXACT], again[EXACT], check_exact=True)
    assert len(json.loads(file.read_text())) == 3


@pytest.mark.service
def test_a_killed_simulation_goes_on(tmp_path):
    """A process is killed after its first finished run; the next one finds it and ends the work."""
    code = """
import sys
from sklearn.datasets import load_breast_cancer
from cellworth import Table, simulate
X, y = load_breast_cancer(return_X_y=True)
simulate(Table.from_arrays(X[:150, :4], y[:150]), "random", budget_per_round=20, rounds=12, seed=range(200),
         observed=0.3, resume=sys.argv[1])
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    while not list(tmp_path.glob("*.json")) and process.poll() is None:
        pass
    process.kill()
    process.wait()
    kept = {file.name: file.read_text() for file in tmp_path.glob("*.json")}
    assert kept
    X, y = load_breast_cancer(return_X_y=True)
    frame = simulate(
        Table.from_arrays(X[:150, :4], y[:150]),
        "random",
        budget_per_round=20,
        rounds=12,
        seed=range(len(kept) + 1),
        observed=0.3,
        resume=tmp_path,
    )
    assert frame["seed"].nunique() == len(kept) + 1
    for name, text in kept.items():
        assert (tmp_path / name).read_text() == text


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_each_library(tumours, library):
    frame = simulate(tumours, "random", budget_per_round=100, rounds=1, frame=library)
    assert type(frame).__module__.startswith(library)
    assert mean_curves(frame, "auc")[0].mean.shape == (101,)


def test_mean_curves_by_hand():
    frame = pd.DataFrame(
        {
            "strategy": ["s"] * 4,
            "seed": [0, 0, 1, 1],
            "cells": [0, 10, 0, 10],
            "auc": [0.5, 0.7, 0.6, 1.0],
        }
    )
    (curve,) = mean_curves(frame, "auc", "cells", points=3)
    np.testing.assert_allclose(curve.mean, [0.55, 0.70, 0.85])
    from scipy.stats import t

    half = t.ppf(0.975, 1) * np.std([0.7, 1.0], ddof=1) / np.sqrt(2)
    assert curve.half[-1] == pytest.approx(half)


def test_the_plot_has_a_line_and_a_band_per_strategy(curves, tmp_path):
    figure = plot_curves(curves, "auc", full=0.99)
    assert len(figure.axes) == 2
    for axis in figure.axes:
        assert len(axis.lines) == 3  # two strategies, and the dashed line
        assert len(axis.collections) == 2
    figure.savefig(tmp_path / "curves.png")
    with pytest.raises(ParameterError, match="no column 'gini'"):
        plot_curves(curves, "gini")


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
    simulate(tumours, strategy.get("random"), budget_per_round=100, rounds=1, seed=[0, 1], progress=True)
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "random, seed" in shown
