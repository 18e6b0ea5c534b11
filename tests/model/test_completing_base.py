"""What both estimators do with their input; the rest is in test_completing_models.py."""

import numpy as np
import pytest

from cellworth.errors import ParameterError
from cellworth.model import CompletingRegressor
from cellworth.model.completing_base import plain_labels
from tests.model.holed_tables import holed


def test_labels_keep_their_type():
    assert plain_labels(np.array(["a", "b"], dtype=object)).dtype.kind == "U"
    assert plain_labels(np.array([1, 2], dtype=object)).dtype.kind == "i"
    assert plain_labels(np.array([1.5])).dtype.kind == "f"


@pytest.mark.parametrize(
    "setting", [{"folds": 1}, {"repeats": 0}, {"seconds": -1}, {"rows": "some"}, {"candidates": "auto"}]
)
def test_settings_are_checked(setting):
    X, y, _ = holed(n=30, classes=0)
    with pytest.raises(ParameterError, match=next(iter(setting))):
        CompletingRegressor(**setting).fit(X, y)


@pytest.mark.parametrize("state", [3, None, np.random.default_rng(0), np.random.RandomState(0)])
def test_any_random_state(state):
    X, y, _ = holed(n=40, classes=0)
    model = CompletingRegressor(model="ridge regression", random_state=state, folds=2).fit(X, y)
    assert np.isfinite(model.at_hand_score_.value)
