"""Candidates by name, averages, and the user's own."""

import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cellworth.errors import ParameterError
from cellworth.model.candidates import Candidate, candidate_named, default_models, own_candidates
from cellworth.model.feature_views import View


@pytest.mark.parametrize("is_number", [False, True])
def test_default_candidates_have_distinct_names_and_can_be_cloned(is_number):
    models = default_models(is_number=is_number)
    assert len({each.name for each in models}) == len(models) >= 8
    assert {each.view.fill for each in models} == {"mean", "draws", "raw"}
    for each in models:
        clone(each.learner)
        assert candidate_named(each.name, is_number=is_number).view == each.view


def test_an_average_by_name():
    found = candidate_named("extra trees + joint Gaussian", is_number=False)
    assert found.name == "extra trees + joint Gaussian"
    assert [each.name for each in found.members] == ["extra trees", "joint Gaussian"]
    with pytest.raises(ParameterError, match=r"no candidate 'forest'.*'logistic regression'"):
        candidate_named("extra trees + forest", is_number=False)


def test_own_candidates_get_names():
    given = [LogisticRegression(), ("mine", LogisticRegression()), Candidate("raw", View("raw"), object())]
    found = own_candidates(given, is_number=False, taken=["mine"])
    assert [each.name for each in found] == ["LogisticRegression", "mine 2", "raw"]
    assert found[2].view == View("raw")
    for wrong in ("auto", 3, [LogisticRegression], [("name", 3)]):
        with pytest.raises(ParameterError, match="estimator"):
            own_candidates(wrong, is_number=False)
