"""The line search ends where the known constant does."""

import numpy as np
import pytest

from cellworth.complete.solver.as_published import minimise_by_search
from cellworth.complete.solver.losses import LogisticLoss, SquaredLoss
from cellworth.complete.solver.proximal_gradient import minimise

from .problems import blank, make_rows, solve


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
