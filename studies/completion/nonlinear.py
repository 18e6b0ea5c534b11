"""Completers for curves and clusters side by side, and the probabilities of categories.

``python -m studies.completion.nonlinear`` hides known cells of development tables, completes them with the
Gaussian, with `TreeCompleter`, with a chain of forests like missForest and with a mixture of Gaussians, and
writes docs/results/nonlinear.md. See `PROTOCOL` there.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from cellworth.arrays import Float64Array, FloatArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete import GaussianCompleter, TreeCompleter, fill
from cellworth.progress import ProgressLine
from cellworth.table import Table
from studies.completion.calibration import hidden_case
from studies.completion.mixture import fill_by_mixture
from studies.money.development_tables import half_of, table_of

SHARES = (0.6, 0.3)
TABLES = ("letter", "image", "HTRU2", "phoneme", "airfoil", "vehicle", "abalone", "winequality_white")
CATEGORICAL = ("splice", "car")
CATEGORY_SHARE = 0.7
LEVEL = 0.9
ROWS, SEED, SEEDS = 1000, 101, 3
ROUNDS, N_TREES = 5, 60
PROTOCOL = """\
At most {rows} rows of each table, drawn by the seed, encoded as numbers; 60 % or 30 % of the known cells
are kept, drawn by the seed. The figure is the mean over columns of the root mean squared error on the hidden
cells, in standard deviations of the column's kept cells, averaged over {seeds} seed(s), from {seed} on.

- *Gaussian* and *trees*: `GaussianCompleter(label_trust=0)` and `TreeCompleter(label_trust=0)`, as they come.
  The rounds, leaves and trees of the latter were chosen while looking at these tables, with rows and holes
  drawn by seed 100.
- *Chain*: a forest of {trees} extra trees for each column on all others, from column means, {rounds} rounds,
  as in missForest (scikit-learn's `IterativeImputer`).
- *Mixture*: a mixture of 2, 4 or 8 Gaussians, fitted by EM to the observed cells from k-means on the
  Gaussian's completion, each covariance shrunk towards the common one by twice as many rows as there are
  columns; their number is the one that fills a hidden tenth of the observed cells best
  (`studies/completion/mixture.py`).

CPU seconds are those of the process, on a machine shared with other work: compare them within a row.

Aims: trees are at most 1.01 times the Gaussian on every table; on curved ones within 1.03 times the chain at
60 % and below it at 30 %; at most a fifth of the chain's CPU."""


class Filled(NamedTuple):
    """The error of one method in one case, in standard deviations, and its CPU seconds."""

    table: str
    share: float
    method: str
    error: float
    seconds: float


def _chain(holed: FloatArray) -> FloatArray:
    forest = ExtraTreesRegressor(n_estimators=N_TREES, random_state=0)
    filled: FloatArray = IterativeImputer(forest, max_iter=ROUNDS, random_state=0).fit_transform(holed)
    return filled


METHODS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "Gaussian": lambda holed: GaussianCompleter(label_trust=0.0).fit_transform(holed),
    "Trees": lambda holed: TreeCompleter(label_trust=0.0).fit_transform(holed),
    "Chain": _chain,
    "Mixture": fill_by_mixture,
}


def run(tables: Sequence[str], rows: int, methods: Sequence[str], seeds: int) -> list[Filled]:
    """Return the errors of all cases, and CPU seconds, both averaged over the seeds."""
    line, found = ProgressLine("completing", len(tables) * len(SHARES)), []
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, name in enumerate(tables):
            for share in SHARES:
                draws = [hidden_case(name, share, SEED + seed, rows)[:2] for seed in range(seeds)]
                for method in methods:
                    begun = time.process_time()
                    filled = [METHODS[method](holed) for _, holed in draws]
                    seconds = (time.process_time() - begun) / seeds
                    error = np.mean([column_error(f, *draw) for f, draw in zip(filled, draws, strict=True)])
                    found.append(Filled(name, share, method, float(error), seconds))
            line.show((k + 1) * len(SHARES))
    return found


