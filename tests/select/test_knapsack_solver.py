"""The exact knapsack against a table of all costs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.select.knapsack_solver import pack
from tests.select.offers import by_table


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 3, 10, 200]),
    st.sampled_from(["real", "whole", "linear", "one"]),
)
def test_packs_as_well_as_a_table_of_all_costs(seed, dearest, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 120))
    prices = rng.integers(1, dearest + 1, size=n) * int(rng.integers(1, 4))
    scores = {
        "real": rng.exponential(size=n),
        "whole": rng.integers(1, 4, size=n).astype(float),
        "linear": prices + 0.5,
        "one": np.ones(n),
    }[kind]
    budget = int(rng.integers(1, prices.sum() + 2))
    packing = pack(prices, scores, budget, 10**6)
    assert packing.excess == 0
    assert len(np.unique(packing.items)) == len(packing.items)
    assert prices[packing.items].sum() <= budget
    np.testing.assert_allclose(scores[packing.items].sum(), by_table(prices, scores, budget), rtol=1e-12)


def test_many_cells_alike_are_packed_at_once():
    """Ten kinds of cells, hundreds of each: only how many of each kind matters."""
    rng = np.random.default_rng(0)
    kind = rng.integers(10, size=3000)
    prices = np.array([727, 515, 1850, 990, 230, 101, 333, 777, 1234, 5150])[kind]
    scores = rng.integers(1, 6, size=10).astype(float)[kind]
    budget = 60_019
    packing = pack(prices, scores, budget, 10**5)
    assert packing.excess == 0
    np.testing.assert_allclose(scores[packing.items].sum(), by_table(prices, scores, budget))
