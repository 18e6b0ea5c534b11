"""The completers that `AutoCompleter` tries by default, the check of user-supplied ones, and how each did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.completer import Completer
from cellworth.complete.fitted_state import restore, state_of
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.inputs import check_table
from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.scaling import Scaling, put_back
from cellworth.complete.supervised_completer import SupervisedCompleter
from cellworth.complete.tree_completer import TreeCompleter
from cellworth.errors import ParameterError

Candidates = Sequence[tuple[str, Any]]

FAMILIES: tuple[tuple[Any, str], ...] = (
    (GaussianCompleter, "gaussian"),
    ((NNLSCompleter, SupervisedCompleter), "low rank"),
    (TreeCompleter, "trees"),
)

TRIAL_TREES = 20  # enough to see whether trees help; the one that is chosen has all
NEEDED = ("get_params", "fit_transform", "transform")
CandidateStatus = Literal["chosen", "tried", "not reached", "failed"]


class ColumnMeanCompleter(Completer):
    """Fill each hole with the mean of its column: the baseline that other completers should beat.

    Attributes
    ----------
    completed_ : (n, d) array
        The table passed to `fit` with its holes filled; observed cells are unchanged.
    scaling_ : Scaling
        ``scaling_.offset`` holds the means.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.auto_candidates import ColumnMeanCompleter
    >>> ColumnMeanCompleter().fit_transform([[1.0, 5.0], [3.0, np.nan]])
    array([[1., 5.],
           [3., 5.]])
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the means of the table X (n, d), NaN in its holes. ``y`` is accepted and ignored."""
        X = check_table(self, X, reset=True)
        self.scaling_ = Scaling.of(X, "standard")
        self.completed_ = put_back(X, self.scaling_.undo_in_place(np.zeros_like(X)))
        return self

    def fitted_state(self) -> dict[str, Any]:
        """Return the fitted state as plain data; see `cellworth.complete.fitted_state`."""
        return state_of(self, ())

    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` returned."""
        restore(self, state, ())

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        return np.zeros_like(values)


def default_candidates(*, labels: bool) -> list[tuple[str, Any]]:
    """Return the (name, completer) pairs that `AutoCompleter` tries by default, simplest first.

    Parameters
    ----------
    labels : bool
        Whether there are labels. If not, candidates that differ only in how they use labels are left out.

    Notes
    -----
    * "gaussian": `GaussianCompleter`, which chooses margins and shrinkage itself. "labels" uses labels as far
      as held-out rows and cells show that they help.
    * "trees": `TreeCompleter`, for curves and clusters.
    * "column means": the baseline.
    * "nnls": low rank, with a penalty of its own choice.

    The trace norm, with labels or without, is no candidate: it was never ahead of all others on the tuning
    half of the development tables.
    """
    plain = [
        ("gaussian", GaussianCompleter(label_trust=0.0)),
        ("column means", ColumnMeanCompleter()),
        ("nnls", NNLSCompleter()),
        ("trees", TreeCompleter(label_trust=0.0)),
    ]
    if not labels:
        return plain
    return [*plain, ("gaussian, labels", GaussianCompleter()), ("trees, labels", TreeCompleter())]


def check_candidates(candidates: Any) -> list[tuple[str, Any]]:
    """Return the user's candidates as a list; raise ParameterError if they are invalid."""
    expected = "candidates must be a list of (name, completer) pairs with distinct names"
    try:
        pairs = [(name, completer) for name, completer in candidates]
    except (TypeError, ValueError):
        raise ParameterError(f"{expected}; got {candidates!r}") from None
    names = [name for name, _ in pairs]
    if not pairs or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError(f"{expected}, at least one; got the names {names!r}")
    for name, completer in pairs:
        lacking = [method for method in NEEDED if not hasattr(completer, method)]
        if lacking or isinstance(completer, type):
            raise ParameterError(
                f"candidate {name!r} must be a completer with the methods {', '.join(NEEDED)}, such as "
                f"GaussianCompleter(); got {completer!r}"
            )
    return pairs


def gives_variances(completer: Any) -> bool:
    """Return whether a completer reports how certain each cell is."""
    return hasattr(completer, "predict_interval")


def to_try(completer: Any, fitted: Any = None) -> Any:
    """Return a clone for trials on hidden cells: with few trees, and not calibrated.

    A Gaussian keeps what it has chosen where it is ``fitted`` to the same rows with nothing hidden: most of
    its time goes into margins, shrinkage and trust, and a tenth of the cells does not change them. So do the
    penalty and the rank of `NNLSCompleter` where it is fitted to the same rows on another hold.
    """
    copy = clone(completer)
    if isinstance(copy, TreeCompleter):
        copy.set_params(n_trees=min(int(copy.n_trees), TRIAL_TREES))
    elif isinstance(copy, GaussianCompleter):
        copy.set_params(calibrate=False)
        if fitted is not None:
            copy.set_params(
                margins=fitted.margins_, shrinkage=fitted.shrinkage_, label_trust=fitted.label_trust_
            )
    elif isinstance(copy, NNLSCompleter) and fitted is not None and copy.trace_penalty is None:
        found = {"trace_penalty": fitted.trace_penalty_, "rank": max(1, fitted.rank_)}
        copy.set_params(**found, penalty_unit="absolute", truncate=False)
    return copy


def with_jobs(completer: Any, n_jobs: int | None) -> Any:
    """Return the completer, using ``n_jobs`` threads if it has no number of its own."""
    if completer.get_params(deep=False).get("n_jobs", 1) is None:
        completer.set_params(n_jobs=n_jobs)
    return completer


def grows_on(completer: Any, other: Any) -> bool:
    """Return whether a completer grows its trees on what the other one says."""
    if not (isinstance(completer, TreeCompleter) and isinstance(other, GaussianCompleter)):
        return False
    given = completer.get_params() | {"n_jobs": other.n_jobs, "warm_start": other.warm_start}
    known = GaussianCompleter().get_params() | {"calibrate": other.calibrate}
    return bool(other.get_params() == known | {k: v for k, v in given.items() if k in known})


def family_of(completer: Any) -> str:
    """Return what a completer has in common with others that fill a table alike."""
    gives = (family for kind, family in FAMILIES if isinstance(completer, kind))
    return next(gives, type(completer).__name__)


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
