"""Extra trees: compiled against NumPy, against what a tree is, and against scikit-learn's."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from cellworth.complete import extra_trees
from cellworth.complete.compiled.library import kernels
from cellworth.complete.extra_trees import grow_trees

SETTINGS = {"n_trees": 8, "n_rows": 70, "leaf": 2, "most_features": 30}


def curved(seed, m=100, f=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, f))
    return X, X[:, 0] ** 2 + X[:, -1] + 0.3 * rng.normal(size=m)


@pytest.fixture
def without_kernels(monkeypatch):
    monkeypatch.setattr(extra_trees, "kernels", lambda: None)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("shape", "settings"),
    [
        ((100, 5), {}),
        ((100, 5), {"leaf": 7, "n_rows": 100}),
        ((40, 1), {"n_rows": 30}),
        ((100, 60), {}),  # some features of a split, by whole rows
        ((100, 150), {}),  # and one by one
        ((3, 4), {"n_rows": 2}),
        ((3, 4), {"n_rows": 1, "n_trees": 1}),
    ],
)
@pytest.mark.parametrize("kind", ["smooth", "tied", "constant"])
def test_compiled_and_numpy_grow_the_same_trees(shape, settings, kind, monkeypatch):
    X, y = curved(0, *shape)
    if kind == "tied":
        X, y = X.round(), y.round()
    elif kind == "constant":
        y = np.ones_like(y)
    new = np.random.default_rng(9).normal(size=(50, shape[1]))
    grown, predicted = [], []
    for library in (kernels, lambda: None):
        monkeypatch.setattr(extra_trees, "kernels", library)
        grown.append(grow_trees(X, y, rng=np.random.default_rng(1), **SETTINGS | settings))
        predicted.append(grown[-1].trees.predict(new))
    np.testing.assert_array_equal(predicted[0], predicted[1])
    np.testing.assert_array_equal(grown[0].left_out, grown[1].left_out)
    np.testing.assert_array_equal(grown[0].n_left_out, grown[1].n_left_out)
    for one in grown:  # nodes are in another order
        assert ((one.trees.feature >= 0).sum(axis=1) == (grown[0].trees.feature >= 0).sum(axis=1)).all()


def leaves_of(trees, t, X):
    """Return the node that each row ends in, and the number of nodes of the tree."""
    ends, nodes = [], {0}
    for x in X:
        node = 0
        while trees.feature[t, node] >= 0:
            node = trees.child[t, node] + (x[trees.feature[t, node]] > trees.number[t, node])
            nodes.add(int(node))
        ends.append(int(node))
    return np.array(ends), nodes


@pytest.mark.parametrize("compiled", [True, False])
def test_a_leaf_has_the_mean_of_its_rows_and_enough_of_them(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(extra_trees, "kernels", lambda: None)
    X, y = curved(1)
    grown = grow_trees(X, y, rng=np.random.default_rng(0), **SETTINGS | {"n_rows": 100, "leaf": 4})
    for t in range(8):
        ends, _ = leaves_of(grown.trees, t, X)
        for end in np.unique(ends):
            mine = ends == end
            assert mine.sum() >= 4
            assert grown.trees.number[t, end] == pytest.approx(y[mine].mean(), abs=1e-12)
            # It could not be split by any threshold of its own: too few rows, or no random one fell well.
            assert mine.sum() < 40
    assert (grown.n_left_out == 0).all()
    assert (grown.left_out == 0).all()


def test_rows_left_out_are_predicted_by_the_trees_that_did_not_see_them():
    X, y = curved(2)
    grown = grow_trees(X, y, rng=np.random.default_rng(0), **SETTINGS)
    assert grown.n_left_out.sum() == 8 * 30
    again = np.random.default_rng(0)
    bags = [set(again.permutation(100)[:70].tolist()) for _ in range(8)]
    for i in range(10):
        alone = [
            grown.trees.number[t, leaves_of(grown.trees, t, X[i : i + 1])[0][0]]
            for t in range(8)
            if i not in bags[t]
        ]
        assert grown.n_left_out[i] == len(alone)
        assert grown.left_out[i] == pytest.approx(np.mean(alone) if alone else 0.0)


def test_the_error_is_that_of_scikit_learn():
    errors = []
    for seed in range(4):
        X, y = curved(seed, 400)
        new, truth = curved(seed + 50, 400)
        mine = grow_trees(
            X, y, n_trees=60, n_rows=320, leaf=2, most_features=30, rng=np.random.default_rng(0)
        )
        other = ExtraTreesRegressor(60, min_samples_leaf=2, bootstrap=True, max_samples=None, random_state=0)
        predictions = (mine.trees.predict(new), other.fit(X, y).predict(new))
        errors.append([np.mean((p - truth) ** 2) for p in predictions])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < 1.05 * theirs  # theirs see 63 % of the rows, ours 80: about 0.9


@pytest.mark.usefixtures("without_kernels")
def test_numbers_are_uniform_and_differ_by_feature_and_path():
    keys = np.random.default_rng(0).integers(2**64, size=20_000, dtype=np.uint64)
    one, other = (extra_trees.uniform_of(extra_trees.hashed(keys + np.uint64(k))) for k in (1, 2))
    assert one.min() >= 0
    assert one.max() < 1
    # 20,000 uniform numbers: standard errors of 0.002 of the mean, 0.007 of a correlation
    assert abs(one.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03


def test_rounding_does_not_choose_between_equal_splits():
    """A column and its mirror image split alike, so sums that differ in the last bit must not decide."""
    X, y = curved(3)
    X = np.column_stack([X, -X[:, ::-1]])
    noise = 1e-13 * np.random.default_rng(0).normal(size=y.shape)
    one, other = (
        grow_trees(X, z, rng=np.random.default_rng(0), **SETTINGS).trees.feature for z in (y, y + noise)
    )
    np.testing.assert_array_equal(one, other)
