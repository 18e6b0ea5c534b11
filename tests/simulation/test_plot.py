import numpy as np
import pandas as pd
import pytest

from cellworth import plot_curves
from cellworth.errors import ParameterError
from cellworth.simulation import mean_curves
from cellworth.simulation.plot import mean_gain


def test_mean_curves_by_hand():
    frame = pd.DataFrame(
        {
            "strategy": ["s"] * 4,
            "seed": [0, 0, 1, 1],
            "cells": [0, 10, 0, 10],
            "auc": [0.5, 0.7, 0.6, 1.0],
        }
    )
    (curve,) = mean_curves(frame, "auc", "cells", points=3)
    np.testing.assert_allclose(curve.mean, [0.55, 0.70, 0.85])
    from scipy.stats import t

    half = t.ppf(0.975, 1) * np.std([0.7, 1.0], ddof=1) / np.sqrt(2)
    assert curve.half[-1] == pytest.approx(half)


def test_a_gain_is_compared_seed_by_seed_over_the_money_of_both():
    """The two seeds are far apart, the strategies are not: over 0 to 10, s is above r by 0.05 and 0.06."""
    frame = pd.DataFrame(
        {
            "strategy": ["s"] * 4 + ["r"] * 4,
            "seed": [0, 0, 1, 1] * 2,
            "money": [0, 10, 0, 10, 0, 20, 0, 20],
            "auc": [0.5, 0.6, 0.8, 0.92, 0.5, 0.5, 0.8, 0.8],
        }
    )
    mean, low, high = mean_gain(frame, "s", "r", "auc")
    assert mean == pytest.approx(0.055)
    from scipy.stats import ttest_rel

    known = ttest_rel([0.05, 0.06], [0.0, 0.0]).confidence_interval(0.95)
    assert (low, high) == pytest.approx((known.low, known.high))


@pytest.mark.slow
def test_the_plot_has_a_line_and_a_band_per_strategy(curves, tmp_path):
    figure = plot_curves(curves, "auc", full=0.99)
    assert len(figure.axes) == 2
    for axis in figure.axes:
        assert len(axis.lines) == 3  # two strategies, and the dashed line
        assert len(axis.collections) == 2
    figure.savefig(tmp_path / "curves.png")
    with pytest.raises(ParameterError, match="no column 'gini'"):
        plot_curves(curves, "gini")


def test_a_band_stays_within_the_range_of_its_metric():
    frame = pd.DataFrame(
        {
            "strategy": "s",
            "seed": [0, 0, 1, 1],
            "money": [0, 9, 0, 9],
            "auc": [0.1, 0.7, 0.8, 1.0],
            "r2": -0.5,
        }
    )
    (curve,) = mean_curves(frame, "auc", "money", points=5)
    assert curve.low[0] == 0
    assert curve.high[-1] == 1
    assert curve.seeds == 2
    (curve,) = mean_curves(frame, "r2", "money", points=5)
    assert curve.low[0] == -0.5


def test_the_metric_suits_the_target():
    runs = {"strategy": ["a", "a"], "seed": [0, 0], "cells": [0, 5], "money": [0.0, 5.0]}
    numbers = pd.DataFrame({**runs, "r2": [0.1, 0.3], "rmse": [2.0, 1.0]})
    assert mean_curves(numbers)[0].mean[-1] == 0.3
    assert plot_curves(numbers).axes[0].get_ylabel() == "R² on test rows"
    classes = pd.DataFrame({**runs, "auc": [0.6, 0.7], "accuracy": [0.5, 0.6]})
    assert mean_curves(classes)[0].mean[-1] == 0.7


@pytest.mark.parametrize(
    ("metric", "value", "least", "most"),
    [("auc", 1.0, 0, 1), ("accuracy", 0.0, 0, 1), ("r2", 1.0, -np.inf, 1), ("rmse", 0.0, 0, np.inf)],
)
def test_no_axis_goes_to_values_that_a_metric_cannot_take(metric, value, least, most):
    """Nor do its marks; and a line at the end stays visible, above or below the frame."""
    runs = {"strategy": "a", "seed": 0, "cells": [0, 5], "money": [0.0, 5.0], metric: value}
    figure = plot_curves(pd.DataFrame(runs), metric)
    figure.canvas.draw()
    for axis in figure.axes:
        low, high = axis.get_ylim()
        marks = [mark for mark in axis.get_yticks() if low <= mark <= high]
        assert least <= min(marks)
        assert max(marks) <= most
        assert low < value < high
        assert low >= least - 0.02 * (high - low)
        assert high <= most + 0.02 * (high - low)


def test_an_axis_within_the_range_is_left_alone():
    runs = {"strategy": "a", "seed": 0, "cells": [0, 5], "money": [0.0, 5.0], "auc": [0.6, 0.7]}
    axis = plot_curves(pd.DataFrame(runs), "auc").axes[0]
    margin = 0.05 * 0.1  # matplotlib's own
    assert axis.get_ylim() == pytest.approx((0.6 - margin, 0.7 + margin))
