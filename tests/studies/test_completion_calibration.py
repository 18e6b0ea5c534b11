"""The study of stated uncertainties: what it measures, on made-up completions."""

import numpy as np
import pytest

from studies.completion import calibration
from studies.completion.calibration import Measured, measure, page


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
    found = measure(Known(truth.shape, deviation), truth, holed)
    # 6,000 cells: 0.004 a standard error of a share, 2 % of a mean square.
    assert found[0] == pytest.approx(covered, abs=0.02)
    assert np.isnan(found[1])
    assert found[2] == pytest.approx(covered, abs=0.05)
    assert found[3] == pytest.approx(covered, abs=0.06)
    assert found[4] == pytest.approx(ratio, rel=0.1)
    assert found[5] == pytest.approx(1, abs=0.01)


def test_the_page_counts_the_cases_and_marks_those_that_miss():
    good = Measured("abalone", 0.6, "Gaussian", 100, 0.9, float("nan"), 0.85, 0.84, 1.0, 0.5, 0.5, 1.0)
    bad = good._replace(table="letter", covered=0.95, over_means=1.2)
    text = page([good, bad], "command", 500)
    assert "| Gaussian | tuning | 1 | 1 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "| Gaussian | report | 1 | 0 | 1 | 1 | 1 | 0 | 0 |" in text
    assert "**0.950**" in text
    assert "**1.200**" in text
    assert "`command`" in text


def test_runs_from_the_command_line(tmp_path, paper_folder):
    arguments = ["--tables", "abalone", "--methods", "Gaussian", "--rows", "80", "--out", str(tmp_path)]
    calibration.main(arguments)
    assert "| abalone | tuning | 60% |" in (tmp_path / "calibration.md").read_text("utf-8")


def test_the_largest_errors_are_told_apart(capsys, paper_folder):
    calibration.main(["--largest", "abalone", "--rows", "120"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("abalone at 60%: ")
    assert "without the 10 largest of" in second
