"""A completer that chooses among others by hiding observed cells of the user's own table."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete.auto_candidates import (
    CandidateResult,
    Candidates,
    check_candidates,
    default_candidates,
    text_table,
    with_jobs,
)
from cellworth.complete.auto_search import CandidateSearch, TriedCandidate, why
from cellworth.complete.completer import Completer
from cellworth.complete.factored_completer import generator_of
from cellworth.complete.fitted_state import restore, state_of
from cellworth.complete.hidden_trial import SearchTask
from cellworth.complete.inputs import check_number, check_table
from cellworth.complete.labels import TargetKind, code_labels, tell_target
from cellworth.complete.scaling import Scaling, put_back
from cellworth.errors import DataError
from cellworth.progress import ProgressLine


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search, passed to its callback.

    Attributes
    ----------
    done, total : int
        Fits done and planned, including the chosen candidate's fit to the whole table.
    name : str
        The candidate just tried.
    error : float
        Error of the last fit, in units of the columns' variances; NaN if it failed, and at the end.
    seconds : float
        Time since the search began.
    """

    done: int
    total: int
    name: str
    error: float
    seconds: float


def _best_has(method: str) -> Callable[[Any], bool]:
    """Return a check that the chosen completer has a method."""

    def check(self: Any) -> bool:
        if not hasattr(self, "best_completer_") or hasattr(self.best_completer_, method):
            return True
        raise AttributeError(f"{self.best_name_!r} was chosen, which has no {method}")

    return check


