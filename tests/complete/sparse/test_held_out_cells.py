"""The penalty of a sparse table: chosen by hidden cells, where there are any to hide."""

import numpy as np
import pytest

from cellworth.blocks import ThreadEngine
from cellworth.complete.sparse.held_out_cells import UNINFORMED, choose_penalty, hold_out_cells
from tests.complete.sparse.cases import block_of, rank_five


def test_a_table_too_small_to_hide_a_cell_gets_the_default():
    cells = block_of(np.eye(3), np.eye(3, dtype=bool))  # each column has but one
    with ThreadEngine(n_jobs=1) as engine:
        rng = np.random.default_rng(0)
        assert hold_out_cells(cells, 3, "none", rng, engine) is None
        choice, factors = choose_penalty(cells, 3, "none", rng, engine, 2, cut=True)
    assert choice == (2, UNINFORMED)
    assert factors.shape == (3, 0)


def test_the_chosen_penalty_fills_hidden_cells_better_than_none_or_all():
    X = rank_five(n=400, d=60, share=0.4)[0].tocsr()
    cells = block_of(X.toarray(), X.toarray() != 0)
    with ThreadEngine(n_jobs=1) as engine:
        choice, _ = choose_penalty(cells, 60, "none", np.random.default_rng(0), engine, 20, cut=True)
        held = hold_out_cells(cells, 60, "none", np.random.default_rng(1), engine)
        errors = [
            held.error(held.fit(relative, 20, None), relative) for relative in (1.0, choice.relative, 1e-6)
        ]
    assert errors[1] < min(errors[0], errors[2])
    assert choice.rank <= 20


def test_singular_values_are_the_squared_lengths_of_the_factors():
    X = rank_five(n=100, d=20, share=0.5)[0].toarray()
    with ThreadEngine(n_jobs=1) as engine:
        held = hold_out_cells(block_of(X, X != 0), 20, "none", np.random.default_rng(0), engine)
        B = held.fit(0.1, 5, None)
    assert held.singular_values(B) == pytest.approx(np.linalg.norm(B, axis=0) ** 2)
