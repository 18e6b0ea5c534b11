"""Advice on a table in row blocks is the advice on the same table in memory, to the cell."""

from dataclasses import replace

import numpy as np
import pytest

from cellworth import GaussianCompleter, Group, Prices, Strategy, SupervisedCompleter, Table, advise, strategy
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.errors import DataError, ParameterError
from cellworth.score import PosteriorVariance, Random, TrainingGain
from cellworth.score.block_scores import BlockScores
from cellworth.score.scorer import Memoryless
from cellworth.select import Draw, Knapsack, Poss, Ratio, Top
from tests.blocks.tables import make_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 160
NORMAL = GaussianCompleter(margins="normal", label_trust=0, shrinkage=3.0)
ON_BLOCKS = [
    "afasmc",
    "afasmc-window4",
    "afasmc-ratio",
    "afasmc-poss",
    "afasmc-knapsack",
    "random",
    "random-gaussian",
    "posterior",
    "posterior-impact",
    "linear-impact",
    "recommended",
    "cells-only",
]
LABELS_ONLY = {"labels-only", "label-uncertainty", "label-error-reduction"}


def make_frame(rng, n=N):
    """Return a table with a number, a whole number, a category, a yes/no, a date and some labels."""
    base = rng.normal(size=n)
    days = np.datetime64("2020-01-01") + (100 + 20 * base + rng.normal(size=n)).astype("timedelta64[D]")
    columns = {
        "weight": 70 + 10 * base + rng.normal(size=n),
        "visits": np.rint(5 + base + rng.normal(size=n)).astype(int),
        "hue": np.array(["blue", "green", "red"])[np.digitize(base + rng.normal(size=n), [-0.5, 0.5])],
        "smoker": np.where(base + rng.normal(size=n) > 0, "yes", "no"),
        "seen": days,
    }
    holes = rng.random((n, 5)) < 0.4
    found = {name: pa.array(v.tolist(), mask=holes[:, j]) for j, (name, v) in enumerate(columns.items())}
    found["ill"] = pa.array((base + rng.normal(size=n) > 0).astype(int), mask=rng.random(n) < 0.1)
    found["id"] = pa.array([f"p{i}" for i in rng.permutation(n)])
    return pa.table(found)


