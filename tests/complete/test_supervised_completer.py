import copy
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from cellworth import SupervisedCompleter
from cellworth.complete import scaling
from cellworth.complete.solver import factors, fused_step
from cellworth.errors import ParameterError
from cellworth.testing import check_completer
from cellworth.testing.completer_contract import random_table
from tests.complete.scikit_learn import check_with_scikit_learn
from tests.conftest import first_quick

SETTINGS = [
    {},
    {"loss": "logistic"},
    {"loss": "squared_hinge"},
    {"scale": "standard"},
    {"penalty_unit": "relative", "trace_penalty": 0.05},
    {"line_search": True},
    {"updates": "alternating"},
    {"label_weight": 0.0},
    {"n_jobs": 2},
]


@pytest.mark.parametrize("setting", first_quick(SETTINGS))
def test_keeps_the_contract_of_completers(setting):
    check_completer(SupervisedCompleter(**setting))


def test_without_scaling_keeps_the_contract_but_for_units():
    check_completer(SupervisedCompleter(scale=None), unit_free=False)


@pytest.mark.parametrize("setting", first_quick(SETTINGS[:3]))
def test_passes_every_check_of_scikit_learn(setting):
    check_with_scikit_learn(SupervisedCompleter(**setting))


def with_holes(X, share, seed):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(with_holes(X, 0.4, 0), y, random_state=0)


def test_in_a_pipeline_and_a_grid_search(cancer):
    X, X_test, y, y_test = cancer
    pipeline = make_pipeline(SupervisedCompleter(tol=1e-4), LinearSVC(C=0.01, dual=False))
    search = GridSearchCV(pipeline, {"supervisedcompleter__trace_penalty": [1.0, 10.0]}, cv=3).fit(X, y)
    # Always guessing the larger class is right for 63 % of the rows.
    assert search.score(X_test, y_test) > 0.85


def test_frames_in_frames_out():
    X, y = random_table(np.random.default_rng(0))
    names = [f"c{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names, index=[f"row{i}" for i in range(len(X))])
    for kind, expected in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = SupervisedCompleter().set_output(transform=kind).fit_transform(frame, y)
        assert isinstance(out, expected)
        assert list(out.columns) == names
    fitted = SupervisedCompleter().fit(frame, y)
    assert list(fitted.get_feature_names_out()) == names
    assert (fitted.completed_ == SupervisedCompleter().fit(X, y).completed_).all()


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge"])
def test_the_model_is_in_the_units_of_the_table(loss):
    """Scores of coef_ and intercept_ on the low-rank table explain the labels, whatever the units."""
    X, y = random_table(np.random.default_rng(1), n=200)
    big = SupervisedCompleter(loss=loss, label_weight=50.0).fit(1000 * X + 7, y)
    small = SupervisedCompleter(loss=loss, label_weight=50.0).fit(X, y)
    np.testing.assert_allclose(big.coef_ * 1000, small.coef_, rtol=1e-3, atol=1e-4)
    scores = small.completed_ @ small.coef_.T + small.intercept_
    assert ((scores[:, 0] > 0) == y).mean() > 0.8
    assert (small.classes_ == [0, 1]).all()


def test_several_classes_and_numbers():
    rng = np.random.default_rng(2)
    X, _ = random_table(rng, n=150)
    truth = np.nan_to_num(X)
    three = np.array(["low", "mid", "high"])[np.digitize(truth[:, 0], [-0.5, 0.5])]
    for loss in ("squared", "logistic", "squared_hinge"):
        fitted = SupervisedCompleter(loss=loss).fit(X, three)
        assert fitted.coef_.shape == (3, X.shape[1])
        assert list(fitted.classes_) == ["high", "low", "mid"]
    number = 100 + 10 * truth[:, 0]
    fitted = SupervisedCompleter(label_weight=10.0).fit(X, number)
    assert fitted.classes_ is None
    predicted = (fitted.completed_ @ fitted.coef_.T + fitted.intercept_)[:, 0]
    assert np.corrcoef(predicted, number)[0, 1] > 0.8
    with pytest.raises(ParameterError, match="the target is a number"):
        SupervisedCompleter(loss="logistic").fit(X, number)


def test_rows_without_label_take_part_in_completion_alone():
    """Their holes are filled by the labelled rows' model, and the label they would have had is not used."""
    X, y = random_table(np.random.default_rng(3), n=100)
    hidden = y.astype(float)
    hidden[:30] = np.nan
    one = SupervisedCompleter(label_weight=20.0).fit(X, hidden)
    other = hidden.copy()
    flipped = np.where(np.isnan(hidden), 1 - y, hidden)
    two = SupervisedCompleter(label_weight=20.0).fit(X, other)
    three = SupervisedCompleter(label_weight=20.0).fit(X, flipped)
    assert (one.completed_ == two.completed_).all()
    assert not np.allclose(one.completed_, three.completed_)


def test_labels_help_where_they_should():
    """With a column that the label nearly decides, the supervised filling of it is closer to the truth."""
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=400)
    truth = rng.normal(size=(400, 6))
    truth[:, 0] = 2 * y - 1 + 0.1 * rng.normal(size=400)
    holes = rng.random(truth.shape) < 0.4
    X = np.where(holes, np.nan, truth)
    errors = [
        np.linalg.norm(
            (SupervisedCompleter(scale="standard", label_weight=w).fit(X, y).completed_ - truth)[:, 0]
        )
        for w in (0.0, 100.0)
    ]
    assert errors[1] < 0.8 * errors[0]


