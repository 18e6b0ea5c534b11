"""The candidates: those by default, and those that a user names."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import KNNImputer

from cellworth.complete import GaussianCompleter, TreeCompleter
from cellworth.complete.auto_candidates import (
    CandidateResult,
    ColumnMeanCompleter,
    grows_on,
    text_table,
    to_try,
)
from cellworth.complete.auto_completer import AutoCompleter
from cellworth.complete.nnls import NNLSCompleter
from cellworth.errors import DataError, ParameterError
from tests.complete.auto_cases import QUICK, Broken, gaussian
from tests.complete.low_rank_cases import check_refuses


def error(completed, truth, holed):
    holes = np.isnan(holed)
    return float(np.mean(((completed - truth) / truth.std(axis=0))[holes] ** 2))


def test_takes_any_transformer_that_fills_holes():
    truth, holed = gaussian(0)
    candidates = [("neighbours", KNNImputer()), ("means", ColumnMeanCompleter())]
    auto = AutoCompleter(candidates=candidates).fit(holed)
    assert auto.best_name_ == "neighbours"
    np.testing.assert_array_equal(auto.completed_, KNNImputer().fit_transform(holed))
    assert np.isfinite(auto.transform(holed[:3])).all()
    assert error(auto.completed_, truth, holed) < 1


def test_refuses_settings_that_make_no_sense():
    check_refuses(AutoCompleter, n_holds=0, time_budget=-1.0, target="colour", candidates=[])
    for wrong in (3, [("a",)], [(1, QUICK[0][1])], [QUICK[0], QUICK[0]], [("a", GaussianCompleter)]):
        with pytest.raises(ParameterError, match="candidate"):
            AutoCompleter(candidates=wrong).fit(np.eye(3))
    with pytest.raises(DataError, match="1 class"):
        AutoCompleter().fit(np.eye(3), ["a", "a", "a"])


def test_trees_are_tried_with_few_and_gaussians_without_calibration():
    assert to_try(TreeCompleter()).n_trees == 20
    assert to_try(TreeCompleter(n_trees=4)).n_trees == 4
    given = GaussianCompleter(shrinkage=5.0)
    tried = to_try(given)
    assert tried is not given
    assert tried.shrinkage == 5.0
    assert given.calibrate
    assert not tried.calibrate


def test_gaussians_keep_what_a_fit_has_chosen():
    truth, holed = gaussian(0)
    y = (truth[:, 0] > 0).astype(float)
    for given in (GaussianCompleter(), GaussianCompleter(label_trust=0.0), GaussianCompleter(margins="rank")):
        fitted = clone(given).fit(np.exp(holed), y)
        tried = to_try(given, fitted)
        changed = {k for k, v in tried.get_params().items() if v != given.get_params()[k]}
        assert changed <= {"margins", "shrinkage", "label_trust", "calibrate"}
        assert not hasattr(tried, "completed_")
        tried.fit(np.exp(holed), y)
        for name in ("margins_", "shrinkage_", "label_trust_"):
            assert getattr(tried, name) == getattr(fitted, name)


def test_a_low_rank_completer_keeps_the_penalty_and_the_rank_of_a_fit():
    """To the same cells they give the same fit; what the user has set stays."""
    _, holed = gaussian(0)
    fitted = NNLSCompleter().fit(holed)
    tried = to_try(NNLSCompleter(), fitted).fit(holed)
    assert tried.trace_penalty_ == fitted.trace_penalty_
    np.testing.assert_allclose(tried.completed_, fitted.completed_, rtol=1e-6)
    given = NNLSCompleter(trace_penalty=2.0)
    assert to_try(given, fitted).get_params() == given.get_params()


def test_trees_grow_on_the_gaussian_with_the_same_settings():
    assert grows_on(TreeCompleter(), GaussianCompleter())
    assert grows_on(TreeCompleter(n_trees=3), GaussianCompleter(calibrate=False, n_jobs=2))
    assert grows_on(TreeCompleter(label_trust=0.0), GaussianCompleter(label_trust=0.0))
    assert not grows_on(TreeCompleter(label_trust=0.0), GaussianCompleter())
    assert not grows_on(TreeCompleter(), GaussianCompleter(margins="rank"))
    assert not grows_on(GaussianCompleter(), GaussianCompleter())
    assert not grows_on(TreeCompleter(), TreeCompleter())


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
