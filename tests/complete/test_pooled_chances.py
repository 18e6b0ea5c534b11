"""The logarithmic pool, against logistic regression and a grid."""

import numpy as np
from scipy.optimize import check_grad

from cellworth.complete import pooled_chances
from cellworth.complete.pooled_chances import fit_exponents, logs_of, pool


def drawn(seed, m=4000, k=4):
    """Return three sources: one that is right if sharpened by 2, one of noise, the even shares; and codes."""
    rng = np.random.default_rng(seed)
    right = np.maximum(rng.dirichlet(np.ones(k), size=m), 0.01)  # none is less than the least
    sharp = right**2 / (right**2).sum(axis=1, keepdims=True)
    codes = np.array([rng.choice(k, p=p) for p in sharp])
    return [np.full((m, k), 1 / k), right, rng.dirichlet(np.ones(k), size=m)], codes


def test_pooled_chances_are_products_of_powers():
    (even, right, noise), _ = drawn(0, 20)
    expected = even**0.5 * np.maximum(right, 0.01) ** 2 * np.maximum(noise, 0.01) ** -0.3
    expected /= expected.sum(axis=1, keepdims=True)
    found = pool(logs_of([even, right, noise]), np.array([0.5, 2.0, -0.3]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_exponents_make_a_source_as_sharp_as_it_should_be():
    found = [fit_exponents([(logs_of(sources), codes)], 3) for sources, codes in map(drawn, range(6))]
    # Four standard errors over the seeds, and what the ridge takes away.
    errors = 4 * np.std(found, axis=0) / np.sqrt(len(found)) + 0.05
    assert (np.abs(np.mean(found, axis=0) - [1, 2, 0]) < errors)[1:].all()


def test_no_exponents_near_by_are_likelier():
    sources, codes = drawn(3)
    columns = [(logs_of(sources)[:1500], codes[:1500]), (logs_of(sources)[1500:], codes[1500:])]

    def surprise(exponents):
        off = exponents - [1, 0, 0]
        parts = (pool(logs, exponents)[np.arange(len(own)), own] for logs, own in columns)
        return pooled_chances.RIDGE * off @ off - sum(np.log(part).sum() for part in parts)

    def slope(exponents):
        steps = 1e-5 * np.eye(3)
        return np.array([(surprise(exponents + s) - surprise(exponents - s)) / 2e-5 for s in steps])

    best = fit_exponents(columns, 3)
    assert check_grad(surprise, slope, best) < 1e-3  # the oracle is smooth there
    assert np.abs(slope(best)).max() < 1e-4 * len(codes)
    rng = np.random.default_rng(0)
    assert all(surprise(best) <= surprise(best + 0.1 * rng.normal(size=3)) for _ in range(50))


def test_without_cells_the_first_source_stays():
    np.testing.assert_array_equal(fit_exponents([], 3), [1.0, 0.0, 0.0])
