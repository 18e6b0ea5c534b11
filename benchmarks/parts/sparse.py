"""A wide, sparse table of ratings: time, passes, memory and error, compared with peers and the noise."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from benchmarks import memory
from benchmarks.isolate import FailedError, TimeLimitError, limit_cpu, run_isolated
from benchmarks.problem import Array
from benchmarks.report import Section, at_most, number
from benchmarks.settings import Settings, progress, size_name
from cellworth.complete.sparse import SparseCompleter

SIZE, SHARE = (100_000, 10_000), 0.005
QUICK_SIZE, QUICK_SHARE = (20_000, 3_000), 0.01
RANK, NOISE, LEVEL = 5, 0.5, 3.0
PASS_RANK = 20  # rank at which a pass is timed
GIVEN = 0.05  # relative penalty if it is not searched for
ADVISED = 100  # cells to ask for
FILLINGS, NEAR = 1000, 0.01  # most hole-filling iterations; they stop this close to our objective

HEADER = ["method", "CPU s", "wall s", "peak MB", "rank", "RMSE", "RMSE / noise"]
METHODS = {
    "column means": 1,
    "SparseCompleter": 1,
    "SparseCompleter, 2 threads": 2,
    "SparseCompleter, rank 20 and penalty given": 1,
    "TruncatedSVD of scikit-learn, holes as means": 1,
    "SVD of scikit-surprise": 1,
    "ALS of Spark, local[1]": 1,
    "ALS of implicit, as if values were counts": 1,
}


class Ratings(NamedTuple):
    """Observed cells, and held-out cells with their noisy values for evaluation."""

    X: csr_array
    rows: Array
    columns: Array
    truth: Array


def run(settings: Settings) -> Section:
    """Fit with each method in a fresh process and evaluate all on the same hidden cells."""
    size, share = (QUICK_SIZE, QUICK_SHARE) if settings.quick else (SIZE, SHARE)
    section = Section("Wide and sparse", HEADER, [], [])
    for method, threads in METHODS.items():
        progress(f"{size_name(*size)}, {100 * share:g} % observed, {method}")
        arguments = {"method": method, "size": size, "share": share, "seed": settings.seed}
        try:
            m = run_isolated(
                "benchmarks.parts.sparse:measure_here",
                threads=threads,
                cpu_limit=4 * settings.cpu_limit,
                **arguments,
            )
        except (FailedError, TimeLimitError) as failure:
            section.notes.append(f"{method} gave no result: {failure}")
            continue
        section.rows.append(_row(method, m))
        if "passes" in m:
            section.notes.append(f"{method}: {m['passes']}")
    section.notes.insert(0, _about(size, share, settings))
    section.notes += [_pass_note(size, share, settings), _filling_note(settings)]
    advice = run_isolated(
        "benchmarks.parts.sparse:measure_advice",
        threads=2,
        cpu_limit=4 * settings.cpu_limit,
        **{"size": size, "share": share, "seed": settings.seed},
    )
    section.notes.append(_advice_note(advice))
    section.aims += [
        at_most(
            "advise on the ratings, against its fit, CPU", advice["cpu"] / advice["fit"], 3, ".1f", " times"
        ),
        at_most("advise on the ratings, peak", advice["peak"] / 1e9, 4, ".1f", " GB"),
    ]
    return section


def _row(method: str, m: dict[str, Any]) -> list[str]:
    rank = "-" if m["rank"] is None else str(m["rank"])
    costs = [number(m["cpu"]), number(m["wall"]), number(m["peak"] / 1e6, ".0f"), rank]
    return [method, *costs, number(m["error"], ".4f"), number(m["error"] / NOISE, ".3f")]


def _about(size: tuple[int, int], share: float, settings: Settings) -> str:
    return (
        f"{size_name(*size)}, {100 * share:g} % observed, some rows and columns much more than others; rank "
        f"{RANK} with row and column effects and noise of {NOISE}, which no method can get below. RMSE on "
        "hidden cells, drawn as the observed ones were. Peak: resident memory during the fit, above what the "
        f"process had with its data. Written out, the table would take {8e-6 * size[0] * size[1]:,.0f} MB. "
        f"Seed {settings.seed}. Peers with default settings; Spark's CPU and memory are those of its Java "
        "process. Spark (pyspark) and implicit are not in the extra `bench`: install them beside it."
    )


def _pass_note(size: tuple[int, int], share: float, settings: Settings) -> str:
    arguments = {"size": size, "share": share, "seed": settings.seed}
    m = run_isolated("benchmarks.parts.sparse:time_passes", **arguments)
    return (
        f"One pass over {m['cells']:,} cells at rank {PASS_RANK}: {m['one']:.2f} s on one thread "
        f"({m['cpu']:.2f} CPU s), {m['one'] / m['two']:.1f} times less wall time on two."
    )


def _advice_note(m: dict[str, float]) -> str:
    return (
        f"`advise(ratings, count={ADVISED})`, which weighs all {m['holes']:,.0f} missing cells: "
        f"{m['cpu']:.0f} CPU s ({m['wall']:.0f} s), of which the fit with variances takes {m['fit']:.0f}; "
        f"its peak is {m['peak'] / 1e6:,.0f} MB above the data."
    )


def _filling_note(settings: Settings) -> str:
    m = run_isolated("benchmarks.parts.sparse:race", seed=settings.seed)
    reached = (
        f"took {m['steps']} iterations and {m['theirs']:.1f} CPU s to come within {100 * NEAR:g} % of it"
    )
    return (
        f"The same objective at {size_name(*QUICK_SIZE)}, rank {PASS_RANK}, relative penalty {GIVEN}: "
        f"{m['ours']:.1f} CPU s here. Filling the holes in each iteration (soft-impute-ALS) "
        f"{reached if m['near'] else f'was not within {100 * NEAR:g} % of it after {FILLINGS} iterations'}, "
        f"{m['theirs'] / m['ours']:.1f} times as long."
    )


def make_ratings(size: tuple[int, int], share: float, seed: int) -> Ratings:
    """Draw cells by the popularity of rows and columns (log-normal), and hold out 2 % for evaluation."""
    (n, d), rng = size, np.random.default_rng(seed)
    A, B = rng.normal(size=(n, RANK)), rng.normal(size=(d, RANK)) / np.sqrt(RANK)
    row_effect, column_effect = 0.5 * rng.normal(size=n), 0.5 * rng.normal(size=d)
    n_draws = int(1.05 * n * d * share)
    i, j = (rng.choice(m, n_draws, p=w / w.sum()) for m, w in ((m, rng.lognormal(size=m)) for m in size))
    cells = rng.permutation(np.unique(i * d + j))
    i, j = np.divmod(cells, d)
    values = LEVEL + row_effect[i] + column_effect[j] + np.einsum("ij,ij->i", A[i], B[j])
    values += NOISE * rng.normal(size=len(values))
    n_hidden = len(values) // 50
    seen = slice(n_hidden, None)
    X = csr_array((values[seen], (i[seen], j[seen])), shape=size)
    return Ratings(X, i[:n_hidden], j[:n_hidden], values[:n_hidden])


def measure_here(
    method: str, size: tuple[int, int], share: float, seed: int, cpu_limit: int | None = None
) -> dict[str, Any]:
    """Return the cost of a fit and its error on the hidden cells."""
    warnings.simplefilter("ignore")
    fit = _method(method)
    fit(make_ratings((300, 100), 0.2, seed))  # so that imports do not count
    ratings, passes = make_ratings(tuple(size), share, seed), _count_passes()
    limit_cpu(cpu_limit)
    before = memory.reset_peak()
    cpu, wall = _cpu(), time.perf_counter()
    estimate, rank = fit(ratings)
    cost = {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall}
    peak = memory.peak() - before + _peak_of_children()
    limit_cpu(None)
    error = float(np.sqrt(np.mean((estimate(ratings.rows, ratings.columns) - ratings.truth) ** 2)))
    told = {"passes": _in_words(passes)} if passes else {}
    return {**cost, "peak": peak, "rank": rank, "error": error, **told}


class _Timed(SparseCompleter):
    """Notes the CPU seconds of its fit."""

    seconds = 0.0

    def fit(self, X: Any, y: Any = None, **settings: Any) -> Any:
        """Fit, and note how long it took."""
        before = _cpu()
        fitted = super().fit(X, y, **settings)
        _Timed.seconds = _cpu() - before
        return fitted


def measure_advice(
    size: tuple[int, int], share: float, seed: int, cpu_limit: int | None = None
) -> dict[str, float]:
    """Return what it costs to choose the cells of a sparse table that are worth asking for."""
    from cellworth import advise, strategy

    warnings.simplefilter("ignore")
    mine = replace(strategy.get("recommended"), completer=_Timed(variance=True))
    advise(make_ratings((300, 100), 0.2, seed).X, count=5, strategy=mine)  # so that imports do not count
    X = make_ratings(tuple(size), share, seed).X
    limit_cpu(cpu_limit)
    before = memory.reset_peak()
    cpu, wall = _cpu(), time.perf_counter()
    batch = advise(X, count=ADVISED, strategy=mine)
    cost = {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall, "fit": _Timed.seconds}
    limit_cpu(None)
    assert len(batch) == ADVISED
    return {**cost, "peak": memory.peak() - before, "holes": X.shape[0] * X.shape[1] - X.nnz}


Fit = Callable[[Ratings], tuple[Callable[[Array, Array], Array], int | None]]


def _method(method: str) -> Fit:
    if method.startswith("SparseCompleter"):
        given = {"rank": PASS_RANK, "trace_penalty": GIVEN, "penalty_unit": "relative"}
        return lambda ratings: _sparse(ratings, METHODS[method], given if "given" in method else {})
    if method.startswith("TruncatedSVD"):
        return _truncated
    peers = {"surprise": _surprise, "Spark": _spark, "implicit": _implicit}
    return next((fit for name, fit in peers.items() if name in method), _means)


def _sparse(ratings: Ratings, n_jobs: int, options: dict[str, Any]) -> Any:
    completer = SparseCompleter(n_jobs=n_jobs, **options).fit(ratings.X)
    return completer.estimate, completer.rank_


def _means(ratings: Ratings) -> Any:
    X = ratings.X
    counts = np.bincount(X.indices, minlength=X.shape[1])
    means = np.bincount(X.indices, X.data - X.data.mean(), minlength=X.shape[1]) / np.maximum(counts, 1)
    means += X.data.mean()
    return lambda rows, columns: means[columns], None


def _truncated(ratings: Ratings) -> Any:
    from sklearn.decomposition import TruncatedSVD

    means, _ = _means(ratings)
    X = ratings.X.copy()
    X.data -= means(None, X.indices)
    model = TruncatedSVD(PASS_RANK, random_state=0)
    left, right = model.fit_transform(X), model.components_.T

    def estimate(rows: Array, columns: Array) -> Array:
        return means(rows, columns) + np.einsum("ij,ij->i", left[rows], right[columns])

    return estimate, PASS_RANK


def _surprise(ratings: Ratings) -> Any:
    """Fit the SVD with offsets by stochastic gradient descent, with defaults (100 factors, 20 epochs)."""
    from surprise import SVD, Trainset

    X = ratings.X.tocoo()
    by_row, by_column = ({k: [] for k in range(m)} for m in X.shape)
    for i, j, value in zip(X.row.tolist(), X.col.tolist(), X.data.tolist(), strict=True):
        by_row[i].append((j, value))
        by_column[j].append((i, value))
    same = [{k: k for k in range(m)} for m in X.shape]
    scale = float(X.data.min()), float(X.data.max())
    model = SVD(random_state=0).fit(Trainset(by_row, by_column, *X.shape, X.nnz, scale, *same))

    def estimate(rows: Array, columns: Array) -> Array:
        products = np.einsum("ij,ij->i", model.pu[rows], model.qi[columns])
        return model.trainset.global_mean + model.bu[rows] + model.bi[columns] + products

    return estimate, model.n_factors


def _spark(ratings: Ratings) -> Any:
    """Fit explicit ratings by alternating least squares on one core, with defaults (rank 10, 10 steps)."""
    import pandas as pd
    from pyspark.ml.recommendation import ALS
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.driver.memory", "8g")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    X = ratings.X.tocoo()
    names = {"userCol": "row", "itemCol": "column", "ratingCol": "value"}
    with tempfile.TemporaryDirectory() as folder:
        frame = pd.DataFrame({"row": X.row, "column": X.col, "value": X.data})
        frame.to_parquet(f"{folder}/ratings.parquet")
        model = ALS(**names, seed=0).fit(session.read.parquet(f"{folder}/ratings.parquet"))
    factors = []
    for found, n in zip((model.userFactors, model.itemFactors), X.shape, strict=True):
        rows = found.toPandas()
        factors.append(np.zeros((n, model.rank)))
        factors[-1][rows["id"]] = np.array(rows["features"].tolist())
    left, right = factors
    return lambda rows, columns: np.einsum("ij,ij->i", left[rows], right[columns]), model.rank


def _implicit(ratings: Ratings) -> Any:
    """Fit by alternating least squares with defaults (rank 100, 15 iterations).

    It has no model of ratings: it predicts that a cell is known, more surely the larger its value, so its
    error is that of another question; its time is what compares.
    """
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(num_threads=1, random_state=0)
    X = ratings.X.copy()
    X.data = np.maximum(X.data, 0.1).astype(np.float32)
    model.fit(X, show_progress=False)

    def estimate(rows: Array, columns: Array) -> Array:
        products = np.einsum("ij,ij->i", model.user_factors[rows], model.item_factors[columns])
        return np.asarray(products, dtype=np.float64)

    return estimate, model.factors


def _children() -> list[Path]:
    """Return the processes that this one has started, such as Spark's, in /proc."""
    found, todo = [], [Path(f"/proc/{os.getpid()}")]
    while todo:
        process = todo.pop()
        for task in process.glob("task/*/children"):
            todo += [Path(f"/proc/{number}") for number in task.read_text("ascii").split()]
        found.append(process)
    return found[1:]


