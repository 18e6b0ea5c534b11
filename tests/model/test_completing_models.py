"""The two estimators: scikit-learn's contract, tables, scores against oracles, and errors that help."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from cellworth import CompletingClassifier, CompletingRegressor, GaussianCompleter, Table
from cellworth.complete.auto_candidates import ColumnMeanCompleter
from cellworth.errors import DataError, ParameterError
from cellworth.model.completing_models import model_of
from cellworth.model.cross_validation import deal
from tests.model.holed_tables import holed, mixed_table

LIGHT = GaussianCompleter(label_trust=0.0, margins="normal", calibrate=False)


@pytest.mark.slow
@parametrize_with_checks(
    [
        CompletingClassifier(model=LogisticRegression(), completer=LIGHT, folds=2),
        CompletingRegressor(model=Ridge(), completer=LIGHT, folds=2),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("classes", [2, 3, 0])
def test_without_holes_both_scores_are_those_of_cross_val_score(classes):
    """Independent oracle: scikit-learn's own cross-validation on the same folds."""
    _, y, X = holed(classes=classes)
    own = LogisticRegression() if classes else LinearRegression()
    kind = CompletingClassifier if classes else CompletingRegressor
    model = kind(model=own).fit(X, y)
    fold = deal(y.astype(float), 5, np.random.default_rng(0), classes=classes > 0)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    if classes:
        scores = cross_val_score(own, X, y, cv=splits, scoring="roc_auc_ovr" if classes > 2 else "roc_auc")
        sizes = [1] * 5  # 160 rows in 5 folds and 2 classes: as many in each
        expected = np.average(scores, weights=sizes)
    else:
        expected = r2_score(y, cross_val_predict(own, X, y, cv=splits))
    # Three classes do not spread evenly over folds; we weight rows, scikit-learn folds.
    assert model.at_hand_score_.value == pytest.approx(expected, abs=1e-9 if classes != 3 else 2e-3)
    assert model.complete_rows_score_.value == pytest.approx(model.at_hand_score_.value, abs=1e-9)
    assert model.at_hand_score_.low < model.at_hand_score_.value < model.at_hand_score_.high


@pytest.mark.parametrize("seed", range(3))
def test_random_labels_are_not_predicted(seed):
    """No label leaks into the filling or the scores: both intervals contain the score of a coin."""
    X, _, _ = holed(n=200, known=0.3, seed=seed)
    y = np.random.default_rng(100 + seed).integers(0, 2, 200)
    model = CompletingClassifier(model="logistic regression", completer=LIGHT).fit(X, y)
    for score in (model.at_hand_score_, model.complete_rows_score_):
        assert score.low - 0.02 <= 0.5 <= score.high + 0.02


@pytest.mark.parametrize("classes", [2, 3, 0])
def test_rows_with_holes_are_predicted(classes):
    X, y, whole = holed(n=240, classes=classes)
    kind = CompletingClassifier if classes else CompletingRegressor
    model = kind(model="logistic regression" if classes else "ridge regression", completer=LIGHT)
    model.fit(X[:160], y[:160])
    at_hand, complete = model.score(X[160:], y[160:]), model.score(whole[160:], y[160:])
    # Guessing gets 1/2, 1/3 or R2 0; the spread of a score on 80 rows is at most 0.06.
    assert at_hand > (1 / classes if classes else 0) + 0.1
    assert complete > at_hand
    if classes:
        P = model.predict_proba(X[160:])
        assert P.shape == (80, classes)
        assert P.sum(axis=1) == pytest.approx(np.ones(80))
        assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(X[160:]))


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 0])
def test_the_search_finds_a_model_that_is_near_the_best(classes):
    X, y, whole = holed(n=400, classes=classes, known=0.5)
    kind = CompletingClassifier if classes else CompletingRegressor
    model = kind().fit(X[:200], y[:200])
    assert model.best_candidate_ in model.cv_results_["name"]
    best = np.flatnonzero(model.cv_results_["rank"] == 1)
    assert model.cv_results_["name"][best] == model.best_candidate_
    assert model.cv_results_["complete_rows"][best] == model.complete_rows_score_.value
    assert not any(model.cv_results_["note"])
    if classes:
        P = model.predict_proba(whole[200:])
        truth = roc_auc_score(y[200:], P if classes > 2 else P[:, 1], multi_class="ovr")
    else:
        truth = r2_score(y[200:], model.predict(whole[200:]))
    # The interval is for the model; 200 test rows add their own spread of at most 0.03.
    assert model.complete_rows_score_.low - 0.03 <= truth <= model.complete_rows_score_.high + 0.03


