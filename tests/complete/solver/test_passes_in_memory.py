import numpy as np

from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver.losses import SquaredLoss
from cellworth.complete.solver.passes_in_memory import InPlacePasses

from .problems import blank, make_rows, random_model, solve


def test_refining_keeps_the_iterate_and_the_point():
    rng = np.random.default_rng(3)
    rows = make_rows(700, 6, SquaredLoss(), 1, rng)
    models = [random_model(SquaredLoss(), 6, 1, 0.01, rng) for _ in range(2)]
    X, P = rng.normal(size=rows.values.shape), 0.9 * np.eye(6)
    found = []
    for single, refined in ((False, 0), (True, 1), (True, 2)):
        passes = InPlacePasses(X.copy(), rows, RowBlocks(X.shape, 8, None), single=single)
        passes.first(1.2, models[0])
        for i in range(2):
            if i == refined:
                passes.refine()
            passes.next(P, 0.4, 1.2, *models)
        assert passes.iterate.dtype == np.float64
        found.append(passes.iterate)
    # None, one and two passes in single precision: numbers of size 1, rounding errors of 2**-24.
    assert 0 < np.abs(found[1] - found[0]).max() < 1e-6
    assert 0 < np.abs(found[2] - found[0]).max() < 1e-6


def test_a_fit_that_ends_in_single_precision_is_returned_in_that_of_the_table():
    rng = np.random.default_rng(5)
    rows = make_rows(200, 5, SquaredLoss(), 1, rng)
    single, double = (
        solve(rows, blank(SquaredLoss(), 5, 1, 0.01), 0.1, tol=1e-9, max_iter=2, single=single)
        for single in (True, False)
    )
    assert single.iterate.dtype == np.float64
    np.testing.assert_allclose(single.iterate, double.iterate, rtol=0, atol=1e-5)
