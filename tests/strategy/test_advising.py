import numpy as np
import pytest
from scipy.sparse import save_npz

from cellworth import Prices, SparseCompleter, Strategy, Table, advise
from cellworth.blocks import open_blocks, open_table
from cellworth.errors import DataError, ParameterError
from cellworth.score import PosteriorVariance
from cellworth.select import Top
from cellworth.strategy.batch import NONE_LEFT
from cellworth.strategy.choose_batch import ScoredRound, choose
from cellworth.strategy.registry import get
from tests.complete.sparse.cases import rank_five
from tests.strategy.tables import small_table


def test_advice_is_the_same_for_the_same_seed_and_another_for_another():
    table = small_table()
    first, again, other = (advise(table, count=10, seed=seed) for seed in (0, 0, 1))
    assert first.purchases == again.purchases
    assert first.purchases != other.purchases


def test_a_refused_cell_is_not_asked_for_again():
    table = small_table()
    wanted = advise(table, count=1, strategy="afasmc").purchases[0]
    refused = [(wanted.row, wanted.column)]
    second = advise(table, count=1, strategy="afasmc", refused=refused).purchases[0]
    assert (second.row, second.column) != (wanted.row, wanted.column)
    with pytest.raises(DataError, match="r0x"):
        advise(table, count=1, refused=[("r0x", "a")])


def test_a_category_is_bought_as_one_cell():
    rng = np.random.default_rng(0)
    hue = rng.choice(["red", "green", "blue"], size=80).astype(object)
    y = hue == "red"
    hue[rng.random(80) < 0.5] = None
    table = Table.from_arrays(
        np.column_stack([hue, rng.normal(size=80).astype(object)]), y, columns=["hue", "size"]
    )
    advice = advise(table, count=500)
    assert len(advice) == table.holes.sum()
    assert {p.column for p in advice} == {"hue"}


def test_a_full_table_and_no_limit_are_refused():
    full = Table.from_arrays([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    with pytest.raises(ParameterError, match="nothing to buy"):
        advise(full, count=1)
    with pytest.raises(ParameterError):
        advise(small_table())


@pytest.mark.parametrize(
    ("prices", "least"),
    [(2.0, "2.00"), (Prices.same(2.0, visit=0.5), "2.50"), (Prices.same(2.0, currency="EUR"), "2.00 EUR")],
)
def test_too_little_money_is_named_with_the_lowest_price(prices, least):
    table = small_table()
    big = Table.open(table.values, columns=table.column_names)
    for each in (table, big):
        batch = advise(each, prices=prices, budget=1, strategy="random")
        assert not batch
        assert batch.note.startswith(f"No cell that is left costs less than {least}, and only 1.00")
        assert repr(batch[:6]).splitlines() == ["Batch of 0 cells in 0 rows for 0.00", batch.note]
        assert batch.note in batch._repr_html_()
        enough = advise(each, prices=prices, budget=2.5, strategy="random")
        assert (len(enough), enough.note) == (1, None)


def test_money_is_not_blamed_where_all_cells_are_refused():
    table = small_table()
    refused = [(table.row_ids[i], table.column_names[j]) for i, j in np.argwhere(table.holes)]
    batch = advise(table, budget=0.5, strategy="random", refused=refused)
    assert (len(batch), batch.note) == (0, NONE_LEFT)


@pytest.fixture(scope="module")
def ratings():
    return rank_five(n=60, d=20, share=0.3)[0]


def chosen_in_memory(X, strategy, **limits):
    """Return the cells that a strategy chooses on the completed table, with its variances, in memory."""
    completer = SparseCompleter(variance=True, warm_start=True).fit(open_blocks(X))
    _, variance = completer.completed_.gather()
    dense = np.full(X.shape, np.nan)
    dense[X.nonzero()] = X.data
    holes = np.isnan(dense)
    scores = variance / X.data.var()
    rng = np.random.default_rng([0, 0])
    scored = ScoredRound(0, scores, 0, dict(rng.bit_generator.state))
    columns = [f"{j}" for j in range(X.shape[1])]
    prices = Prices.same(1.0).on(Table.from_arrays(dense, columns=columns))
    found = choose(get(strategy).selector, scored, prices, available=holes, before=~holes, **limits)
    return [(str(i), str(j)) for i, j in found.cells]


@pytest.mark.parametrize("strategy", ["recommended", "posterior"])
def test_a_sparse_matrix_has_the_list_of_the_filled_table(ratings, strategy, monkeypatch, tmp_path):
    whole = advise(ratings, count=9, strategy=strategy)
    assert [(each.row, each.column) for each in whole] == chosen_in_memory(ratings, strategy, count=9)
    assert all("known only to" in each.why for each in whole)
    monkeypatch.setattr(open_table, "FILLED_BYTES", 7 * 8 * 20)  # blocks of seven rows
    for number, rows in enumerate((slice(40), slice(40, None))):
        save_npz(tmp_path / f"{number}.npz", ratings[rows])
    parts = advise(tmp_path, count=9, strategy=strategy)
    assert [(each.row, each.column) for each in parts] == [(each.row, each.column) for each in whole]
    assert [each.worth for each in parts] == pytest.approx([each.worth for each in whole], rel=1e-6)


def test_a_sparse_matrix_takes_prices_refusals_and_a_completer_of_its_own(ratings):
    def price(row, column):
        return 1.0 if int(row) < 30 else 100.0

    own = Strategy("mine", SparseCompleter(rank=2, variance=True), PosteriorVariance(), Top())
    first = advise(ratings, budget=3, prices=Prices.per_cell(price), strategy=own)
    assert len(first) == 3
    assert all(int(each.row) < 30 for each in first)
    gone = [(each.row, each.column) for each in first]
    then = advise(ratings, budget=3, prices=Prices.per_cell(price), strategy=own, refused=gone)
    assert not {(each.row, each.column) for each in then} & set(gone)


def test_a_sparse_matrix_has_no_labels_and_no_automatic_strategy(ratings):
    with pytest.raises(ParameterError, match="a sparse table has no target"):
        advise(ratings, count=1, target="7")
    with pytest.raises(ParameterError, match="Use 'recommended'"):
        advise(ratings, count=1, strategy="auto")