def test_new_rows_are_completed_as_in_the_fit():
    """Without labels, a training row completed as a new one equals its completion in the fit."""
    X, _ = random_table(np.random.default_rng(5), n=300)
    fitted = SupervisedCompleter(tol=1e-9, max_iter=20_000, scale="standard").fit(X)
    np.testing.assert_allclose(fitted.transform(X), fitted.completed_, atol=1e-5)


@given(seed=st.integers(0, 2**32 - 1), supervised=st.booleans())
@settings(max_examples=20)
def test_warm_and_cold_start_reach_the_same_objective(seed, supervised):
    rng = np.random.default_rng(seed)
    truth, y = random_table(rng, n=300, observed=1.1)
    X = np.where(rng.random(truth.shape) < 0.6, truth, np.nan)
    y = y if supervised else None
    warm = SupervisedCompleter(warm_start=True, tol=1e-7, max_iter=20_000).fit(X, y)
    answered = rng.choice(np.flatnonzero(np.isnan(X)), size=20, replace=False)
    X.flat[answered] = truth.flat[answered]
    warm.fit(X, y)
    cold = clone(warm).fit(X, y)
    # Without labels the problem is convex. With them it is not, but where they weigh as in the paper the
    # starting point hardly moves the end (worst of 150 seeds: 6e-4 with labels, 4e-13 without).
    tolerance = 3e-3 if supervised else 1e-9
    assert warm.objective_[-1] == pytest.approx(cold.objective_[-1], rel=tolerance)


WARM_CASES = {
    "squared": {},
    "logistic": {"loss": "logistic"},
    "some rows without label": {"unlabelled": 0.4},
    "three classes": {"classes": 3, "loss": "logistic"},
    "float32": {"dtype": np.float32},
    "fewer rows than columns": {"shape": (30, 60), "answers": 4},
    "line search": {"line_search": True},
    "standard scale": {"scale": "standard"},
    "relative penalty": {"penalty_unit": "relative", "trace_penalty": 0.02},
    "most rows changed": {"answers": 4000},
}


def warm_case(shape=(2000, 7), classes=2, unlabelled=0.0, answers=30, seed=6, **parameters):
    """Return a completer, and a table, its labels and the table after some answers."""
    rng = np.random.default_rng(seed)
    truth, y = random_table(rng, *shape, observed=1.1)
    X = np.where(rng.random(truth.shape) < 0.6, truth, np.nan)
    y = np.digitize(truth[:, 0], np.quantile(truth[:, 0], np.arange(1, classes) / classes)).astype(float)
    y[rng.random(len(y)) < unlabelled] = np.nan
    after, holes = X.copy(), np.flatnonzero(np.isnan(X))
    known = rng.choice(holes, min(answers, len(holes) - 1), replace=False)
    after.flat[known] = truth.flat[known]
    return SupervisedCompleter(warm_start=True, max_iter=5000, **parameters), X, y, after


