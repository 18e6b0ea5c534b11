"""Made-up results of the paper's experiments, from which verdicts must come out as planned."""

from itertools import product

import numpy as np

SEEDS = range(10)


def completion_rows(errors, accuracies=None, *, datasets=("abalone", "letter"), seeds=SEEDS, spread=0.001):
    """Return rows of Table 1's experiment, from errors and accuracies by method."""
    rows = []
    for dataset, observed, (place, method), seed in product(datasets, (0.6, 0.8), enumerate(errors), seeds):
        jitter = spread * np.random.default_rng([seed, place]).normal()
        rows.append(
            {
                "dataset": dataset,
                "observed": observed,
                "method": method,
                "seed": seed,
                "reconstruction_error": errors[method] + jitter,
                "accuracy": (accuracies or dict.fromkeys(errors, 0.8))[method] + jitter,
            }
        )
    return rows


def buying_rows(heights, *, datasets=("abalone",), seeds=SEEDS, spread=0.001, metric="accuracy", end=1.0):
    """Return rows of an experiment on buying in which each method's curve is level at its height.

    ``heights`` gives the height by method or, where it differs, by (data set, method).
    """
    methods = [key for key in heights if isinstance(key, str)]
    rows = []
    for dataset, (place, method), seed in product(datasets, enumerate(methods), seeds):
        height = heights.get((dataset, method), heights[method])
        jitter = spread * np.random.default_rng([seed, place]).normal()
        for number, share in enumerate(np.linspace(0, end, 5)):
            rows.append(
                {
                    "dataset": dataset,
                    "observed": 0.6,
                    "method": method,
                    "seed": seed,
                    "round": number,
                    "cells": round(1000 * share),
                    "money": 5000 * share,
                    "hidden": 1000,
                    "total": 5000.0,
                    "reconstruction_error": 0.1,
                    "accuracy": 0.5,
                    "auc": 0.5,
                    "log_loss": 0.5,
                }
                | {metric: height + jitter}
            )
    return rows
