"""Where labels have a price, advice on row blocks is that on the same table in memory, to the cell."""

from dataclasses import replace

import numpy as np
import pytest

from cellworth import GaussianCompleter, Group, Prices, Strategy, Table, advise
from cellworth.blocks import ThreadEngine
from cellworth.errors import DataError, ParameterError
from cellworth.score import PosteriorVariance, TrainingGain
from cellworth.score.label_scorers import ErrorReduction, LabelUncertainty
from cellworth.select import Draw, Knapsack, Poss, Ratio, Top
from tests.strategy.labelled_in_part import both_without_labels, frame_without_labels
from tests.strategy.test_block_batch import both_of, same

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NORMAL = GaussianCompleter(margins="normal", label_trust=0, shrinkage=3.0)
BUY_LABELS = ["recommended", "labels-only", "label-uncertainty", "label-error-reduction", "random-gaussian"]
SCORERS = [
    TrainingGain(model="logistic regression"),
    TrainingGain(model="logistic regression", buys="labels"),
    LabelUncertainty(model="logistic regression"),
    ErrorReduction(),
]
OF_NUMBERS = [
    TrainingGain(model="ridge regression"),
    TrainingGain(model="ridge regression", buys="labels"),
    LabelUncertainty(model="ridge regression", members=3),
    ErrorReduction(),
]
PRICES = {
    "column": Prices.per_column({"ill": 3.0}, default=1.0),
    "cheap": Prices.per_column({"ill": 0.25, "hue": 5.5}, default=1.25),
    "dear": Prices.per_column({"ill": 40.0}, default=1.0),
    "visit": Prices.per_column({"ill": 2.0}, default=1.0, visit=4.0),
    "group": Prices.per_column(
        {"visits": 1.0, "seen": 3.0, "smoker": 1.0},
        groups=[Group("clinic", ["ill", "weight", "hue"], first=6.0, then=1.5)],
        visit=2.0,
    ),
    "cell": Prices.per_cell({("p3", "ill"): 0.5, ("p9", "ill"): 7.0, ("p7", "hue"): 9.0}, default=2.0),
    "function": Prices.per_cell(lambda row, column: 1.0 + len(column) + int(row[1:]) % 3, labels=True),
}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return both_without_labels(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    return both_without_labels(tmp_path_factory.mktemp("number"), kind="number")


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return both_without_labels(tmp_path_factory.mktemp("three"), kind="three")


def compare(both, **said):
    """Return the advice on row blocks, which is that in memory."""
    found, expected = (advise(table, **said) for table in both)
    same(found, expected)
    assert [each.why for each in found] == [each.why for each in expected]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BUY_LABELS, "cells-only", "posterior", "afasmc", "random"])
@pytest.mark.parametrize("limits", [{"budget": 60.0}, {"count": 25}], ids=["budget", "count"])
def test_every_strategy_gives_the_same_list(both, name, limits):
    found = compare(both, prices=PRICES["column"], strategy=name, seed=3, **limits)
    labels = [each for each in found if each.column == "ill"]
    if name in BUY_LABELS[:4]:
        assert labels
        assert labels[0].why.startswith("its label is missing, and ")
    elif name not in [*BUY_LABELS, "random"]:
        assert not labels


@pytest.mark.slow
@pytest.mark.parametrize("name", BUY_LABELS[:4])
@pytest.mark.parametrize("kind", ["number", "three"])
def test_labels_of_all_kinds(name, kind, numbers, three):
    table = {"number": numbers, "three": three}[kind]
    assert {each.column for each in compare(table, prices=PRICES["column"], strategy=name, budget=45)} >= {
        "ill"
    }


@pytest.mark.parametrize("kind", PRICES)
@pytest.mark.parametrize(
    "selector", [Draw("price", by="auto"), Draw("price", crowding=0.5), Top(per_row=2), Ratio()], ids=repr
)
def test_prices_of_all_kinds(both, kind, selector):
    mine = Strategy("mine", NORMAL, SCORERS[0], selector)
    refused = [("p5", "weight"), ("p8", "ill"), ("p11", "ill")]
    compare(both, prices=PRICES[kind], budget=50, strategy=mine, seed=1, refused=refused)


@pytest.mark.parametrize("selector", [Knapsack(), Poss(500)], ids=repr)
def test_other_selectors(both, selector):
    mine = Strategy("mine", NORMAL, SCORERS[0], selector)
    found, expected = (advise(table, prices=PRICES["column"], budget=40, strategy=mine) for table in both)
    assert sum(each.worth for each in found) == pytest.approx(sum(each.worth for each in expected), rel=1e-5)
    assert found.cost <= 40


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
@pytest.mark.parametrize("which", ["both", "three"])
def test_scorers_of_classes(scorer, which, request):
    mine = Strategy("mine", NORMAL, scorer, Draw("price", by="auto"))
    compare(request.getfixturevalue(which), prices=PRICES["column"], budget=50, strategy=mine)


@pytest.mark.parametrize("scorer", OF_NUMBERS, ids=repr)
def test_scorers_of_numbers(numbers, scorer):
    mine = Strategy("mine", NORMAL, scorer, Draw("price", by="auto"))
    compare(numbers, prices=PRICES["column"], budget=50, strategy=mine)


@pytest.mark.parametrize("block_rows", [1, 16, 1000])
def test_blocks_of_any_size(tmp_path, block_rows):
    both = both_without_labels(tmp_path, block_rows, n=60)
    for scorer in SCORERS:
        mine = Strategy("mine", NORMAL, scorer, Draw("price", by="auto"))
        compare(both, prices=PRICES["visit"], budget=30, strategy=mine)


