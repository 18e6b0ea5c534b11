"""The study of the score on complete rows: its summary by hand, and one small table from end to end."""

import numpy as np
import pytest

from cellworth import Table
from cellworth.simulation.hidden_truth import make_world
from studies.money import complete_rows
from studies.money.complete_rows import Case, describe, run_table
from studies.money.development_tables import RunStart
from tests.model.holed_tables import holed


def test_the_summary_counts_what_is_near():
    cases = [
        Case("abalone", "extra trees", "tune", False, 600, 0.7, truth + off, truth, truth, off < 0.05)
        for truth, off in ((0.8, 0.01), (0.9, -0.015), (0.85, 0.06), (0.7, 0.03))
    ]
    text = describe(cases)
    assert "estimate  bias +0.021, mean error 0.029" in text
    assert "within 0.02: 50%" in text
    assert "cover 75%" in text
    assert "report" not in text.replace("half", "")


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 0])
def test_a_table_is_hidden_estimated_and_measured(monkeypatch, classes):
    _, y, X = holed(n=600, classes=classes)
    table = Table.from_arrays(X, y, target_kind="number" if classes == 0 else None)

    def start_of(name, observed, seed):
        return RunStart(table, make_world(table, observed=observed, train=0.5, seed=seed), None, 0.0)

    monkeypatch.setattr(complete_rows, "start_of", start_of)
    cases = list(run_table("abalone", 0, 0.4))
    assert [case.test_rows for case in cases] == [300, 300]
    for case in cases:
        assert case.at_hand < case.truth
        assert abs(case.estimate - case.truth) < abs(case.at_hand - case.truth)
        assert np.isfinite(case.if_known)
