"""Extra trees for one number: each split is the best of one random threshold for each feature.

scikit-learn's forests spend most of their time outside the trees if there are hundreds of rows and a forest
for every column. These are grown by one call of a compiled kernel (compiled/extra_trees.h), or by NumPy, all
trees at once, level by level. Both give the same trees: sums run over the rows in their order, and the random
numbers of a node are a hash of its path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from cellworth.complete.compiled.library import address, kernels

SAME = 1e-7  # features that differ by no more within a node do not split it: rounding would decide
TIE = 1e-9  # of a node's sum of squares: of splits that gain within this, the first is taken, for that reason
NUMBERS_AT_ONCE = 1_000_000  # of rows to permute for some trees


@dataclass(frozen=True)
class ExtraTrees:
    """A forest: T trees of at most c nodes each; node 0 is the root.

    Attributes
    ----------
    feature : (T, c) int32 array
        By which a node splits; -1 in a leaf.
    number : (T, c) array
        The threshold: rows with at most this go left. In a leaf, its prediction.
    child : (T, c) int32 array
        The left child; the right one follows it.
    """

    feature: IntArray
    number: FloatArray
    child: IntArray

    @classmethod
    def empty(cls, n_trees: int, capacity: int) -> ExtraTrees:
        """Return trees to be grown: single leaves."""
        shape = (n_trees, capacity)
        return cls(np.full(shape, -1, dtype=np.int32), np.zeros(shape), np.zeros(shape, dtype=np.int32))

    def first(self, n_trees: int) -> ExtraTrees:
        """Return the first of the trees."""
        return ExtraTrees(self.feature[:n_trees], self.number[:n_trees], self.child[:n_trees])

    def predict(self, features: FloatArray) -> FloatArray:
        """Return the mean prediction of the trees for rows of features (m, f); O(T depth) for each row."""
        return self.mean_of_leaves(features, self.number[:, :, np.newaxis])[:, 0]

    def mean_of_leaves(self, features: FloatArray, values: FloatArray) -> FloatArray:
        """Return the mean (m, q) over the trees of the values (T, c, q) of the leaves that rows end in."""
        features = np.ascontiguousarray(features, dtype=np.float64)
        n_trees, capacity, q = values.shape
        out = np.zeros((len(features), q))
        compiled = kernels()
        if compiled is None:
            for t in range(n_trees):
                out += values[t, self.nodes(t, features)]
        else:
            trees = map(address, (self.feature, self.number, self.child, values))
            table = (*features.shape, address(features))
            compiled.sum_trees(*table, q, n_trees, capacity, *trees, address(out))
        return out / n_trees

    def nodes(self, t: int, features: FloatArray) -> IntArray:
        """Return the leaf of one tree in which each row ends, (m,)."""
        node = np.zeros(len(features), dtype=np.int64)
        moving = np.arange(len(features))
        while True:
            by = self.feature[t, node[moving]]
            moving, by = moving[by >= 0], by[by >= 0]
            if not len(moving):
                return node
            at = node[moving]
            node[moving] = self.child[t, at] + (features[moving, by] > self.number[t, at])


@dataclass(frozen=True)
class GrownTrees:
    """A forest, and what it says of the rows it was grown on.

    Attributes
    ----------
    trees : ExtraTrees
    left_out : (m,) array
        Mean prediction of each row by the trees that did not see it; 0 if there are none.
    n_left_out : (m,) array
        How many there are.
    """

    trees: ExtraTrees
    left_out: FloatArray
    n_left_out: FloatArray


def grow_trees(
    features: FloatArray,
    target: FloatArray,
    *,
    n_trees: int,
    n_rows: int,
    leaf: int,
    most_features: int,
    rng: np.random.Generator,
) -> GrownTrees:
    """Grow a forest.

    Parameters
    ----------
    features : (m, f) array
    target : (m,) array
    n_trees, n_rows : int
        Each tree sees ``n_rows`` of the rows, drawn without replacement.
    leaf : int
        Least number of rows in a leaf.
    most_features : int
        About how many features to consider for a split.
    rng : Generator
        Draws a number for each tree and row, and a key for each tree.

    Notes
    -----
    O(T f n log n).
    """
    features = np.ascontiguousarray(features, dtype=np.float64)
    target = np.ascontiguousarray(target, dtype=np.float64)
    m, f = features.shape
    bags, keys = draw_bags(m, n_trees, n_rows, rng)
    share = min(1.0, most_features / f)
    trees = ExtraTrees.empty(n_trees, capacity := 2 * max(1, n_rows // leaf))
    total, count = np.zeros(m), np.zeros(m)
    compiled = kernels()
    if compiled is None:
        _grow_by_levels(trees, features, target, bags, keys, leaf, share)
        for t, bag in enumerate(bags):
            unseen = np.ones(m, dtype=bool)
            unseen[bag] = False
            total[unseen] += trees.number[t, trees.nodes(t, features[unseen])]
            count += unseen
    else:
        table = (m, f, address(features), address(target))
        grown = (*map(address, (trees.feature, trees.number, trees.child)), address(total), address(count))
        asked = (n_trees, n_rows, address(bags), address(keys), leaf, share, capacity)
        if compiled.grow_trees(*table, *asked, *grown):
            raise MemoryError(f"no memory to grow trees on {m} rows")
    return GrownTrees(trees, total / np.maximum(count, 1), count)


def draw_bags(
    m: int, n_trees: int, n_rows: int, rng: np.random.Generator
) -> tuple[IntArray, npt.NDArray[np.uint64]]:
    """Return the rows (T, n_rows) of each tree, ascending, and the key (T,) of its random numbers."""
    bags: IntArray = np.empty((n_trees, n_rows), dtype=np.int32)
    at_once = max(1, NUMBERS_AT_ONCE // m)
    for first in range(0, n_trees, at_once):
        some = bags[first : first + at_once]
        rows = np.tile(np.arange(m), (len(some), 1))  # of 64 bits: NumPy has a faster way for these
        some[:] = rng.permuted(rows, axis=1, out=rows)[:, :n_rows]
    bags.sort(axis=1)
    return bags, rng.integers(2**64, size=n_trees, dtype=np.uint64)


def _grow_by_levels(
    trees: ExtraTrees,
    features: FloatArray,
    target: FloatArray,
    bags: IntArray,
    keys: AnyArray,
    leaf: int,
    share: float,
) -> None:
    """Fill in all trees, level by level."""
    level = Level.of_bags(bags, keys)
    while len(level.tree):
        of_node, sizes = level.of_node, level.sizes
        y, starts = target[level.rows], np.cumsum(sizes) - sizes
        total = np.bincount(of_node, weights=y, minlength=len(sizes)).astype(np.float64)
        trees.number[level.tree, level.node] = total / sizes
        spread = np.minimum.reduceat(y, starts) < np.maximum.reduceat(y, starts)
        by, threshold = _best_splits(
            features, y, level.rows, of_node, starts, sizes, total, level.keys, leaf, share
        )
        level = level.split(trees, features, spread & (sizes >= 2 * leaf) & (by >= 0), by, threshold)


@dataclass(frozen=True)
class Level:
    """The open nodes of all trees, k of them, tree by tree.

    Attributes
    ----------
    tree, node : (k,) arrays
        Where they are.
    rows : array
        Those of the nodes, node by node.
    sizes : (k,) array
        How many each has.
    keys : (k,) array
        Of their random numbers.
    used : (T,) array
        How many nodes each tree has so far.
    """

    tree: IntArray
    node: IntArray
    rows: IntArray
    sizes: IntArray
    keys: AnyArray
    used: IntArray

    @classmethod
    def of_bags(cls, bags: IntArray, keys: AnyArray) -> Level:
        """Return the roots of trees with these rows (T, n) and keys (T,)."""
        tree, node = np.arange(len(bags)), np.zeros(len(bags), dtype=np.int64)
        sizes, used = np.full(len(bags), bags.shape[1]), np.ones(len(bags), dtype=np.int64)
        return cls(tree, node, bags.ravel().astype(np.int64), sizes, keys, used)

    @property
    def of_node(self) -> IntArray:
        """The number of the node that each row belongs to."""
        return np.repeat(np.arange(len(self.tree)), self.sizes)

    def split(
        self, trees: ExtraTrees, features: FloatArray, splits: BoolArray, by: IntArray, threshold: FloatArray
    ) -> Level:
        """Put the splits of nodes (k,) into their trees, and return the children."""
        of_node, tree, node = self.of_node, self.tree, self.node
        kept = splits[of_node]
        rows, of_node = self.rows[kept], of_node[kept]
        right = features[rows, by[of_node]] > threshold[of_node]
        at = tree[splits], node[splits]
        trees.feature[at], trees.number[at] = by[splits], threshold[splits]
        trees.child[at], used = place_children(tree[splits], self.used)
        branch, both = 2 * of_node + right, np.repeat(splits, 2)
        return Level(
            np.repeat(tree, 2)[both],
            (trees.child[tree, node][:, None] + np.arange(2)).ravel()[both],
            rows[np.argsort(branch, kind="stable")],
            np.bincount(branch, minlength=2 * len(tree))[both],
            hashed(self.keys[:, None] + np.arange(1, 3, dtype=np.uint64)).ravel()[both],
            used,
        )


def place_children(tree: IntArray, used: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the children of splitting nodes go, given their trees in order, and the nodes used."""
    added = np.bincount(tree, minlength=len(used))
    before = np.cumsum(added) - added
    return used[tree] + 2 * (np.arange(len(tree)) - before[tree]), used + 2 * added


