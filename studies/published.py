"""The figures the paper published in Tables 1 and 2, and the names of its methods here."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """Reconstruction error, and test accuracy as a share, each with its standard deviation."""

    error: float
    error_sd: float
    accuracy: float
    accuracy_sd: float


METHODS = ("Supervised", "OptSpace", "LMaFit", "NNLS")
"""Our names for the paper's AFASMC, OptSpace, LmaFit and NNLS, in the order of its columns."""

# Errors, their deviations, accuracies in percent, their deviations: one of each per method.
_TABLE_1 = {
    ("abalone", 0.6): "0.13 0.38 0.14 0.14  0.01 0.01 0.00 0.00  78.5 71.8 78.3 78.4  1.2 0.8 1.3 1.2",
    ("abalone", 0.8): "0.07 0.23 0.09 0.07  0.00 0.01 0.00 0.00  79.7 76.3 79.5 79.5  0.7 1.2 0.6 0.9",
    ("letter", 0.6): "0.18 0.33 0.24 0.23  0.00 0.01 0.00 0.00  98.5 92.1 97.0 94.3  0.6 3.7 1.3 1.0",
    ("letter", 0.8): "0.11 0.29 0.17 0.17  0.00 0.00 0.00 0.01  99.3 94.2 99.1 94.6  0.2 0.8 0.4 1.1",
    ("image", 0.6): "0.25 0.54 0.36 0.56  0.00 0.01 0.05 0.03  79.3 67.1 75.5 70.1  2.0 2.2 2.1 3.5",
    ("image", 0.8): "0.16 0.51 0.18 0.23  0.00 0.00 0.00 0.08  81.0 68.1 79.8 80.5  2.3 1.5 2.5 3.2",
    ("chess", 0.6): "0.43 1.57 0.48 1.28  0.00 0.01 0.00 0.02  94.3 52.1 93.3 53.8  0.9 1.8 0.8 1.7",
    ("chess", 0.8): "0.29 1.63 0.33 1.21  0.00 0.01 0.00 0.01  94.8 52.8 94.7 77.9  0.4 1.9 0.7 3.6",
    ("HillValley", 0.6): "0.04 0.06 0.04 0.03  0.00 0.00 0.00 0.00  51.5 48.7 49.4 50.7  3.2 3.5 3.7 2.8",
    ("HillValley", 0.8): "0.03 0.06 0.03 0.03  0.00 0.00 0.00 0.00  51.1 49.5 50.8 49.7  2.1 3.3 2.3 2.0",
    ("HTRU2", 0.6): "0.29 0.59 0.63 0.29  0.00 0.00 0.00 0.00  97.2 90.8 97.1 97.1  0.2 0.3 0.2 0.2",
    ("HTRU2", 0.8): "0.16 0.39 0.45 0.17  0.00 0.00 0.00 0.00  97.4 94.3 97.3 97.4  0.2 0.2 0.2 0.2",
}


WITHOUT_NOISE = "HillValley-without-noise"
"""The other version of HillValley; the paper does not say which of the two it used."""


def _figures() -> dict[tuple[str, float, str], Figure]:
    out = {}
    for (dataset, share), text in _TABLE_1.items():
        numbers = [float(word) for word in text.split()]
        for j, method in enumerate(METHODS):
            error, error_sd, accuracy, accuracy_sd = numbers[j::4]
            out[dataset, share, method] = Figure(error, error_sd, accuracy / 100, accuracy_sd / 100)
            if dataset == "HillValley":
                out[WITHOUT_NOISE, share, method] = out[dataset, share, method]
    return out


TABLE_1 = _figures()
"""Keyed by (data set, share of observed cells, method); the same for both versions of HillValley."""


SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8)
"""Shares of the initially missing cells that are queried: the columns of Table 2."""


class Area(NamedTuple):
    """An AUC with its standard deviation, and whether the paper sets it in bold."""

    mean: float
    sd: float
    bold: bool