@pytest.mark.parametrize("case", WARM_CASES.values(), ids=WARM_CASES)
def test_a_warm_start_ends_where_a_cold_one_does_and_sooner(case):
    completer, X, y, after = warm_case(**case)
    completer.fit(X, y).fit(after, y)
    cold = clone(completer).fit(after, y)
    assert completer.converged_
    # Both end by the same rule; the objectives differ by what its tolerance of 1e-5 leaves open.
    assert completer.objective_[-1] <= cold.objective_[-1] * (1 + 1e-5)
    assert completer.n_iter_ <= cold.n_iter_ / (1 if case.get("answers", 0) > 1000 else 2)
    seen = ~np.isnan(after)
    assert (completer.completed_[seen] == after.astype(completer.completed_.dtype)[seen]).all()


@given(seed=st.integers(0, 2**32 - 1), answers=st.integers(1, 60))
@settings(max_examples=20, deadline=None)
def test_a_warm_start_is_as_good_as_its_tolerance(seed, answers):
    """The bound that the stopping rule gives for a convex objective F, which it is without labels.

    With the gradient mapping G at x and the result x+, F(x+) - F(u) <= |G| |x - u| for every u, and
    |x - u| <= |x+ - u| + |G|.
    """
    completer, X, _, after = warm_case((150, 6), answers=answers, seed=seed, scale=None)
    completer.fit(X).fit(after)
    best = clone(completer).set_params(tol=1e-10, max_iter=50_000).fit(after)
    gradient = 1e-5 * np.sqrt(np.nansum(after**2))
    here, there = (np.matmul(*fitted.low_rank_) for fitted in (completer, best))
    gap = completer.objective_[-1] - best.objective_[-1]
    assert gap <= gradient * (np.linalg.norm(here - there) + gradient) * (1 + 1e-6) + 1e-9


def test_the_rows_that_changed_can_stand_anywhere():
    completer, X, y, after = warm_case(unlabelled=0.3)
    order = np.random.default_rng(0).permutation(len(X))
    plain = clone(completer).fit(X, y).fit(after, y)
    shuffled = clone(completer).fit(X[order], y[order]).fit(after[order], y[order])
    difference = np.linalg.norm(shuffled.completed_ - plain.completed_[order])
    assert difference < 1e-3 * np.linalg.norm(plain.completed_)
    assert abs(shuffled.n_iter_ - plain.n_iter_) <= 2


def test_a_warm_start_on_the_same_table_is_done_at_once():
    completer, X, y, _ = warm_case()
    assert completer.fit(X, y).n_iter_ > 10
    assert completer.fit(X, y).n_iter_ <= 2


@pytest.mark.parametrize("change", ["a wider range", "a corrected value", "a value withdrawn", "new labels"])
def test_a_warm_start_takes_any_change_of_the_table(change):
    completer, X, y, after = warm_case()
    completer.fit(X, y)
    known = tuple(np.argwhere(~np.isnan(after))[5])
    if change == "a wider range":
        after[known] = 1.2 * np.nanmax(after[:, known[1]])
    elif change == "a corrected value":
        after[known] = np.nanmean(after[:, known[1]])
    elif change == "a value withdrawn":
        after[known] = np.nan
    else:
        y = np.where(np.arange(len(y)) % 50 == 0, 1 - y, y)
    completer.fit(after, y)
    cold = clone(completer).fit(after, y)
    assert completer.objective_[-1] <= cold.objective_[-1] * (1 + 1e-5)
    assert completer.n_iter_ < cold.n_iter_


@given(seed=st.integers(0, 2**32 - 1), data=st.data())
@settings(max_examples=25, deadline=None)
def test_rounds_of_any_changes_end_where_cold_fits_do(seed, data):
    """The convex problem, without labels: the bound of `test_a_warm_start_is_as_good_as_its_tolerance`."""
    rng = np.random.default_rng(seed)
    scale = data.draw(st.sampled_from([None, "minmax", "standard"]))
    completer, X, _, _ = warm_case((200, 6), seed=seed % 1000, scale=scale)
    completer.fit(X)
    for _ in range(3):
        change = data.draw(st.sampled_from(["answers", "corrections", "withdrawals", "wider", "nothing"]))
        holes, known = np.flatnonzero(np.isnan(X)), np.flatnonzero(~np.isnan(X))
        if change == "answers":
            X.flat[rng.choice(holes, 10)] = rng.normal(size=10)
        elif change == "corrections":
            X.flat[rng.choice(known, 10)] += 0.5
        elif change == "withdrawals":
            X.flat[rng.choice(known, 10)] = np.nan
        elif change == "wider":
            X.flat[rng.choice(known)] *= 3
        completer.fit(X)
        assert completer.converged_
        best = clone(completer).set_params(tol=1e-10, max_iter=50_000).fit(X)
        scaled = best.scaling_.apply(X)
        gradient = 1e-5 * np.sqrt(np.nansum(scaled**2))
        here, there = (np.matmul(*fitted.low_rank_) for fitted in (completer, best))
        gap = completer.objective_[-1] - best.objective_[-1]
        assert gap <= gradient * (np.linalg.norm(here - there) + gradient) * (1 + 1e-6) + 1e-9
        seen = ~np.isnan(X)
        assert (completer.completed_[seen] == X[seen]).all()


