"""The study of automatic choices: its figures by hand, and one small table from end to end."""

import json

import numpy as np
import pytest

from cellworth.strategy.auto_choice import Lead, StrategyChoice
from studies.money import automatic
from studies.money.automatic import (
    AUTO,
    NEVER,
    ChosenCase,
    against_fallback,
    automatic_part,
    automatic_records,
    is_better,
)
from studies.money.kept_cases import CaseFolder, StartTask
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
    (found,) = automatic_records(chosen(), records, CaseFolder(tmp_path))
    assert found == at | {"strategy": AUTO, "score": 0.2}


def test_another_completer_is_played_once(tmp_path, monkeypatch):
    plays, other = [], chosen(completer="supervised")
    kept = {"choice": other.choice.to_json(), "gaussian": 0.8, "supervised": 0.81, "seconds": 5.0}
    StartTask("choice", *other.start).file(tmp_path).write_text(json.dumps([kept]))
    monkeypatch.setattr(automatic, "records_of", lambda *_: plays.append(1) or [{"share": 0.0, "score": 0.9}])
    for _ in range(2):
        (found,) = automatic_records(other, [], CaseFolder(tmp_path))
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
    tuning, report, both = against_fallback(cases)
    assert (tuning.half, tuning.cases, tuning.value) == ("tuning", 2, pytest.approx(1.0, abs=0.01))
    assert (report.half, report.value) == ("report", pytest.approx(0.5, abs=0.01))
    assert report.low == report.high == report.value
    assert (both.cases, both.value) == (3, pytest.approx(0.5 ** (1 / 3), abs=0.01))
    assert not is_better([tuning, report, both])


def test_better_on_both_halves_is_better():
    tables = "abalone", "image", "chess", "letter"
    cases = [case(table, random=1.0, auto=0.25, recommended=0.5) for table in tables]
    assert is_better(against_fallback(cases))
    assert not is_better(against_fallback(cases[:2]))


def test_the_section_is_made_from_choices_and_purchases(tmp_path, monkeypatch):
    """A choice is made once; its purchases are those of the strategy it names."""
    calls = []

    def choose(task, folder):
        calls.append(task)
        figures = {"gaussian": 0.8, "supervised": 0.81, "seconds": 5.0}
        return [figures | {"choice": chosen(table=task.table).choice.to_json()}]

    def play(runs, folder):
        ends = {"random": 0.5, "recommended": 0.6, "linear-impact": 0.9}
        return [
            vars(run) | {"share": share, "score": score}
            for run in runs
            for share, score in (
                [(0.0, 0.1), (0.5, ends[run.strategy])] if run.strategy in ends else [(1.0, 0.9)]
            )
        ]

    monkeypatch.setattr(automatic, "_choose", choose)
    monkeypatch.setattr(automatic, "play", play)
    starts = [("abalone", 0.2, 0), ("abalone", 0.2, 1), ("letter", 0.2, 0)]
    pages = [automatic_part(starts, CaseFolder(tmp_path)) for _ in range(2)]
    assert pages[0] == pages[1]
    assert [task.start for task in calls] == starts
    assert (
        "From 2 of the 27 tables (1 tuning, 1 report), 20% of the cells known, 2 seeds: 3 starts." in pages[0]
    )
    assert "`auto` left the fallback at 3 of 3 starts" in pages[0]
    assert "The aim is met." in pages[0]
    assert "| abalone | tuning | 20% | extra trees | +2.5 | linear-impact |" in pages[0]
