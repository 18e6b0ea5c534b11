"""Search for the best candidate by successive halving on hidden cells.

All candidates are tried on one hold of a few rows, and the best of each family on more holds of all rows. A
hold is a table with some of its observed cells hidden, the same ones for all candidates.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from cellworth.complete.auto_candidates import family_of, gives_variances, to_try
from cellworth.complete.hold_out import cover_columns, hide_cells, sample_rows
from cellworth.complete.labels import Labels
from cellworth.complete.scaling import Scaling

CandidateStatus = Literal["chosen", "tried", "not reached", "failed"]

SCREEN_ROWS = 1_000  # for trying all candidates once
FINAL_ROWS = 50_000  # for trying the best few: the best on this many is the best on more
FINALISTS = 3
FAR = 5.0  # standard deviations: a miss by more counts as this, so that no single cell decides


@dataclass(frozen=True)
class SearchTask:
    """The table to complete, and its labels.

    Attributes
    ----------
    X : (n, d) array
        NaN in the holes.
    y : (n,) array or None
    labels : Labels or None
        The same, coded.
    scaling : Scaling
        The units of errors: standard deviations of the columns.
    """

    X: FloatArray
    y: AnyArray | None
    labels: Labels | None
    scaling: Scaling


@dataclass(frozen=True)
class HiddenTrial:
    """Rows of a table with a tenth of the observed cells hidden.

    Attributes
    ----------
    holed : (m, d) array
        In the user's units, NaN in the holes and in the hidden cells.
    y : (m,) array or None
    truth : (m, d) array
        The rows before hiding.
    hidden : (m, d) bool array
    width : (d,) array
        The unit of each column's error.
    """

    holed: FloatArray
    y: AnyArray | None
    truth: FloatArray
    hidden: BoolArray
    width: FloatArray

    @property
    def n_hidden(self) -> int:
        """Number of hidden cells."""
        return int(self.hidden.sum())

    def losses(self, completed: FloatArray) -> FloatArray:
        """Return each row's squared error over its hidden cells, (m,), in units of the columns' variances.

        No miss counts for more than `FAR` standard deviations.
        """
        with np.errstate(invalid="ignore"):  # NaN is reported as such
            misses = np.clip(np.where(self.hidden, (completed - self.truth) / self.width, 0.0), -FAR, FAR)
        return np.einsum("ij,ij->i", misses, misses, dtype=np.float64)


def make_trial(task: SearchTask, most_rows: int, rng: np.random.Generator) -> HiddenTrial:
    """Hide observed cells of at most about ``most_rows`` rows, at random.

    Each column keeps at least one observed cell, and at least one cell is hidden if any can be.
    """
    rows = cover_columns(sample_rows(len(task.X), most_rows, rng), ~np.isnan(task.X))
    truth = task.X[rows]
    hidden = hide_cells(~np.isnan(truth), rng, at_least_one=True)
    return HiddenTrial(
        holed=np.where(hidden, truth.dtype.type(np.nan), truth),
        y=_labels_of(task, rows),
        truth=truth,
        hidden=hidden,
        width=task.scaling.width,
    )


def _labels_of(task: SearchTask, rows: IntArray) -> AnyArray | None:
    """Return the labels of some rows; None if they are all the same, so there is nothing to learn."""
    if task.y is None or task.labels is None:
        return None
    known = task.labels.targets[rows][task.labels.labelled[rows]]
    return task.y[rows] if len(known) and (known != known[0]).any() else None


@dataclass(frozen=True)
class CandidateResult:
    """How one candidate did.

    Attributes
    ----------
    name : str
    status : {"chosen", "tried", "not reached", "failed"}
    error : float
        Mean over the holds of the squared error on hidden cells, in units of the columns' variances: 0
        is perfect, 1 is about what column means give. NaN if unknown.
    spread : float
        Standard deviation of the error over the holds; NaN with fewer than two.
    n_holds : int
        Number of holds behind `error`. Candidates that were only screened have one, on fewer rows if the
        table is large.
    seconds : float
        Time spent on fits, including the one to the whole table.
    reason : str
        Why it failed; empty if it did not.
    """

    name: str
    status: CandidateStatus
    error: float
    spread: float
    n_holds: int
    seconds: float
    reason: str = ""


@dataclass(eq=False)
class TriedCandidate:
    """A candidate and its results; ``losses`` (rows,) and the number of hidden cells, by trial."""

    name: str
    completer: Any
    losses: dict[int, FloatArray] = field(default_factory=dict)
    n_hidden: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0
    reason: str = ""

    def errors(self, trials: list[int]) -> list[float]:
        """Return the mean squared error of each trial."""
        return [float(self.losses[t].sum()) / max(1, self.n_hidden[t]) for t in trials]

    def mean_error(self, trials: list[int]) -> float:
        """Return the mean over trials; NaN if there are none."""
        return float(np.mean(self.errors(trials))) if trials else math.nan

    def result(self, status: CandidateStatus, trials: list[int]) -> CandidateResult:
        """Return the result for the user, judged on these trials if it took part, else on its own."""
        known = [t for t in trials if t in self.losses] or list(self.losses)
        spread = float(np.std(self.errors(known), ddof=1)) if len(known) > 1 else math.nan
        return CandidateResult(
            self.name, status, self.mean_error(known), spread, len(known), self.seconds, self.reason
        )


class CandidateSearch:
    """Try candidates on a task until time runs out or the watcher stops the search.

    Parameters
    ----------
    entries : list of TriedCandidate
        Simplest first.
    task : SearchTask
    n_holds : int
    rng : Generator
    deadline : float
        On the ``time.perf_counter`` clock; no fit starts after it.
    pool : ThreadPoolExecutor or None
    watch : callable
        Called after each fit with fits done and planned, a name and an error; returning true ends the
        search.
    """

    def __init__(
        self,
        entries: list[TriedCandidate],
        task: SearchTask,
        n_holds: int,
        rng: np.random.Generator,
        *,
        deadline: float,
        pool: ThreadPoolExecutor | None,
        watch: Callable[[int, int, str, float], bool],
    ) -> None:
        self._entries, self._task, self._n_holds = entries, task, n_holds
        self._seeds = rng.integers(2**63, size=n_holds + 1)
        self._deadline, self._pool, self._watch = deadline, pool, watch
        self._stopped = False
        self._done = 0
        screened_whole = len(task.X) <= SCREEN_ROWS
        skip_screen = len(entries) <= FINALISTS and not screened_whole
        self._finals = list(range(1, n_holds if screened_whole else n_holds + 1))
        self._screen = [] if skip_screen else [0]
        self._screen_counts = screened_whole
        fits = len(entries) * len(self._screen) + min(FINALISTS, len(entries)) * len(self._finals)
        self.total = fits + 1

    def run(self) -> tuple[list[TriedCandidate], list[int]]:
        """Return the entries in order of preference, and the trials on which the first were judged.

        Failed entries are left out; entries that were not reached come last.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from fits that are only used to choose
            for trial in self._screen:
                self._try_all(self._entries, trial, SCREEN_ROWS)
            best = self._best(self._screen, len(self._entries))
            first_of = {family_of(e.completer): e for e in reversed(best)}
            leading = [e for e in best if e is first_of[family_of(e.completer)]][:FINALISTS]
            finalists = [e for e in leading if e.losses] or leading
            for trial in self._finals:
                self._try_all([e for e in finalists if not e.reason], trial, FINAL_ROWS)
        finalists = [e for e in self._entries if e in finalists and not e.reason]
        shared = [t for t in (0, *self._finals) if finalists and all(t in e.losses for e in finalists)]
        if not self._screen_counts and len(shared) > 1 and shared[0] == 0:
            shared = shared[1:]  # drop the screening, which used fewer rows
        rest = [e for e in self._best(self._screen, len(self._entries)) if e not in finalists]
        return (_ranked(finalists, shared) if shared else finalists) + rest, shared

    def _best(self, trials: list[int], count: int) -> list[TriedCandidate]:
        """Return the entries ranked by these trials, followed by those not tried."""
        alive = [e for e in self._entries if not e.reason]
        tried = [e for e in alive if trials and all(t in e.losses for t in trials)]
        tried = _ranked(tried, trials) if tried else tried
        return (tried + [e for e in alive if e not in tried])[:count]

    def _try_all(self, entries: list[TriedCandidate], number: int, most_rows: int) -> None:
        if self._over():
            return
        trial = make_trial(self._task, most_rows, np.random.default_rng(self._seeds[number]))

        def attempt(entry: TriedCandidate) -> FloatArray | None:
            return None if self._over() else _attempt(entry, trial)

        run = map if self._pool is None else self._pool.map
        for entry, losses in zip(entries, run(attempt, entries), strict=True):
            if losses is not None:
                entry.losses[number], entry.n_hidden[number] = losses, trial.n_hidden
                self._tell(entry.name, entry.mean_error([number]))
            elif entry.reason:
                self._tell(entry.name, math.nan)

    def _tell(self, name: str, error: float) -> None:
        self._done += 1
        if self._watch(self._done, self.total, name, error):
            self._stopped = True

    def _over(self) -> bool:
        return self._stopped or time.perf_counter() >= self._deadline


