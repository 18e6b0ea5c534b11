import json
from dataclasses import replace

import numpy as np
import pytest

from cellworth import Prices, Table, advise, strategy
from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.complete.paired_completer import PairedCompleter
from cellworth.errors import DataError, ParameterError
from cellworth.strategy import auto_strategy
from cellworth.strategy.auto_choice import BuyingTask, Lead, StrategyChoice
from cellworth.strategy.auto_strategy import LEAST_ROWS, AutomaticStrategy, choose_on
from cellworth.strategy.backtest import Backtest
from cellworth.strategy.choose_batch import Adviser
from tests.strategy.tables import small_table


def task_of(table, seed=0):
    return BuyingTask.of(table, Prices.same(1.0), seed)


@pytest.fixture
def outcomes(monkeypatch):
    """Plan what the plays, the trial of completers and the search for a model find; return what was asked."""
    planned = {"lead": Lead(0.0, 0.01, 4, 8), "completer": Lead(-0.1, 0.01), "rows": []}

    def backtest(task, strategies, model, *, seconds=None):
        planned["rows"].append(len(task.X))
        played = Backtest(tuple(each.name for each in strategies), np.zeros((1, 2)), ())
        monkeypatch.setattr(Backtest, "lead", lambda *_, **__: planned["lead"])
        return played

    monkeypatch.setattr(auto_strategy, "backtest", backtest)
    monkeypatch.setattr(auto_strategy, "completer_lead", lambda *_, **__: planned["completer"])
    monkeypatch.setattr(auto_strategy, "choose_model", lambda *_, candidates, **__: _Found(candidates[0]))
    return planned


class _Found:
    def __init__(self, candidate):
        self.candidate = candidate


def test_on_row_blocks_the_completer_is_not_in_question(outcomes):
    """The supervised one needs a second completion beside it, which does not run there."""
    outcomes["completer"] = Lead(0.5, 0.01)
    task = task_of(small_table(n=120))
    assert choose_on(task).completer == "supervised"
    on_blocks = choose_on(replace(task, in_blocks=True))
    assert (on_blocks.completer, on_blocks.completer_lead) == ("Gaussian", None)
    assert on_blocks.lead == outcomes["lead"]


@pytest.mark.parametrize("kind", ["two classes", "several classes", "number"])
def test_deviates_only_where_the_lead_exceeds_what_is_needed(outcomes, kind):
    task = task_of(small_table(n=120, kind=kind))
    needed = auto_strategy.NEEDED
    for errors, chosen in (
        (-3.0, "recommended"),
        (needed - 0.1, "recommended"),
        (needed + 0.1, "linear-impact"),
    ):
        outcomes["lead"] = Lead(errors * 0.01, 0.01, 5, 8)
        choice = choose_on(task)
        assert choice.strategy == chosen
        assert choice.lead == outcomes["lead"]
        assert choice.metric == ("R2" if kind == "number" else "AUC")
        settled = strategy.get("auto").recalled(choice)
        base = strategy.get(chosen)
        assert (settled.name, settled.summary) == ("auto", choice.sentence)
        assert (settled.scorer, settled.selector) == (base.scorer, base.selector)


def test_the_supervised_completer_is_taken_only_if_the_model_learns_more(outcomes):
    task = task_of(small_table(n=120))
    assert choose_on(task).completer == "Gaussian"
    outcomes["completer"] = Lead(0.03, 0.01)
    choice = choose_on(task)
    assert choice.completer == "supervised"
    assert isinstance(strategy.get("auto").recalled(choice).completer, PairedCompleter)
    assert "SupervisedCompleter" in choice.sentence


