"""One run of the study: a table and a seed, all policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import r2_score, roc_auc_score

from cellworth.arrays import Float64Array, IntArray
from cellworth.complete import GaussianCompleter
from studies.money.kept_cases import Record, StartTask
from studies.next_cell.row_policies import HINDSIGHT_DRAWS, REPEATS, SHARES, NewRows
from studies.next_cell.whole_table import MOST_COLUMNS, WholeTable

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
        shared, steps, seconds = rows.by_policy(share, shared=True)
        alone, _, _ = rows.by_policy(share, shared=False)
        known = {
            "policy": shared,
            "policy, row by row": alone,
            **{name: rows.in_order(order, share) for name, order in orders.items()},
            "random": rows.in_order(random, share),
            "hindsight": rows.in_order(hindsight_order(rows, share), share),
        }
        if rows.test.shape[1] <= MOST_COLUMNS:
            known["whole table"] = WholeTable.of(rows).known(share)
        found = {name: rows.predicted(each) for name, each in known.items()}
        for name, outputs in found.items():
            best = max(orders, key=lambda order: score(found[order], y))
            records.append(
                {
                    "policy": name,
                    "share": share,
                    "score": score(outputs, y),
                    "noise": noise(outputs, found[best], y),
                    "money": rows.spent_share(known[name]),
                }
            )
            records[-1] |= {"milliseconds": 1000 * seconds / max(1, steps)} if name == "policy" else {}
    return records


def run_learned(task: StartTask, folder: Path) -> list[Record]:
    """Return the scores of a published learned policy; it needs complete rows to learn from."""
    from studies.next_cell.learned_policy import LearnedPolicy, TrainingRows

    rows = NewRows.of(task.table, task.seed)
    assert rows.train.target is not None
    assert rows.test.target is not None
    layout, y = rows.train.layout, rows.test.target.values
    labels, X = rows.train.target.values, layout.encode(rows.test.values)
    labelled, buyable = ~np.isnan(labels), ~rows.test.holes
    classes = len(rows.train.target.classes or ())
    truth = GaussianCompleter().fit(layout.encode(rows.truth.values))  # the table may have holes of its own
    records: list[Record] = []
    for name, completer in (("completed", rows.model.completer_), ("truth", truth)):
        complete = np.asarray(completer.completed_, dtype=np.float64)[labelled]
        learnt = TrainingRows.of(layout, complete, labels[labelled], classes)
        policy = LearnedPolicy(learnt, rows.prices.of_rows(np.array([0])), task.seed)
        known = {share: policy.known(X, buyable, share * float(rows.money.mean())) for share in SHARES}
        for share, cells in {**known, 1.0: buyable}.items():
            records.append(
                {
                    "policy": f"DIME, {name}",
                    "share": share,
                    "score": score(rows.predicted(cells), y),
                    "own": score(policy.predicted(X, cells), y),
                    "money": rows.spent_share(cells),
                }
            )
    return records


def hindsight_order(rows: NewRows, share: float) -> IntArray:
    """Return the fixed order that does best on the test rows within a share of their money.

    It is chosen with the test labels, one column after the other: what no policy can do, and what no fixed
    order does better by much.
    """
    y = rows.test.target.values  # type: ignore[union-attr]
    few = replace(rows, beliefs=rows.with_draws(HINDSIGHT_DRAWS))
    order: list[int] = []
    bought = few.in_order(np.array([], dtype=np.intp), share)
    best = score(few.predicted(bought), y)
    while len(order) < rows.test.shape[1]:
        tried = {}
        for column in set(range(rows.test.shape[1])) - set(order):
            known = few.in_order(np.array([*order, column]), share)
            if (known != bought).any():
                tried[column] = score(few.predicted(known), y)
        if not tried or max(tried.values()) <= best:
            return np.array(order, dtype=np.intp)
        order.append(max(tried, key=lambda column: tried[column]))
        bought, best = few.in_order(np.array(order), share), tried[order[-1]]
    return np.array(order, dtype=np.intp)


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