def _cpu() -> float:
    """Return the CPU seconds of this process and of those that it has started."""
    ticks = os.sysconf("SC_CLK_TCK")
    stats = [(child / "stat").read_text("ascii").rsplit(")", 1)[1].split() for child in _children()]
    return time.process_time() + sum((int(fields[11]) + int(fields[12])) / ticks for fields in stats)


def _peak_of_children() -> int:
    """Return the most bytes that the processes which this one has started have had in memory."""
    lines = [line for child in _children() for line in (child / "status").read_text("ascii").splitlines()]
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def _count_passes() -> Counter[str]:
    """Patch the engine to count how often each function runs over all blocks."""
    from cellworth.complete.sparse.variable_projection import CellBlocks as Blocks

    counted: Counter[str] = Counter()

    def counting(method: Callable[..., Any]) -> Callable[..., Any]:
        def count(self: Any, function: Callable[..., Any], *shared: Any) -> Any:
            counted[function.__name__] += 1
            return method(self, function, *shared)

        return count

    Blocks.sum, Blocks.map = counting(Blocks.sum), counting(Blocks.map)  # type: ignore[method-assign]
    return counted


def _in_words(passes: Counter[str]) -> str:
    light = passes["project"] + passes["footprint"]
    return f"{passes.total() - light} passes of O(cells rank^2) and {light} light ones in all."