def column_error(filled: FloatArray, truth: FloatArray, holed: FloatArray) -> float:
    """Return the mean over columns of the root mean squared error on hidden cells; see `PROTOCOL`."""
    hidden = np.isnan(holed) & ~np.isnan(truth)
    squares = np.where(hidden, ((filled - truth) / np.nanstd(holed, axis=0)) ** 2, 0.0)
    counts = hidden.sum(axis=0)
    return float(np.sqrt(squares.sum(axis=0)[counts > 0] / counts[counts > 0]).mean())


class OfCategories(NamedTuple):
    """How well categories are guessed: share of wrong likeliest ones, log-loss, and sets of `LEVEL`."""

    table: str
    wrong: float
    wrong_by_share: float
    log_loss: float
    log_loss_of_shares: float
    covered: float
    size: float


def judge_categories(name: str, rows: int) -> OfCategories:
    """Fill a table with hidden categories, and judge the probabilities of its columns."""
    whole = table_of(name)
    rng = np.random.default_rng(SEED)
    at = np.sort(rng.permutation(len(whole.values))[:rows])
    values = whole.values[at].copy()
    hidden = rng.random(values.shape) >= CATEGORY_SHARE
    names = tuple(map(str, range(len(values))))
    holed = Table(whole.columns, np.where(hidden, np.nan, values), names)
    filled = fill(holed)
    figures = []
    for j, column in enumerate(whole.columns):
        if column.kind in ("category", "boolean"):
            chosen = hidden[:, j] & ~np.isnan(values[:, j])
            probabilities = filled.probabilities(column.name)[chosen]
            codes = values[chosen, j].astype(int)
            shares = np.bincount(values[~hidden[:, j], j].astype(int), minlength=probabilities.shape[1])
            figures.append((*judge(probabilities, codes), *judge(_everywhere(shares, len(codes)), codes)))
    wrong, loss, covered, size, of_shares, loss_of_shares, *_ = np.mean(figures, axis=0).tolist()
    return OfCategories(name, wrong, of_shares, loss, loss_of_shares, covered, size)


def _everywhere(shares: Any, n: int) -> Float64Array:
    smoothed = (shares + 1 / len(shares)) / (shares.sum() + 1)
    return np.tile(smoothed, (n, 1))


def judge(probabilities: Float64Array, codes: Any) -> tuple[float, float, float, float]:
    """Return the share of wrong guesses, the log-loss, and the coverage and mean size of likeliest sets.

    The set of a row has the likeliest categories, as few as reach `LEVEL` together.
    """
    own = probabilities[np.arange(len(codes)), codes]
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sorted_ = np.take_along_axis(probabilities, order, axis=1)
    before = np.cumsum(sorted_, axis=1) - sorted_
    taken = np.zeros(probabilities.shape, dtype=bool)
    np.put_along_axis(taken, order, before < LEVEL - 1e-9, axis=1)
    inside = taken[np.arange(len(codes)), codes]
    wrong = probabilities.argmax(axis=1) != codes
    loss = -np.log(np.maximum(own, np.finfo(float).tiny))
    return float(wrong.mean()), float(loss.mean()), float(inside.mean()), float(taken.sum(axis=1).mean())


def page(
    found: Sequence[Filled], categories: Sequence[OfCategories], command: str, rows: int, seeds: int
) -> str:
    """Return the page."""
    protocol = PROTOCOL.format(rows=rows, seed=SEED, seeds=seeds, trees=N_TREES, rounds=ROUNDS)
    parts = ["# Curves, clusters and categories\n", f"Written by `{command}`.\n", protocol + "\n"]
    parts += ["## Errors\n", *_errors(found), "", "## Aims\n", *_aims(found), ""]
    if categories:
        parts += ["## Categories\n", *_categories(categories, rows), ""]
    return "\n".join(parts)


def _errors(found: Sequence[Filled]) -> Iterator[str]:
    by_case = _by_case(found)
    methods = list(dict.fromkeys(one.method for one in found))
    yield "The least of each row is bold.\n"
    yield "| table | half | observed | " + " | ".join(methods) + " | CPU s of each |"
    yield "|" + "---|" * (len(methods) + 4)
    for (name, share), of in by_case.items():
        least = min(one.error for one in of.values())
        shown = (f"**{o.error:.3f}**" if o.error == least else f"{o.error:.3f}" for o in of.values())
        seconds = " / ".join(f"{one.seconds:.1f}" for one in of.values())
        yield f"| {name} | {half_of(name)} | {share:.0%} | {' | '.join(shown)} | {seconds} |"