# The areas, starred where the paper has them in bold, then their deviations: one of each per share.
_TABLE_2 = {
    ("abalone", "random"): "0.859 0.859 0.860 0.861 0.861 0.862 0.866 "
    "0.010 0.010 0.010 0.009 0.009 0.009 0.009",
    ("abalone", "qbc"): "0.858 0.858 0.859 0.859 0.861 0.864 0.868* "
    "0.010 0.010 0.009 0.009 0.009 0.009 0.009",
    ("abalone", "stability"): "0.859 0.859 0.859 0.860 0.861 0.862 0.865 "
    "0.010 0.009 0.009 0.009 0.008 0.008 0.009",
    ("abalone", "afasmc"): "0.862* 0.862* 0.863* 0.865* 0.866* 0.867* 0.867* "
    "0.009 0.009 0.009 0.009 0.010 0.010 0.010",
    ("letter", "random"): "0.999 0.999 0.999 1.000 1.000 1.000 1.000* "
    "0.001 0.000 0.000 0.000 0.000 0.000 0.000",
    ("letter", "qbc"): "0.999* 1.000* 1.000* 1.000* 1.000* 1.000* 1.000* "
    "0.000 0.000 0.000 0.000 0.000 0.000 0.000",
    ("letter", "stability"): "0.999 0.999 1.000 1.000* 1.000* 1.000* 1.000* "
    "0.001 0.001 0.000 0.000 0.000 0.000 0.000",
    ("letter", "afasmc"): "1.000* 1.000* 1.000* 1.000* 1.000* 1.000* 1.000* "
    "0.000 0.000 0.000 0.000 0.000 0.000 0.000",
    ("image", "random"): "0.806 0.808 0.810 0.814 0.819 0.824 0.846 "
    "0.012 0.012 0.013 0.014 0.012 0.013 0.013",
    ("image", "qbc"): "0.804 0.811 0.826 0.838 0.845 0.851 0.858* 0.015 0.014 0.012 0.015 0.015 0.013 0.012",
    ("image", "stability"): "0.805 0.807 0.818 0.829 0.835 0.846 0.857 "
    "0.013 0.014 0.015 0.016 0.015 0.016 0.011",
    ("image", "afasmc"): "0.822* 0.832* 0.846* 0.852* 0.855* 0.857* 0.857* "
    "0.017 0.015 0.012 0.013 0.012 0.012 0.012",
    ("chess", "random"): "0.983 0.984 0.986 0.987 0.988 0.989 0.991 "
    "0.004 0.004 0.003 0.003 0.002 0.002 0.002",
    ("chess", "qbc"): "0.983 0.984 0.986 0.988 0.990* 0.991* 0.992* "
    "0.004 0.003 0.004 0.003 0.002 0.002 0.002",
    ("chess", "stability"): "0.985 0.986* 0.987 0.987 0.988 0.990 0.991* "
    "0.004 0.004 0.003 0.003 0.002 0.002 0.002",
    ("chess", "afasmc"): "0.987* 0.988* 0.989* 0.991* 0.991* 0.992* 0.992* "
    "0.004 0.003 0.004 0.003 0.003 0.002 0.002",
    ("HillValley", "random"): "0.452* 0.451* 0.449* 0.446* 0.445* 0.442 0.437 "
    "0.094 0.094 0.093 0.094 0.090 0.090 0.078",
    ("HillValley", "qbc"): "0.449 0.443* 0.436* 0.435 0.434 0.434 0.434 "
    "0.078 0.075 0.075 0.073 0.072 0.072 0.072",
    ("HillValley", "stability"): "0.445 0.442 0.439 0.438 0.434 0.434 0.434 "
    "0.085 0.086 0.085 0.070 0.072 0.072 0.072",
    ("HillValley", "afasmc"): "0.454* 0.447* 0.446* 0.451* 0.451* 0.450* 0.465* "
    "0.082 0.085 0.073 0.077 0.078 0.078 0.042",
    ("HTRU2", "random"): "0.971 0.971* 0.972 0.972 0.972 0.972 0.973 "
    "0.002 0.002 0.002 0.002 0.002 0.002 0.002",
    ("HTRU2", "qbc"): "0.971 0.968 0.969 0.974 0.975 0.975* 0.976* 0.002 0.003 0.002 0.002 0.002 0.002 0.002",
    ("HTRU2", "stability"): "0.970 0.971 0.969 0.969 0.971 0.971 0.975 "
    "0.002 0.002 0.002 0.003 0.003 0.003 0.002",
    ("HTRU2", "afasmc"): "0.972* 0.971* 0.973* 0.975* 0.975* 0.976* 0.976* "
    "0.002 0.002 0.002 0.002 0.002 0.002 0.002",
}


def _areas() -> dict[tuple[str, str, float], Area]:
    out = {}
    for (dataset, strategy), text in _TABLE_2.items():
        words = text.split()
        for share, mean, sd in zip(SHARES, words[:7], words[7:], strict=True):
            out[dataset, strategy, share] = Area(float(mean.rstrip("*")), float(sd), mean.endswith("*"))
    return out


TABLE_2 = _areas()
"""Keyed by (data set, strategy, share queried); strategies have our names."""


WINDOWS = (2, 4, 8, 16, None)
"""How many of the last completions the variance of Figure 3 is taken over; None means all."""

LABELS = {
    "Supervised": "AFASMC",
    "afasmc": "AFASMC",
    "afasmc-window4": "AFASMC, m = 4",
    "qbc": "QBC",
    "stability": "Stability",
    "em-inference": "EM Inference",
    "qbc, published": "QBC, published",
    "stability, published": "Stability, published",
    "em-inference, published": "EM Inference, published",
    "random": "Random",
    "afasmc-ratio": "AFASMC+Cost1 (ratio)",
    "afasmc-poss": "AFASMC+Cost2 (POSS)",
    "afasmc-poss-from-ratio": "POSS from ratios",
    "afasmc-knapsack": "AFASMC+knapsack",
    "all completions": "m = all (AFASMC)",
} | {f"last {m}": f"m = {m}" for m in WINDOWS if m is not None}
"""Labels that differ from the names; strategies not in the paper keep their names."""

OURS = (
    "SoftImpute",
    "Gaussian",
    "Auto",
    "afasmc-poss-from-ratio",
    "afasmc-knapsack",
    "recommended",
    "random-gaussian",
    "posterior-impact",
    "posterior",
)
"""Methods not in the paper."""


def label(method: str) -> str:
    """Return the label of a method, marked if it is ours."""
    text = LABELS.get(method, method)
    return f"{text} (ours)" if method in OURS else text


_DATASETS = {"HillValley": "HillValley (with noise)", WITHOUT_NOISE: "HillValley (without noise)"}


def dataset_label(dataset: str) -> str:
    """Return the label of a data set; HillValley with its version."""
    return _DATASETS.get(dataset, dataset)
