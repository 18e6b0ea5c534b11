"""The study of curves and clusters: its figures by hand, and that it runs."""

import numpy as np
import pytest

from studies.completion import nonlinear
from studies.completion.nonlinear import Filled, OfCategories, column_error, judge, page


def test_the_error_is_the_mean_over_columns_in_their_deviations():
    truth = np.array([[0.0, 10.0], [2.0, 30.0], [1.0, 20.0], [5.0, 50.0]])
    holed = truth.copy()
    holed[2:, 0] = np.nan
    holed[3, 1] = np.nan
    filled = np.where(np.isnan(holed), truth + np.array([1.0, 4.0]), truth)
    by_hand = (1.0 / np.std([0, 2]) + 4.0 / np.std([10, 30, 20])) / 2
    assert column_error(filled, truth, holed) == pytest.approx(by_hand)


def test_chances_are_judged_by_hand():
    chances = np.array([[0.5, 0.45, 0.05], [0.95, 0.03, 0.02]])
    wrong, loss, covered, size = judge(chances, np.array([1, 2]))
    assert wrong == 1.0
    assert loss == pytest.approx(-np.log([0.45, 0.02]).mean())
    assert (covered, size) == (0.5, 1.5)


def test_the_page_names_what_misses_an_aim():
    errors = {"Gaussian": 0.5, "Trees": 0.4, "Chain": 0.35, "Mixture": 0.45}
    found = [Filled("letter", share, m, e, 1.0) for share in (0.6, 0.3) for m, e in errors.items()]
    text = page(found, [OfCategories("splice", 0.6, 0.7, 1.3, 1.4, 0.9, 3.0)], "command", 600, 3)
    assert "| letter | report | 60% | 0.500 | 0.400 | **0.350** | 0.450 |" in text
    assert "beyond: letter 1.143" in text
    assert "trees are ahead in 2 of 2 cases" in text
    assert "| splice | 0.600 |" in text


@pytest.mark.slow
def test_runs_from_the_command_line(tmp_path, paper_folder):
    nonlinear.main(
        [
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
    )
    assert "| abalone | tuning | 60% |" in (tmp_path / "nonlinear.md").read_text("utf-8")
