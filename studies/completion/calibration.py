"""Whether stated uncertainties hold: intervals, variances and errors on the development tables.

``python -m studies.completion.calibration`` hides known cells of the twenty-seven tables, completes them with
`GaussianCompleter` and `TreeCompleter`, and writes docs/results/calibration.md. See `PROTOCOL` there.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete import GaussianCompleter, TreeCompleter
from cellworth.complete.gaussian.margins import has_atom
from cellworth.progress import ProgressLine
from studies.money.development_tables import NAMES, half_of, table_of

LEVEL = 0.9
SHARES = (0.6, 0.3)
ROWS = 400
MOST_COLUMNS = 60  # of a table on which trees are grown
FIRST_SEED = 100
LARGEST = 10
LEAST_KNOWN, LEAST_HIDDEN = 100, 100  # of a column, or of the cells of a kind, to be judged
BANDS = {
    "covered": (0.87, 0.93),
    "least column": (0.82, 1.0),
    "least quarter": (0.82, 1.0),
    "error over variance": (0.8, 1.3),
    "over means": (0.0, 1.01),
}
METHODS: dict[str, Any] = {
    "Gaussian": lambda: GaussianCompleter(label_trust=0.0),
    "Trees": lambda: TreeCompleter(label_trust=0.0),
}
PROTOCOL = """\
At most {rows} rows of each table, drawn by the seed, encoded as numbers; columns with one value are left
out. Of the known cells 60 % or 30 % are kept, drawn by the seed, and columns with fewer than five kept
cells are left out. Figures are means over {seeds} seed(s), from {first} on. The two halves are those of the
money study. The leverage of each row, the limits of predictions and where intervals of values that many
cells share end were set on the tuning half alone, on rows and holes drawn by seeds 0 to 2; bins, priors and
the list of shrinkages are older, and were set while looking at both halves. Rows and holes are
drawn by other seeds, but this page was looked at again while the calibration was changed. Trees are
grown on tables of at most {columns} numeric columns.

Aims. Intervals of 90 % cover 87 to 93 % of the hidden cells. Where many cells of a column share a value (0
and 1, zeros, a few whole numbers), no interval that ends at values can cover exactly 90 %: *covered* is
over columns without such values, and *with atoms*, over the others, should be at least 87 %. Every column
with 100 known and 100 hidden cells is covered at 82 % or more, and so is every quarter of the hidden cells
by width and by distance of the prediction from the column's mean. The squared error over `variance_`,
summed in units of the columns' variances, is between 0.8 and 1.3. The root mean squared error is at most
1.01 times that of column means, in the same units."""


class Measured(NamedTuple):
    """The figures of one method on one table at one share and seed; NaN if there are too few cells."""

    table: str
    share: float
    method: str
    seed: int
    covered: float
    with_atoms: float
    least_column: float
    least_quarter: float
    error_over_variance: float
    over_means: float
    error: float
    seconds: float


def hidden_case(name: str, share: float, seed: int, rows: int = ROWS) -> tuple[FloatArray, FloatArray]:
    """Return the rows of a table, and the same with the hidden cells as holes; see `PROTOCOL`."""
    X = np.asarray(table_of(name).encode().X, dtype=np.float64)
    rng = np.random.default_rng(seed)
    X = X[rng.permutation(len(X))[:rows]]
    holed = np.where(rng.random(X.shape) < share, X, np.nan)
    usable = (~np.isnan(holed)).sum(axis=0) >= 5
    usable[usable] &= np.nanstd(holed[:, usable], axis=0) > 0
    return X[:, usable], holed[:, usable]


def measure(completer: Any, truth: FloatArray, holed: FloatArray) -> tuple[float, ...]:
    """Return the figures of a completer fitted to the holed table, from `covered` to `error`."""
    hidden = np.isnan(holed) & ~np.isnan(truth)
    lower, upper = completer.predict_interval(LEVEL)
    inside = (lower <= truth) & (truth <= upper)
    width, means = np.nanstd(holed, axis=0), np.nanmean(holed, axis=0)
    squares = ((completer.completed_ - truth) / width) ** 2
    of_means = ((means - truth) / width) ** 2
    known = (~np.isnan(holed)).sum(axis=0)
    columns = [
        inside[at, j].mean()
        for j, at in enumerate(hidden.T)
        if known[j] >= LEAST_KNOWN and at.sum() >= LEAST_HIDDEN
    ]
    quarters = (
        covered
        for size in ((upper - lower) / width, np.abs(completer.completed_ - means) / width)
        for covered in _quarters(inside[hidden], size[hidden])
    )
    atoms = np.array([has_atom(np.unique(c[~np.isnan(c)], return_counts=True)[1]) for c in holed.T])
    return (
        _share(inside[hidden & ~atoms]),
        _share(inside[hidden & atoms]),
        min(columns, default=float("nan")),
        min(quarters),
        float(squares[hidden].sum() / (completer.variance_ / width**2)[hidden].sum()),
        float(np.sqrt(squares[hidden].sum() / of_means[hidden].sum())),
        float(np.sqrt(squares[hidden].mean())),
    )


def without_largest(name: str, share: float, rows: int = ROWS) -> str:
    """Return a line: the Gaussian's error over variance with and without the `LARGEST` errors of a case."""
    truth, holed = hidden_case(name, share, FIRST_SEED, rows)
    completer = METHODS["Gaussian"]().fit(holed)
    hidden = np.isnan(holed) & ~np.isnan(truth)
    squares = ((completer.completed_ - truth) / np.nanstd(holed, axis=0))[hidden] ** 2
    variances = (completer.variance_ / np.nanvar(holed, axis=0))[hidden]
    beyond = ((truth > np.nanmax(holed, axis=0)) | (truth < np.nanmin(holed, axis=0)))[hidden]
    order = np.argsort(-squares)
    top, rest = order[:LARGEST], order[LARGEST:]
    whole, others = (squares[at].sum() / variances[at].sum() for at in (order, rest))
    return (
        f"{name} at {share:.0%}: {whole:.2f}; without the {LARGEST} largest of {len(squares)} errors "
        f"{others:.2f}, {beyond[top].sum()} of which are in cells beyond all known ones of their column (the "
        f"largest is {np.sqrt(squares[top[0]]):.0f} standard deviations)"
    )


