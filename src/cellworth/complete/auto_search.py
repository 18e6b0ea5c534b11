"""Search for the best candidate by successive halving on hidden cells.

All candidates are tried on one hold of a few rows, and those that might still be put before the best on
further holds of more rows; see `cellworth.complete.hidden_trial`. A Gaussian is also fitted with nothing
hidden: the fit on a hold keeps its margins, shrinkage and trust, trees are tried on it, and it is the result
if it wins.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import AnyArray, FloatArray
from cellworth.complete.auto_candidates import (
    CandidateResult,
    CandidateStatus,
    family_of,
    gives_variances,
    grows_on,
    to_try,
    with_jobs,
)
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.hidden_trial import HiddenTrial, SearchTask, make_trial
from cellworth.complete.nnls import NNLSCompleter
from cellworth.errors import DataError

SCREEN_ROWS = 1_000  # for trying all candidates once
FINAL_ROWS = 4_000  # for trying the best few: the best on this many is the best on more
FINALISTS = 3
CLEARLY = 2.0  # standard errors: a candidate that is further behind is not tried again
GAIN_COLUMNS = 15  # to measure the gain of trees on
WORTH = 0.02  # of the squared error: trees that gain less are not worth their time


@dataclass(eq=False)
class TriedCandidate:
    """A candidate and its results.

    Attributes
    ----------
    losses, n_hidden : dict from int to (m,) array, and to int
        The loss of each row and the number of hidden cells, by trial.
    fitted : GaussianCompleter, NNLSCompleter or None
        A Gaussian as it was last fitted to the rows of a trial with nothing hidden; `NNLSCompleter` as it was
        to a hold of all rows.
    fitted_to_all : bool
        Whether these were all rows of the table: then that is the fit to keep if it is chosen.
    fitted_to_labels : bool
        Whether they had labels to learn from.
    base : TriedCandidate or None
        The one that this one grows on.
    gain : float or None
        What trees take away of its squared error, measured on all rows of the table.
    """

    name: str
    completer: Any
    losses: dict[int, FloatArray] = field(default_factory=dict)
    n_hidden: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0
    reason: str = ""
    fitted: Any = None
    fitted_to_all: bool = False
    fitted_to_labels: bool = False
    base: TriedCandidate | None = None
    gain: float | None = None

    def fit_whole(self, X: FloatArray, y: AnyArray | None, n_jobs: int | None) -> tuple[Any, FloatArray]:
        """Return the candidate fitted to the whole table, using what is at hand, and the completed table.

        It uses ``n_jobs`` threads if it has no number of its own.
        """
        completer = with_jobs(self.fitted if self.fitted_to_all else clone(self.completer), n_jobs)
        if self.fitted_to_all:
            completer.warn_unless_converged()  # not told during the search
            return completer, completer.completed_
        if self.base is not None and self.base.fitted_to_all and self.base.completer.calibrate:
            return completer, completer.fit_on(self.base.fitted, X, y).completed_
        return completer, completer.fit_transform(X, y)

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
        for entry in entries:
            entry.base = next((e for e in entries if grows_on(entry.completer, e.completer)), None)
        self._seeds = rng.integers(2**63, size=n_holds)
        self._deadline, self._pool, self._watch = deadline, pool, watch
        self._stopped = False
        self._done = 0
        self.total = len(entries) + min(FINALISTS, len(entries)) * (n_holds - 1) + 1

    def run(self) -> tuple[list[TriedCandidate], list[int]]:
        """Return the entries in order of preference, and the trials on which the first were judged.

        Failed entries are left out; entries that were not reached come last.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from fits that are only used to choose
            self._screen()
            contenders, held = self._contenders([0]), [0]
            for number in range(1, self._n_holds):
                if len(contenders) < 2:
                    break
                self._try_all(contenders, number, FINAL_ROWS)
                contenders = [e for e in contenders if not e.reason]
                if not all(number in e.losses for e in contenders):
                    break  # out of time
                held.append(number)
        first = contenders
        if len(held) > 1:
            held = held[1:] if len(self._task.X) > SCREEN_ROWS else held  # the first had fewer rows
            first = _ranked(contenders, held)
        rest = [e for e in self._best([0]) if e not in first]
        return first + rest, held if first else []

    def _screen(self) -> None:
        """Try all candidates on a few rows. Of those that grow on another one, only those on the best."""
        trial = self._try_all([e for e in self._entries if e.base is None], 0, SCREEN_ROWS)
        bases = {id(e.base): e.base for e in self._entries if e.base is not None}
        tried = [base for base in bases.values() if 0 in base.losses]
        if trial is not None and tried:
            best = _ranked(tried, [0])[0]
            self._try_on([e for e in self._entries if e.base is best], 0, trial)

    def _contenders(self, trials: list[int]) -> list[TriedCandidate]:
        """Return the leader and those, one of each family, that further holds might put before it.

        They are not clearly behind it, and either have a lower error or are preferred among equals.
        """
        ranked = self._best(trials)
        first_of = {family_of(e.completer): e for e in reversed(ranked)}
        ranked = [e for e in ranked if e is first_of[family_of(e.completer)] and e.losses]
        if not ranked:
            return []
        leader, others = ranked[0], ranked[1:]
        rivals = (
            e
            for e in others
            if not _behind(e, leader, trials, CLEARLY)
            and (
                e.mean_error(trials) < leader.mean_error(trials)
                or _costs(e.completer) < _costs(leader.completer)
            )
        )
        return [leader, *rivals][:FINALISTS]

    def _best(self, trials: list[int]) -> list[TriedCandidate]:
        """Return the entries ranked by these trials, followed by those not tried."""
        alive = [e for e in self._entries if not e.reason]
        tried = [e for e in alive if all(t in e.losses for t in trials)]
        tried = _ranked(tried, trials) if tried else tried
        return tried + [e for e in alive if e not in tried]

    def _try_all(self, entries: list[TriedCandidate], number: int, most_rows: int) -> HiddenTrial | None:
        """Try entries on a hold; return it, or None if the search is over."""
        if self._over():
            return None
        trial = make_trial(self._task, most_rows, np.random.default_rng(self._seeds[number]))
        self._try_on(entries, number, trial)
        return trial

    def _try_on(self, entries: list[TriedCandidate], number: int, trial: HiddenTrial) -> None:
        """Try entries on a hold: those that grow on another one after the others, whose fits they share."""

        def attempt(entry: TriedCandidate) -> FloatArray | None:
            return None if self._over() else _attempt(entry, trial)

        run = map if self._pool is None else self._pool.map
        alone = [e for e in entries if e.base is None]
        for wave in (alone, [e for e in entries if e not in alone]):
            for entry, losses in zip(wave, run(attempt, wave), strict=True):
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
        losses = _losses(entry, trial) if entry.base is None else _grown_losses(entry, trial, entry.base)
        if not np.isfinite(losses).all():
            entry.reason = "left holes, or gave values that are not finite"
            return None
        return losses
    except Exception as error:  # a failing candidate must not stop the others
        entry.reason = why(error)
        return None
    finally:
        entry.seconds += time.perf_counter() - begun


