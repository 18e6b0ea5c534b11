"""The study of rules to stop: its figures and its choice by hand, and its rules as those of the library."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from cellworth import StopRule
from cellworth.forecasting.outlook import quantiles
from cellworth.forecasting.stop_rule import NEXT, decide
from studies.money.kept_cases import CaseFolder, StartTask
from studies.money.stop_candidates import (
    CANDIDATES,
    DEFAULT,
    PointRule,
    best_candidate,
    change_of_cost,
    stop_figures,
)
from studies.money.stop_runs import StopPoint
from studies.money.stops import stops_part
from tests.forecasting.outlooks import outlook

SCORES = {0.0: 0.7, 0.03: 0.85, 0.06: 0.89, 0.1: 0.895, 1.0: 0.9}


def run_of(reached, high, table="abalone", scores=SCORES):
    """A run, with the share that is surely reached at each point, and the gain of the next tenth."""
    return [
        StopPoint(table, 0.2, 0, share, score, (near,) * 101, (gain,) * 101)
        for (share, score), near, gain in zip(scores.items(), reached, high, strict=True)
    ]


LATE = run_of([0.8, 0.9, 0.99, 1.0, 1.0], [0.02, 0.02, 0.01, 0.004, 0.0])


def test_a_stop_is_compared_with_the_cheapest():
    figures = stop_figures(DEFAULT, [LATE], of_best=True)
    assert (figures.spent, figures.reached, figures.times) == (0.1, 1.0, pytest.approx(0.1 / 0.06))
    assert figures.log_times == pytest.approx(np.log(figures.times))
    near = stop_figures(PointRule(0.99), [LATE])
    assert (near.spent, near.times) == (0.06, 1.0)
    assert stop_figures(PointRule(0.9), [LATE]).reached == 0
    never = stop_figures(PointRule(least_gain=1e-9), [LATE])
    assert (never.spent, never.reached) == (1.0, 1.0)


def test_a_rule_of_two_parts_stops_at_the_first():
    assert PointRule(0.99, 0.8, 0.015).stop(LATE).share == 0.06
    assert PointRule(0.99, 0.8, 0.03).stop(LATE).share == 0.0
    assert PointRule(1.0, 0.8, 0.005).stop(LATE).share == 0.1


def test_a_chance_is_a_percentile():
    point = StopPoint("abalone", 0.2, 0, 0.5, 0.8, tuple(np.linspace(0.9, 1, 101)), (0.0,) * 101)
    assert PointRule(0.9799, 0.2).stops(point)
    assert not PointRule(0.9801, 0.2).stops(point)
    assert PointRule(0.9199, 0.8).stops(point)
    assert not PointRule(0.9201, 0.8).stops(point)


def test_the_cheapest_of_those_that_reach_enough_is_taken():
    """Of the rules that stop at 6 %, which is enough, the first; those that stop at 3 % reach too little."""
    best = best_candidate([LATE])
    assert best.stop(LATE).share == 0.06
    assert best == next(rule for rule in CANDIDATES if rule.stop(LATE).share == 0.06)
    cost, low, high = change_of_cost(best, [LATE])
    assert cost == low == high == pytest.approx(0.6)


def test_tables_are_drawn_again():
    """One table at 0.6 of the money and one at all of it: each interval end is a table drawn twice."""
    same = run_of([0.8, 0.9, 0.95, 1.0, 1.0], [0.02, 0.02, 0.01, 0.004, 0.0], "letter")
    cost, low, high = change_of_cost(PointRule(0.99), [LATE, same])
    assert (cost, low, high) == (pytest.approx(0.6**0.5), pytest.approx(0.6), 1.0)


@pytest.mark.parametrize("score", [0.7, 0.9, 0.97])
@pytest.mark.parametrize(
    "rule",
    [
        StopRule(),
        *(StopRule(least_gain=gain) for gain in (0.005, 0.02, 0.05)),
        *(StopRule(reach=reach) for reach in (0.8, 0.97, 0.99)),
    ],
)
def test_rules_are_those_of_the_library(rule, score):
    found = outlook(score=score, known=0.5)
    levels = np.linspace(0, 1, 101).tolist()
    reached, gain = (
        tuple(quantiles(draws, levels).tolist())
        for draws in (found.of_reachable(), found.gains(NEXT * found.cost))
    )
    point = StopPoint("abalone", 0.2, 0, 0.0, score, reached, gain)
    least = rule.least_gain if rule.reach is None else None
    assert PointRule(rule.reach, least_gain=least).stops(point) is decide(found, rule).stop


def test_the_section(tmp_path):
    file = StartTask("stops", "abalone", 0.2, 0).file(tmp_path)
    file.write_text(json.dumps([asdict(point) for point in LATE]))
    text = stops_part([("abalone", 0.2, 0)], CaseFolder(tmp_path, only_kept=True))
    assert (
        f"| {DEFAULT} | tuning | 1 | 10% | 100%, 1.7 times | 100%, 1.7 times | 1.00 (1.00 to 1.00) |" in text
    )
    assert "the aim for the score is met (100% of the runs), that for the money missed (1.7 times)" in text
    assert (
        "It is clearly cheaper there, and over all runs it reaches enough in 100%, the default in 100%"
        in text
    )
    assert "It stopped too early on no table; on none the score had fallen" in text
    assert "| alone | 100%, 16.7 | 100%, 16.7 | 100%, 1.7 | 100%, 1.7 | 100%, 1.7 | 100%, 1.0 |" in text
    assert "| abalone | tuning | 20% | 0.700 | 0.900 | 0.900 | 10% | 0.895 | 6% |" in text