def _best_splits(
    features: FloatArray,
    y: FloatArray,
    rows: IntArray,
    of_node: IntArray,
    starts: IntArray,
    sizes: IntArray,
    total: FloatArray,
    keys: AnyArray,
    leaf: int,
    share: float,
) -> tuple[IntArray, FloatArray]:
    """Return the feature (-1: none) and threshold by which each node splits."""
    n_nodes = len(sizes)
    tie = TIE * np.bincount(of_node, weights=y * y, minlength=n_nodes)
    most, best, threshold = np.full(n_nodes, -np.inf), np.full(n_nodes, -1), np.zeros(n_nodes)
    for j in range(features.shape[1]):
        left, at, considered = random_split(features[rows, j], j, of_node, starts, keys, share)
        count = np.bincount(of_node, weights=left, minlength=n_nodes)
        part = np.bincount(of_node, weights=np.where(left, y, 0.0), minlength=n_nodes)
        rest = total - part
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = part * part / count + rest * rest / (sizes - count)
        considered &= (count >= leaf) & (sizes - count >= leaf) & (gain > most + tie)
        most, threshold = np.where(considered, gain, most), np.where(considered, at, threshold)
        best = np.where(considered, j, best)
    return best, threshold


def random_split(
    x: FloatArray, j: int, of_node: IntArray, starts: IntArray, keys: AnyArray, share: float
) -> tuple[BoolArray, FloatArray, BoolArray]:
    """Draw a threshold of feature j for each node, whose rows have the values x, node by node.

    Returns which rows go left, the thresholds, and for which nodes the feature is considered.
    """
    drawn = hashed(keys ^ np.uint64((j + 3) * 0xD1B54A32D192ED03 % 2**64))
    considered: BoolArray = (
        uniform_of(hashed(drawn)) < share if share < 1 else np.ones(len(starts), dtype=bool)
    )
    low, high = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    at = low + uniform_of(drawn) * (high - low)
    at = np.where(at < high, at, low)
    return x <= at[of_node], at, considered & (high - low > SAME)


def hashed(z: AnyArray) -> AnyArray:
    """Return the hash of each 64-bit number (splitmix64)."""
    with np.errstate(over="ignore"):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform_of(z: AnyArray) -> FloatArray:
    """Return numbers in [0, 1) from 64-bit ones."""
    uniform: FloatArray = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return uniform
