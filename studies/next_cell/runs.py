"""One run of the study: a table and a seed, all policies."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import r2_score, roc_auc_score

from cellworth.arrays import Float64Array, IntArray
from studies.money.kept_cases import Record, StartTask
from studies.next_cell.row_policies import REPEATS, SHARES, NewRows

BOOTSTRAPS = 100


def run(task: StartTask, folder: Path) -> list[Record]:
    """Return the scores of all policies at all shares of the money."""
    rows = NewRows.of(task.table, task.seed)
    y = rows.test.target.values  # type: ignore[union-attr]
    nothing = rows.predicted(np.zeros(rows.test.shape, dtype=bool))
    everything = rows.predicted(~rows.test.holes)
    random = np.argsort(np.random.default_rng(task.seed).random(rows.test.shape), axis=1)
    orders = {"mutual information": information_order(rows), "importance": importance_order(rows)}
    records: list[Record] = [
        {"policy": "nothing", "share": 0.0, "score": score(nothing, y)},
        {"policy": "all cells", "share": 1.0, "score": score(everything, y)},
    ]
    for share in SHARES:
        before = time.perf_counter()
        known, steps = rows.by_policy(share)
        seconds = (time.perf_counter() - before) / max(1, steps)
        found = {
            "policy": rows.predicted(known),
            **{name: rows.predicted(rows.in_order(order, share)) for name, order in orders.items()},
            "random": rows.predicted(rows.in_order(random, share)),
        }
        for name, outputs in found.items():
            error = noise(outputs, found["mutual information"], y)
            records.append({"policy": name, "share": share, "score": score(outputs, y), "noise": error})
            records[-1] |= {"milliseconds": 1000 * seconds} if name == "policy" else {}
    return records


def score(outputs: Float64Array, y: Float64Array) -> float:
    """Return R2 of numbers (m, 1), or the AUC of probabilities (m, K), averaged over classes."""
    if outputs.shape[1] == 1:
        return float(r2_score(y, outputs[:, 0]))
    there = [k for k in range(outputs.shape[1]) if 0 < (y == k).sum() < len(y)]
    return float(np.mean([roc_auc_score(y == k, outputs[:, k]) for k in there]))


def noise(a: Float64Array, b: Float64Array, y: Float64Array) -> float:
    """Return the standard error over test rows of the difference of two policies' scores."""
    rng = np.random.default_rng(0)
    drawn = (rng.integers(len(y), size=len(y)) for _ in range(BOOTSTRAPS))
    return float(np.std([score(a[rows], y[rows]) - score(b[rows], y[rows]) for rows in drawn]))


def information_order(rows: NewRows) -> IntArray:
    """Return the columns by mutual information with the target per price, best first."""
    X, y = _completed(rows)
    number = rows.train.target.label_kind == "number"  # type: ignore[union-attr]
    measure = mutual_info_regression if number else mutual_info_classif
    return _ordered(rows, measure(X, y, random_state=0))


def importance_order(rows: NewRows) -> IntArray:
    """Return the columns by what permuting them costs the model on its training rows, per price."""
    X, y = _completed(rows)
    outputs = _outputs(rows.model)
    layout, rng = rows.train.layout, np.random.default_rng(0)
    whole, loss = score(outputs(X), y), np.zeros(len(layout.columns))
    for place in range(len(loss)):
        for _ in range(REPEATS):
            shuffled = X.copy()
            shuffled[:, layout.columns_of(place)] = X[rng.permutation(len(X)), layout.columns_of(place)]
            loss[place] += (whole - score(outputs(shuffled), y)) / REPEATS
    return _ordered(rows, rows.train.layout.share_by_column(loss))


def _completed(rows: NewRows) -> tuple[Float64Array, Float64Array]:
    assert rows.train.target is not None
    y = rows.train.target.values
    known = ~np.isnan(y)
    return np.asarray(rows.model.completer_.completed_, dtype=np.float64)[known], y[known]


def _outputs(model: Any) -> Any:
    return model.predict_proba if hasattr(model, "predict_proba") else lambda X: model.predict(X)[:, None]


def _ordered(rows: NewRows, by_column: Float64Array) -> IntArray:
    """Return the cells in order of what their encoded columns (d,) sum up to, per price."""
    worth = np.maximum(rows.train.layout.sum_by_cell(by_column), 0)
    alone = rows.prices.marginal(np.zeros(rows.test.shape, dtype=bool))[0]
    return np.argsort(-worth / alone, kind="stable")
