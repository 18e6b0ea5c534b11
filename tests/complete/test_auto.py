"""The choice of a completer: contract, right choices, failures, limits of time, and what is shown."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.impute import KNNImputer

from cellworth.complete import (
    GaussianCompleter,
    NNLSCompleter,
    SoftImputeCompleter,
    SupervisedCompleter,
    auto_search,
)
from cellworth.complete.auto import AutoCompleter
from cellworth.complete.auto_candidates import ColumnMeanCompleter, default_candidates
from cellworth.complete.auto_search import CandidateResult, text_table
from cellworth.errors import DataError, ParameterError
from cellworth.testing import check_completer
from cellworth.testing.completer_contract import random_table
from tests.complete.low_rank_cases import check_refuses, check_sensible_on_awkward_tables
from tests.complete.scikit_learn import check_with_scikit_learn

QUICK = [
    ("gaussian", GaussianCompleter(margins="normal", label_trust=0.0)),
    ("means", ColumnMeanCompleter()),
    ("nnls", NNLSCompleter()),
]


class Broken(BaseEstimator):
    """Raises an error, leaves holes, or gives a table of another shape; on all tables or on complete ones."""

    def __init__(self, how="raises", on="all"):
        self.how = how
        self.on = on

    def fit_transform(self, X, y=None):
        if self.on == "whole" and len(X) < 60:
            return np.nan_to_num(X)
        if self.how == "raises":
            raise RuntimeError("out\n of luck")
        return X[:, :-1] if self.how == "shape" else X

    def transform(self, X):
        return X


def gaussian(seed, n=250, d=8):
    """Return a table of correlated normal columns, and the same with 30 % holes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, np.where(rng.random(X.shape) < 0.7, X, np.nan)


def skewed(seed):
    """Return monotone functions of normal columns, and the same with 30 % holes."""
    X, _ = gaussian(seed)
    X = np.exp(X / X.std(axis=0))
    return X, np.where(np.random.default_rng(seed + 100).random(X.shape) < 0.7, X, np.nan)


def low_rank(seed):
    """Return a square table of rank 2 with little noise, and the same with half its cells as holes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 60)) + 0.01 * rng.normal(size=(60, 60))
    return X, np.where(rng.random(X.shape) < 0.5, X, np.nan)


def noise(seed):
    """Return columns that say nothing about each other, and the same with 30 % holes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6))
    return X, np.where(rng.random(X.shape) < 0.7, X, np.nan)


def error(completed, truth, holed):
    holes = np.isnan(holed)
    return float(np.mean(((completed - truth) / truth.std(axis=0))[holes] ** 2))


@pytest.mark.slow
def test_keeps_the_contract_of_completers():
    check_completer(AutoCompleter(n_holds=1))


def test_keeps_the_contract_with_other_settings():
    check_completer(AutoCompleter(candidates=QUICK, n_holds=1, n_jobs=2))
    check_completer(ColumnMeanCompleter())


@pytest.mark.slow
def test_passes_every_check_of_scikit_learn():
    check_with_scikit_learn(AutoCompleter(candidates=QUICK))
    check_with_scikit_learn(ColumnMeanCompleter())


@pytest.mark.slow
def test_is_sensible_on_awkward_tables():
    check_sensible_on_awkward_tables(AutoCompleter(n_holds=2))


# In noise nothing beats the column means, but a Gaussian that ties with them is preferred for its variances.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (gaussian, {"gaussian"}),
        (skewed, {"gaussian, ranks"}),
        (low_rank, {"nnls"}),
        (noise, {"column means", "gaussian, 5 factors"}),
    ],
)
@pytest.mark.parametrize("seed", [0, 2])
def test_chooses_what_the_table_was_made_for_and_is_never_much_worse_than_the_best(kind, expected, seed):
    truth, holed = kind(seed)
    auto = AutoCompleter(random_state=seed).fit(holed)
    assert auto.best_name_ in expected
    assert isinstance(auto.best_completer_, type(dict(default_candidates(labels=False))[auto.best_name_]))
    single = [clone(c).fit_transform(holed) for _, c in default_candidates(labels=False)]
    least = min(error(completed, truth, holed) for completed in single)
    # Over the four kinds and seeds 0 to 4 the ratio was 1.000, but for 1.031 and 1.002.
    assert error(auto.completed_, truth, holed) <= 1.1 * least


