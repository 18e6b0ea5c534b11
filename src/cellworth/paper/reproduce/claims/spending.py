"""The claims on prices (Figure 2) and on the window of the variance (Figure 3)."""

from __future__ import annotations

from collections.abc import Sequence

from cellworth.paper.reproduce.claims.verdict import Case, Claim, points
from cellworth.paper.reproduce.experiment import Row
from cellworth.paper.reproduce.names import label
from cellworth.paper.reproduce.prices import DATASET, MONEY_SHARES
from cellworth.paper.reproduce.samples import (
    Curves,
    at_share,
    common_end,
    curves_of,
    difference,
    mean_height,
    reached,
)


def claims_on_figure_2(rows: Sequence[Row]) -> list[Claim]:
    """Return the claims on selection with prices."""
    curves = curves_of(rows, "accuracy", "money")
    measured = (
        "accuracy for the same money, minus that of the other, at those of 5, 10, 20, 30 and 40 % of all "
        "money that both spend"
    )
    return [
        Claim(
            "Figure 2",
            "both cost-aware selectors beat ignoring costs",
            measured,
            _cases(curves, [("afasmc-ratio", "afasmc"), ("afasmc-poss", "afasmc")]),
            "always",
        ),
        Claim(
            "Figure 2",
            "the bi-objective selector (POSS) beats dividing by cost",
            measured,
            _cases(curves, [("afasmc-poss", "afasmc-ratio")]),
            "always",
        ),
        Claim(
            "Figure 2",
            "our exact knapsack beats the bi-objective search",
            measured,
            _cases(curves, [("afasmc-knapsack", "afasmc-poss")]),
            "always",
            ours=True,
        ),
        Claim(
            "Figure 2",
            "our recommended strategy beats the paper's two cost-aware ones",
            measured,
            _cases(curves, [("recommended", "afasmc-ratio"), ("recommended", "afasmc-poss")]),
            "always",
            ours=True,
        ),
    ]


def _cases(curves: Curves, pairs: Sequence[tuple[str, str]]) -> tuple[Case, ...]:
    cases = []
    for first, second in pairs:
        of_first, of_second = curves[DATASET, first], curves[DATASET, second]
        for share in reached(MONEY_SHARES, of_first, of_second):
            margin = difference(at_share(of_first, share), at_share(of_second, share))
            name = f"{label(first)} against {label(second)} at {share:.0%}"
            cases.append(Case(name, margin, f"{name}: {points(margin)}"))
    return tuple(cases)


def claims_on_figure_3(rows: Sequence[Row]) -> list[Claim]:
    """Return the claim on the number of completions that the variance looks at."""
    curves = curves_of(rows, "accuracy", "cells")
    end = common_end(*curves.values())
    heights = {method: mean_height(by_seed, end) for (_, method), by_seed in curves.items()}
    cases = []
    for other in ("last 2", "last 8", "last 16", "all completions"):
        margin = difference(heights["last 4"], heights[other])
        name = f"m = 4 against {label(other)}"
        cases.append(Case(name, margin, f"{name}: {points(margin, 3)}"))
    return [
        Claim(
            "Figure 3",
            "m = 4 is the best window of the variance",
            f"accuracy, averaged up to {end:.0%} of the missing cells, of m = 4 minus that of the other",
            tuple(cases),
            "always",
        )
    ]