@pytest.mark.slow
def test_the_result_depends_on_the_seed_alone():
    X, y, _ = holed(n=90)
    first = CompletingClassifier(folds=2, n_jobs=1).fit(X, y)
    second = CompletingClassifier(folds=2, n_jobs=2).fit(X, y)
    assert first.best_candidate_ == second.best_candidate_
    for name in ("at_hand", "complete_rows"):
        assert np.array_equal(first.cv_results_[name], second.cv_results_[name])
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    other = CompletingClassifier(model="logistic regression", random_state=1).fit(X, y)
    assert other.at_hand_score_ != CompletingClassifier(model="logistic regression").fit(X, y).at_hand_score_


def test_a_table_gives_what_its_encoded_arrays_give():
    table = mixed_table()
    settings = {"model": "logistic regression", "completer": LIGHT}
    model = CompletingClassifier(**settings).fit(table)
    labels = np.array(["ill", "well"], dtype=object)[np.nan_to_num(table.y).astype(int)]
    labels[np.isnan(table.y)] = None
    same = CompletingClassifier(**settings).fit(table.encode().X, labels)
    assert model.at_hand_score_ == same.at_hand_score_
    # The arrays do not say which columns are one category.
    assert model.complete_rows_score_ != same.complete_rows_score_
    assert model.complete_rows_score_.value == pytest.approx(same.complete_rows_score_.value, abs=0.05)
    assert np.array_equal(model.predict_proba(table), same.predict_proba(table.encode().X))
    assert model.predict(table).tolist() == same.predict(table.encode().X).tolist()
    assert model.n_features_in_ == 5
    known = ~np.isnan(table.y)
    assert model.score(table) == same.score(table.encode().X[known], labels[known].astype(str))
    number = mixed_table(number=True)
    assert type(model_of(number, model="ridge regression", completer=LIGHT)) is CompletingRegressor
    assert CompletingRegressor(model="ridge regression", completer=LIGHT).fit(number).score(number) > 0.2


@pytest.mark.slow
def test_pipeline_grid_clone_and_pickle():
    X, y, _ = holed(n=80)
    base = CompletingClassifier(model="logistic regression", completer=LIGHT, folds=2)
    piped = make_pipeline(StandardScaler(), base).fit(X, y)
    assert piped.predict(X).shape == (80,)
    grid = GridSearchCV(base, {"model": ["logistic regression", LogisticRegression(C=0.01)]}, cv=2).fit(X, y)
    assert grid.best_estimator_.score(X, y) > 0.5
    fitted = clone(base).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.at_hand_score_ == fitted.at_hand_score_


def test_own_models_and_candidates():
    X, y, _ = holed(n=80)
    own = CompletingClassifier(model=LinearSVC(), completer=LIGHT, folds=2).fit(X, y)
    assert own.best_candidate_ == "LinearSVC"
    assert own.predict_proba(X).min() >= 0
    added = CompletingClassifier(
        candidates=[("steady", LogisticRegression(C=1e-3)), LogisticRegression(), LogisticRegression(C=2)],
        completer=LIGHT,
        folds=2,
        seconds=0,
    ).fit(X, y)
    assert added.left_out_[-3:] == ("steady", "LogisticRegression", "LogisticRegression 2")
    seen = []

    def watch(progress):
        seen.append(progress.name)
        return len(seen) == 2

    CompletingClassifier(completer=LIGHT, folds=2, callback=watch).fit(X, y)
    assert seen == ["logistic regression", "joint Gaussian"]


def test_a_limit_on_time_leaves_candidates_out_and_says_so():
    X, y, _ = holed(n=80)
    model = CompletingClassifier(seconds=0, completer=LIGHT, folds=2).fit(X, y)
    assert model.best_candidate_ == "logistic regression"
    assert "extra trees" in model.left_out_
    notes = dict(zip(model.cv_results_["name"], model.cv_results_["note"], strict=True))
    assert "no time" in notes["extra trees"]


def test_a_completer_that_cannot_draw():
    X, y, _ = holed(n=80)
    model = CompletingClassifier(completer=ColumnMeanCompleter(), folds=2, seconds=0).fit(X, y)
    assert not [name for name in model.left_out_ if "draws" in name]
    assert np.isfinite(model.complete_rows_score_.value)


def test_labels_may_be_missing():
    X, y, _ = holed(n=120)
    labels = y.astype(float)
    labels[::3] = np.nan
    model = CompletingClassifier(model="logistic regression", completer=LIGHT).fit(X, labels)
    assert model.classes_.tolist() == [0.0, 1.0]
    assert model.score(X[1::3], labels[1::3]) > 0.6
    objects = np.array(["a", "b"], dtype=object)[y]
    objects[::3] = None
    assert set(CompletingClassifier(model="logistic regression").fit(X, objects).predict(X)) == {"a", "b"}