def time_passes(size: tuple[int, int], share: float, seed: int) -> dict[str, float]:
    """Return the median seconds of five passes, on one and on two threads."""
    from cellworth.blocks import ThreadEngine
    from cellworth.complete.sparse.held_out_cells import table_of
    from cellworth.complete.sparse.variable_projection import CellBlock, step

    X = make_ratings(tuple(size), share, seed).X
    cells = CellBlock(X.indptr, X.indices, X.data)
    B = np.random.default_rng(seed).normal(size=(X.shape[1], PASS_RANK))
    found: dict[str, float] = {"cells": X.nnz}
    for name, threads in (("one", 1), ("two", 2)):
        with ThreadEngine(threads) as engine:
            table, clocks = table_of(cells, X.shape[1], engine), []
            for _ in range(5):
                wall, cpu = time.perf_counter(), time.process_time()
                table.blocks.sum(step, B, 1.0)
                clocks.append((time.perf_counter() - wall, time.process_time() - cpu))
        found[name], used = (float(m) for m in np.median(clocks, axis=0))
        found.setdefault("cpu", used)
    return found


def race(seed: int) -> dict[str, float]:
    """Return the CPU seconds of the fit, and of filling the holes until close to its objective."""
    from cellworth.complete.sparse import SparseCompleter

    X = make_ratings(QUICK_SIZE, QUICK_SHARE, seed).X
    X.data -= X.data.mean()
    begin = time.process_time()
    options = {"trace_penalty": GIVEN, "penalty_unit": "relative", "centre": "none"}
    ours = SparseCompleter(rank=PASS_RANK, **options).fit(X)
    middle = time.process_time()
    goal = (1 + NEAR) * float(ours.objective_[-1])
    steps, near = _fill_holes(X, ours.trace_penalty_, goal)
    end = time.process_time()
    return {"ours": middle - begin, "theirs": end - middle, "steps": steps, "near": near}


