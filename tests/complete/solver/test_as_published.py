"""The line search and the alternation of the paper end where the joint steps with the known constant do."""

import numpy as np
import pytest

from cellworth.complete.solver.as_published import minimise_by_alternation, minimise_by_search
from cellworth.complete.solver.losses import LogisticLoss, SquaredLoss
from cellworth.complete.solver.proximal_gradient import minimise

from .problems import blank, make_rows, objective, solve


@pytest.mark.slow
def test_line_search_agrees_with_the_known_constant():
    rng = np.random.default_rng(5)
    for loss, weight in ((SquaredLoss(), 0.5), (LogisticLoss(), 8.0)):
        rows = make_rows(60, 6, loss, 1, rng, labelled=0.8)
        ends = [
            solve(rows, blank(loss, 6, 1, weight), 0.5, method, tol=1e-7).objective[-1]
            for method in (minimise, minimise_by_search)
        ]
        assert ends[0] == pytest.approx(ends[1], rel=1e-6)


@pytest.mark.parametrize("complete", [minimise, minimise_by_search])
@pytest.mark.parametrize(("loss", "weight"), [(SquaredLoss(), 0.1), (LogisticLoss(), 0.5)])
def test_alternation_ends_at_the_same_objective_in_more_steps(loss, weight, complete):
    rng = np.random.default_rng(6)
    rows = make_rows(60, 6, loss, 1, rng, labelled=0.8)
    joint = solve(rows, blank(loss, 6, 1, weight), 0.5, tol=1e-7)
    turns = solve(rows, blank(loss, 6, 1, weight), 0.5, minimise_by_alternation, tol=1e-7, complete=complete)
    assert turns.converged
    assert turns.objective[-1] == pytest.approx(joint.objective[-1], rel=1e-6)
    assert turns.objective[-1] == pytest.approx(objective(turns.iterate, rows, turns.model, 0.5), rel=1e-9)
    assert (np.diff(turns.objective) <= 0).all()
    assert turns.n_iter > joint.n_iter


def test_alternation_keeps_to_its_number_of_steps_and_counts_them_for_the_callback():
    rng = np.random.default_rng(7)
    rows = make_rows(40, 5, SquaredLoss(), 1, rng)
    seen = []
    done = solve(
        rows,
        blank(SquaredLoss(), 5, 1, 1.0),
        0.1,
        minimise_by_alternation,
        tol=1e-9,
        max_iter=60,
        callback=lambda p: seen.append(p.iteration),
    )
    assert (done.n_iter, done.converged) == (60, False)
    assert seen == list(range(1, 61))