def _aims(found: Sequence[Filled]) -> Iterator[str]:
    """Yield a line for each aim; a table is curved if the chain is ahead of the Gaussian at 60 %."""
    by_case = _by_case(found)
    if not {"Gaussian", "Trees", "Chain"} <= {one.method for one in found}:
        return
    ratios = {case: of["Trees"].error / of["Gaussian"].error for case, of in by_case.items()}
    curved = {
        n for (n, s), of in by_case.items() if s == SHARES[0] and of["Chain"].error < of["Gaussian"].error
    }
    most, mean = max(ratios.values()), _mean(ratios)
    yield f"- Trees over the Gaussian: at most {most:.3f} (aim 1.01), mean {mean:.3f}."
    for share, aim in zip(SHARES, (1.03, 1.0), strict=True):
        over = {n: of["Trees"].error / of["Chain"].error for (n, s), of in by_case.items() if s == share}
        over = {name: ratio for name, ratio in over.items() if name in curved}
        beyond = [f"{name} {ratio:.3f}" for name, ratio in over.items() if ratio > aim]
        named = f"; beyond: {', '.join(beyond)}" if beyond else ""
        yield (
            f"- Trees over the chain at {share:.0%}, on the {len(over)} curved tables (where the chain is "
            f"ahead of the Gaussian at 60 %): mean {_mean(over):.3f}, at most {aim:g} on "
            f"{len(over) - len(beyond)}{named}."
        )
    cpu = {case: of["Trees"].seconds / of["Chain"].seconds for case, of in by_case.items()}
    least, most = min(cpu.values()), max(cpu.values())
    yield f"- Trees' CPU over the chain's: mean {_mean(cpu):.2f}, from {least:.2f} to {most:.2f} (aim 0.2)."
    if "Mixture" in {one.method for one in found}:
        rival = {case: of["Trees"].error / of["Mixture"].error for case, of in by_case.items()}
        ahead = sum(ratio < 1 for ratio in rival.values())
        mean = _mean(rival)
        yield f"- Trees over the mixture: mean {mean:.3f}; trees are ahead in {ahead} of {len(rival)} cases."


def _categories(categories: Sequence[OfCategories], rows: int) -> Iterator[str]:
    yield (
        f"At most {rows} rows, {CATEGORY_SHARE:.0%} of the cells kept; `fill(table).probabilities(column)` "
        "in the hidden cells, mean over the columns, beside the shares of the categories among the known "
        "cells. The "
        f"likeliest set has as few categories as reach {LEVEL:.0%} together.\n"
    )
    names = ("wrong", "wrong by shares", "log-loss", "log-loss of shares", "truth in the likeliest set")
    yield f"| table | {' | '.join(names)} | its size |"
    yield "|" + "---|" * 7
    for one in categories:
        yield f"| {one.table} | " + " | ".join(f"{value:.3f}" for value in one[1:]) + " |"


def _by_case(found: Sequence[Filled]) -> dict[tuple[str, float], dict[str, Filled]]:
    cases: dict[tuple[str, float], dict[str, Filled]] = {}
    for one in found:
        cases.setdefault((one.table, one.share), {})[one.method] = one
    return cases


def _mean(values: dict[Any, float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(list(values.values()))))) if values else float("nan")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.completion.nonlinear", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"of each table, at most ({ROWS})")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"draws of each table ({SEEDS})")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder (docs/results)")
    options = parser.parse_args(arguments)
    found = run(options.tables, options.rows, options.methods, options.seeds)
    categories = [judge_categories(name, options.rows) for name in CATEGORICAL]
    words = ["python -m studies.completion.nonlinear", f"--rows {options.rows} --seeds {options.seeds}"]
    if options.tables != list(TABLES):
        words.append("--tables " + " ".join(options.tables))
    options.out.mkdir(parents=True, exist_ok=True)
    text = page(found, categories, " ".join(words), options.rows, options.seeds)
    (options.out / "nonlinear.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
