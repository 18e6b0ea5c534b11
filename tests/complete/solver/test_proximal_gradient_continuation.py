"""A weak penalty is felt by the stopping rule, and reached by way of stronger ones."""

import numpy as np
import pytest

from cellworth.blocks import open_blocks
from cellworth.complete import SupervisedCompleter


def low_rank_table(n=200, d=12, rank=2, share=0.5):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.05 * rng.normal(size=(n, d))
    return truth, np.where(rng.random((n, d)) < share, truth, np.nan)


def objective(X, completer):
    """Return F of the fitted low-rank table from its definition, with a full SVD."""
    scaled = completer.scaling_.apply(X)
    fitted = completer.low_rank_[0] @ completer.low_rank_[1]
    misfit = 0.5 * np.nansum((scaled - fitted) ** 2)
    return misfit + completer.trace_penalty_ * np.linalg.svd(fitted, compute_uv=False).sum()


@pytest.mark.parametrize("penalty", [1e-3, 1e-5])
def test_a_weak_penalty_ends_near_the_optimum(penalty):
    truth, X = low_rank_table()
    completer = SupervisedCompleter(trace_penalty=penalty).fit(X)
    assert completer.converged_
    longer = SupervisedCompleter(trace_penalty=penalty, tol=1e-7, max_iter=20_000).fit(X)
    assert objective(X, completer) <= objective(X, longer) * (1 + 1e-3)
    holes = np.isnan(X)
    assert np.std((completer.completed_ - truth)[holes]) < 0.5 * np.std(truth[holes])


def test_row_blocks_take_the_same_way():
    _, X = low_rank_table()
    whole = SupervisedCompleter(trace_penalty=1e-4).fit(X)
    blocks = SupervisedCompleter(trace_penalty=1e-4).fit(open_blocks(X))
    assert blocks.n_iter_ == whole.n_iter_
    np.testing.assert_allclose(blocks.completed_.gather()[0], whole.completed_, atol=1e-6)


def test_iterations_on_the_way_count():
    _, X = low_rank_table()
    with pytest.warns(match="did not converge in 20"):
        assert SupervisedCompleter(trace_penalty=1e-6, max_iter=20).fit(X).n_iter_ <= 20