def test_both_base_strategies_buy_with_the_supervised_completer():
    table = small_table()
    for name in ("recommended", "linear-impact"):
        choice = StrategyChoice(
            name,
            "recommended",
            "supervised",
            "extra trees",
            "AUC",
            "linear-impact",
            Lead(0.1, 0.05, 8, 8),
            1.5,
        )
        batch = advise(table, count=5, strategy=strategy.get("auto").recalled(choice))
        assert len(batch) == 5
        assert batch.choice is choice


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (small_table(n=LEAST_ROWS - 1), "79 labelled rows are too few"),
        (Table.from_arrays(small_table(n=100).values), "no target"),
    ],
)
def test_falls_back_and_says_so_where_there_is_too_little(table, reason):
    choice = choose_on(task_of(table))
    assert choice.strategy == "recommended"
    assert choice.sure is None
    assert reason in choice.sentence


def test_few_of_a_class_alike_labels_and_few_known_cells_are_too_little():
    task = task_of(small_table(n=120))
    rare = np.zeros(120)
    rare[:7] = 1.0
    assert "too few classes have 8" in choose_on(replace(task, y=rare)).note
    assert "all labels are alike" in choose_on(replace(task, y=np.zeros(120), target="number")).note
    X = np.full_like(task.X, np.nan)
    X[:30] = 1.0
    assert "too few cells are known" in choose_on(replace(task, X=X)).note


def test_long_tables_are_sampled_and_unlabelled_rows_left_out(outcomes, monkeypatch):
    monkeypatch.setattr(auto_strategy, "MOST_ROWS", 100)
    task = task_of(small_table(n=200))
    labels = task.y.copy()
    labels[:50] = np.nan
    choose_on(replace(task, y=labels))
    labels[:110] = np.nan
    choose_on(replace(task, y=labels))
    assert outcomes["rows"] == [100, 90]


def test_without_time_the_fallback_is_taken(outcomes):
    choice = choose_on(task_of(small_table(n=120)), seconds=0.0)
    assert (choice.strategy, choice.lead, choice.completer_lead) == ("recommended", None, None)
    assert "0.0 seconds" in choice.sentence
    assert outcomes["rows"] == []


def test_an_open_strategy_must_be_settled_first_and_others_have_nothing_to_recall():
    auto = strategy.get("auto")
    assert isinstance(auto, AutomaticStrategy)
    with pytest.raises(ParameterError, match="settled"):
        Adviser.of(auto, small_table())
    choice = choose_on(task_of(small_table()))
    with pytest.raises(ParameterError, match="leaves nothing open"):
        strategy.get("random").recalled(choice)
    with pytest.raises(DataError, match="newer version"):
        auto.recalled(replace(choice, completer="another"))


@pytest.mark.slow
def test_a_campaign_records_the_choice_and_never_chooses_anew(outcomes, monkeypatch):
    outcomes["lead"] = Lead(0.05, 0.01, 8, 8)
    table, store = small_table(n=120), MemoryStore()
    with Campaign.create(table, strategy="auto", store=store, seed=3) as campaign:
        choice = campaign.settled.choice
        assert choice.strategy == "linear-impact"
        assert (campaign.strategy, campaign.settled.summary) == ("auto", choice.sentence)
        expected = campaign.preview(count=8)
    monkeypatch.setattr(auto_strategy, "choose_on", None)
    with Campaign.open(store) as campaign:
        assert campaign.settled.choice == choice
        assert campaign.preview(count=8) == expected
        assert campaign.ask(count=8).cells == expected.cells
        assert campaign.replay(0).settled.choice == choice
        status = campaign.status(max_rounds=1, repeats=1)
    assert choice.sentence in status.describe()
    assert json.loads(json.dumps(status.to_json()["choice"]))["sentence"] == choice.sentence
    assert expected.cells == advise(table, count=8, strategy="linear-impact", seed=3).cells


@pytest.mark.slow
def test_plays_for_real_and_is_the_same_again():
    """No planned outcomes: model, plays and completers, on a table whose columns all matter."""
    table = small_table(n=LEAST_ROWS)
    first, again = (advise(table, count=5, strategy="auto", seed=1) for _ in range(2))
    assert first == again
    assert first.choice == again.choice
    assert first.choice.lead.plays == 8
    assert first.choice.completer_lead is not None
    assert first.choice.strategy == "recommended" or first.choice.lead.errors > first.choice.needed
