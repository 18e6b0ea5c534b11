"""Tables that cannot be completed are refused in the user's terms, and others are not."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cellworth import (
    CompletingClassifier,
    CompletingRegressor,
    GaussianCompleter,
    SoftImputeCompleter,
    SupervisedCompleter,
)
from cellworth.complete.inputs import check_table
from cellworth.errors import DataError
from cellworth.testing.completer_contract import random_table


def test_bad_tables_are_refused_in_the_users_terms():
    X, y = random_table(np.random.default_rng(14))
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    infinite = frame.copy()
    infinite.loc[5, "e"] = -np.inf
    with pytest.raises(DataError, match=r"column 'a', column 'b', column 'c', .* no observed value"):
        SupervisedCompleter().fit(frame * np.nan, y)
    with pytest.raises(DataError, match="infinity: column 'e', row 5"):
        SupervisedCompleter().fit(infinite, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SupervisedCompleter().fit(frame, y[:-1])


@pytest.mark.parametrize("Completer", [GaussianCompleter, SupervisedCompleter, SoftImputeCompleter])
@pytest.mark.parametrize("huge", [1e160, -1e308])
def test_numbers_whose_squares_overflow_are_refused_at_the_door(Completer, huge):
    X, y = random_table(np.random.default_rng(15))
    fitted = Completer().fit(X * 1e140, y)
    row, column = np.argwhere(~np.isnan(X))[7]
    X[row, column] = huge
    told = rf"X is too large: column {column} .*row {row} .*another unit"
    with pytest.raises(DataError, match=told):
        Completer().fit(X, y)
    with pytest.raises(DataError, match=told):
        fitted.transform(X)


@pytest.mark.parametrize("Completer", [GaussianCompleter, SupervisedCompleter, SoftImputeCompleter])
def test_what_needs_another_door_is_told_which(Completer):
    frame = pd.DataFrame({"size": [1.0, None, 3.0], "hue": ["red", "blue", None]})
    text = r"column 'hue' holds text.*cellworth\.fill\(frame\).*Table\.from_frame"
    with pytest.raises(DataError, match=text):
        Completer().fit(frame)
    with pytest.raises(DataError, match=r"X is sparse.*Use SparseCompleter"):
        Completer().fit(scipy.sparse.eye_array(5).tocsr())


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        (pd.to_datetime(["2020-01-01", None, "2021-01-01"]), "dates"),
        (pd.to_timedelta([1, 2, 3], unit="h"), "times"),
        (pd.Categorical(["a", None, "b"]), "text"),
        (pd.Series([1, "a", None], dtype=object), "text"),
    ],
)
@pytest.mark.parametrize("Completer", [GaussianCompleter, SupervisedCompleter])
def test_columns_that_are_not_numbers_are_named(Completer, values, holds):
    frame = pd.DataFrame({"size": [1.0, None, 3.0], "other": values})
    with pytest.raises(DataError, match=f"column 'other' holds {holds}, but {Completer.__name__}") as caught:
        Completer().fit(frame, [0, 1, 0])
    assert "cellworth.fill" in str(caught.value)
    assert "encode().X" in str(caught.value)


@pytest.mark.parametrize("Model", [CompletingClassifier, CompletingRegressor])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.to_timedelta([1, 2, 3], unit="h"), "column 'other' holds times"),
        (pd.Series([1, "a", None], dtype=object), "column 'other': text in a numeric column.* row '1'"),
    ],
)
def test_models_name_columns_that_they_cannot_read(Model, values, message):
    frame = pd.DataFrame({"size": [1.0, None, 3.0], "other": values})
    with pytest.raises(DataError, match=message):
        Model().fit(frame, [0, 1, 0])


def test_objects_that_are_numbers_are_numbers():
    frame = pd.DataFrame({"a": pd.Series([1, None, 2.5, 4], dtype=object), "b": [1.0, 2.0, 3.0, None]})
    assert np.isfinite(GaussianCompleter().fit_transform(frame)).all()


def test_numbers_whose_squares_overflow_are_named():
    X = np.array([[1.0, 2.0], [np.nan, 1e160], [3.0, 4.0]])
    with pytest.raises(DataError, match=r"column 1 .*, row 1 \(counted from 0\) is 1e\+160"):
        GaussianCompleter().fit(X)
    with pytest.raises(DataError, match=r"column 'b', row 1 .* is 1e\+160"):
        GaussianCompleter().fit(pd.DataFrame(X, columns=["a", "b"]))


@pytest.mark.parametrize(
    "given",
    [
        np.array([[1.0, np.nan], [2.0, 3.0]]),  # taken as it is; the others are converted or copied
        np.array([[1.0, np.nan], [2.0, 3.0]], dtype=">f8"),
        np.asfortranarray([[1.0, np.nan], [2.0, 3.0]]),
        np.array([[1.0, np.nan], [2.0, 3.0]], dtype=object),
        np.ma.array([[1.0, np.nan], [2.0, 3.0]]),
        [[1.0, None], [2.0, 3.0]],
    ],
)
def test_every_array_is_checked_to_the_same_table(given):
    completer = GaussianCompleter()
    completer.feature_names_in_ = np.array(["of", "another table"], dtype=object)
    X = check_table(completer, given, reset=True)
    assert type(X) is np.ndarray
    assert X.flags.c_contiguous
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, [[1.0, np.nan], [2.0, 3.0]])
    assert completer.n_features_in_ == 2
    assert not hasattr(completer, "feature_names_in_")
    assert completer.measured_columns_.tolist() == [0, 1]


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (2,), (2, 2, 2)])
def test_arrays_that_are_no_table_are_refused_by_scikit_learns_checks(shape):
    with pytest.raises(ValueError, match=r"minimum of 1 is required|Expected 2D array|dim 3"):
        check_table(GaussianCompleter(), np.ones(shape), reset=True)
