"""The study of the score on complete rows: its summary by hand, and one small table from end to end."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from cellworth import Table
from cellworth.simulation.hidden_truth import make_world
from studies.money import complete_rows
from studies.money.complete_rows import CompleteRowsCase, complete_rows_part, run_table
from studies.money.development_tables import RunStart
from studies.money.kept_cases import CaseFolder, StartTask
from tests.model.holed_tables import holed


def test_the_summary_counts_what_is_near(tmp_path):
    cases = [
        CompleteRowsCase("abalone", 0.2, 0, model, False, 600, 0.7, truth + off, truth, truth, off < 0.05)
        for model, truth, off in (("a", 0.8, 0.01), ("b", 0.9, -0.015), ("c", 0.85, 0.06), ("d", 0.7, 0.03))
    ]
    file = StartTask("complete-rows", "abalone", 0.2, 0).file(tmp_path)
    file.write_text(json.dumps([asdict(case) for case in cases]))
    starts = [("abalone", 0.2, 0), ("letter", 0.2, 0)]
    text = complete_rows_part(starts, CaseFolder(tmp_path, only_kept=True))
    assert "| tuning, AUC | 20% | all | 4 | 50% | 100% | 0.029 | +0.021 | -0.113 | 75% |" in text
    assert "the aim is missed from 20% known (50%)" in text
    assert "Of the 4 estimates of an AUC, 25% are too low, and 1 off by more than 0.05" in text
    assert "| abalone | tuning | b | 0.015 | 1 of 1 |" in text
    assert "| abalone | tuning | c | **0.060** | 0 of 1 |" in text
    assert "**Not run yet, 1 of 2 starts:** with 20% known, seed 0: letter." in text
    assert "| report, " not in text


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 0])
def test_a_table_is_hidden_estimated_and_measured(monkeypatch, classes):
    _, y, X = holed(n=600, classes=classes)
    table = Table.from_arrays(X, y, target_kind="number" if classes == 0 else None)

    def start_of(name, observed, seed):
        return RunStart(table, make_world(table, observed=observed, train=0.5, seed=seed), None, 0.0)

    monkeypatch.setattr(complete_rows, "start_of", start_of)
    cases = list(run_table("abalone", 0.4, 0))
    assert [case.test_rows for case in cases] == [300, 300]
    for case in cases:
        assert case.at_hand < case.truth
        assert abs(case.estimate - case.truth) < abs(case.at_hand - case.truth)
        assert np.isfinite(case.if_known)
