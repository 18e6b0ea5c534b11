"""How much of the worth goes to columns that have nothing to do with the label, on made-up tables."""

from __future__ import annotations

import numpy as np

from cellworth.complete import GaussianCompleter
from cellworth.score import Round
from cellworth.score.column_effects import column_effects, effects_beyond_chance, fit_with_chance
from cellworth.score.effective_rows import shared_gains

USEFUL, USELESS = 3, 10
NOISE, DOUBT = 0.1, 0.1
SEEDS = range(4)


def main() -> None:
    """Print the share of the worth in useless columns, with effects as they are and beyond chance."""
    print("label     rows  known  effects as they are  beyond chance")
    for kind in ("linear", "absolute"):
        for n in (150, 500, 2000):
            for known in (0.2, 0.5):
                before, after = np.mean([shares(kind, n, known, seed) for seed in SEEDS], axis=0)
                print(f"{kind:8} {n:5d} {100 * known:5.0f}% {100 * before:20.0f}% {100 * after:13.0f}%")


def shares(kind: str, n: int, known: float, seed: int) -> tuple[float, float]:
    """Return both shares for one made-up table."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, USEFUL + USELESS))
    columns = X[:, :USEFUL]
    sums = (columns if kind == "linear" else np.abs(columns)).sum(axis=1)
    y = (sums + 0.5 * rng.normal(size=n) > np.median(sums)).astype(float)
    X[rng.random(X.shape) > known] = np.nan
    completer = GaussianCompleter(margins="normal", label_trust=0.0, shrinkage=3.0, calibrate=False).fit(X)
    this_round = Round(X, y, "classes", completer, rng)
    unexplained = completer.variance_ * this_round.holes / this_round.column_variances
    models = fit_with_chance("extra trees", completer, X, y, is_number=False, seed=seed)
    given = np.asarray(completer.sample(2, seed), dtype=np.float64), this_round.holes, unexplained
    found = []
    for effects in (column_effects(models[0], *given), effects_beyond_chance(models, *given)):
        doubted = (1 - DOUBT) * effects + DOUBT * effects.mean()
        gains = shared_gains(unexplained * doubted, NOISE * 2 * y.var())
        found.append(float(gains[:, USEFUL:].sum() / gains.sum()))
    return found[0], found[1]


if __name__ == "__main__":
    main()
