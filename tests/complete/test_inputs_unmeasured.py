"""A column without a value is left out of all that a completer returns, with a warning."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from cellworth import (
    AutoCompleter,
    GaussianCompleter,
    LMaFitCompleter,
    NNLSCompleter,
    OptSpaceCompleter,
    SoftImputeCompleter,
    SupervisedCompleter,
    TreeCompleter,
)
from cellworth.blocks import open_blocks
from cellworth.complete.auto_candidates import ColumnMeanCompleter
from cellworth.complete.committee_completer import CommitteeCompleter
from cellworth.complete.completer import BlockCompleter
from cellworth.complete.paired_completer import PairedCompleter
from cellworth.errors import DataError
from cellworth.testing.completer_contract import random_table

UNMEASURED = [1, 4]


class ColumnMeans(BlockCompleter):
    """Column means, by the two methods for row blocks."""

    def fit_blocks(self, source, summary, checkpoint=None):
        self.means_ = summary.sums.mean

    def complete_rows(self, part, state=None):
        return np.where(np.isnan(part.X), self.means_, part.X), None


COMPLETERS = [
    GaussianCompleter(),
    TreeCompleter(n_trees=5),
    AutoCompleter(candidates=[("means", ColumnMeanCompleter()), ("gaussian", GaussianCompleter())]),
    SupervisedCompleter(scale="standard"),
    SoftImputeCompleter(),
    LMaFitCompleter(),
    NNLSCompleter(trace_penalty=0.1, penalty_unit="relative"),
    OptSpaceCompleter(rank=2),
    CommitteeCompleter(),
    PairedCompleter(),
    ColumnMeanCompleter(),
]


def with_unmeasured(rest):
    """Return rows with columns of holes between theirs."""
    wide = rest
    for place in UNMEASURED:
        wide = np.insert(wide, place, np.nan, axis=1)
    return wide


@pytest.fixture
def rest_and_labels():
    return random_table(np.random.default_rng(31))


@pytest.mark.parametrize("completer", COMPLETERS, ids=lambda each: type(each).__name__)
def test_the_result_is_that_of_the_other_columns(completer, rest_and_labels):
    rest, y = rest_and_labels
    wide = with_unmeasured(rest)
    with pytest.warns(UserWarning, match=r"column 1 .*, column 4 .* have no observed value and are left out"):
        found = clone(completer).fit(wide, y)
    expected = clone(completer).fit(rest, y)
    np.testing.assert_array_equal(found.completed_, expected.completed_)
    assert found.measured_columns_.tolist() == [j for j in range(wide.shape[1]) if j not in UNMEASURED]
    assert found.n_features_in_ == wide.shape[1]
    beside = np.where(np.isnan(wide), np.nan, wide)
    beside[:, UNMEASURED] = 7.0  # says nothing to a completer that has seen no value there
    for copy in (found, pickle.loads(pickle.dumps(found))):
        np.testing.assert_array_equal(copy.transform(beside), expected.transform(rest))
    for method in ("predict_interval", "transform_with_variance"):
        if hasattr(found, method):
            arguments = ((0.8, beside), (0.8, rest)) if method == "predict_interval" else ((beside,), (rest,))
            both = (
                getattr(each, method)(*told) for each, told in zip((found, expected), arguments, strict=True)
            )
            for ours, theirs in zip(*both, strict=True):
                np.testing.assert_array_equal(ours, theirs)
    if hasattr(found, "sample"):
        np.testing.assert_array_equal(found.sample(2, 0), expected.sample(2, 0))
        np.testing.assert_array_equal(found.sample(2, 0, beside[:5]), expected.sample(2, 0, rest[:5]))
    if hasattr(found, "fitted_state"):
        restored = clone(completer)
        restored.restore_fitted(found.fitted_state())
        np.testing.assert_array_equal(restored.transform(beside), found.transform(beside))


@pytest.mark.filterwarnings("ignore:.*no observed value")
def test_fitted_attributes_of_the_gaussian_have_the_other_columns(rest_and_labels):
    rest, y = rest_and_labels
    found, expected = GaussianCompleter().fit(with_unmeasured(rest), y), GaussianCompleter().fit(rest, y)
    for name in ("mean_", "covariance_", "variance_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for ours, theirs in zip(found.predict_interval(), expected.predict_interval(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:.*no observed value")
@pytest.mark.parametrize("add_indicator", [False, True])
def test_frames_have_the_names_of_the_other_columns(rest_and_labels, add_indicator):
    rest, y = rest_and_labels
    frame = pd.DataFrame(with_unmeasured(rest), columns=list("abcdefghi"))
    completer = GaussianCompleter(add_indicator=add_indicator).set_output(transform="pandas")
    filled = completer.fit_transform(frame, y)
    usual = SimpleImputer().fit(frame).get_feature_names_out().tolist()
    assert filled.columns[:7].tolist() == usual == ["a", "c", "d", "f", "g", "h", "i"]
    holed = [name for name in usual if frame[name].isna().any()]
    assert filled.columns[7:].tolist() == [f"missingindicator_{name}" for name in holed] * add_indicator
    again = completer.transform(frame)
    assert again.columns.tolist() == filled.columns.tolist()
    if add_indicator:
        np.testing.assert_array_equal(filled.to_numpy()[:, 7:], frame[holed].isna().to_numpy())


@pytest.mark.filterwarnings("ignore:.*no observed value")
def test_completers_written_for_row_blocks_leave_them_out_too(rest_and_labels):
    rest, _ = rest_and_labels
    wide = with_unmeasured(rest)
    found = ColumnMeans().fit(wide)
    np.testing.assert_array_equal(found.completed_, ColumnMeans().fit(rest).completed_)
    assert (found.n_features_in_, len(found.measured_columns_)) == (9, 7)
    assert found.fit(open_blocks(rest)).measured_columns_.tolist() == list(range(7))


def test_a_table_of_holes_is_refused():
    with pytest.raises(DataError, match=r"column 0 .*, column 1 .* no observed value.*at least one"):
        GaussianCompleter().fit(np.full((5, 2), np.nan))


def test_a_later_fit_forgets_them(rest_and_labels):
    rest, y = rest_and_labels
    with pytest.warns(UserWarning, match="left out"):
        completer = GaussianCompleter().fit(with_unmeasured(rest), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        completer.fit(rest, y)
    assert completer.transform(rest).shape == rest.shape


@pytest.mark.filterwarnings("ignore:.*no observed value")
def test_folds_without_a_value_of_a_rare_column_have_scores(rest_and_labels):
    rest, y = rest_and_labels
    rare = np.full(len(rest), np.nan)
    rare[2] = 1.0
    model = make_pipeline(GaussianCompleter(margins="normal"), LogisticRegression())
    X = np.column_stack([rest, rare])
    assert np.isfinite(cross_val_score(model, X, y, cv=5)).all()
    search = GridSearchCV(model, {"gaussiancompleter__shrinkage": [1.0, 3.0]}, cv=5).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