def _share(inside: BoolArray) -> float:
    return float(inside.mean()) if inside.size >= LEAST_HIDDEN else float("nan")


def _quarters(inside: BoolArray, size: FloatArray) -> Iterator[float]:
    """Yield the share inside of each quarter of the cells by size."""
    order = np.argsort(size, kind="stable")
    yield from (float(inside[part].mean()) for part in np.array_split(order, 4) if len(part))


def run(names: Sequence[str], seeds: int, rows: int, methods: Sequence[str]) -> list[Measured]:
    """Return the figures of all cases."""
    line = ProgressLine("calibrating", len(names) * len(SHARES) * seeds)
    found: list[Measured] = []
    with worker_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, name in enumerate(names):
            for share in SHARES:
                for seed in range(FIRST_SEED, FIRST_SEED + seeds):
                    truth, holed = hidden_case(name, share, seed, rows)
                    for method in methods:
                        if method == "Trees" and holed.shape[1] > MOST_COLUMNS:
                            continue
                        begun = time.process_time()
                        completer = METHODS[method]().fit(holed)
                        seconds = time.process_time() - begun
                        figures = measure(completer, truth, holed)
                        found.append(Measured._make((name, share, method, seed, *figures, seconds)))
            line.show((k + 1) * len(SHARES) * seeds)
    return found


def summarised(found: Sequence[Measured]) -> dict[tuple[str, float, str], Measured]:
    """Return means over seeds, by table, share and method."""
    groups: dict[tuple[str, float, str], list[Measured]] = {}
    for one in found:
        groups.setdefault(one[:3], []).append(one)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a figure that no seed has is NaN
        return {
            key: Measured._make([*key, len(group), *np.nanmean([one[4:] for one in group], axis=0).tolist()])
            for key, group in groups.items()
        }