def _attempt(entry: TriedCandidate, trial: HiddenTrial) -> FloatArray | None:
    """Return the losses of one fit; None, and the reason in the entry, if it fails."""
    begun = time.perf_counter()
    try:
        completed = np.asarray(to_try(entry.completer).fit_transform(trial.holed, trial.y))
        if completed.shape != trial.truth.shape:
            entry.reason = f"gave a table of shape {completed.shape} for one of shape {trial.truth.shape}"
            return None
        losses = trial.losses(completed)
        if not np.isfinite(losses).all():
            entry.reason = "left holes, or gave values that are not finite"
            return None
        return losses
    except Exception as error:  # a failing candidate must not stop the others
        entry.reason = why(error)
        return None
    finally:
        entry.seconds += time.perf_counter() - begun


def why(error: Exception) -> str:
    """Return an error as a one-line reason for a failure."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _ranked(entries: list[TriedCandidate], trials: list[int]) -> list[TriedCandidate]:
    """Return the entries by error, but first the preferred one of those that tie with the best.

    An entry ties if its mean squared error exceeds the lowest by at most one standard error of the
    difference, taken over rows, since all have the same hidden cells. Among tied entries, one that gives
    variances is preferred, then one without trees, which take longer, then one that does not need labels,
    then the one with the lowest error.
    """
    by_error = sorted(entries, key=lambda e: e.mean_error(trials))
    tied = [e for e in entries if _ties(e, by_error[0], trials)]
    first = min(tied, key=lambda e: (*_costs(e.completer), e.mean_error(trials)))
    return [first, *(e for e in by_error if e is not first)]


def _costs(completer: Any) -> tuple[bool, bool, bool]:
    """Return what speaks against a completer: it gives no variances, takes long, or needs labels."""
    needs_labels = any(getattr(completer, name, 0.0) != 0.0 for name in ("label_trust", "label_weight"))
    return not gives_variances(completer), family_of(completer) == "trees", needs_labels


def _ties(entry: TriedCandidate, best: TriedCandidate, trials: list[int]) -> bool:
    excess = np.concatenate([entry.losses[t] - best.losses[t] for t in trials])
    return bool(excess.sum() <= math.sqrt(len(excess)) * excess.std())


def text_table(results: Sequence[CandidateResult]) -> str:
    """Return a text table of the results: the chosen one first, then those with more holds, by error."""
    order = sorted(results, key=lambda r: (r.status != "chosen", -r.n_holds, r.error))
    header = ("candidate", "error", "spread", "holds", "seconds", "status")
    rows = [header, *(_cells(result) for result in order)]
    widths = [max(len(row[j]) for row in rows) for j in range(len(header))]
    lines = ["  ".join(_align(row, widths)).rstrip() for row in rows]
    note = (
        "error: mean squared, in units of the columns' variances; 1 is about what column means give.\n"
        "Compare candidates with the same number of holds: they were judged on the same cells."
    )
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:], note])


def _cells(result: CandidateResult) -> tuple[str, ...]:
    status = f"{result.status}: {result.reason}" if result.reason else result.status
    numbers = ("-" if math.isnan(x) else f"{x:.4f}" for x in (result.error, result.spread))
    return (result.name, *numbers, str(result.n_holds), f"{result.seconds:.2f}", status)


def _align(row: tuple[str, ...], widths: list[int]) -> list[str]:
    """Return the cells padded, with words left-aligned and numbers right-aligned."""
    last = len(row) - 1
    return [
        c.ljust(w) if j in (0, last) else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))
    ]
