"""What methods are called in tables and pictures, and which of them are ours."""

from __future__ import annotations

from cellworth.paper.completion.table1 import WITHOUT_NOISE
from cellworth.paper.protocol import WINDOWS

LABELS = {
    "Supervised": "AFASMC",
    "afasmc": "AFASMC",
    "afasmc-window4": "AFASMC, m = 4",
    "qbc": "QBC",
    "stability": "Stability",
    "em-inference": "EM Inference",
    "random": "Random",
    "afasmc-ratio": "AFASMC+Cost1 (ratio)",
    "afasmc-poss": "AFASMC+Cost2 (POSS)",
    "afasmc-knapsack": "AFASMC+knapsack",
    "all completions": "m = all (AFASMC)",
} | {f"last {m}": f"m = {m}" for m in WINDOWS if m is not None}
"""Labels that differ from the names; strategies that only we have keep their names."""

OURS = (
    "SoftImpute",
    "Gaussian",
    "Auto",
    "afasmc-knapsack",
    "recommended",
    "random-gaussian",
    "posterior-impact",
    "posterior",
)
"""Methods that the paper does not have."""

STRATEGIES_OF_OURS = ("recommended", "random-gaussian", "posterior-impact")
"""Our strategies in every experiment on buying."""


def label(method: str) -> str:
    """Return what a method is called, with a mark if it is ours."""
    text = LABELS.get(method, method)
    return f"{text} (ours)" if method in OURS else text


_DATASETS = {"HillValley": "HillValley (with noise)", WITHOUT_NOISE: "HillValley (without noise)"}


def dataset_label(dataset: str) -> str:
    """Return what a data set is called; HillValley with its version."""
    return _DATASETS.get(dataset, dataset)
