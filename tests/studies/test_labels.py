"""The study of labels beside cells: its comparisons, and its page."""

import numpy as np
import pytest

from cellworth import GaussianCompleter
from cellworth.score import Round
from studies.labels.report import compare, interval, write_page
from studies.labels.runs import CELLS, JOINT, LABELS, RATIOS, TABLES, RandomHalves


def made_up(seeds=2, joint=0.8):
    scores = {JOINT: joint, CELLS: 0.75, LABELS: 0.7}
    return [
        {
            "half": half,
            "table": table,
            "ratio": ratio,
            "seed": seed,
            "strategy": name,
            "start": 0.6,
            "score": score + 0.001 * seed * (name == JOINT),
            "cells": 10,
            "labels": 3,
            "money": 10 + 3 * ratio,
            "model": "extra trees",
        }
        for half, tables in TABLES.items()
        for table in tables
        for ratio in RATIOS
        for seed in range(seeds)
        for name, score in scores.items()
    ]


def test_a_case_is_compared_with_the_better_pure_strategy():
    found = compare(made_up(), "image", 1.0)
    assert (found.better, found.is_worse) == (CELLS, False)
    assert found.difference == pytest.approx(0.0505)
    assert found.error == pytest.approx(0.0005)
    assert compare(made_up(joint=0.7), "image", 1.0).is_worse
    assert np.isnan(compare(made_up(seeds=1), "image", 1.0).error)


def test_an_interval_holds_the_mean():
    low, high = interval(np.array([0.01, 0.02, 0.03]))
    assert 0.01 <= low < 0.02 < high <= 0.03


@pytest.mark.parametrize("joint", [0.8, 0.7])
def test_the_page_says_where_it_does_not_pay(tmp_path, joint):
    write_page(made_up(joint=joint), tmp_path / "labels.md")
    text = (tmp_path / "labels.md").read_text("utf-8")
    assert ("In none of the 40 cases" in text) == (joint == 0.8)
    assert ("| tuning | abalone | 0.1 | cells-only |" in text) == (joint == 0.7)
    assert "| 100 | 97% |" in text or "| 100 | 97 % |" in text


def test_half_of_the_money_goes_into_labels_at_random():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 5)) < 0.5, np.nan, rng.normal(size=(400, 5)))
    y = np.where(rng.random(400) < 0.5, np.nan, 1.0)
    completer = GaussianCompleter(margins="normal", label_trust=0.0).fit(X)
    this_round = Round(
        X, y, "classes", completer, rng, prices=np.ones(X.shape), label_prices=np.full(400, 5.0)
    )
    scores = RandomHalves().score(this_round)
    prices = np.column_stack([np.ones(X.shape), np.full(400, 5.0)])
    order = np.argsort(-(scores / prices).ravel())
    spent = prices.ravel()[order]
    first = np.cumsum(spent) < 600
    share = spent[first & (order % 6 == 5)].sum() / spent[first].sum()
    assert 0.4 < share < 0.6