def page(found: Sequence[Measured], command: str, rows: int) -> str:
    """Return the page: protocol, how many cases meet each aim, and all figures."""
    means = summarised(found)
    seeds = len({one.seed for one in found})
    parts = ["# Do stated uncertainties hold?\n", f"Written by `{command}`.\n"]
    parts.append(PROTOCOL.format(rows=rows, seeds=seeds, first=FIRST_SEED, columns=MOST_COLUMNS) + "\n")
    parts.append("## How many cases meet each aim\n")
    header = "| method | half | cases | " + " | ".join(BANDS) + " | all |"
    parts.append("\n".join([header, "|" + "---|" * (len(BANDS) + 4), *_counts(means)]) + "\n")
    for method in dict.fromkeys(one.method for one in found):
        parts.append(f"## {method}\n\nFigures outside an aim are bold.\n")
        parts.append("\n".join(_table([one for one in means.values() if one.method == method])) + "\n")
    if {"Gaussian", "Trees"} <= {one.method for one in found}:
        parts.append("\n".join(["## Trees beside the Gaussian\n", *_ratios(means)]) + "\n")
    return "\n".join(parts)


def _meets(one: Measured, aim: str) -> bool:
    low, high = BANDS[aim]
    value = getattr(one, aim.replace(" ", "_"))
    fine = bool(np.isnan(value) or low <= value <= high)
    return fine and (aim != "covered" or not one.with_atoms < low)


def _counts(means: dict[tuple[str, float, str], Measured]) -> Iterator[str]:
    for method in dict.fromkeys(key[2] for key in means):
        for half in ("tuning", "report"):
            cases = [one for one in means.values() if one.method == method and half_of(one.table) == half]
            if cases:
                numbers = [sum(_meets(one, aim) for one in cases) for aim in BANDS]
                whole = sum(all(_meets(one, aim) for aim in BANDS) for one in cases)
                yield f"| {method} | {half} | {len(cases)} | {' | '.join(map(str, [*numbers, whole]))} |"


def _table(cases: Sequence[Measured]) -> Iterator[str]:
    yield "| table | half | observed | covered | with atoms | " + " | ".join([*BANDS][1:]) + " | CPU s |"
    yield "|" + "---|" * (len(BANDS) + 5)
    for one in cases:
        words = [one.table, half_of(one.table), f"{one.share:.0%}"]
        for value, aim in ((one.covered, "covered"), (one.with_atoms, "")):
            low, high = BANDS["covered"]
            fine = np.isnan(value) or low <= value <= (high if aim else 1.0)
            words.append(_shown(value, bool(fine)))
        words += [_shown(getattr(one, aim.replace(" ", "_")), _meets(one, aim)) for aim in [*BANDS][1:]]
        yield "| " + " | ".join([*words, f"{one.seconds:.2f}"]) + " |"


def _shown(value: float, fine: bool) -> str:
    text = "-" if np.isnan(value) else f"{value:.3f}"
    return text if fine else f"**{text}**"


def _ratios(means: dict[tuple[str, float, str], Measured]) -> Iterator[str]:
    yield "Root mean squared error of `TreeCompleter` over that of `GaussianCompleter`.\n"
    yield "| table | " + " | ".join(f"{share:.0%}" for share in SHARES) + " |"
    yield "|" + "---|" * (len(SHARES) + 1)
    for name in dict.fromkeys(key[0] for key in means if key[2] == "Trees"):
        ratios = (means[name, s, "Trees"].error / means[name, s, "Gaussian"].error for s in SHARES)
        yield f"| {name} | " + " | ".join(f"{ratio:.3f}" for ratio in ratios) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.completion.calibration", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="draws of each table (1)")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"of each table, at most ({ROWS})")
    parser.add_argument("--tables", nargs="+", default=list(NAMES), choices=NAMES, metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder (docs/results)")
    parser.add_argument("--largest", nargs="+", metavar="NAME", help="only tell what the largest errors do")
    options = parser.parse_args(arguments)
    if options.largest:
        for name in options.largest:
            print("\n".join(without_largest(name, share, options.rows) for share in SHARES))
        return
    found = run(options.tables, options.seeds, options.rows, options.methods)
    words = ["python -m studies.completion.calibration", f"--seeds {options.seeds} --rows {options.rows}"]
    if options.tables != list(NAMES):
        words.append("--tables " + " ".join(options.tables))
    if options.methods != list(METHODS):
        words.append("--methods " + " ".join(options.methods))
    options.out.mkdir(parents=True, exist_ok=True)
    text = page(found, " ".join(words), options.rows)
    (options.out / "calibration.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
