"""The study of the automatic choice: its figures from outcomes worked out by hand, and a run on one table."""

import numpy as np
import pytest

from studies.completion.chosen_completer import AUTO, Outcome, error_of, labelled_case, main, verdicts


def test_an_error_counts_hidden_cells_only_and_misses_up_to_five():
    truth = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 100.0]])
    holed = np.array([[0.0, np.nan], [2.0, 3.0], [np.nan, 1.0]])  # deviations of 1
    filled = np.array([[9.0, 3.0], [9.0, 9.0], [4.0 + 90.0, 9.0]])
    assert error_of(filled, truth, holed) == pytest.approx(np.sqrt((2**2 + 5**2) / 2))


def test_regret_is_over_the_best_candidate_and_time_over_the_gaussian():
    def case(seed, method, error, seconds, choice=""):
        return Outcome("letter", 0.6, False, seed, method, error, seconds, choice)

    found = [
        *(case(0, "gaussian", 1.0, 1.0), case(0, "trees", 0.8, 5.0), case(0, AUTO, 0.8, 8.0, "trees")),
        *(case(1, "gaussian", 1.2, 2.0), case(1, "trees", 1.2, 5.0), case(1, AUTO, 1.3, 6.0, "nnls")),
    ]
    (one,) = verdicts(found, labels=False)
    assert one.best == "trees"
    assert one.regret == pytest.approx(1.05 / 1.0 - 1)
    assert one.lead == pytest.approx(1.1 / 1.0 - 1)
    assert one.time == pytest.approx((8 + 3) / 2)
    assert one.choices == "trees, nnls"
    assert verdicts(found, labels=True) == []


@pytest.mark.slow
def test_a_run_on_one_table_writes_the_page(tmp_path, paper_folder):
    main(["--rows", "80", "--seeds", "1", "--tables", "bupa", "--out", str(tmp_path)])
    text = (tmp_path / "chosen-completer.md").read_text()
    assert "--rows 80 --seeds 1 --tables bupa" in text
    assert "## Without labels" in text
    assert "## With labels" in text
    assert text.count("| bupa | report |") == 4


def test_the_same_seed_gives_the_same_case(paper_folder):
    one, other = (labelled_case("bupa", 0.6, 1, 50) for _ in range(2))
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, its)
    truth, holed, y = one
    assert len(truth) == len(y) == 50
    assert np.nanstd(holed, axis=0).min() > 0