def test_labels_are_used_where_they_fill_cells_better():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500)
    X = 3.0 * y[:, None] + rng.normal(size=(500, 4))
    holed = np.where(rng.random(X.shape) < 0.5, X, np.nan)
    assert AutoCompleter().fit(holed, y).best_name_ == "gaussian, labels"
    chosen = AutoCompleter().fit(holed, rng.permutation(y)).best_name_
    assert "labels" not in chosen
    assert "supervised" not in chosen


def test_of_candidates_that_tie_the_best_that_gives_variances_is_taken():
    _, holed = gaussian(0)
    same = {"margins": "normal", "tol": 1e-6}
    candidates = [
        ("low rank", SoftImputeCompleter(trace_penalty=0.1)),
        ("loose", GaussianCompleter(label_trust=0.0, shrinkage=200.0, **same)),
        ("first", GaussianCompleter(label_trust=0.0, **same)),
        ("second", GaussianCompleter(label_trust=0.0, **same)),
    ]
    assert AutoCompleter(candidates=candidates).fit(holed).best_name_ == "first"
    twins = [("one", SupervisedCompleter(label_weight=0.0)), ("two", SupervisedCompleter(label_weight=0.0))]
    assert AutoCompleter(candidates=twins).fit(holed).best_name_ == "one"


def test_gives_what_the_chosen_completer_gives():
    _, holed = gaussian(1)
    auto = AutoCompleter(candidates=QUICK).fit(holed)
    alone = clone(QUICK[0][1]).fit(holed)
    np.testing.assert_array_equal(auto.completed_, alone.completed_)
    np.testing.assert_array_equal(auto.variance_, alone.variance_)
    for X in (None, holed[:5]):
        for mine, its in zip(auto.predict_interval(0.8, X), alone.predict_interval(0.8, X), strict=True):
            np.testing.assert_array_equal(mine, its)
        np.testing.assert_array_equal(auto.sample(2, 0, X), alone.sample(2, 0, X))
    for mine, its in zip(
        auto.transform_with_variance(holed[:5]), alone.transform_with_variance(holed[:5]), strict=True
    ):
        np.testing.assert_array_equal(mine, its)
    auto.set_params(candidates=QUICK[1:]).fit(holed)
    assert not hasattr(auto, "variance_")
    with pytest.raises(AttributeError, match="sample"):
        auto.sample()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_on_any_number_of_threads():
    X, y = random_table(np.random.default_rng(1), n=100)
    one, two = (AutoCompleter(n_jobs=jobs, random_state=3).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.completed_, two.completed_)
    errors = [[(r.name, r.error, r.spread, r.status) for r in auto.results_] for auto in (one, two)]
    assert str(errors[0]) == str(errors[1])
    other = AutoCompleter(candidates=QUICK, random_state=4).fit(X)
    assert other.results_[0].error != AutoCompleter(candidates=QUICK, random_state=3).fit(X).results_[0].error


def test_takes_any_transformer_that_fills_holes():
    truth, holed = gaussian(0)
    candidates = [("neighbours", KNNImputer()), ("means", ColumnMeanCompleter())]
    auto = AutoCompleter(candidates=candidates).fit(holed)
    assert auto.best_name_ == "neighbours"
    np.testing.assert_array_equal(auto.completed_, KNNImputer().fit_transform(holed))
    assert np.isfinite(auto.transform(holed[:3])).all()
    assert error(auto.completed_, truth, holed) < 1


@pytest.mark.parametrize("how", ["raises", "holes", "shape"])
def test_a_candidate_that_fails_is_noted_and_the_others_go_on(how):
    _, holed = gaussian(0, n=60)
    auto = AutoCompleter(candidates=[("broken", Broken(how)), *QUICK]).fit(holed)
    broken = auto.results_[0]
    assert broken.status == "failed"
    assert np.isnan(broken.error)
    assert {"raises": "RuntimeError: out of luck", "holes": "not finite", "shape": "(60, 7)"}[how] in (
        broken.reason
    )
    assert auto.best_name_ != "broken"


