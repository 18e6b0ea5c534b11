"""The entries of all tables: our mean and deviation, the paper's, and which are the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cellworth.paper.completion.table1 import METHODS, TABLE_1
from cellworth.paper.reproduce import curves as curves_experiment
from cellworth.paper.reproduce import prices, windows
from cellworth.paper.reproduce.experiment import Row
from cellworth.paper.reproduce.published import SHARES, TABLE_2
from cellworth.paper.reproduce.samples import (
    Metric,
    Samples,
    at_share,
    best,
    curves_of,
    grouped,
    mean_and_sd,
    negated,
    reached,
)


class Entry(NamedTuple):
    """One figure of one table.

    Attributes
    ----------
    dataset, method : str
    share : float
        Observed (Table 1), bought (Table 2, Figures 1 and 3) or of the money (Figure 2).
    mean, sd : float
        Over the seeds.
    paper, paper_sd : float or None
    best : bool
        Of the paper's methods, the best or not significantly worse.
    best_of_all : bool
        The same among all methods, ours included.
    """

    dataset: str
    share: float
    method: str
    mean: float
    sd: float
    paper: float | None
    paper_sd: float | None
    best: bool
    best_of_all: bool

    @property
    def off(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None else self.mean - self.paper


Pair = tuple[float | None, float | None]


def table_1(rows: Sequence[Row], metric: Metric) -> list[Entry]:
    """Return the entries of one half of Table 1: reconstruction errors, or accuracies as shares."""
    out = []
    for (dataset, share), samples in grouped(rows, metric).items():
        figures = {method: TABLE_1[dataset, share, method] for method in METHODS}
        published: dict[str, Pair] = {
            method: (figure.error, figure.error_sd)
            if metric == "reconstruction_error"
            else (figure.accuracy, figure.accuracy_sd)
            for method, figure in figures.items()
        }
        high_is_good = negated(samples) if metric == "reconstruction_error" else samples
        out += _entries(dataset, share, samples, high_is_good, METHODS, published)
    return out


def table_2(rows: Sequence[Row]) -> list[Entry]:
    """Return the entries of Table 2; EM Inference, which it lacks, is shown and does not count as its own."""
    return _bought(rows, "auc", curves_experiment.PAPER[:4], SHARES, with_paper=True)


def figure_1(rows: Sequence[Row]) -> list[Entry]:
    """Return the accuracies of Figure 1 at the shares of Table 2."""
    return _bought(rows, "accuracy", curves_experiment.PAPER, SHARES)


def figure_2(rows: Sequence[Row]) -> list[Entry]:
    """Return the accuracies of Figure 2 at shares of the money."""
    return _bought(rows, "accuracy", prices.PAPER, prices.MONEY_SHARES, unit="money")


def figure_3(rows: Sequence[Row]) -> list[Entry]:
    """Return the accuracies of Figure 3 at shares of the missing cells."""
    return _bought(rows, "accuracy", windows.PAPER, windows.CELL_SHARES)


def _bought(
    rows: Sequence[Row],
    metric: Metric,
    of_paper: Sequence[str],
    shares: Sequence[float],
    *,
    unit: str = "cells",
    with_paper: bool = False,
) -> list[Entry]:
    curves = curves_of(rows, metric, "money" if unit == "money" else "cells")
    out = []
    for dataset in dict.fromkeys(key[0] for key in curves):
        of_dataset = {method: by_seed for (name, method), by_seed in curves.items() if name == dataset}
        for share in shares:
            # A strategy that never spends so much has no entry: no curve is drawn out.
            samples = {m: at_share(c, share) for m, c in of_dataset.items() if reached([share], c)}
            published = {m: TABLE_2[dataset, m, share][:2] for m in (of_paper if with_paper else ())}
            out += _entries(dataset, share, samples, samples, of_paper, published)
    return out


def _entries(
    dataset: str,
    share: float,
    samples: Mapping[str, Samples],
    high_is_good: Mapping[str, Samples],
    of_paper: Sequence[str],
    published: Mapping[str, Pair],
) -> list[Entry]:
    bold = best({method: high_is_good[method] for method in of_paper if method in high_is_good})
    bold_of_all = best(high_is_good)
    out = []
    for method, values in samples.items():
        (mean, sd), (paper, paper_sd) = mean_and_sd(values), published.get(method, (None, None))
        out.append(
            Entry(dataset, share, method, mean, sd, paper, paper_sd, method in bold, method in bold_of_all)
        )
    return out
