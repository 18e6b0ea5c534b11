"""The figures of Table 1 of the paper."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """Reconstruction error, and test accuracy as a share, each with its standard deviation."""

    error: float
    error_sd: float
    accuracy: float
    accuracy_sd: float


METHODS = ("Supervised", "OptSpace", "LMaFit", "NNLS")
"""The names that the paper's AFASMC, OptSpace, LmaFit and NNLS have here, in the order of its columns."""

# Errors, their deviations, accuracies in per cent, their deviations: one of each per method.
_ROWS = {
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
"""The other version of HillValley; the paper does not say which of the two it took."""


def _figures() -> dict[tuple[str, float, str], Figure]:
    out = {}
    for (dataset, share), text in _ROWS.items():
        numbers = [float(word) for word in text.split()]
        for j, method in enumerate(METHODS):
            error, error_sd, accuracy, accuracy_sd = numbers[j::4]
            out[dataset, share, method] = Figure(error, error_sd, accuracy / 100, accuracy_sd / 100)
            if dataset == "HillValley":
                out[WITHOUT_NOISE, share, method] = out[dataset, share, method]
    return out


TABLE_1 = _figures()
"""By (data set, share of observed cells, method); the same for both versions of HillValley."""
