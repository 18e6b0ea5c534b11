"""The study of stated uncertainties: what it measures, on made-up completions."""

import numpy as np
import pytest

from studies.completion import calibration
from studies.completion.calibration import Measured, judge, measure, page


class Known:
    """A completer whose distribution is that of the table: standard normal cells, mean 0."""

    def __init__(self, shape, deviation):
        self.completed_, self.variance_ = np.zeros(shape), np.full(shape, deviation**2)
        self._deviation = deviation

    def predict_interval(self, level):
        end = 1.645 * self._deviation
        return self.completed_ - end, self.completed_ + end


@pytest.mark.parametrize(("deviation", "covered", "ratio"), [(1.0, 0.9, 1.0), (0.5, 0.589, 4.0)])
def test_figures_of_a_completer_whose_distribution_is_known(deviation, covered, ratio):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(4000, 3))
    holed = np.where(rng.random(truth.shape) < 0.5, truth, np.nan)
    found = measure([judge(Known(truth.shape, deviation), truth, holed, np.arange(truth.shape[1]))])
    # 6,000 cells: 0.004 a standard error of a share, 2 % of a mean square.
    assert found[0] == pytest.approx(covered, abs=0.02)
    assert np.isnan(found[1])
    for share in found[2:6]:  # least and most of columns and quarters
        assert share == pytest.approx(covered, abs=0.06)
    assert found[6] == pytest.approx(ratio, rel=0.1)
    assert found[7] == pytest.approx(1, abs=0.01)
    assert found[8] == found[9] == found[6]  # one draw


def test_draws_are_put_together_in_units_that_do_not_depend_on_what_is_kept():
    """One cell of a thousand is huge. A variance that is right on average is so over all draws."""
    rng = np.random.default_rng(1)
    truth = np.zeros((1000, 2))
    truth[0] = 1000.0
    truth += 0.01 * rng.normal(size=truth.shape)
    draws = []
    for _ in range(200):
        holed = np.where(rng.random(truth.shape) < 0.5, truth, np.nan)
        known = Known(truth.shape, 1.0)
        known.variance_ = np.broadcast_to(np.nanmean(holed**2, axis=0), truth.shape)
        draws.append(judge(known, truth, holed, np.arange(truth.shape[1])))
    # 400 coins: the standard error of the sum is 5 %, and so is that of the variances.
    assert measure(draws)[6] == pytest.approx(1, abs=0.25)
    assert measure(draws)[8] < 0.01


def test_the_page_counts_the_cases_and_marks_those_that_miss():
    shares = (0.9, float("nan"), 0.85, 0.95, 0.84, 0.96)
    good = Measured("abalone", 0.6, "Gaussian", 10, *shares, 1.0, 0.5, 0.7, 1.4, 0.5, 1.0)
    bad = good._replace(table="letter", covered=0.95, over_means=1.2)
    text = page([good, bad], "command", 500)
    assert "| Gaussian | tuning | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "| Gaussian | report | 1 | 0 | 1 | 1 | 1 | 1 | 1 | 0 | 0 |" in text
    assert "**0.950**" in text
    assert "**1.200**" in text
    assert "`command`" in text


def test_runs_from_the_command_line(tmp_path, paper_folder):
    arguments = [
        "--tables",
        "abalone",
        "--methods",
        "Gaussian",
        "--rows",
        "80",
        "--seeds",
        "1",
        "--out",
        str(tmp_path),
    ]
    calibration.main(arguments)
    assert "| abalone | tuning | 60% |" in (tmp_path / "calibration.md").read_text("utf-8")
