"""The study of automatic choices: its figures by hand, and one small table from end to end."""

import json

import numpy as np
import pytest

from cellworth.strategy.strategy_choice import Lead, StrategyChoice
from studies.money import automatic
from studies.money.automatic import AUTO, NEVER, ChosenCase, against_fallback, automatic_records
from studies.money.money_ratios import GRID, PurchaseCase


def chosen(errors=2.5, model="extra trees", strategy="linear-impact", completer="Gaussian", table="abalone"):
    lead = None if errors is None else Lead(errors * 0.01, 0.01, 7, 8)
    choice = StrategyChoice(strategy, "recommended", completer, model, "AUC", "linear-impact", lead, 2.0)
    return ChosenCase(table, 0.2, 0, choice, 0.8, 0.81, 5.0)


def test_a_lead_counts_by_the_kind_of_model():
    assert chosen(2.5).strategy(NEVER, 2.0) == "linear-impact"
    assert chosen(2.5).strategy(0.0, NEVER) == "recommended"
    assert chosen(1.0, "logistic regression").strategy(0.5, NEVER) == "linear-impact"
    assert chosen(1.0, "ridge regression").strategy(1.0, 0.0) == "recommended"
    assert chosen(None).strategy(0.0, 0.0) == "recommended"


def test_the_purchases_are_those_of_the_strategy_chosen(tmp_path):
    at = {"table": "abalone", "observed": 0.2, "prices": "same", "seed": 0, "share": 0.5}
    records = [
        at | {"strategy": "recommended", "score": 0.1},
        at | {"strategy": "linear-impact", "score": 0.2},
        at | {"strategy": "linear-impact", "score": 0.3, "observed": 0.1},
    ]
    (found,) = automatic_records(chosen(), records, tmp_path)
    assert found == at | {"strategy": AUTO, "score": 0.2}


def test_another_completer_is_played_once(tmp_path, monkeypatch):
    plays = []
    monkeypatch.setattr(automatic, "records_of", lambda *_: plays.append(1) or [{"share": 0.0, "score": 0.9}])
    for _ in range(2):
        (found,) = automatic_records(chosen(completer="supervised"), [], tmp_path)
    assert (found["strategy"], found["score"], plays) == (AUTO, 0.9, [1])


def case(table, **reached):
    """Return a case in which each strategy reaches the end at a share of the money."""
    curves = {name: np.minimum(GRID / at, 1.0)[np.newaxis] for name, at in reached.items()}
    return PurchaseCase(table, 0.2, "same", 0.0, 1.0, curves)


def test_the_ratio_to_the_fallback_is_a_geometric_mean():
    cases = [
        case("abalone", random=1.0, auto=0.5, recommended=0.25),
        case("image", random=1.0, auto=0.25, recommended=0.5),
        case("chess", random=1.0, auto=0.25, recommended=0.5),
    ]
    lines = against_fallback(cases).splitlines()
    assert lines[2].startswith("| tuning | 2 | 1.000 (")
    assert lines[3] == "| report | 1 | 0.500 (0.500 to 0.500) |"
    assert lines[4].startswith("| both | 3 | 0.794 (")


def test_a_choice_is_kept(tmp_path, monkeypatch):
    kept = chosen()
    calls = []

    def choose(*_):
        calls.append(1)
        return {"choice": kept.choice.to_json(), "gaussian": 0.8, "supervised": 0.81, "seconds": 5.0}

    monkeypatch.setattr(automatic, "_choose", choose)
    found = [automatic.chosen_case("abalone", 0.2, 0, tmp_path) for _ in range(2)]
    assert found == [kept, kept]
    assert calls == [1]
    assert json.loads((tmp_path / "abalone-0.2-0.choice").read_text())["seconds"] == pytest.approx(5.0)