@pytest.mark.parametrize("shape", [(1500, 7), (2000, 6)])
def test_a_table_of_another_shape_starts_cold(shape):
    completer, X, y, _ = warm_case()
    other, X_other, y_other, _ = warm_case(shape)
    completer.fit(X, y).fit(X_other, y_other)
    other.fit(X_other, y_other)
    np.testing.assert_array_equal(completer.completed_, other.completed_)


@pytest.mark.parametrize("case", [{}, {"unlabelled": 0.4}, {"dtype": np.float32}], ids=str)
def test_a_warm_round_is_the_same_on_two_threads_and_without_the_kernels(case):
    completer, X, y, after = warm_case((20_000, 7), answers=100, **case)
    one = clone(completer).fit(X, y).fit(after, y)
    two = clone(completer).set_params(n_jobs=2).fit(X, y).fit(after, y)
    np.testing.assert_array_equal(one.completed_, two.completed_)
    with pytest.MonkeyPatch.context() as patch:
        for module in (factors, fused_step, scaling):
            patch.setattr(module, "kernels", lambda: None)
        plain = clone(completer)
        plain.restore_fitted(clone(completer).fit(X, y).fitted_state())
        with_kernels = copy.deepcopy(plain)
        plain.fit(after, y)
    with_kernels.fit(after, y)
    assert plain.n_iter_ == with_kernels.n_iter_
    # Single precision: sums of 140,000 cells, each with 24 bits.
    atol = 1e-4 if "dtype" in case else 1e-10
    np.testing.assert_allclose(plain.completed_, with_kernels.completed_, rtol=0, atol=atol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_thread_and_two_give_the_same_bits(dtype):
    X, y = random_table(np.random.default_rng(7), n=20_000, d=12)
    one, two = (SupervisedCompleter(tol=1e-4, n_jobs=k, dtype=dtype).fit(X, y) for k in (1, 2))
    assert one.completed_.dtype == dtype
    assert (one.completed_ == two.completed_).all()


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(30, 150))
@settings(max_examples=20)
def test_float32_is_within_a_thousandth_of_float64(seed, n):
    X, y = random_table(np.random.default_rng(seed), n=n)
    double, single = (SupervisedCompleter(dtype=dtype).fit(X, y).completed_ for dtype in (float, np.float32))
    assert np.linalg.norm(single - double) < 1e-3 * np.linalg.norm(double)


def test_relative_penalty_means_the_same_for_any_number_of_rows():
    rng = np.random.default_rng(8)
    basis = rng.normal(size=(3, 10))
    ranks, absolute = [], []
    for n in (300, 3000):
        X = with_holes(rng.normal(size=(n, 3)) @ basis + 0.3 * rng.normal(size=(n, 10)), 0.4, n)
        fitted = SupervisedCompleter(penalty_unit="relative", trace_penalty=0.25, scale="standard").fit(X)
        ranks.append(fitted.rank_)
        absolute.append(fitted.trace_penalty_)
    assert ranks[0] == ranks[1]
    # Singular values grow like sqrt(n); sampling moves the largest by a few percent.
    assert absolute[1] / absolute[0] == pytest.approx(np.sqrt(10), rel=0.1)


def test_a_penalty_of_one_whole_singular_value_removes_all():
    X, _ = random_table(np.random.default_rng(9))
    fitted = SupervisedCompleter(penalty_unit="relative", trace_penalty=1.0 + 1e-9, scale="standard").fit(X)
    assert fitted.rank_ == 0
    holes = np.isnan(X)
    means = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    np.testing.assert_allclose(fitted.completed_[holes], means[holes])