def both_of(folder, frame, block_rows=37, **said):
    """Return the table in blocks and in memory."""
    (folder / "big").mkdir(parents=True)
    for k, rows in enumerate((np.arange(len(frame) // 3), np.arange(len(frame) // 3, len(frame)))):
        pq.write_table(frame.take(rows), folder / "big" / f"{k}.parquet", row_group_size=50)
    pq.write_table(frame, folder / "all.parquet")
    said = {"target": "ill", "row_id": "id"} | said
    big = Table.open(folder / "big", engine=ThreadEngine(1, block_rows), **said)
    return big, Table.read(folder / "all.parquet", **said)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return both_of(tmp_path_factory.mktemp("advice"), make_frame(np.random.default_rng(0)))


def same(found, expected):
    assert found.cells == expected.cells
    assert [each.price for each in found] == [each.price for each in expected]
    worth = [each.worth for each in expected]
    assert [each.worth for each in found] == pytest.approx(worth, rel=1e-5, abs=1e-9)
    assert [each.group for each in found] == [each.group for each in expected]


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_BLOCKS)
def test_every_strategy_that_runs_on_blocks_gives_the_same_list(both, name):
    big, whole = both
    found, expected = (advise(table, budget=12, strategy=name, seed=3) for table in (big, whole))
    same(found, expected)
    assert [each.why for each in found] == [each.why for each in expected]


def test_the_others_say_why_they_do_not(both):
    big, _ = both
    for name in set(strategy.names()) - set(ON_BLOCKS) - LABELS_ONLY - {"auto"}:
        with pytest.raises(ParameterError, match="row blocks"):
            advise(big, budget=12, strategy=name)


PRICES = {
    "column": Prices.per_column({"weight": 2.0, "hue": 5.5}, default=1.25),
    "cell": {("p3", "weight"): 0.5, ("p77", "hue"): 9.0},
    "group": Prices.per_column(
        {"weight": 2.0, "visits": 1.0, "seen": 3.0},
        groups=[Group("talk", ["hue", "smoker"], first=6.0, then=1.5)],
    ),
    "visit": Prices.same(1.5, visit=4.0),
    "all": Prices.per_column(
        {"weight": 2.0, "visits": 1.0, "seen": 3.0},
        groups=[Group("talk", ["hue", "smoker"], first=6.0, then=1.5, lasting=True)],
        visit=2.0,
    ),
}
SELECTORS = [
    Top(per_row=1),
    Ratio(),
    Draw("price", by="auto"),
    Draw("price", crowding=0.5),
    Poss(500),
    Knapsack(),
]


def prices_of(kind):
    if kind == "function":
        return Prices.per_cell(lambda row, column: 1.0 + len(column) + int(row[1:]) % 3)
    given = PRICES[kind]
    return Prices.per_cell(given, default=2.0) if isinstance(given, dict) else given


@pytest.mark.parametrize("kind", [*PRICES, "function"])
@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_prices_of_all_kinds_and_limits_by_row(both, kind, selector):
    big, whole = both
    mine = Strategy("mine", NORMAL, PosteriorVariance(), selector)
    prices = prices_of(kind)
    refused = [("p5", "weight"), ("p8", "hue")]
    found, expected = (
        advise(table, prices=prices, budget=40, strategy=mine, seed=1, refused=refused)
        for table in (big, whole)
    )
    if isinstance(selector, Knapsack):
        assert sum(e.worth for e in found) == pytest.approx(sum(e.worth for e in expected), rel=1e-5)
    else:
        same(found, expected)


def test_prices_as_a_matrix(both):
    big, whole = both
    prices = Prices.per_cell(np.random.default_rng(1).uniform(1, 3, whole.shape).round(2))
    mine = Strategy("mine", NORMAL, PosteriorVariance(), Draw("price"))
    same(*(advise(table, prices=prices, budget=30, strategy=mine) for table in (big, whole)))


@pytest.mark.parametrize("block_rows", [1, 16, 1000])
def test_blocks_of_any_size(tmp_path, block_rows):
    big, whole = both_of(tmp_path, make_frame(np.random.default_rng(1), 60), block_rows)
    mine = Strategy("mine", NORMAL, TrainingGain(model="logistic regression"), Draw("price", by="auto"))
    same(*(advise(table, budget=9, strategy=mine, prices=Prices.same(1, visit=2)) for table in (big, whole)))


def test_rows_that_are_finished_are_named_though_few_are_shortlisted(tmp_path):
    """The whole table decides whether rows are finished: 400 rows are enough, those of the shortlist not."""
    big, whole = both_of(tmp_path, make_frame(np.random.default_rng(1), 400), 100)
    mine = Strategy("mine", NORMAL, PosteriorVariance(), Draw("price", by="auto"))
    found, expected = (advise(table, count=6, strategy=mine) for table in (big, whole))
    same(found, expected)
    assert [each.why for each in found] == [each.why for each in expected]
    assert all("; drawn with its row, worth " in each.why for each in found)


def test_columns_that_nobody_has_measured_come_first(tmp_path):
    frame = make_frame(np.random.default_rng(2)).append_column("dose", pa.nulls(N, pa.float64()))
    said = {"kinds": {"dose": "number"}, "bounds": {"dose": (0, 12)}}
    big, whole = both_of(tmp_path, frame, **said)
    mine = Strategy("mine", NORMAL, PosteriorVariance(), Draw())
    found, expected = (advise(table, count=15, strategy=mine) for table in (big, whole))
    same(found, expected)
    assert [each.column for each in found].count("dose") >= 8
    assert [each.why for each in found] == [each.why for each in expected]


@pytest.mark.slow
def test_auto_chooses_on_the_rows(both):
    big, whole = both
    found, expected = (advise(table, budget=6, strategy="auto") for table in (big, whole))
    same(found, expected)
    # The pair of completions that the choice of a completer needs does not run on row blocks.
    assert found.choice == replace(expected.choice, completer_lead=None)


def far_from_the_middle(filled, middle, width):
    return np.abs(filled.completed - middle) / width * filled.holes


class Rareness(Memoryless):
    """A scorer of a user's own: how far the completion lies from the column's mean."""

    def score(self, this_round):
        width = np.nanstd(this_round.X, axis=0)
        return np.abs(this_round.completed - np.nanmean(this_round.X, axis=0)) / width * this_round.holes

    def score_blocks(self, completed, rng, prices=None):
        scaling = completed.summary.scaling("standard", np.float64)
        return BlockScores(completed, far_from_the_middle, shared=(scaling.offset, scaling.width))


class OwnSelector:
    """A selector of a user's own, with the method that row blocks need."""

    def select(self, offer, *, budget=None, count=None, rng):
        return Top().select(offer, budget=budget, count=count, rng=rng)

    def shortlist(self, offer, *, budget=None, count=None):
        self.called = True
        return Top().shortlist(offer, budget=budget, count=count)


def test_own_scorers_and_selectors_run_on_blocks_by_their_methods(both):
    mine = Strategy("mine", NORMAL, Rareness(), OwnSelector())
    same(*(advise(table, strategy=mine, count=12) for table in both))
    assert mine.selector.called


def test_a_source_is_a_table_of_numbers():
    X, y = make_table(90, 4, 5, labelled=0.8)
    mine = Strategy("mine", NORMAL, Random(), Top())
    source = open_blocks(X, target=y, columns=list("abcd"), engine=ThreadEngine(1, 20))
    same(
        advise(source, count=7, strategy=mine),
        advise(
            Table.from_arrays(X, y, columns=list("abcd"), target_kind="two classes"), count=7, strategy=mine
        ),
    )


def test_what_cannot_be_done_is_refused(both):
    big, _ = both
    with pytest.raises(DataError, match=r"the prices: .*no row 'p999'"):
        advise(big, prices=Prices.per_cell({("p999", "hue"): 1.0}, default=1.0), budget=3)
    with pytest.raises(DataError, match="every column needs a price"):
        advise(big, prices={"hue": 1.0}, budget=3)
    with pytest.raises(DataError, match="no row 'p999'"):
        advise(big, budget=3, refused=[("p999", "hue")])
    with pytest.raises(DataError, match="must have the shape"):
        advise(big, prices=Prices.per_cell(np.ones((2, 2))), budget=3)
    full = Table.open(np.ones((5, 2)) + np.arange(5)[:, None])
    with pytest.raises(ParameterError, match="no holes"):
        advise(full, budget=3)
    own = Strategy("own", SupervisedCompleter(), PosteriorVariance(), Top())
    with pytest.raises(ParameterError, match="needs a completer with a variance"):
        advise(big, budget=3, strategy=own)
