"""Small tables with a known truth, and models of them, shared by the tests of policies."""

import numpy as np

from cellworth import CompletingClassifier, CompletingRegressor, Table


def ill_or_well(n=300, seed=0, columns=("scan", "blood", "shoe")):
    """Return a table with holes in which the first column tells most, the second some, the rest nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(columns)))
    y = np.where(2 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n) > 0, "ill", "well")
    X[rng.random(X.shape) < 0.3] = np.nan
    return Table.from_arrays(X, y, columns=columns)


def linear(table):
    """Return a linear model of a table."""
    number = table.target.kind == "number"
    kind, name = (
        (CompletingRegressor, "ridge regression") if number else (CompletingClassifier, "logistic regression")
    )
    return kind(model=name, folds=2).fit(table)


def mixed(n=300, seed=0, target="number"):
    """Return a table with a number, a boolean and a category, and a number or three classes to predict."""
    rng = np.random.default_rng(seed)
    size, smokes, hue = rng.normal(size=n), rng.random(n) < 0.4, rng.integers(3, size=n)
    score = size + 2 * smokes + np.array([0.0, 1.0, 3.0])[hue] + 0.2 * rng.normal(size=n)
    y = score if target == "number" else np.array(["low", "mid", "high"])[np.digitize(score, [1.0, 3.0])]
    X = np.empty((n, 3), dtype=object)
    X[:, 0], X[:, 1], X[:, 2] = size, smokes, np.array(["red", "green", "blue"])[hue]
    X[rng.random(X.shape) < 0.3] = None
    return Table.from_arrays(X, y, columns=["size", "smokes", "hue"])