class AutoCompleter(Completer):
    """Fill the holes of a table with whichever completer best fills hidden observed cells.

    A tenth of the observed cells is hidden, the same ones for all candidates. Each candidate is judged by its
    mean squared error on them, in units of the columns' variances; a miss by more than five standard
    deviations counts as five. All candidates are tried on one such hold of at most 1,000 rows. Those that are
    not clearly behind the best and might still be preferred to it, one of each family (Gaussian, low rank,
    trees), at most three, go on to further holds of at most 4,000 rows. Trees are tried on the Gaussian's
    fit: what they gain over it is measured on all observed cells of some columns, and counts from 2 % on. The
    winner is fitted to the whole table; a Gaussian of at most 1,000 rows is then fitted already.

    Parameters
    ----------
    candidates : list of (str, estimator) or None, default=None
        Names and completers to try, simplest first: those of this package, or any transformer that
        fills NaN, such as scikit-learn's imputers. None: `default_candidates`.
    n_holds : int, default=2
        How many times to hide cells at most, at least 1; once, if that decides.
    target : {"auto", "classes", "number"}, default="auto"
        What `y` holds, for candidates that leave it open. "auto": floats with fractional parts or more
        than 20 distinct values are numbers; anything else is classes.
    time_budget : float or None, default=None
        Seconds after which no further candidate is tried, not counting the final fit of the chosen one. The
        best so far is chosen, or the first candidate if none was tried. The result then depends on the
        speed of the machine.
    progress : bool, default=False
        Show a progress bar with the time left on standard error.
    missing_values : float or None, default=None
        A number that marks holes, besides NaN.
    add_indicator : bool, default=False
        `transform` appends a column of 0 and 1 for each column that had holes in `fit`: 1 in its holes.
    n_jobs : int or None, default=None
        Candidates to try at the same time, on threads; None is one, -1 one per core. The result does not
        depend on it, unless there is a `time_budget`.
    random_state : int, Generator or None, default=0
        Draws the hidden cells. None draws different ones in each fit.
    callback : callable or None, default=None
        Called with a `SearchProgress` after each fit; returning true ends the search.

    Attributes
    ----------
    completed_ : (n, d) array
        The table passed to `fit` with its holes filled, in its own units; observed cells are unchanged.
    best_name_ : str
    best_completer_ : estimator
        Fitted to the whole table.
    variance_ : (n, d) array
        Variances from the chosen completer, if it has them.
    results_ : list of CandidateResult
        How each candidate did, in the order given; `results_table` shows them.
    scaling_ : Scaling
        The identity: the chosen completer does its own scaling.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Not on row blocks: most of its candidates are not. Choose on a sample: ``Table.open(...).every(k)``.

    The rule: the lowest mean error wins, but a candidate ties with it if its error is larger by at most one
    standard error of the difference, taken over rows. Among tied candidates, one that gives variances is
    preferred, then one without trees, then the one with the lowest error. So labels are used only if they
    help fill hidden cells; the Gaussian also decides on held-out rows how far to trust them, see
    `cellworth.complete.gaussian.label_trust`.

    A candidate that raises an error is recorded as failed, with the reason, and the search continues.
    `transform_with_variance`, `predict_interval` and `sample` exist if the chosen completer has them.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.auto_completer import AutoCompleter
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, size=200)
    >>> X = np.column_stack([height, height - 100 + rng.normal(0, 5, size=200)])
    >>> X[0] = [180, np.nan]
    >>> completer = AutoCompleter().fit(X)
    >>> completer.best_name_
    'gaussian'
    >>> completer.completed_[0].round(-1)
    array([180.,  80.])
    >>> print(completer.results_table().splitlines()[0])
    candidate      error  spread  holds  seconds  status
    """

    def __init__(
        self,
        *,
        candidates: Candidates | None = None,
        n_holds: int = 2,
        target: TargetKind = "auto",
        time_budget: float | None = None,
        progress: bool = False,
        missing_values: float | None = None,
        add_indicator: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        callback: Callable[[SearchProgress], object] | None = None,
    ) -> None:
        self.candidates = candidates
        self.n_holds = n_holds
        self.target = target
        self.time_budget = time_budget
        self.progress = progress
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Choose a completer for the table X (n, d), NaN in its holes, and complete it.

        Labels y (n,) may be missing (NaN or None), in part or (``y=None``) altogether.
        """
        check_number("n_holds", self.n_holds, minimum=1)
        if self.time_budget is not None:
            check_number("time_budget", self.time_budget, minimum=0)
        task = self._task(check_table(self, X, reset=True), y)
        entries = self._entries(task)
        begun = time.perf_counter()
        with worker_threads(int(effective_n_jobs(self.n_jobs))) as pool:
            search = CandidateSearch(
                entries,
                task,
                int(self.n_holds),
                generator_of(self.random_state, key=2),
                deadline=math.inf if self.time_budget is None else begun + self.time_budget,
                pool=pool,
                watch=(watch := _Watch(begun, self.callback, show=self.progress)),
            )
            ranking, trials = search.run()
            chosen = self._fit_first_that_works(ranking, task)
        watch(search.total, search.total, chosen.name if chosen else "", math.nan)
        self.results_ = [entry.result(_status(entry, chosen), trials) for entry in entries]
        if chosen is None:
            raise DataError(
                "no candidate could complete the table; expected at least one. See the reasons, or pass "
                f"other candidates.\n{self.results_table()}"
            )
        self.best_name_ = chosen.name
        return self

    def results_table(self) -> str:
        """Return a text table of how each candidate did: errors, spreads over holds, seconds."""
        check_is_fitted(self, "results_")
        return text_table(self.results_)

    @available_if(_best_has("transform_with_variance"))  # type: ignore[untyped-decorator]
    def transform_with_variance(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Complete new rows X (m, d) and return them with the variance of each cell, (m, d) each."""
        return self._best().transform_with_variance(check_table(self, X, reset=False))

    @available_if(_best_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval(
        self, level: float = 0.9, X: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of intervals for all cells, (n, d) each, in the table's units.

        Parameters
        ----------
        level : float
            Between 0 and 1: the fraction of hidden cells that should fall inside.
        X : array-like (m, d), optional
            New rows, without labels; by default the table passed to `fit`.
        """
        best = self._best()
        return best.predict_interval(level, None if X is None else check_table(self, X, reset=False))

    @available_if(_best_has("sample"))  # type: ignore[untyped-decorator]
    def sample(
        self,
        n_draws: int = 1,
        random_state: int | np.random.Generator | None = None,
        X: ArrayLike | None = None,
        **settings: Any,
    ) -> FloatArray:
        """Draw completed tables, (n_draws, n, d), for multiple imputation, or new rows X (m, d) if given.

        ``settings`` are those of the chosen completer's ``sample``.
        """
        rows = None if X is None else check_table(self, X, reset=False)
        return self._best().sample(n_draws, random_state, rows, **settings)

    @available_if(_best_has("fitted_state"))  # type: ignore[untyped-decorator]
    def fitted_state(self) -> dict[str, Any]:
        """Return the fitted state, including the chosen completer's, as plain data.

        See `cellworth.complete.fitted_state`.
        """
        state = state_of(self, ("best_name_",))
        return state | {
            "results": [asdict(result) for result in self.results_],
            "best_target": self.best_completer_.get_params(deep=False).get("target"),
            "best": self.best_completer_.fitted_state(),
        }

    @available_if(_best_has("restore_fitted"))  # type: ignore[untyped-decorator]
    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` of a completer with the same settings returned."""
        restore(self, state, ("best_name_",))
        self.results_ = [CandidateResult(**result) for result in state["results"]]
        pairs = (
            default_candidates(labels=True) if self.candidates is None else check_candidates(self.candidates)
        )
        best = with_jobs(clone(dict(pairs)[self.best_name_]), self.n_jobs)
        if state["best_target"] is not None:
            best.set_params(target=state["best_target"])
        best.restore_fitted(state["best"])
        self._keep_best(best)

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        return self.best_completer_.transform(np.where(observed, values, values.dtype.type(np.nan)))

    def _best(self) -> Any:
        check_is_fitted(self, "best_completer_")
        return self.best_completer_

    def _task(self, X: FloatArray, y: ArrayLike | None) -> SearchTask:
        self.scaling_ = Scaling.of(X, None)
        labels, units = code_labels(y, len(X), "squared", self.target), Scaling.of(X, "standard")
        return (
            SearchTask(X, None, None, units)
            if y is None
            else SearchTask(X, column_or_1d(np.asarray(y)), labels, units)
        )

    def _entries(self, task: SearchTask) -> list[TriedCandidate]:
        """Return the candidates, clones of the user's, set to the kind of target there is."""
        if self.candidates is None:
            pairs = default_candidates(labels=task.labels is not None)
        else:
            pairs = [(name, clone(completer)) for name, completer in check_candidates(self.candidates)]
        entries = [TriedCandidate(name, completer) for name, completer in pairs]
        if task.labels is not None:
            for entry in entries:
                tell_target(entry.completer, "number" if task.labels.classes is None else "classes")
        return entries

    def _fit_first_that_works(self, ranking: list[TriedCandidate], task: SearchTask) -> TriedCandidate | None:
        """Fit the first entry that can be fitted to the whole table, and keep its result."""
        for entry in ranking:
            begun = time.perf_counter()
            try:
                completer, completed = entry.fit_whole(task.X, task.y, self.n_jobs)
                completed = np.array(completed, dtype=task.X.dtype)
                if completed.shape != task.X.shape or not np.isfinite(completed).all():
                    raise ValueError("left holes, or gave values that are not finite")
            except Exception as error:  # the next one may work
                entry.reason = why(error)
                continue
            finally:
                entry.seconds += time.perf_counter() - begun
            self.completed_ = put_back(task.X, completed)
            self._keep_best(completer)
            return entry
        return None

    def _keep_best(self, completer: Any) -> None:
        self.best_completer_ = completer
        self.__dict__.pop("variance_", None)
        if hasattr(completer, "variance_"):
            self.variance_ = completer.variance_


class _Watch:
    """Report the progress of a search to the user's callback and to a progress bar."""

    def __init__(
        self, begun: float, callback: Callable[[SearchProgress], object] | None, *, show: bool
    ) -> None:
        self._begun, self._callback, self._show = begun, callback, show
        self._line: ProgressLine | None = None

    def __call__(self, done: int, total: int, name: str, error: float) -> bool:
        if self._show:
            self._line = self._line or ProgressLine("choosing a completer", total, begun=self._begun)
            self._line.show(done, name)
        if self._callback is None:
            return False
        seconds = time.perf_counter() - self._begun
        return bool(self._callback(SearchProgress(done, total, name, error, seconds)))


def _status(entry: TriedCandidate, chosen: TriedCandidate | None) -> Any:
    if entry is chosen:
        return "chosen"
    if entry.reason:
        return "failed"
    return "tried" if entry.losses else "not reached"
