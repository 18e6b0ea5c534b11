"""The Gaussian completer against gcimpute: on the paper's tables, and at 20,000 x 20."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.isolate import FailedError, run_isolated
from benchmarks.problem import Array, make_problem
from benchmarks.report import Aim, Section, at_least, number
from benchmarks.settings import Settings, progress, size_name

SIZE = (20_000, 20)
TABLES = ("abalone", "letter", "image", "chess", "HillValley", "HTRU2")

LEAST = {"HillValley": 5.0, size_name(*SIZE): 40.0}  # times less CPU than gcimpute

HEADER = ["table", "error, ours", "error, gcimpute", "CPU s, ours", "CPU s, gcimpute", "CPU ratio"]

NOTES = [
    "One thread, default settings of both, no labels, one seed, 60 % observed. Error by the paper's rule: "
    "||completed - truth|| / ||truth||, observed values kept. CPU of the fit; ours is the median of three.",
    "gcimpute refuses columns of which only one value was observed (chess has one): they are taken out for "
    "it, and filled with that value.",
]


def run(settings: Settings) -> Section:
    """Compare on each table; without the paper's data, only on the synthetic one."""
    section = Section("Joint Gaussian against gcimpute", HEADER, [], list(NOTES))
    has_data = "CELLWORTH_DATA" in os.environ
    for name in (*(TABLES if has_data else ()), size_name(*SIZE)):
        progress(f"{name}, GaussianCompleter and gcimpute")
        ours = _measure("ours", name, settings)
        try:
            theirs = _measure("gcimpute", name, settings)
        except FailedError as failure:
            section.notes.append(f"gcimpute failed on {name}: {failure}")
            theirs = {}
        ratio = theirs["seconds"] / ours["seconds"] if theirs else None
        errors = [number(r.get("error"), ".4f") for r in (ours, theirs)]
        seconds = [number(r.get("seconds")) for r in (ours, theirs)]
        section.rows.append([name, *errors, *seconds, number(ratio, ".1f")])
        if theirs:
            told = f"{ours['error']:.4f} and {theirs['error']:.4f}"
            what = f"{name}: error of the joint Gaussian not above gcimpute's"
            section.aims.append(Aim(what, told, ours["error"] <= theirs["error"]))
        if ratio is not None and name in LEAST:
            what = f"{name}: CPU time of gcimpute over that of the joint Gaussian"
            section.aims.append(at_least(what, ratio, LEAST[name], ".1f"))
    if not has_data:
        section.notes.append("Set CELLWORTH_DATA to compare on the paper's six tables too.")
    return section


def _measure(which: str, name: str, settings: Settings) -> dict[str, float]:
    measured: dict[str, float] = run_isolated(
        "benchmarks.parts.copula:measure_here", which=which, name=name, seed=settings.seed
    )
    return measured


def measure_here(which: str, name: str, seed: int) -> dict[str, float]:
    """Return the error and CPU seconds of one of the two on one table."""
    warnings.simplefilter("ignore")
    complete, repeats = _solver(which)
    holed, truth = _table(name, seed)
    complete(make_problem(200, 6, seed).table)  # so that imports do not count
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        completed = complete(holed)
        seconds.append(time.process_time() - begin)
    error = float(np.linalg.norm(completed - truth) / np.linalg.norm(truth))
    return {"seconds": float(np.median(seconds)), "error": error}


def _solver(which: str) -> tuple[Callable[[Array], Array], int]:
    """Return a function that completes a table, and how many times to time it."""
    if which == "gcimpute":
        from benchmarks.solvers.gcimpute_copula import complete

        return complete, 1
    from cellworth import GaussianCompleter

    return lambda table: GaussianCompleter().fit_transform(table), 3


def _table(name: str, seed: int) -> tuple[Array, Array]:
    """Return the table with holes and the truth."""
    if name in TABLES:
        from cellworth.datasets import load
        from studies.protocol import make_trial

        trial = make_trial(load(name), 0.6, seed)
        return trial.holed, trial.truth
    problem = make_problem(*SIZE, seed)
    truth = problem.table.copy()
    truth[np.isnan(truth)] = problem.hidden
    return problem.table, truth
