"""Tables with holes for the tests of models."""

import numpy as np

from cellworth import Table


def holed(n=160, d=4, classes=2, known=0.6, noise=0.5, seed=0):
    """Rows with holes, and labels that a linear model of the complete rows predicts well; 0: a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3)
    signal = X @ np.linspace(1, -0.5, d) + noise * rng.normal(size=n)
    cuts = np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1]) if classes else []
    y = np.digitize(signal, cuts) if classes else signal
    holes = rng.random(X.shape) > known
    holes[:d] = False  # a value in each column
    return np.where(holes, np.nan, X), y, X


def mixed_table(n=120, seed=0, number=False):
    """A table with a number, a category of three texts, a boolean, and some missing labels."""
    rng = np.random.default_rng(seed)
    size, hue, is_old = rng.normal(size=n), rng.integers(0, 3, n), rng.integers(0, 2, n)
    signal = size + (hue == 1) - is_old + 0.3 * rng.normal(size=n)
    cells = [
        [
            None if rng.random() < 0.3 else float(size[i]),
            None if rng.random() < 0.3 else ("blue", "green", "red")[hue[i]],
            None if rng.random() < 0.3 else bool(is_old[i]),
        ]
        for i in range(n)
    ]
    label = [float(s) for s in signal] if number else ["ill" if s > 0.2 else "well" for s in signal]
    labels = [None if i % 11 == 5 else value for i, value in enumerate(label)]
    return Table.from_arrays(cells, labels, columns=["size", "hue", "old"])