def test_too_few_labels_give_a_model_without_scores():
    X, y, _ = holed(n=40)
    y[:36] = 0
    y[36:] = 1
    with pytest.warns(UserWarning, match="too few labelled rows to choose a model on; took 'logistic"):
        model = CompletingClassifier(completer=LIGHT).fit(X, y)
    assert np.isnan(model.at_hand_score_.value)
    assert model.predict(X).shape == (40,)


def test_errors_say_what_to_do():
    X, y, _ = holed(n=40)
    light = CompletingClassifier(model="logistic regression", completer=LIGHT)
    with pytest.raises(DataError, match="one class"):
        light.fit(X, np.zeros(40))
    with pytest.raises(DataError, match="no row has a label"):
        light.fit(X, np.full(40, np.nan))
    with pytest.raises(DataError, match="a model needs labels"):
        light.fit(X)
    with pytest.raises(DataError, match="40 rows and y 39 labels"):
        light.fit(X, y[:39])
    with pytest.raises(DataError, match=r"column 0 .* no observed value"):
        light.fit(np.full_like(X, np.nan), y)
    X, y, _ = holed(n=40)
    with pytest.raises(ParameterError, match="Did you mean 'extra trees'"):
        CompletingClassifier(model="extra tree").fit(X, y)
    with pytest.raises(ParameterError, match="rows must be"):
        CompletingClassifier(rows="all").fit(X, y)
    with pytest.raises(ParameterError, match="scikit-learn estimator"):
        CompletingClassifier(candidates=[LogisticRegression]).fit(X, y)
    with pytest.raises(DataError, match=r"finite numbers.*; got 'a' for row 1\. For classes, use Completing"):
        CompletingRegressor(model="ridge regression").fit(X, np.array(["1", "a"] * 20))
    with pytest.raises(DataError, match=r"finite numbers.*; got inf for row 3"):
        CompletingRegressor(model="ridge regression").fit(X, np.where(np.arange(40) == 3, np.inf, 1.0))
    table = mixed_table()
    with pytest.raises(DataError, match="has no target"):
        light.fit(Table.from_arrays(X))
    with pytest.raises(ParameterError, match="leave y out"):
        light.fit(table, y)
    with pytest.raises(DataError, match="CompletingClassifier"):
        CompletingRegressor().fit(table)
    fitted = light.fit(table)
    with pytest.raises(DataError, match="must have the columns"):
        fitted.predict(Table.from_arrays(X))


def weighted_task(kind, seed=0):
    """Complete rows, labels, and weights 0, 1, 2 and 3; the same with each row as often as its weight."""
    _, y, X = holed(classes=2 if kind is CompletingClassifier else 0, seed=seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(y))
    return X, y, weights, np.repeat(X, weights, axis=0), np.repeat(y, weights)


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        (CompletingClassifier, LogisticRegression(tol=1e-10, max_iter=5000)),
        (CompletingClassifier, make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=5000))),
        (CompletingRegressor, Ridge()),
        (CompletingRegressor, make_pipeline(StandardScaler(), Ridge())),
    ],
)
def test_without_holes_a_weight_is_a_number_of_rows(kind, own):
    """Oracle: the same rows repeated. The bound is the tolerance of the logistic solver."""
    X, y, weights, repeated, labels = weighted_task(kind)
    weighted = kind(model=own).fit(X, y, sample_weight=weights)
    expected = kind(model=own).fit(repeated, labels)
    outputs = [
        model.predict_proba(X) if kind is CompletingClassifier else model.predict(X)
        for model in (weighted, expected, kind(model=own).fit(X, y))
    ]
    assert outputs[0] == pytest.approx(outputs[1], abs=1e-5)
    assert abs(outputs[0] - outputs[2]).max() > 1e-3


@pytest.mark.parametrize("kind", [CompletingClassifier, CompletingRegressor])
def test_with_holes_rows_of_weight_0_are_left_out_and_weights_of_1_change_nothing(kind):
    X, y, _ = holed(classes=2 if kind is CompletingClassifier else 0)
    own = LogisticRegression() if kind is CompletingClassifier else Ridge()
    without = np.arange(len(y)) % 5 > 0
    found = kind(model=own, completer=LIGHT).fit(X, y, sample_weight=without.astype(float))
    expected = kind(model=own, completer=LIGHT).fit(X[without], y[without])
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.at_hand_score_ == expected.at_hand_score_


