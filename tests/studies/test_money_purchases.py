"""The study of what to buy: runs are kept, ratios are what they should be on curves that are known."""

import json

import numpy as np
import pytest

from studies.money import purchases
from studies.money.__main__ import HEADINGS, main, with_sections
from studies.money.development_tables import NAMES, REPORT, TUNING, prices_of, start_of
from studies.money.kept_cases import CaseFolder
from studies.money.money_ratios import cases_of, geometric_mean
from studies.money.purchases import FULL, RANDOM, Run, play


def records(strategy, shares, scores, *, table="heart", seed=0):
    run = {
        "table": table,
        "observed": 0.2,
        "prices": "same",
        "strategy": strategy,
        "seed": seed,
        "model": "m",
    }
    return [run | {"share": a, "score": b} for a, b in zip(shares, scores, strict=True)]


def world(factor, *, table="heart", seed=0):
    """Return random cells on a straight line, and a strategy that needs ``factor`` of their money."""
    return [
        *records(FULL, [1.0], [0.9], table=table, seed=seed),
        *records(RANDOM.name, [0.0, 1.0], [0.5, 0.9], table=table, seed=seed),
        *records("ours", [0.0, factor, 1.0], [0.5, 0.9, 0.9], table=table, seed=seed),
    ]


@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0])
def test_the_ratio_is_the_share_of_the_money_that_reaches_the_mark(factor):
    (case,) = cases_of([r for seed in range(3) for r in world(factor, seed=seed)])
    assert case.counts
    for mark in (0.5, 0.8, 0.95):
        assert case.ratio("ours", mark) == pytest.approx(factor, abs=0.01)
    low, high = case.interval("ours", 0.8)
    assert low == pytest.approx(factor, abs=0.01)
    assert high == pytest.approx(factor, abs=0.01)


def test_the_mean_over_tables_is_geometric_and_lies_in_its_interval():
    cases = cases_of([*world(0.25, table="heart"), *world(1.0, table="pima")])
    mean = geometric_mean(cases, "ours", 0.8)
    assert mean.value == pytest.approx(0.5, abs=0.01)
    assert mean.low <= mean.value <= mean.high
    assert (mean.low, mean.high, mean.tables) == (
        pytest.approx(0.25, abs=0.01),
        pytest.approx(1, abs=0.01),
        2,
    )


def test_tables_with_nothing_to_gain_do_not_count():
    flat = [r | {"score": 0.5 + 0.01 * (r["score"] - 0.5)} for r in world(0.5)]
    (case,) = cases_of(flat)
    assert not case.counts
    assert geometric_mean([case], "ours", 0.8) is None


def test_the_halves_share_no_table_and_are_all():
    assert sorted({*TUNING, *REPORT}) == sorted(NAMES)
    assert not {*TUNING} & {*REPORT}
    assert len(NAMES) == 27


@pytest.mark.parametrize("kind", ["same", "unequal", "visits"])
def test_all_hidden_cells_together_cost_everything(kind, paper_folder):
    start = start_of("saheart", 0.2, 0, kind)
    assert start.total == start.prices.cost(np.argwhere(start.world.hidden), start.world.known_at_start)
    assert prices_of("heart", "unequal").on(start_of("heart", 0.2, 0).table).own.min() < 10


@pytest.fixture
def quick(monkeypatch, paper_folder):
    """Make runs short."""
    monkeypatch.setattr(purchases, "STEPS", (0.2, 0.5))


@pytest.mark.slow
def test_runs_are_played_once_and_page_and_pictures_are_written(quick, tmp_path):
    runs = [Run("bupa", 0.2, "unequal", name, 0) for name in (FULL, RANDOM.name, "recommended")]
    folder = CaseFolder(tmp_path / "runs")
    found = play(runs, folder)
    by_strategy = {r["strategy"]: [x for x in found if x["strategy"] == r["strategy"]] for r in found}
    assert [r["share"] for r in by_strategy[FULL]] == [1.0]
    for name in (RANDOM.name, "recommended"):
        shares = [r["share"] for r in by_strategy[name]]
        assert shares[0] == 0
        assert 0.15 < shares[1] <= 0.2 + 1e-9
        assert 0.45 < shares[2] <= 0.5 + 1e-9
    # All start from the same table.
    assert by_strategy["recommended"][0]["score"] == by_strategy[RANDOM.name][0]["score"]
    file = runs[1].file(tmp_path / "runs")
    kept = json.loads(file.read_text())
    file.write_text(json.dumps([r | {"score": 0.123} for r in kept]))
    assert {r["score"] for r in play(runs, folder) if r["strategy"] == RANDOM.name} == {0.123}

    options = ["--seeds", "1", "--tables", "bupa", "--observed", "0.2", "--prices", "unequal", "--jobs", "1"]
    options += ["--parts", "purchases"]
    main([*options, "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")])
    page = (tmp_path / "out" / "money.md").read_text()
    assert "| bupa | report | 20% |" in page or "| bupa | tuning | 20% |" in page
    assert (tmp_path / "out" / "money-unequal.png").stat().st_size > 5000


def test_a_start_counts_if_all_its_strategies_were_played(tmp_path):
    runs = [Run("bupa", 0.2, "same", name, seed) for seed in (0, 1) for name in (FULL, RANDOM.name)]
    for run in runs[:3]:
        run.file(tmp_path).write_text(json.dumps([vars(run)]))
    found = play(runs, CaseFolder(tmp_path, only_kept=True))
    assert [(r["seed"], r["strategy"]) for r in found] == [(0, FULL), (0, RANDOM.name)]


def test_sections_are_replaced_one_by_one_and_keep_their_order():
    made = {part: f"{HEADINGS[part]}\n\nfirst {part}\n\n### Of {part}\n\nmore" for part in HEADINGS}
    page = with_sections("", {part: made[part] for part in reversed(HEADINGS) if part != "stops"})
    assert "When to stop" not in page
    again = with_sections(page, {"stops": f"{HEADINGS['stops']}\n\nlater"})
    assert again.replace(f"{HEADINGS['stops']}\n\nlater\n\n", "") == page
    places = [again.index(HEADINGS[part]) for part in HEADINGS]
    assert places == sorted(places)
    assert "first forecasts" not in with_sections(again, {"forecasts": f"{HEADINGS['forecasts']}\n\nanew"})