def _fill_holes(X: csr_array, penalty: float, goal: float) -> tuple[int, bool]:
    """Return the iterations of plain soft-impute-ALS to reach an objective, and whether it did."""
    from scipy.sparse.linalg import svds

    from cellworth.complete.sparse.variable_projection import cell_products

    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    _, sigma, Vt = svds(X, PASS_RANK, random_state=0)
    V, D = Vt.T, np.sqrt(np.maximum(sigma, penalty))
    U = np.zeros((X.shape[0], PASS_RANK))

    def left() -> csr_array:
        products = cell_products(U * D, V * D, rows, X.indices)
        return csr_array((X.data - products, X.indices, X.indptr), shape=X.shape)

    def half_step(R: Any, U: Array, D: Array, V: Array) -> tuple[Array, Array, Array]:
        Q, core = np.linalg.qr((U * D**3 + (R @ V) * D) * D / (D**2 + penalty))
        u, s, vt = np.linalg.svd(core)
        return Q @ u, np.sqrt(s), V @ vt.T

    for done in range(FILLINGS):
        R = left()
        squares = float(np.sum((U * D) ** 2) + np.sum((V * D) ** 2))
        if 0.5 * float(R.data @ R.data) + penalty / 2 * squares <= goal:
            return done, True
        U, D, V = half_step(R, U, D, V)
        V, D, U = half_step(left().T, V, D, U)
    return FILLINGS, False
