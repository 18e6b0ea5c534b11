"""Chances of categories: what each source is for, and that no cell has a part in its own prediction."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from cellworth.complete import category_chances
from cellworth.complete.categories import find_categories
from cellworth.complete.category_chances import fit_exponents, logs_of, pool
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.hidden_trial import SearchTask, make_trial
from cellworth.complete.labels import code_labels
from cellworth.complete.scaling import Scaling
from cellworth.complete.tree_completer import TreeCompleter


def encoded(codes, width, known):
    """Return codes (n, p) as 0 and 1 in ``width`` columns each, NaN where they are not known."""
    blocks = [np.where(known[:, [j]], np.eye(width)[codes[:, j]], np.nan) for j in range(codes.shape[1])]
    return np.hstack(blocks)


def wrong(completed, codes, width, hidden):
    guess = completed.reshape(len(codes), -1, width).argmax(axis=2)
    return float((guess != codes)[hidden].mean())


def sums(seed=0, n=600, share=0.8):
    """Return codes where the third is the sum of two others modulo 3, which no straight relation shows."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=(n, 4))
    codes[:, 2] = (codes[:, 0] + codes[:, 1]) % 3
    known = rng.random(codes.shape) < share
    return codes, known


def families(seed=0, n=300, p=12):
    """Return near copies of sixty rows."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(4, size=(60, p))[rng.integers(60, size=n)]
    codes = np.where(rng.random(codes.shape) < 0.05, rng.integers(4, size=codes.shape), codes)
    return codes, rng.random(codes.shape) < 0.7


def test_a_category_of_two_others_is_found_by_the_forest():
    codes, known = sums()
    X = encoded(codes, 3, known)
    third = ~known & (np.arange(4) == 2) & known[:, [0]] & known[:, [1]]
    by_gaussian = wrong(GaussianCompleter().fit(X).completed_, codes, 3, third)
    by_trees = wrong(TreeCompleter().fit(X).completed_, codes, 3, third)
    assert by_gaussian > 0.5  # a third would be right by chance
    assert by_trees < 0.1


def test_near_copies_are_found():
    codes, known = families()
    X = encoded(codes, 4, known)
    assert wrong(TreeCompleter(n_trees=20).fit(X).completed_, codes, 4, ~known) < 0.15
    assert wrong(GaussianCompleter().fit(X).completed_, codes, 4, ~known) > 0.3


def test_unrelated_categories_get_their_shares():
    rng = np.random.default_rng(0)
    codes = rng.choice(3, p=[0.6, 0.3, 0.1], size=(500, 5))
    known = rng.random(codes.shape) < 0.7
    X = encoded(codes, 3, known)
    filled = TreeCompleter().fit(X).completed_.reshape(500, 5, 3)[~known]
    shares = np.array([0.6, 0.3, 0.1])
    # Shares of 350 cells have standard errors of up to 0.026, and noise moves single cells.
    np.testing.assert_allclose(filled.mean(axis=0), shares, atol=0.03)
    assert np.abs(filled - shares).mean() < 0.06


@pytest.fixture(scope="module")
def fitted():
    codes, known = families(1)
    rng = np.random.default_rng(2)
    X = np.hstack([encoded(codes, 4, known), rng.normal(size=(len(codes), 2))])
    X[rng.random(len(X)) < 0.3, -1] = np.nan
    return codes, known, X, TreeCompleter(n_trees=20).fit(X)


def test_completed_cells_are_chances(fitted):
    _, known, X, trees = fitted
    chances = trees.completed_[:, :48].reshape(len(X), -1, 4)
    np.testing.assert_allclose(chances.sum(axis=2), 1, atol=1e-6)
    assert chances.min() >= 0
    assert ((trees.forest_weights_ >= 0) & (trees.forest_weights_ <= 1)).all()
    assert (trees.variance_[~np.isnan(X)] == 0).all()
    holes = np.isnan(X)[:, :48]
    squares = (trees.completed_[:, :48] - encoded(fitted[0], 4, np.ones_like(known)))[holes] ** 2
    assert squares.sum() / trees.variance_[:, :48][holes].sum() == pytest.approx(1, abs=0.3)


def test_chances_are_as_likely_as_they_say(fitted):
    codes, known, X, trees = fitted
    chances = trees.completed_[:, :48].reshape(len(X), -1, 4)[~known]
    true = np.eye(4)[codes[~known]]
    for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 0.9), (0.9, 1.0)):
        at = (low <= chances) & (chances < high)
        error = 3 * np.sqrt(max(at.sum(), 1) * 0.25) / max(at.sum(), 1)
        assert abs(true[at].mean() - chances[at].mean()) < max(error, 0.03)


def test_new_rows_and_those_of_fit_are_completed_alike(fitted):
    _, _, X, trees = fitted
    completed, variance = trees.transform_with_variance(X)
    np.testing.assert_allclose(completed, trees.completed_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(variance, trees.variance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(trees.transform(X[:5]), completed[:5], rtol=1e-9, atol=1e-12)


def test_threads_do_not_change_the_result(fitted):
    _, _, X, _ = fitted
    one, two = (TreeCompleter(n_trees=5, n_jobs=n).fit(X).completed_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_labels_move_chances_that_stay_chances():
    codes, known = families(3)
    X, y = encoded(codes, 4, known), codes[:, 0]
    filled = TreeCompleter(n_trees=5, label_trust=1.0, target="classes").fit(X, y).completed_
    assert wrong(filled[:, :4], codes[:, :1], 4, ~known[:, :1]) < 0.05  # the label is the category
    assert filled.min() >= 0
    assert filled.max() <= 1


def test_the_gain_over_the_gaussian_is_told():
    codes, known = families(4)
    X = encoded(codes, 4, known)
    gaussian = GaussianCompleter(label_trust=0.0).fit(X)
    gain, error = TreeCompleter(n_trees=20, label_trust=0.0).expected_gain(gaussian, X, 15)
    truth, holes = encoded(codes, 4, np.ones_like(known)), np.isnan(X)
    fits = gaussian.completed_, TreeCompleter(label_trust=0.0).fit(X).completed_
    of_gaussian, of_trees = (((filled - truth)[holes] ** 2).sum() for filled in fits)
    assert gain == pytest.approx(1 - of_trees / of_gaussian, abs=max(0.1, 4 * error))
    assert gain > 0.2


def test_a_trial_hides_whole_categories():
    codes, known = families(5)
    X = encoded(codes, 4, known)
    task = SearchTask(X, None, code_labels(None, len(X), "squared", "auto"), Scaling.of(X, "standard"))
    trial = make_trial(task, 1000, np.random.default_rng(0))
    assert find_categories(trial.holed) == find_categories(X)
    blocks = trial.hidden.reshape(len(X), -1, 4)
    assert (blocks.all(axis=2) == blocks.any(axis=2)).all()
    assert blocks[:, :, 0].sum() == pytest.approx(0.1 * known.sum(), rel=0.2)


def test_a_few_rows_are_completed_too():
    codes, known = families(6, n=12, p=3)
    known[0] = False
    filled = TreeCompleter(n_trees=5).fit(encoded(codes, 4, known)).completed_
    assert np.isfinite(filled).all()
    codes, known = families(6, n=35, p=3)
    known[10:, 0] = False  # too few cells for a forest
    assert np.isfinite(TreeCompleter(n_trees=5).fit(encoded(codes, 4, known)).completed_).all()


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
        return category_chances.RIDGE * off @ off - sum(np.log(part).sum() for part in parts)

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
