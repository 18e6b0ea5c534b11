"""Frames of mixed kinds as input of models, as people who use scikit-learn have them."""

import numpy as np
import pandas
import polars
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from cellworth import CompletingClassifier, CompletingRegressor, Table
from cellworth.errors import DataError
from cellworth.model.mixed_frames import encoded_like, is_mixed, table_of

LIGHT = {"model": "logistic regression", "folds": 2}


def mixed(n=120, seed=0):
    """Return a frame with numbers, categories, yes/no and dates, with holes, and labels."""
    rng = np.random.default_rng(seed)
    size, soil = rng.normal(size=n), rng.choice(["clay", "loam", "sand"], n)
    frame = pandas.DataFrame(
        {
            "size": size,
            "soil": soil.astype(object),
            "wet": rng.choice([True, False], n).astype(object),
            "sown": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.integers(0, 300, n), unit="D"),
        }
    )
    labels = np.where(size + (soil == "clay") + 0.3 * rng.normal(size=n) > 0.3, "bloom", "wilt")
    for name in frame.columns:
        frame.loc[rng.random(n) < 0.2, name] = None
    return frame, labels


def test_a_mixed_frame_is_learned_from_as_its_table_is():
    frame, labels = mixed()
    model = CompletingClassifier(**LIGHT).fit(frame, labels)
    table = Table.from_frame(frame.assign(y=labels), target="y")
    same = CompletingClassifier(**LIGHT).fit(table)
    assert model.at_hand_score_ == same.at_hand_score_
    np.testing.assert_array_equal(model.predict_proba(frame), same.predict_proba(table))
    np.testing.assert_array_equal(model.predict_proba(frame), same.predict_proba(frame))
    shuffled = frame[["sown", "wet", "soil", "size"]]  # found by name
    np.testing.assert_array_equal(model.predict(polars.from_pandas(shuffled)), model.predict(frame))
    assert model.score(frame, labels) == np.mean(model.predict(frame) == labels)


def test_it_works_in_pipelines_searches_and_cross_validation():
    frame, labels = mixed()
    pipeline = Pipeline([("model", CompletingClassifier(**LIGHT))])
    search = GridSearchCV(pipeline, {"model__rows": ["complete", "as they are"]}, cv=3, error_score="raise")
    assert search.fit(frame, labels).best_score_ > 0.7
    numbers = frame["size"].fillna(0.0) * 3
    regressor = CompletingRegressor(model="ridge regression", folds=2)
    assert np.isfinite(cross_val_score(regressor, frame, numbers, cv=3, error_score="raise")).all()


def test_the_index_plays_no_part():
    frame, labels = mixed()
    repeated = frame.set_axis([7] * len(frame), axis=0)
    model = CompletingClassifier(**LIGHT).fit(repeated, labels)
    np.testing.assert_array_equal(
        model.predict(repeated), CompletingClassifier(**LIGHT).fit(frame, labels).predict(frame)
    )


def test_new_texts_and_empty_columns_count_as_holes():
    frame, labels = mixed()
    table = table_of(frame)
    new = frame.head(3).assign(soil=["peat", None, "clay"], size=[None, np.nan, 1.0])
    rows = encoded_like(new, table.columns)
    assert np.isnan(rows[:2, :4]).all()
    assert rows[2, :4].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert len(CompletingClassifier(**LIGHT).fit(frame, labels).predict(new)) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="soil"), r"got 'soil' missing\. Select these columns"),
        (lambda frame: frame.assign(y=1), r"got 'y' beyond them"),
        (
            lambda frame: frame.astype(object).assign(size="big"),
            r"row '0', column 'size': expected a number, got 'big'",
        ),
        (lambda frame: frame.assign(sown="soon"), r"column 'sown': expected a date .*, got 'soon'"),
    ],
)
def test_rows_that_do_not_fit(change, message):
    frame, labels = mixed()
    model = CompletingClassifier(**LIGHT).fit(frame, labels)
    with pytest.raises(DataError, match=message):
        model.predict(change(frame))


def test_frames_of_numbers_stay_matrices():
    frame, _ = mixed()
    assert is_mixed(frame)
    assert is_mixed(polars.from_pandas(frame[["soil"]]))
    assert not is_mixed(frame[["size"]])
    assert not is_mixed(frame[["size"]].to_numpy())
    with pytest.raises(DataError, match=r"row_id='soil'.* give a Table.from_frame\(frame, target=\.\.\., "):
        table_of(frame.assign(soil=[f"P{k}" for k in range(len(frame))]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_without_a_value_are_left_out(library):
    frame, labels = mixed()
    wide = frame.assign(dose=np.nan, note=None)
    blank = wide.assign(note="  ")
    if library == "polars":
        frame, wide, blank = map(polars.from_pandas, (frame, wide, blank))
    expected = CompletingClassifier(**LIGHT).fit(frame, labels).predict_proba(frame)
    for given in (wide, blank):
        with pytest.warns(UserWarning, match="column 'dose', column 'note' have no observed value and are"):
            model = CompletingClassifier(**LIGHT).fit(given, labels)
        np.testing.assert_array_equal(model.predict_proba(given), expected)
        np.testing.assert_array_equal(model.predict_proba(frame), expected)


@pytest.mark.filterwarnings("ignore:.*no observed value")
def test_folds_without_a_value_of_a_rare_column_have_scores():
    frame, labels = mixed()
    rare = frame.assign(dose=[3.5] + [np.nan] * (len(frame) - 1))
    assert np.isfinite(cross_val_score(CompletingClassifier(**LIGHT), rare, labels, cv=3)).all()


def test_rows_are_named_by_the_index():
    frame, labels = mixed()
    named = frame.set_axis([f"plot {place}" for place in range(len(frame))], axis=0)
    wrong = named.astype(object).assign(size=["big", *frame["size"].iloc[1:]])
    with pytest.raises(DataError, match="'big' in row 'plot 0'"):
        CompletingClassifier(**LIGHT).fit(wrong, labels)
    model = CompletingClassifier(**LIGHT).fit(named, labels)
    with pytest.raises(DataError, match="row 'plot 0', column 'size': expected a number, got 'big'"):
        model.predict(wrong)


@pytest.mark.parametrize("rows", [[["x", "clay", True, None]], {"soil": "clay"}])
def test_texts_to_predict_come_in_a_frame(rows):
    frame, labels = mixed()
    model = CompletingClassifier(**LIGHT).fit(frame, labels)
    with pytest.raises(
        DataError, match="expected a DataFrame with the columns 'size', 'soil', 'wet', 'sown'"
    ):
        model.predict(rows)


def test_labels_of_a_nullable_column_stay_whole_beside_holes():
    frame, labels = mixed()
    number = pandas.Series(labels == "bloom", index=frame.index)
    for dtype, classes in (("Int64", [0, 1]), ("boolean", [False, True])):
        some = number.astype(dtype)
        some.iloc[:20] = pandas.NA
        found = CompletingClassifier(**LIGHT).fit(frame, some).classes_
        assert found.tolist() == classes
        assert type(found.tolist()[0]) is type(classes[0])