def test_where_the_best_cannot_be_fitted_to_the_whole_table_the_next_is():
    X, _ = random_table(np.random.default_rng(0), n=59)
    whole = np.vstack([X, X[:1]])
    calls = [("zeros", Broken(on="whole")), ("means", ColumnMeanCompleter())]
    auto = AutoCompleter(candidates=calls).fit(whole)
    assert auto.best_name_ == "means"
    with pytest.raises(DataError, match=r"(?s)no candidate could complete.*out of luck"):
        AutoCompleter(candidates=[("broken", Broken())]).fit(whole)


def test_without_time_the_first_candidate_is_taken():
    _, holed = gaussian(0)
    auto = AutoCompleter(time_budget=0).fit(holed)
    assert auto.best_name_ == "gaussian"
    assert [r.status for r in auto.results_] == ["chosen"] + ["not reached"] * (len(auto.results_) - 1)
    assert np.isfinite(auto.completed_).all()
    first_broken = AutoCompleter(candidates=[("broken", Broken()), *QUICK], time_budget=0).fit(holed)
    assert first_broken.best_name_ == "gaussian"


@pytest.mark.parametrize("stop", range(1, 9))
def test_when_stopped_the_best_so_far_is_taken(stop):
    _, holed = gaussian(0)
    candidates = [QUICK[1], QUICK[2], QUICK[0]]
    told = []
    auto = AutoCompleter(candidates=candidates, callback=lambda p: told.append(p) or p.done >= stop).fit(
        holed
    )
    assert auto.best_name_ == {1: "means", 2: "nnls"}.get(stop, "gaussian")
    assert [p.done for p in told] == [*range(1, stop + 1), 10]
    assert {p.total for p in told} == {10}
    assert np.isfinite([p.error for p in told[:-1]]).all()


def test_a_large_table_is_screened_on_few_rows_and_decided_on_all(monkeypatch):
    monkeypatch.setattr(auto_search, "SCREEN_ROWS", 50)
    monkeypatch.setattr(auto_search, "FINALISTS", 2)
    _, holed = gaussian(0, n=400)
    holed[:, 3] = np.nan
    holed[7, 3] = 1.0  # a column that a sample of rows would leave empty
    y = np.zeros(400)
    y[11] = 1  # a class that it would leave out
    auto = AutoCompleter(candidates=QUICK).fit(holed, y)
    assert auto.best_name_ == "gaussian"
    assert [r.n_holds for r in auto.results_] == [3, 1, 3]
    few = AutoCompleter(candidates=QUICK[:2]).fit(holed)
    assert [r.n_holds for r in few.results_] == [3, 3]


def test_results_can_be_read():
    _, holed = gaussian(0)
    auto = AutoCompleter(candidates=[("broken", Broken()), *QUICK]).fit(holed)
    lines = auto.results_table().splitlines()
    assert lines[0].split() == ["candidate", "error", "spread", "holds", "seconds", "status"]
    assert lines[2].split()[0] == "gaussian"
    assert lines[2].endswith("chosen")
    assert lines[-3].endswith("failed: RuntimeError: out of luck")
    assert len(lines) == 4 + 4
    lone = text_table([CandidateResult("a", "chosen", 0.25, np.nan, 1, 1.5)]).splitlines()
    assert lone[2].split() == ["a", "0.2500", "-", "1", "1.50", "chosen"]


def test_progress_is_shown_on_request_only(capsys):
    _, holed = gaussian(0, n=60)
    AutoCompleter(candidates=QUICK).fit(holed)
    assert capsys.readouterr() == ("", "")
    AutoCompleter(candidates=QUICK, progress=True).fit(holed)
    out, shown = capsys.readouterr()
    assert out == ""
    assert "10/10" in shown
    assert " left" in shown
    assert shown.endswith("\n")


def test_refuses_settings_that_make_no_sense():
    check_refuses(AutoCompleter, n_holds=0, time_budget=-1.0, target="colour", candidates=[])
    for wrong in (3, [("a",)], [(1, QUICK[0][1])], [QUICK[0], QUICK[0]], [("a", GaussianCompleter)]):
        with pytest.raises(ParameterError, match="candidate"):
            AutoCompleter(candidates=wrong).fit(np.eye(3))
    with pytest.raises(DataError, match="1 class"):
        AutoCompleter().fit(np.eye(3), ["a", "a", "a"])
