import numpy as np
import pytest
from sklearn.base import clone

from cellworth.complete import GaussianCompleter, NNLSCompleter, SupervisedCompleter
from cellworth.complete.paired_completer import PairedCompleter
from cellworth.testing import check_completer
from cellworth.testing.completer_contract import random_table
from tests.complete.scikit_learn import check_with_scikit_learn

QUICK = PairedCompleter(
    SupervisedCompleter(tol=1e-3), GaussianCompleter(label_trust=0.0, margins="normal", calibrate=False)
)


@pytest.fixture(scope="module")
def table():
    return random_table(np.random.default_rng(0))


def test_keeps_the_contract_of_completers():
    check_completer(QUICK)


@pytest.mark.slow
def test_passes_every_check_of_scikit_learn():
    check_with_scikit_learn(QUICK)


def test_fills_by_one_and_draws_by_the_other(table):
    X, y = table
    new, _ = random_table(np.random.default_rng(1), n=9)
    both = clone(QUICK).fit(X, y)
    filled, posterior = clone(QUICK.completer).fit(X, y), clone(QUICK.posterior).fit(X, y)
    np.testing.assert_allclose(both.completed_, filled.completed_)
    np.testing.assert_allclose(both.transform(new), filled.transform(new))
    np.testing.assert_allclose(both.variance_, posterior.variance_)
    np.testing.assert_allclose(both.sample(3, 7), posterior.sample(3, 7))
    np.testing.assert_allclose(both.sample(3, 7, new), posterior.sample(3, 7, new))


def test_parts_are_told_what_the_labels_are_and_start_warm_together(table):
    X, y = table
    cold = PairedCompleter(target="classes").parts()
    assert [part.target for part in cold] == ["classes", "classes"]
    assert not any(part.warm_start for part in cold)
    warm = clone(QUICK).set_params(warm_start=True).fit(X, y)
    first = warm.completer_
    assert all(part.warm_start for part in (warm.completer_, warm.posterior_))
    warm.fit(X, y)
    assert warm.completer_ is first


def test_can_be_stored_if_both_parts_can():
    assert hasattr(QUICK, "fitted_state")
    assert hasattr(PairedCompleter(NNLSCompleter()), "fitted_state") == hasattr(
        NNLSCompleter(), "fitted_state"
    )
