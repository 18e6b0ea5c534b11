"""The choice of a completer: contract, right choices, and the same on any number of threads."""

import numpy as np
import pytest
from sklearn.base import clone

from cellworth.complete import GaussianCompleter, SoftImputeCompleter, SupervisedCompleter, auto_candidates
from cellworth.complete.auto_candidates import ColumnMeanCompleter, default_candidates
from cellworth.complete.auto_completer import AutoCompleter
from cellworth.testing import check_completer
from cellworth.testing.completer_contract import random_table
from tests.complete.auto_cases import QUICK, gaussian
from tests.complete.low_rank_cases import check_sensible_on_awkward_tables
from tests.complete.scikit_learn import check_with_scikit_learn


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


def curved(seed):
    """Return curves of one variable, and the same with 30 % holes."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=300)
    X = np.column_stack([x, x**2, np.sin(3 * x), np.abs(x)]) + 0.1 * rng.normal(size=(300, 4))
    return X, np.where(rng.random(X.shape) < 0.7, X, np.nan)


def noise(seed):
    """Return columns that say nothing about each other, and the same with 30 % holes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6))
    return X, np.where(rng.random(X.shape) < 0.7, X, np.nan)


def error(completed, truth, holed):
    holes = np.isnan(holed)
    return float(np.mean(((completed - truth) / truth.std(axis=0))[holes] ** 2))


@pytest.fixture
def few_trees(monkeypatch):
    """Trials with two trees: growing them is most of the time of a search."""
    monkeypatch.setattr(auto_candidates, "TRIAL_TREES", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
def test_keeps_the_contract_of_completers():
    check_completer(AutoCompleter(n_holds=1))


@pytest.mark.slow
def test_keeps_the_contract_with_other_settings():
    check_completer(AutoCompleter(candidates=QUICK, n_holds=1, n_jobs=2))
    check_completer(ColumnMeanCompleter())


@pytest.mark.slow
def test_passes_every_check_of_scikit_learn():
    check_with_scikit_learn(AutoCompleter(candidates=QUICK))
    check_with_scikit_learn(ColumnMeanCompleter())


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
def test_is_sensible_on_awkward_tables():
    check_sensible_on_awkward_tables(AutoCompleter(n_holds=2))


# In noise nothing beats the column means, but a Gaussian that ties with them is preferred for its variances.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (gaussian, {"gaussian"}),
        (skewed, {"gaussian"}),
        (low_rank, {"nnls"}),
        (noise, {"column means", "gaussian"}),
        (curved, {"trees"}),
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


@pytest.mark.slow
def test_labels_are_used_where_they_fill_cells_better():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500)
    X = 3.0 * y[:, None] + rng.normal(size=(500, 4))
    holed = np.where(rng.random(X.shape) < 0.5, X, np.nan)
    assert "labels" in AutoCompleter().fit(holed, y).best_name_
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


def test_progress_is_shown_on_request_only(capsys):
    _, holed = gaussian(0, n=60)
    AutoCompleter(candidates=QUICK).fit(holed)
    assert capsys.readouterr() == ("", "")
    AutoCompleter(candidates=QUICK, progress=True).fit(holed)
    out, shown = capsys.readouterr()
    assert out == ""
    assert "7/7" in shown
    assert " left" in shown
    assert shown.endswith("\n")