@pytest.mark.slow
@pytest.mark.parametrize("kind", [CompletingClassifier, CompletingRegressor])
def test_candidates_that_take_no_weights_say_so(kind):
    X, y, _ = holed(classes=2 if kind is CompletingClassifier else 0)
    weights = 1.0 + np.arange(len(y)) % 2
    model = kind(completer=LIGHT, folds=2).fit(X, y, sample_weight=weights)
    notes = dict(zip(model.cv_results_["name"], model.cv_results_["note"], strict=True))
    said = {name for name, note in notes.items() if "cannot be trained with sample_weight" in note}
    assert said == {
        name for name in notes if name.startswith(("joint Gaussian", "linear SVM")) and " + " not in name
    }
    assert not {name for name in notes if notes[name]} - said
    with pytest.raises(DataError, match="JointGaussian cannot be trained with sample_weight"):
        kind(model="joint Gaussian", completer=LIGHT).fit(X, y, sample_weight=weights)


def test_a_table_takes_weights_too():
    table = mixed_table()
    weights = np.arange(table.shape[0]) % 3
    model = CompletingClassifier(model=LogisticRegression(), completer=LIGHT, folds=2)
    assert len(model.fit(table, sample_weight=weights).predict(table)) == table.shape[0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight.shape == \(3,\), expected \(160,\)"),
        (np.ones((160, 2)), "must be 1D"),
        (np.where(np.arange(160) == 7, -2.0, 1.0), "0 or more; got -2 for row 7"),
        (np.where(np.arange(160) == 7, np.nan, 1.0), "finite numbers, 0 or more; got nan for row 7"),
        (np.zeros(160), "every sample_weight is zero"),
    ],
)
def test_weights_that_make_no_sense(weights, message):
    X, y, _ = holed(classes=2)
    with pytest.raises(DataError, match=message):
        CompletingClassifier(model=LogisticRegression()).fit(X, y, sample_weight=weights)


def test_the_only_class_is_named_as_the_user_wrote_it():
    with pytest.raises(DataError, match="of one class, 'ill'; expected at least two"):
        CompletingClassifier().fit(np.ones((20, 2)), np.full(20, "ill"))


@pytest.mark.parametrize("as_object", [False, True])
def test_many_measured_numbers_are_no_classes(as_object):
    """Whole numbers from 25 to 346, as in scikit-learn's diabetes table, where 214 values share 442 rows."""
    X, y = load_diabetes(return_X_y=True)
    labels = [None, *y[1:].astype(int).tolist()] if as_object else y
    message = r"y has 214 different numbers in \d+ rows, \d+ of them in fewer than 5, .*CompletingRegressor"
    with pytest.raises(DataError, match=message):
        CompletingClassifier().fit(X, labels)


@pytest.mark.parametrize("named", ["few", "many with rows enough", "rare, as text", "by a table"])
def test_classes_may_be_many_or_rare(named):
    """Numbers are classes if they are few, or most have rows enough; text always, and what a table says."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    classes = {"few": 20, "many with rows enough": 25}.get(named, 70)
    y = np.sort(np.arange(150) % classes)
    model = CompletingClassifier(model=LogisticRegression(), completer=LIGHT, folds=2)
    if named == "by a table":
        table = Table.from_arrays(X, y, target_kind="several classes")
        model.fit(table)
    else:
        model.fit(X, y.astype(str) if named == "rare, as text" else y)
    assert len(model.classes_) == classes


def test_rare_classes_are_not_reported_for_each_tree():
    """Two classes with rows enough, and 60 with one row each: more classes than half of the rows."""
    rng = np.random.default_rng(0)
    y = np.array([f"c{max(0, k - 40) + k % 2 * (k < 40)}" for k in range(100)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CompletingClassifier(model="extra trees", completer=LIGHT, folds=2).fit(rng.normal(size=(100, 2)), y)
    assert len(caught) <= 1  # by `fit` itself, of all rows, since scikit-learn 1.6
    assert all("The number of unique classes" in str(each.message) for each in caught)


def test_a_column_without_values_is_left_out():
    X, y, _ = holed(n=80)
    light = CompletingClassifier(model="logistic regression", completer=LIGHT)
    wide = np.insert(X, 1, np.nan, axis=1)
    with pytest.warns(UserWarning, match=r"column 1 \(counted from 0\) has no observed value"):
        found = clone(light).fit(wide, y)
    beside = np.insert(X, 1, 3.0, axis=1)  # a value there says nothing to a model that has seen none
    without = clone(light).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(found.predict_proba(wide), without)
    np.testing.assert_array_equal(found.predict_proba(beside), found.predict_proba(wide))


def test_folds_without_a_value_of_a_rare_column_have_scores():
    X, y, _ = holed(n=80)
    rare = np.full(len(X), np.nan)
    rare[3] = 1.0
    light = CompletingClassifier(model="logistic regression", completer=LIGHT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(light, np.column_stack([X, rare]), y, cv=4)
    assert np.isfinite(scores).all()
