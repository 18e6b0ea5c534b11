import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.errors import DataError, ParameterError
from cellworth.theory import CompletionBound, coherence

SIZES = st.integers(1, 12)


def bound_of(n, d, n_observed, *, constant=1.0, **settings):
    return CompletionBound(n, d, **settings).mean_squared_error(n_observed, constant=constant)


@given(n=SIZES, d=SIZES, rank=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_coherence_lies_between_its_limits(n, d, rank, seed):
    r = min(n, d, rank)
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(n, r)) @ rng.normal(size=(r, d))
    mu = coherence(M, rank=r)
    # The squared row norms of U add up to r over n rows, those of V over d: the mean bounds the largest.
    assert np.sqrt(r / min(n, d)) - 1e-9 <= mu <= 1.0


@given(seed=st.integers(0, 2**32 - 1))
def test_coherence_knows_nothing_of_scale_order_or_orientation(seed):
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(9, 2)) @ rng.normal(size=(2, 6))
    mu = coherence(M)
    assert coherence(-7 * M) == pytest.approx(mu)
    assert coherence(M.T) == pytest.approx(mu)
    assert coherence(M[rng.permutation(9)][:, rng.permutation(6)]) == pytest.approx(mu)


def test_coherence_of_known_matrices():
    assert coherence(np.ones((4, 9))) == pytest.approx(1 / 2)
    assert coherence(np.eye(3)) == pytest.approx(1.0)
    spike = np.zeros((50, 50))
    spike[3, 4] = 1.0
    assert coherence(spike) == 1.0
    assert coherence(np.zeros((3, 3))) == 0.0


def test_coherence_refuses_what_it_cannot_judge():
    with pytest.raises(DataError, match="complete it first"):
        coherence([[1.0, np.nan]])
    with pytest.raises(DataError, match="must be a matrix"):
        coherence([1.0, 2.0])
    with pytest.raises(ParameterError, match="rank must be from 0 to 2; got 3"):
        coherence(np.eye(2), rank=3)


@given(
    n=st.integers(5, 5000),
    d=st.integers(5, 500),
    shares=st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)),
)
def test_the_bound_falls_as_cells_are_observed(n, d, shares):
    few, many = (share * n * d for share in sorted(shares))
    settings = {"rank": 2, "beta": 1.5, "coherence": 0.3}
    assert bound_of(n, d, many, **settings) <= bound_of(n, d, few, **settings)


def test_the_bound_rises_with_rank_size_and_coherence():
    base = {"rank": 3, "beta": 1.0, "coherence": 0.4}
    at = bound_of(1000, 20, 10_000, **base)
    assert bound_of(1000, 20, 10_000, **base | {"rank": 12}) == pytest.approx(2 * at)
    assert bound_of(1000, 20, 10_000, **base | {"beta": 3.0}) == pytest.approx(3 * at)
    assert bound_of(1000, 20, 10_000, **base | {"coherence": 0.8}) == pytest.approx(4 * at)
    assert bound_of(1000, 20, 10_000, **base, constant=5.0) == pytest.approx(5 * at)


def test_the_bound_has_the_rate_of_the_theorem():
    """Where many cells are observed the bound falls like 1 / sqrt of their number; where few, like 1 / n."""
    settings = {"rank": 3, "beta": 1.0, "coherence": 0.4}
    n, d = 10**6, 10**6
    many = bound_of(n, d, 1e11, **settings) / bound_of(n, d, 4e11, **settings)
    few = bound_of(n, d, 1e2, **settings) / bound_of(n, d, 4e2, **settings)
    assert many == pytest.approx(2, rel=0.01)
    assert few == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_observed": 0}, "n_observed must be above 0"),
        ({"n_observed": 101}, "at most n d = 100"),
        ({"rank": 11}, "rank must be from 1 to min"),
        ({"beta": 0}, "beta must be positive"),
        ({"coherence": 1.5}, "coherence must be above 0 and at most 1"),
        ({"constant": 0}, "constant must be positive"),
        ({"n": 0}, "n and d must be at least 1"),
    ],
)
def test_senseless_arguments_are_refused(change, message):
    arguments = {"n": 10, "d": 10, "n_observed": 50, "rank": 2, "beta": 1.0, "coherence": 0.5} | change
    with pytest.raises(ParameterError, match=message):
        bound_of(**arguments)


@pytest.mark.filterwarnings("ignore:the bound of this table")
def test_beta_is_the_least_that_the_theorem_allows():
    """By hand: ones of rank 1 have one singular value, sqrt(n d), so beta is n d / sqrt(n d)."""
    bound = CompletionBound.of(3.0 * np.ones((8, 2)))
    assert (bound.n, bound.d, bound.rank) == (8, 2, 1)
    assert bound.beta == pytest.approx(9 * 4.0)
    assert bound.coherence == pytest.approx(np.sqrt(1 / 2))
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 6))
    noisy = CompletionBound.of(table, rank=2)
    assert noisy.beta * np.sqrt(2 * 30 * 6) == pytest.approx(np.linalg.norm(table, "nuc") ** 2)
    assert noisy.coherence == coherence(table, rank=2)


@pytest.mark.filterwarnings("ignore:the bound of this table")
def test_the_bound_of_a_table_grows_with_its_rows_at_a_fixed_share():
    rng = np.random.default_rng(1)
    signs = rng.choice([-1.0, 1.0], size=(400, 4))  # every row counts the same, whatever their number
    bounds = [CompletionBound.of(signs[:n], rank=4) for n in (100, 400)]
    short, long = (bound.mean_squared_error(0.5 * bound.n * bound.d) for bound in bounds)
    # beta grows like the root of n, here by 2; the roots of the bound fall by a few per cent.
    assert long / short == pytest.approx(2, rel=0.1)


def test_a_bound_that_says_nothing_warns():
    with pytest.warns(UserWarning, match="above its mean square of 1: only ratios"):
        CompletionBound.of(np.random.default_rng(2).choice([-1.0, 1.0], size=(50, 5)))
    with pytest.raises(DataError, match="0 everywhere"):
        CompletionBound.of(np.zeros((3, 3)))
