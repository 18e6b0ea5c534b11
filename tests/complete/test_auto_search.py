"""The search: failures, limits of time, few rows before all, and what is shown of it."""

import numpy as np
import pytest

from cellworth.complete import GaussianCompleter, auto_search
from cellworth.complete.auto_candidates import ColumnMeanCompleter
from cellworth.complete.auto_completer import AutoCompleter
from cellworth.complete.auto_search import CandidateResult, text_table
from cellworth.errors import DataError
from cellworth.testing.completer_contract import random_table
from tests.complete.auto_cases import QUICK, Broken, gaussian


@pytest.mark.parametrize("how", ["raises", "holes", "shape"])
def test_a_candidate_that_fails_is_noted_and_the_others_go_on(how):
    _, holed = gaussian(0, n=60)
    auto = AutoCompleter(candidates=[("broken", Broken(how)), *QUICK]).fit(holed)
    broken = auto.results_[0]
    assert broken.status == "failed"
    assert np.isnan(broken.error)
    assert {"raises": "RuntimeError: out of luck", "holes": "not finite", "shape": "(60, 7)"}[how] in (
        broken.reason
    )
    assert auto.best_name_ != "broken"


def test_where_the_best_cannot_be_fitted_to_the_whole_table_the_next_is():
    X, _ = random_table(np.random.default_rng(0), n=59)
    whole = np.vstack([X, X[:1]])
    calls = [("zeros", Broken(on="whole")), ("means", ColumnMeanCompleter())]
    auto = AutoCompleter(candidates=calls).fit(whole)
    assert auto.best_name_ == "means"
    with pytest.raises(DataError, match=r"(?s)no candidate could complete.*out of luck"):
        AutoCompleter(candidates=[("broken", Broken())]).fit(whole)


def test_without_time_the_first_candidate_is_taken():
    _, holed = gaussian(0)
    auto = AutoCompleter(time_budget=0).fit(holed)
    assert auto.best_name_ == "gaussian"
    assert [r.status for r in auto.results_] == ["chosen"] + ["not reached"] * (len(auto.results_) - 1)
    assert np.isfinite(auto.completed_).all()
    first_broken = AutoCompleter(candidates=[("broken", Broken()), *QUICK], time_budget=0).fit(holed)
    assert first_broken.best_name_ == "gaussian"


@pytest.mark.parametrize("stop", range(1, 6))
def test_when_stopped_the_best_so_far_is_taken(stop):
    _, holed = gaussian(0)
    candidates = [QUICK[1], QUICK[2], QUICK[0]]
    told = []
    auto = AutoCompleter(candidates=candidates, callback=lambda p: told.append(p) or p.done >= stop).fit(
        holed
    )
    assert auto.best_name_ == {1: "means", 2: "nnls"}.get(stop, "gaussian")
    assert [p.done for p in told] == [*range(1, stop + 1), 7]
    assert {p.total for p in told} == {7}
    assert np.isfinite([p.error for p in told[:-1]]).all()


def test_a_large_table_is_screened_on_few_rows_and_decided_on_all(monkeypatch):
    monkeypatch.setattr(auto_search, "SCREEN_ROWS", 50)
    monkeypatch.setattr(auto_search, "FINALISTS", 2)
    _, holed = gaussian(0, n=400)
    holed[:, 3] = np.nan
    holed[7, 3] = 1.0  # a column that a sample of rows would leave empty
    y = np.zeros(400)
    y[11] = 1  # a class that it would leave out
    auto = AutoCompleter(candidates=QUICK).fit(holed, y)
    assert auto.best_name_ == "gaussian"
    assert [r.n_holds for r in auto.results_] == [2, 1, 2]
    few = AutoCompleter(candidates=QUICK[:2]).fit(holed)
    assert [r.n_holds for r in few.results_] == [2, 2]


def test_results_can_be_read():
    _, holed = gaussian(0)
    auto = AutoCompleter(candidates=[("broken", Broken()), *QUICK]).fit(holed)
    lines = auto.results_table().splitlines()
    assert lines[0].split() == ["candidate", "error", "spread", "holds", "seconds", "status"]
    assert lines[2].split()[0] == "gaussian"
    assert lines[2].endswith("chosen")
    assert lines[-3].endswith("failed: RuntimeError: out of luck")
    assert len(lines) == 4 + 4
    lone = text_table([CandidateResult("a", "chosen", 0.25, np.nan, 1, 1.5)]).splitlines()
    assert lone[2].split() == ["a", "0.2500", "-", "1", "1.50", "chosen"]


def test_one_wild_cell_does_not_decide():
    """A completer that is better in all cells but one, which it misses by a thousand deviations."""
    truth = np.zeros((100, 2))
    hidden = np.ones_like(truth, dtype=bool)
    trial = auto_search.HiddenTrial(truth, None, truth, hidden, np.ones(2))
    wild = np.full_like(truth, 0.1)
    wild[0, 0] = 1000.0
    assert trial.losses(wild).sum() < trial.losses(np.full_like(truth, 0.5)).sum()
    assert np.isnan(trial.losses(np.full_like(truth, np.nan))).all()


def test_the_best_of_each_family_goes_on():
    _, holed = gaussian(0)
    same = {"margins": "normal", "label_trust": 0.0}
    candidates = [
        *((f"gaussian {k}", GaussianCompleter(shrinkage=k, **same)) for k in (3.0, 4.0, 5.0)),
        *QUICK[1:],
    ]
    holds = {r.name: r.n_holds for r in AutoCompleter(candidates=candidates).fit(holed).results_}
    assert sorted(holds[name] for name in holds if name.startswith("gaussian")) == [1, 1, 2]
    assert holds["nnls"] == holds["means"] == 2