def _losses(entry: TriedCandidate, trial: HiddenTrial) -> FloatArray:
    """Return the loss of each row, (m,)."""
    if isinstance(entry.completer, GaussianCompleter):
        _fit_nothing_hidden(entry, trial)
    completer = to_try(entry.completer, entry.fitted)
    completed = np.asarray(completer.fit_transform(trial.holed, trial.y))
    if isinstance(completer, NNLSCompleter) and trial.whole:
        entry.fitted = completer
    if completed.shape != trial.truth.shape:
        raise DataError(f"gave a table of shape {completed.shape} for one of shape {trial.truth.shape}")
    losses = trial.losses_of[entry.name] = trial.losses(completed)
    return losses


def _fit_nothing_hidden(entry: TriedCandidate, trial: HiddenTrial) -> None:
    """Fit a Gaussian to the rows of a trial, unless it is fitted to all rows of the table already.

    On a part of the rows it keeps what it chose on an earlier part, unless only this one has labels.
    """
    if entry.fitted_to_all:
        return
    known = entry.fitted if entry.fitted_to_labels or trial.y is None else None
    completer = clone(entry.completer) if trial.whole else to_try(entry.completer, known)
    entry.fitted = completer.fit(trial.truth, trial.y)
    entry.fitted_to_all, entry.fitted_to_labels = trial.whole, trial.y is not None


def _grown_losses(entry: TriedCandidate, trial: HiddenTrial, base: TriedCandidate) -> FloatArray:
    """Return the losses of trees: those of the Gaussian that they grow on, less what they gain over it.

    The gain is measured on all observed cells of some columns, not only on the few that are hidden, by trees
    that did not see them. It counts if it is worth the time and more than its standard error.
    """
    losses = trial.losses_of.get(base.name)
    losses = _losses(base, trial) if losses is None else losses
    gain = entry.gain
    if gain is None:
        gain, error = to_try(entry.completer).expected_gain(base.fitted, trial.truth, GAIN_COLUMNS)
        gain = gain if gain > max(error, WORTH) else 0.0
        entry.gain = gain if trial.whole else None
    return losses * (1 - gain)


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
    tied = [e for e in entries if not _behind(e, by_error[0], trials, 1.0)]
    first = min(tied, key=lambda e: (*_costs(e.completer), e.mean_error(trials)))
    return [first, *(e for e in by_error if e is not first)]


def _costs(completer: Any) -> tuple[bool, bool, bool]:
    """Return what speaks against a completer: it gives no variances, takes long, or needs labels."""
    needs_labels = any(getattr(completer, name, 0.0) != 0.0 for name in ("label_trust", "label_weight"))
    return not gives_variances(completer), family_of(completer) == "trees", needs_labels


def _behind(entry: TriedCandidate, best: TriedCandidate, trials: list[int], by: float) -> bool:
    """Return whether an entry's error is larger than another's by more than ``by`` standard errors."""
    excess = np.concatenate([entry.losses[t] - best.losses[t] for t in trials])
    return bool(excess.sum() > by * math.sqrt(len(excess)) * excess.std())
