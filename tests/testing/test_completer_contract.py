"""The contract of completers notices what it promises to notice."""

import numpy as np
import pytest

from cellworth.complete.auto_candidates import ColumnMeanCompleter
from cellworth.testing import check_completer
from cellworth.testing.completer_contract import check_fitted_state, random_table


class Touches(ColumnMeanCompleter):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.completed_ = self.completed_ + 1e-9
        return self


class NegativeVariance(ColumnMeanCompleter):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.variance_ = -np.isnan(X).astype(float)
        return self


class LooksAtOtherRows(ColumnMeanCompleter):
    def _complete_new(self, values, observed):
        return np.full_like(values, values.sum())


class Rises(ColumnMeanCompleter):
    def fit(self, X, y=None):
        self.objective_ = np.array([1.0, 2.0])
        return super().fit(X, y)


class StatesAnObject(ColumnMeanCompleter):
    def fitted_state(self):
        return super().fitted_state() | {"scaling": self.scaling_}


class StatesNames(ColumnMeanCompleter):
    def fitted_state(self):
        return super().fitted_state() | {"words": np.array(["a", 1], dtype=object)}


class ForgetsItsScaling(ColumnMeanCompleter):
    def restore_fitted(self, state):
        moved = {"offset": state["scaling_"]["offset"] + 1, "width": state["scaling_"]["width"]}
        super().restore_fitted({**state, "scaling_": moved})


class ForgetsWhatItCompleted(ColumnMeanCompleter):
    def restore_fitted(self, state):
        super().restore_fitted({name: value for name, value in state.items() if name != "completed_"})


class GoesOnElsewhere(ColumnMeanCompleter):
    """A warm start whose state misses the number of fits."""

    def fit(self, X, y=None):
        self.fits_ = getattr(self, "fits_", 0) + 1
        super().fit(X, y)
        self.completed_ = np.where(np.isnan(X), self.completed_ + self.fits_, X)
        return self


@pytest.mark.parametrize(
    ("completer", "promise"),
    [
        (Touches(), "must keep observed cells"),
        (NegativeVariance(), "variance_ must not be negative"),
        (LooksAtOtherRows(), "must not depend on other rows"),
        (Rises(), "objective_ must never rise"),
        (StatesAnObject(), "must be plain data; got a Scaling"),
        (StatesNames(), "must be of a plain type; got object"),
        (ForgetsItsScaling(), "transform must be restored"),
        (ForgetsWhatItCompleted(), "completed_ must be restored"),
        (GoesOnElsewhere(), "completed_ must be restored and fitted again"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_broken_promise_is_named(completer, promise):
    with pytest.raises(AssertionError, match=promise):
        check_completer(completer, unit_free=False)


def test_a_completer_without_a_state_is_left_alone():
    class Stateless(ColumnMeanCompleter):
        fitted_state = property()

    X, y = random_table(np.random.default_rng(0))
    check_fitted_state(Stateless(), X, y)