def test_long_tables_are_learned_from_and_judged_on_a_sample_of_rows(both, numbers, monkeypatch):
    monkeypatch.setattr("cellworth.score.training_rows.TRAINING_ROWS", 30)
    monkeypatch.setattr("cellworth.score.label_scorers.JUDGED_ROWS", 40)
    for table, scorers in ((both, SCORERS), (numbers, OF_NUMBERS)):
        for scorer in scorers:
            compare(
                table, prices=PRICES["column"], budget=30, strategy=Strategy("mine", NORMAL, scorer, Ratio())
            )


def test_on_two_workers(both, dask):
    big, whole = both
    dask.block_rows = 50
    for scorer in SCORERS:
        mine = Strategy("mine", NORMAL, scorer, Draw("price", by="auto"))
        compare((big.on(dask), whole), prices=PRICES["column"], budget=40, strategy=mine)


def test_on_several_threads(both):
    big, whole = both
    for scorer in SCORERS:
        mine = Strategy("mine", NORMAL, scorer, Draw("price", by="auto"))
        on_threads = big.on(ThreadEngine(2, 23))
        compare((on_threads, whole), prices=PRICES["column"], budget=40, strategy=mine)


def test_labels_come_first_where_there_is_nothing_to_learn(tmp_path):
    """Two classes are known of, but no row that is left has the second."""
    both = both_without_labels(tmp_path, kind="three", lacking=0.99)
    assert both[0].labelled < 5
    for scorer in SCORERS:
        mine = Strategy("mine", NORMAL, scorer, Draw("price", by="auto"))
        found = compare(both, prices=PRICES["column"], budget=40, strategy=mine)
        assert "ill" in {each.column for each in found}


def test_columns_that_nobody_has_measured_come_first(tmp_path):
    frame = frame_without_labels().append_column("dose", pa.nulls(160, pa.float64()))
    said = {"kinds": {"dose": "number"}, "bounds": {"dose": (0, 12)}}
    both = both_of(tmp_path, frame, **said)
    mine = Strategy("mine", NORMAL, SCORERS[0], Draw("price", by="auto"))
    found = compare(both, prices=PRICES["column"], count=30, strategy=mine)
    assert [each.column for each in found].count("dose") >= 8


def test_a_table_that_lacks_labels_alone(tmp_path):
    X = np.arange(40.0).reshape(20, 2) + np.random.default_rng(0).normal(size=(20, 2))
    y = np.where(np.arange(20) % 3 == 0, np.nan, (np.arange(20) > 9) * 1.0)
    big = Table.open(X, labels=y, columns=["a", "b"], engine=ThreadEngine(1, 7))
    whole = Table.from_arrays(X, y, columns=["a", "b"], target_kind="two classes")
    with pytest.raises(ParameterError, match=r"no holes but in its target.*give the column 'target' a price"):
        advise(big, budget=10)
    prices = Prices.per_column({"target": 5.0}, default=1.0)
    mine = Strategy("mine", NORMAL, SCORERS[0], Draw("price", by="auto"))
    found = compare((big, whole), prices=prices, budget=20, strategy=mine)
    assert {each.column for each in found} == {"target"}


def test_a_matrix_prices_labels_in_one_more_column(both):
    big, whole = both
    rng = np.random.default_rng(1)
    prices = Prices.per_cell(rng.uniform(1, 3, (whole.shape[0], whole.shape[1] + 1)).round(2))
    mine = Strategy("mine", NORMAL, SCORERS[0], Draw("price", by="auto"))
    found = compare(both, prices=prices, budget=30, strategy=mine)
    assert "ill" in {each.column for each in found}
    with pytest.raises(DataError, match="One more column prices the labels"):
        advise(big, prices=Prices.per_cell(np.ones((2, 2))), budget=3)


@pytest.mark.slow
def test_auto_chooses_on_the_rows(both):
    found, expected = (advise(table, budget=20, strategy="auto", prices=PRICES["column"]) for table in both)
    same(found, expected)
    assert found.choice == replace(expected.choice, completer_lead=None)


def test_what_cannot_be_done_is_refused(both):
    big, whole = both
    every = PRICES["column"]
    for name in ("labels-only", "label-uncertainty", "label-error-reduction"):
        with pytest.raises(ParameterError, match="buys labels only, but they have no price"):
            advise(big, budget=10, strategy=name)
    with pytest.raises(DataError, match="no column 'il'"):
        advise(big, prices=every, budget=40, refused=[("p0", "il")])
    with pytest.raises(DataError, match="no column 'ill'"):  # without a price, it is not on sale
        advise(big, budget=40, refused=[("p0", "ill")])
    with pytest.raises(DataError, match=r"the prices: .*no row 'p999'"):
        advise(big, prices=Prices.per_cell({("p999", "ill"): 1.0}, default=1.0), budget=3)
    with pytest.raises(DataError, match=r"the prices: .*no column 'il'"):
        advise(big, prices=Prices.per_cell({("p9", "il"): 1.0}, default=1.0), budget=3)
    for table in both:
        with pytest.raises(DataError, match="every column needs a price"):
            advise(table, prices={"ill": 1.0}, budget=3)
        with pytest.raises(DataError, match="every column needs a price"):
            advise(table, prices=Prices.per_cell({("p9", "ill"): 1.0}), budget=3)
    mine = Strategy("mine", NORMAL, PosteriorVariance(), Top())
    assert "ill" not in {each.column for each in advise(big, prices=every, budget=20, strategy=mine)}
    assert whole.target.kind == "two classes"
