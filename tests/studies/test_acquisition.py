import numpy as np
import pytest
from scipy.stats import ttest_rel

from cellworth.table import Table
from studies.acquisition.__main__ import main
from studies.acquisition.experiments import experiments, known_in_full
from studies.acquisition.measures import first_reach, mean_height, measure
from studies.paper.experiments import one_to_ten
from studies.paper.samples import interval


def test_a_goal_is_reached_between_rounds():
    bought = np.array([0.0, 0.2, 0.4, 1.0])
    values = np.array([0.5, 0.6, 0.8, 0.9])
    assert first_reach(bought, values, 0.7) == pytest.approx(0.3)
    assert first_reach(bought, values, 0.4) == 0.0
    assert first_reach(bought, values, 0.95) == 1.0


def test_the_mean_height_holds_the_last_value_to_the_end():
    assert mean_height(np.array([0.0, 0.5]), np.array([0.6, 1.0])) == pytest.approx(0.5 * 0.8 + 0.5 * 1.0)


def test_an_interval_excludes_zero_when_the_paired_test_does():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.3, 1.0, -1.0):
        a, b = rng.normal(shift, 1, size=12), rng.normal(0, 1, size=12)
        found = interval((a - b).tolist())
        significant = ttest_rel(a, b).pvalue < 0.05
        assert (found.above_zero or found.below_zero) == significant
        assert found.above_zero == (significant and (a - b).mean() > 0)


def records(name, seed, auc):
    return [
        {
            "strategy": name,
            "seed": seed,
            "cells": 10 * k,
            "money": 10.0 * k,
            "auc": value,
            "full_auc": 1.0,
            "hidden": 20,
            "total": 20.0,
        }
        for k, value in enumerate(auc)
    ]


def test_strategies_are_measured_against_random_with_the_same_completer():
    runs = [
        *(r for s in range(3) for r in records("random", s, [0.5, 0.7 + s / 100, 1.0])),
        *(r for s in range(3) for r in records("afasmc", s, [0.5, 0.8 + s / 100, 1.0])),
        *(r for s in range(3) for r in records("random-gaussian", s, [0.6, 0.9, 1.0])),
        *(r for s in range(3) for r in records("linear-impact", s, [0.6, 0.9, 1.0])),
    ]
    measured = measure(runs, "cells")
    assert measured["afasmc"].gain.mean == pytest.approx(0.05)
    assert measured["afasmc"].gain.above_zero
    assert measured["afasmc"].saved.mean > 0
    assert measured["linear-impact"].gain == (0.0, 0.0)
    assert not measured["linear-impact"].gain.above_zero


def test_prices_from_one_to_ten_change_with_the_seed():
    table = Table.from_arrays(np.arange(40.0).reshape(2, 20))
    drawn = [one_to_ten(table, seed).on(table).own[0] for seed in range(30)]
    assert not np.array_equal(drawn[0], drawn[1])
    assert set(np.unique(drawn)) == set(range(1, 11))


def test_the_names_of_experiments_differ():
    names = [experiment.name for experiment in experiments()]
    assert len(set(names)) == len(names) == 5 + 6


def test_full_information_is_where_every_cell_is_bought():
    rows = [
        {"dataset": "letter", "seed": 1, "cells": cells, "hidden": 30, "auc": auc, "accuracy": 0.5}
        for cells, auc in ((0, 0.7), (20, 0.8), (30, 0.9))
    ]
    assert known_in_full(rows) == {("letter", 1): {"full_auc": 0.9, "full_accuracy": 0.5}}


@pytest.mark.slow
def test_the_study_writes_its_page_and_goes_on_from_finished_runs(paper_folder, tmp_path, capsys):
    arguments = ["--repeats", "2", "--jobs", "2", "--rounds", "2", "--only", "fees-bupa"]
    arguments += ["--out", str(tmp_path / "out"), "--runs", str(tmp_path / "runs")]
    main(arguments)
    page = (tmp_path / "out" / "acquisition.md").read_text()
    assert "| linear-impact |" in page
    for picture in ("fees.png", "fees-gains.png"):
        assert f"({picture})" in page
        assert (tmp_path / "out" / picture).stat().st_size > 10_000
    capsys.readouterr()
    main(arguments)
    assert "simulating" not in capsys.readouterr().err
    again = (tmp_path / "out" / "acquisition.md").read_text()
    assert _without_time(again) == _without_time(page)


def _without_time(page):
    return [line for line in page.splitlines() if not line.startswith("It took")]