def test_low_rank_factors_are_balanced_and_explain_the_filling():
    for shape in ((80, 6), (6, 20)):
        X, y = random_table(np.random.default_rng(10), *shape)
        fitted = SupervisedCompleter(scale="standard").fit(X, y)
        left, right = fitted.low_rank_
        assert left.shape == (shape[0], fitted.rank_)
        np.testing.assert_allclose(left.T @ left, right @ right.T, atol=1e-8)
        holes = np.isnan(X)
        filled = (left @ right) * fitted.scaling_.width + fitted.scaling_.offset
        np.testing.assert_allclose(filled[holes], fitted.completed_[holes], atol=1e-6)


def test_giving_up_says_what_to_change():
    X, y = random_table(np.random.default_rng(11))
    with pytest.warns(
        ConvergenceWarning, match=r"did not converge in 3 iterations; raise max_iter.*trace_penalty"
    ):
        fitted = SupervisedCompleter(max_iter=3).fit(X, y)
    assert not fitted.converged_
    assert fitted.n_iter_ == 3


def test_a_sum_of_losses_converges():
    """A weight of as many as there are labels: some thousand iterations, within the default number."""
    X, y = random_table(np.random.default_rng(13), 120, 6)
    fitted = SupervisedCompleter(label_weight=120.0).fit(X, y)
    assert fitted.converged_
    closer = SupervisedCompleter(label_weight=120.0, tol=1e-8, max_iter=100_000).fit(X, y)
    assert fitted.objective_[-1] == pytest.approx(closer.objective_[-1], rel=1e-4)


def test_the_callback_can_end_the_fit_quietly():
    X, y = random_table(np.random.default_rng(12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = SupervisedCompleter(callback=lambda progress: progress.iteration >= 4).fit(X, y)
    assert fitted.n_iter_ == 4
    assert np.isfinite(fitted.completed_).all()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"trace_penalty": -1}, "trace_penalty must be a finite number, at least 0; got -1"),
        ({"trace_penalty": "auto"}, "trace_penalty must be a finite number"),
        ({"label_weight": np.nan}, "label_weight must be a finite number"),
        ({"ridge": 0}, "ridge must be a finite number, greater than 0; got 0"),
        ({"tol": -1e-3}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"updates": "by turns"}, "updates must be 'joint' or 'alternating'"),
        ({"loss": "hinge"}, "loss must be one of 'squared', 'logistic', 'squared_hinge'; got 'hinge'"),
        ({"scale": "robust"}, "scale must be 'minmax', 'standard' or None; got 'robust'"),
        ({"penalty_unit": "percent"}, "penalty_unit must be 'absolute' or 'relative'; got 'percent'"),
        ({"target": "label"}, "target must be 'auto', 'classes' or 'number'; got 'label'"),
        ({"dtype": np.int64}, "dtype must be None, float32 or float64"),
    ],
)
def test_senseless_settings_are_refused_by_name(setting, message):
    X, y = random_table(np.random.default_rng(13))
    with pytest.raises(ParameterError, match=message):
        SupervisedCompleter(**setting).fit(X, y)


def test_without_an_intercept_the_model_is_the_ridge_regression_through_the_origin():
    """Of the low-rank table: the squared loss has curvature 2, and each of n rows the weight 1/n."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 5)) + 3
    labels = np.where(X[:, 0] > 3, 1.0, -1.0)
    X[rng.random(X.shape) < 0.3] = np.nan
    settings = {"scale": None, "trace_penalty": 0.1, "tol": 1e-9, "max_iter": 20_000}
    fitted = SupervisedCompleter(fit_intercept=False, **settings).fit(X, labels > 0)
    left, right = fitted.low_rank_
    Z = left @ right
    expected = np.linalg.solve(2 / 200 * Z.T @ Z + 1e-3 * np.eye(5), 2 / 200 * Z.T @ labels)
    np.testing.assert_allclose(fitted.coef_[0], expected, rtol=1e-5)
    assert fitted.intercept_ == 0


@pytest.mark.parametrize("factor", [1.1, 3.0])
def test_the_factor_of_the_line_search_does_not_change_the_result(factor):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 4))
    y = X[:, 0] > 0
    X[rng.random(X.shape) < 0.3] = np.nan
    searched = SupervisedCompleter(line_search=factor, tol=1e-8).fit(X, y)
    known = SupervisedCompleter(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(searched.completed_, known.completed_, atol=1e-5)
    with pytest.raises(ParameterError, match="line_search"):
        SupervisedCompleter(line_search=0.5).fit(X, y)
