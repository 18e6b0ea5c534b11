"""The study of the model trained on the holes: its summary by hand, and one small table from end to end."""

import json
from dataclasses import asdict

import pytest

from cellworth import Table
from cellworth.model.candidates import default_models
from cellworth.simulation.hidden_truth import make_world
from studies.money import model_choice
from studies.money.development_tables import RunStart
from studies.money.kept_cases import CaseFolder, StartTask
from studies.money.model_choice import ModelChoiceCase, model_choice_part, run_start
from tests.model.holed_tables import holed


def test_the_summary_says_what_was_lost(tmp_path):
    for seed, best in ((0, 0.9), (1, 0.8)):
        case = ModelChoiceCase("abalone", 0.2, seed, False, 0.7, best, 0.8, 0.75, 0.95, "a", "a + b")
        file = StartTask("models", "abalone", 0.2, seed).file(tmp_path)
        file.write_text(json.dumps([asdict(case)]))
    starts = [("abalone", 0.2, 0), ("abalone", 0.2, 1), ("letter", 0.2, 0)]
    text = model_choice_part(starts, CaseFolder(tmp_path, only_kept=True))
    mean = "| tuning, AUC | 20% | 2 | 0.700 | 0.850 | 0.800 | 0.750 | 0.950 | 0.050 | 0.100 |"
    assert mean in text
    assert "above the linear one at 2 of 2 starts; at 2 it is above the linear one with all cells" in text
    assert text.count("| abalone |") == 1
    assert "**Not run yet, 1 of 3 starts:** with 20% known, seed 0: letter." in text


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 0])
def test_the_best_candidate_is_at_least_the_linear_one(monkeypatch, classes):
    _, y, X = holed(n=300, classes=classes)
    table = Table.from_arrays(X, y, target_kind="number" if classes == 0 else None)

    def start_of(name, observed, seed):
        return RunStart(table, make_world(table, observed=observed, train=0.5, seed=seed), None, 0.0)

    monkeypatch.setattr(model_choice, "start_of", start_of)
    case = run_start("abalone", 0.5, 0)
    assert case.best >= case.linear
    assert case.chosen_full > case.chosen
    names = {each.name for each in default_models(is_number=classes == 0)}
    assert case.best_name in names
    assert set(case.chosen_name.split(" + ")) <= names
