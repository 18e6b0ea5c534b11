"""Extra trees for classes: as those for a number, but split by the Gini index, with shares in the leaves.

Grown by one call of a compiled kernel (compiled/class_trees.h), or by NumPy. Both give the same trees, as in
`cellworth.complete.extra_trees`, since counts are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import AnyArray, FloatArray, IntArray
from cellworth.complete.compiled.library import address, kernels
from cellworth.complete.extra_trees import TIE, ExtraTrees, Level, draw_bags, random_split


@dataclass(frozen=True)
class ClassTrees:
    """A forest for q classes.

    Attributes
    ----------
    trees : ExtraTrees
        T trees of at most c nodes each; ``number`` has the thresholds.
    shares : (T, c, q) array
        Of the classes among the rows of each node.
    """

    trees: ExtraTrees
    shares: FloatArray

    def predict(self, features: FloatArray) -> FloatArray:
        """Return the mean shares (m, q) for rows of features (m, f); O(T depth) for each row."""
        return self.trees.mean_of_leaves(features, self.shares)


@dataclass(frozen=True)
class GrownClassTrees:
    """A forest, and what it says of the rows it was grown on.

    Attributes
    ----------
    trees : ClassTrees
    left_out : (m, q) array
        Mean shares of each row by the trees that did not see it; 0 if there are none.
    n_left_out : (m,) array
        How many there are.
    """

    trees: ClassTrees
    left_out: FloatArray
    n_left_out: FloatArray


def grow_class_trees(
    features: FloatArray,
    classes: IntArray,
    n_classes: int,
    *,
    n_trees: int,
    n_rows: int,
    leaf: int,
    most_features: int,
    rng: np.random.Generator,
) -> GrownClassTrees:
    """Grow a forest for classes (m,) from 0 to ``n_classes`` - 1; the rest is as in `grow_trees`."""
    features = np.ascontiguousarray(features, dtype=np.float64)
    classes = np.ascontiguousarray(classes, dtype=np.int32)
    m, f = features.shape
    bags, keys = draw_bags(m, n_trees, n_rows, rng)
    share, capacity = min(1.0, most_features / f), 2 * max(1, n_rows // leaf)
    forest = ClassTrees(ExtraTrees.empty(n_trees, capacity), np.zeros((n_trees, capacity, n_classes)))
    total, count = np.zeros((m, n_classes)), np.zeros(m)
    compiled = kernels()
    if compiled is None:
        _grow_by_levels(forest, features, classes, bags, keys, leaf, share)
        for t, bag in enumerate(bags):
            unseen = np.ones(m, dtype=bool)
            unseen[bag] = False
            total[unseen] += forest.shares[t, forest.trees.nodes(t, features[unseen])]
            count += unseen
    else:
        nodes = (forest.trees.feature, forest.trees.number, forest.trees.child, forest.shares)
        table = (m, f, address(features), address(classes), n_classes)
        asked = (n_trees, n_rows, address(bags), address(keys), leaf, share, capacity)
        if compiled.grow_class_trees(*table, *asked, *map(address, nodes), address(total), address(count)):
            raise MemoryError(f"no memory to grow trees on {m} rows")
    return GrownClassTrees(forest, total / np.maximum(count, 1)[:, None], count)


def _grow_by_levels(
    forest: ClassTrees,
    features: FloatArray,
    classes: IntArray,
    bags: IntArray,
    keys: AnyArray,
    leaf: int,
    share: float,
) -> None:
    """Fill in all trees, level by level."""
    q, level = forest.shares.shape[2], Level.of_bags(bags, keys)
    while len(level.tree):
        of_node, sizes, rows = level.of_node, level.sizes, level.rows
        totals = np.bincount(of_node * q + classes[rows], minlength=len(sizes) * q).reshape(-1, q)
        forest.shares[level.tree, level.node] = totals / sizes[:, None]
        by, threshold = _best_splits(features, classes, rows, of_node, sizes, totals, level.keys, leaf, share)
        splits = (totals.max(axis=1) < sizes) & (sizes >= 2 * leaf) & (by >= 0)
        level = level.split(forest.trees, features, splits, by, threshold)


def _best_splits(
    features: FloatArray,
    classes: IntArray,
    rows: IntArray,
    of_node: IntArray,
    sizes: IntArray,
    totals: IntArray,
    keys: AnyArray,
    leaf: int,
    share: float,
) -> tuple[IntArray, FloatArray]:
    """Return the feature (-1: none) and threshold by which each node splits."""
    (n_nodes, q), starts = totals.shape, np.cumsum(sizes) - sizes
    most, best, threshold = np.full(n_nodes, -np.inf), np.full(n_nodes, -1), np.zeros(n_nodes)
    for j in range(features.shape[1]):
        left, at, considered = random_split(features[rows, j], j, of_node, starts, keys, share)
        cell = of_node * q + classes[rows]
        counts = np.bincount(cell, weights=left, minlength=n_nodes * q).reshape(-1, q)
        count = counts.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = (counts**2).sum(axis=1) / count + ((totals - counts) ** 2).sum(axis=1) / (sizes - count)
        considered &= (count >= leaf) & (sizes - count >= leaf) & (gain > most + TIE * sizes)
        most, threshold = np.where(considered, gain, most), np.where(considered, at, threshold)
        best = np.where(considered, j, best)
    return best, threshold
