"""Tables for the tests of strategies."""

import numpy as np

from cellworth import Table

NAMED = (
    "afasmc",
    "afasmc-window4",
    "afasmc-ratio",
    "afasmc-poss",
    "afasmc-knapsack",
    "qbc",
    "stability",
    "em-inference",
    "random",
    "posterior",
    "posterior-impact",
    "recommended",
)


def small_table(seed=0, n=60, kind="two classes"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5))
    score = X[:, 0] + 0.3 * rng.normal(size=n)
    y = {
        "two classes": score > 0,
        "several classes": np.digitize(score, [-0.5, 0.5]),
        "number": score,
    }[kind]
    X[rng.random(X.shape) < 0.4] = np.nan
    X[0] = [1.0, 2.0, 3.0, 4.0, 5.0]
    return Table.from_arrays(X, y, columns=list("abcde"), row_ids=[f"r{i}" for i in range(n)])
