import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cellworth.select.row_spread import Spread

spreads = st.builds(Spread, st.sampled_from([None, 1, 2, 3]), st.sampled_from([1.0, 0.7, 0.2]))
rows = st.lists(st.floats(0, 10).map(lambda x: round(x, 3)), max_size=5)


@given(spreads, rows)
def test_worth_is_that_of_the_best_order(spread, scores):
    limit = min(len(scores), spread.most)
    orders = itertools.permutations(scores, int(limit))
    best = max(sum(s * spread.crowding**r for r, s in enumerate(order)) for order in orders)
    np.testing.assert_allclose(spread.worth(np.array(scores)), best)


@given(spreads, rows, st.data())
def test_worth_is_monotone_and_submodular(spread, large, data):
    small = [score for score in large if data.draw(st.booleans())]
    further = np.array([data.draw(st.floats(0, 10))])
    gain_small, gain_large = (spread.gains(np.array(scores), further)[0] for scores in (small, large))
    assert gain_large >= -1e-12
    assert gain_small >= gain_large - 1e-9


def test_rows_keep_their_best():
    kept = Spread(per_row=2).within_rows(np.array([3, 1, 3, 3]), np.array([1.0, 5.0, 2.0, 2.0]))
    assert kept.tolist() == [1, 2, 3]


def test_the_total_is_the_sum_over_rows():
    total = Spread(crowding=0.5).total(np.array([3, 1, 3]), np.array([1.0, 5.0, 2.0]))
    assert total == 5.0 + 2.0 + 0.5
