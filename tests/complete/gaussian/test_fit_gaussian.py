"""One fit: from a first start and from the last one, to the end or to where it is stopped."""

import numpy as np
import pytest

from tests.complete.gaussian.cases import holed, plain


@pytest.mark.parametrize("settings", [{}, {"factors": 2}, {"margins": "rank"}], ids=str)
def test_likelihood_never_falls(settings):
    _, X = holed(2)
    fitted = plain(**settings).fit(X)
    assert (np.diff(fitted.log_likelihood_) >= 0).all()
    assert len(fitted.log_likelihood_) == fitted.n_iter_
    np.testing.assert_array_equal(fitted.objective_, -fitted.log_likelihood_)


@pytest.mark.parametrize("settings", [{}, {"factors": 2}, {"margins": "rank"}], ids=str)
def test_warm_start_needs_few_steps_for_the_same_likelihood(settings):
    truth, X = holed(11)
    more = X.copy()
    more[:20] = truth[:20]
    settings = {"shrinkage": 3.0, **settings}  # a warm start keeps what was chosen
    warm = plain(warm_start=True, tol=1e-7, **settings).fit(X)
    cold_steps = warm.n_iter_
    warm.fit(more)
    cold = plain(tol=1e-7, **settings).fit(more)
    assert warm.n_iter_ <= cold_steps
    assert warm.log_likelihood_[-1] == pytest.approx(cold.log_likelihood_[-1], abs=1e-3 * X.size)
    assert plain(warm_start=True).fit(X).fit(X[:, :4]).completed_.shape == (400, 4)


def test_a_callback_ends_the_fit():
    _, X = holed(14)
    seen = []
    fitted = plain(tol=0, callback=lambda p: seen.append(p) or len(seen) == 3).fit(X)
    assert len(seen) == 3
    assert not fitted.converged_
    assert seen[-1].objective <= seen[0].objective


def test_too_few_steps_are_told():
    _, X = holed(15)
    with pytest.warns(UserWarning, match="did not converge in 2 steps"):
        plain(max_iter=2, tol=1e-12).fit(X)
