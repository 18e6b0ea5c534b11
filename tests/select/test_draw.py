"""The chances of a draw, against those of drawing one cell after another."""

import itertools

import numpy as np
import pytest

from cellworth.errors import ParameterError
from cellworth.select import Draw, Offer
from cellworth.select.draw import finishes_rows
from tests.select.offers import large_offer, offer_of

DRAWS = 4000
SPREADS = 5  # standard deviations of a binomial count; the chance of one outside is 6e-7


def sequences(scores, prices, size, crowding, power, per):
    """Return the chance of each sequence of cells (places in the 2 x 2 table), drawn one after another."""
    chances = {}
    for order in itertools.permutations(range(4), size):
        chance, taken = 1.0, [0, 0]
        left = set(range(4))
        for place in order:
            weight = {
                c: (scores[c] * crowding ** taken[c // 2]) ** power / (prices[c] if per == "price" else 1)
                for c in left
            }
            chance *= weight[place] / sum(weight.values())
            taken[place // 2] += 1
            left.remove(place)
        chances[order] = chance
    return chances


@pytest.mark.slow
@pytest.mark.parametrize(
    ("per", "power", "crowding"),
    [("score", 1.0, 1.0), ("price", 1.0, 1.0), ("score", 2.0, 1.0), ("score", 1.0, 0.3), ("price", 0.5, 0.2)],
)
def test_sequences_have_the_chances_of_drawing_one_after_another(per, power, crowding):
    scores, prices = [4.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 1.0]
    offer = offer_of(np.reshape(scores, (2, 2)), np.reshape(prices, (2, 2)))
    rng = np.random.default_rng(0)
    selector = Draw(per, power, crowding=crowding)
    drawn = [selector.select(offer, count=3, rng=rng).cells @ [2, 1] for _ in range(DRAWS)]
    counts = dict.fromkeys(itertools.permutations(range(4), 3), 0)
    for order in drawn:
        counts[tuple(order.tolist())] += 1
    for order, chance in sequences(scores, prices, 3, crowding, power, per).items():
        spread = np.sqrt(DRAWS * chance * (1 - chance))
        assert abs(counts[order] - DRAWS * chance) <= SPREADS * spread + 1, order


def test_worthless_cells_come_last_and_at_random():
    scores = np.zeros((40, 3))
    scores[7] = 1e-200, 1e200, 1.0
    offer = offer_of(scores)
    firsts = set()
    for seed in range(20):
        batch = Draw().select(offer, count=10, rng=np.random.default_rng(seed))
        assert set(batch.cells[:3, 0]) == {7}
        firsts.add(tuple(batch.cells[3]))
    assert len(firsts) > 10


def test_extreme_powers_come_close_to_the_ends():
    offer = large_offer(50, 4)
    sharp = Draw(power=1e4).select(offer, count=10, rng=np.random.default_rng(0))
    top = np.sort(offer.scores.ravel())[::-1][:10]
    np.testing.assert_allclose(np.sort(sharp.scores)[::-1], top, rtol=0.01)


def test_crowding_spreads_a_batch():
    offer = offer_of(np.repeat(np.random.default_rng(0).exponential(size=(200, 1)) ** 3, 10, axis=1))
    rows = [
        len(np.unique(Draw(crowding=c).select(offer, count=100, rng=np.random.default_rng(1)).cells[:, 0]))
        for c in (1.0, 0.5, 0.1)
    ]
    assert rows[0] < rows[1] < rows[2]


def test_by_row_the_cells_of_a_row_come_in_the_order_of_their_scores_per_price():
    offer = large_offer(60, 5)
    batch = Draw(per="price", by="row").select(offer, count=120, rng=np.random.default_rng(0))
    per_price = batch.scores / batch.prices
    rows = batch.cells[:, 0]
    for row in np.unique(rows):
        assert (np.diff(per_price[rows == row]) <= 0).all()


def test_by_row_a_row_comes_first_as_often_as_its_best_cell_is_worth():
    offer = offer_of(np.array([[4.0, 1.0], [2.0, 2.0], [1.0, 0.5]]))
    rng, selector = np.random.default_rng(0), Draw(by="row")
    firsts = [selector.select(offer, count=1, rng=rng).cells[0, 0] for _ in range(DRAWS)]
    for row, chance in enumerate(np.array([4.0, 2.0, 1.0]) / 7):
        spread = np.sqrt(DRAWS * chance * (1 - chance))
        assert abs(firsts.count(row) - DRAWS * chance) <= SPREADS * spread


def test_by_row_a_batch_takes_several_cells_of_few_rows():
    offer = offer_of(np.ones((200, 10)))
    rows = {
        by: len(np.unique(Draw(by=by).select(offer, count=100, rng=np.random.default_rng(1)).cells[:, 0]))
        for by in ("cell", "row")
    }
    assert rows["row"] == 10
    assert rows["cell"] > 60


def test_by_row_with_fees_keeps_the_budget_and_finishes_visits():
    none = {"group_of": np.full(6, -1), "fee": np.zeros(6), "lasting": np.zeros(0, dtype=bool)}
    offer = offer_of(np.ones((50, 6)), visit=10.0, **none)
    batch = Draw(per="price", by="row").select(offer, budget=64.0, rng=np.random.default_rng(0))
    assert batch.cost == 64.0  # four visits with all six cells
    assert len(np.unique(batch.cells[:, 0])) == 4


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
@pytest.mark.parametrize(
    ("rows", "worths", "finished"),
    [
        (400, [1, 1, 1, 1], True),  # 16 of 1,600 cells: 1 %
        (200, [1, 1, 1, 1], False),  # 16 of 800: 2 %
        (200, [1, 1, 0, 0], True),  # two columns count, 4 of 800: 0.5 %
        (30, [1, 1e-6, 1e-6, 1e-6], True),  # one column counts, 1 of 120
        (400, [0, 0, 0, 0], False),
    ],
)
def test_auto_finishes_rows_where_few_columns_count_and_rows_are_many(rows, worths, finished, scale):
    offer = offer_of(np.tile(np.array(worths, dtype=float) * scale, (rows, 1)))
    assert finishes_rows(offer.totals) == finished
    auto, same = (
        Draw(by=by).select(offer, count=40, rng=np.random.default_rng(1))
        for by in ("auto", "row" if finished else "cell")
    )
    assert np.array_equal(auto.cells, same.cells)


def test_auto_looks_at_nothing_but_what_is_on_offer():
    scores = np.ones((200, 4))
    whole = offer_of(scores.copy())
    scores[:, 2:] = np.nan
    available = ~np.isnan(scores)
    assert finishes_rows(Offer(scores, available, whole.prices, ~available).totals)
    assert not finishes_rows(whole.totals)


def test_rejects_other_things_to_draw_by():
    with pytest.raises(ParameterError, match="by must be 'cell', 'row' or 'auto'"):
        Draw(by="column")
